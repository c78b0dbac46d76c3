"""Our messages and tools in the OpenAI-style dictionaries that LiteLLM takes, and translates for each provider."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from pydantic import JsonValue

from app.domain.agents import Parameters
from app.domain.messages import (
    AppPart,
    FilePart,
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    SentKey,
    TextPart,
    ToolCall,
    ToolResult,
    sent_key,
)
from app.domain.streaming import ModelRequest
from app.domain.tools import ToolSpec
from app.llm.attachments.attachments import Outgoing
from app.llm.litellm.accumulator import PROVIDER_ID

Json = dict[str, JsonValue]

Sent = Mapping[SentKey, Outgoing]
NONE_SENT: Sent = {}
REF_DIGITS = 16
"""Of a sha256: enough to name an artifact of the session, and few enough for a model to copy."""


@dataclass(frozen=True, slots=True)
class Wire:
    """How a conversation is written for one provider."""

    provider: str
    """Ours, as in `provider/model`. What a provider wants back goes to the one that sent it, and to no other."""
    sent: Sent
    """How each attachment goes along; one that is not among them is told of in words."""
    tools: tuple[ToolSpec, ...] = ()
    """What the model may call: files are named together with the tools that open them."""

    def messages(self, request: ModelRequest) -> list[Json]:
        ids = self._provider_ids(request.messages)
        written = [_system(request.system)] if request.system and request.system.text else []
        seen: list[ImagePart] = []
        for message in request.messages:
            if message.role != "tool" and seen:
                written.append(self._shown(seen))
                seen = []
            written += self._message(message, ids)
            seen += [image for image in _images_of_results(message) if is_inline(image, self.sent)]
        return _alternating([*written, self._shown(seen)] if seen else written)

    def _message(self, message: Message, ids: Mapping[str, str]) -> list[Json]:
        match message.role:
            case "system":
                return [_system(message)]
            case "user":
                return [{"role": "user", "content": self._content(message.parts)}]
            case "assistant":
                return self._assistant(message, ids)
            case "tool":
                return [self._result(part, ids) for part in message.parts if isinstance(part, ToolResult)]

    def _content(self, parts: tuple[Part, ...]) -> JsonValue:
        if all(isinstance(part, TextPart) for part in parts):
            return "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
        return _joined([self._part(part) for part in parts if isinstance(part, TextPart | ImagePart | FilePart)])

    def _part(self, part: TextPart | ImagePart | FilePart) -> Json:
        match part:
            case TextPart():
                return {"type": "text", "text": part.text}
            case FilePart() | ImagePart():
                return self._attachment(part)

    def _attachment(self, part: ImagePart | FilePart) -> Json:
        outgoing = self.sent.get(sent_key(part))
        if outgoing is None or outgoing.fact.how == "reference":
            return {"type": "text", "text": _stub(part, self.tools, outgoing)}
        media_type = outgoing.fact.media_type
        if outgoing.file_id:
            return {"type": "file", "file": {"file_id": outgoing.file_id, "format": media_type}}
        encoded = base64.b64encode(outgoing.content).decode()
        if isinstance(part, ImagePart):
            return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{encoded}"}}
        if media_type.startswith("audio/") and self.provider != "gemini":  # which has more formats than two
            sound: Json = {"data": encoded, "format": "wav" if "wav" in media_type else "mp3"}
            return {"type": "input_audio", "input_audio": sound}
        data = f"data:{media_type};base64,{encoded}"
        return {"type": "file", "file": {"file_data": data, "filename": part.name, "format": media_type}}

    def _shown(self, images: list[ImagePart]) -> Json:
        """Images out of tool results, as a message of their own: few providers take them inside a result."""
        said: list[JsonValue] = [{"type": "text", "text": "The images that the tools returned:"}]
        return {"role": "user", "content": said + [self._attachment(image) for image in images]}

    def _assistant(self, message: Message, ids: Mapping[str, str]) -> list[Json]:
        if not message.text and not message.tool_calls:
            return []
        written: Json = {"role": "assistant", "content": message.text or None}
        is_own = provider_of(message.model) == self.provider
        if message.tool_calls:
            written["tool_calls"] = [_call(call, ids, is_own=is_own) for call in message.tool_calls]
        if is_own:
            written |= _returned(message)
        return [written]

    def _result(self, result: ToolResult, ids: Mapping[str, str]) -> Json:
        return {
            "role": "tool",
            "tool_call_id": ids.get(result.call_id, result.call_id),
            "name": result.name,
            "content": result_text(result, self.tools, self.sent),
        }

    def _provider_ids(self, messages: tuple[Message, ...]) -> dict[str, str]:
        """The calls that this provider knows under another id than ours."""
        own = (message for message in messages if provider_of(message.model) == self.provider)
        calls = (call for message in own for call in message.tool_calls)
        kept = ((call.call_id, call.provider_fields.get(PROVIDER_ID)) for call in calls)
        return {call_id: kept_id for call_id, kept_id in kept if isinstance(kept_id, str)}


def provider_of(model: str) -> str:
    return model.partition("/")[0]


def tools_of(specs: tuple[ToolSpec, ...]) -> list[Json]:
    return [
        {
            "type": "function",
            "function": {"name": spec.name, "description": spec.description, "parameters": _arguments(spec)},
        }
        for spec in specs
    ]


def _arguments(spec: ToolSpec) -> Json:
    """OpenAI and Azure refuse a schema that leaves its properties out, as MCP servers do of tools without arguments."""
    return {"type": "object", "properties": {}, **spec.parameters}


def parameters_of(parameters: Parameters, *, with_tools: bool) -> Json:
    """What was chosen; what is left to the provider is not sent at all."""
    chosen: Json = {
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "max_tokens": parameters.max_tokens,
        "stop": list(parameters.stop) or None,
        "seed": parameters.seed,
        "reasoning_effort": parameters.reasoning_effort,
        "parallel_tool_calls": False if with_tools and not parameters.parallel_tool_calls else None,
    }
    return {name: value for name, value in chosen.items() if value is not None}


def is_inline(image: ImagePart, sent: Sent) -> bool:
    """Whether the model gets to see it."""
    return (outgoing := sent.get(sent_key(image))) is not None and outgoing.fact.how == "inline"


def _stub(part: ImagePart | FilePart, tools: tuple[ToolSpec, ...], outgoing: Outgoing | None) -> str:
    """What the model is told of an attachment that is not within the message."""
    why, meant = (outgoing.fact.why, outgoing.tool) if outgoing else ("", "")
    if isinstance(part, ImagePart):
        return _unseen(part, tools, why, meant)
    return file_line(part, tools, why, meant)


def file_line(file: FilePart, tools: tuple[ToolSpec, ...] = (), why: str = "", meant: str = "") -> str:
    """A file as the model is told of it: what it is, how to name it to a tool, and which of the tools open it."""
    facts: dict[str, str | int] = {
        "ref": file.artifact[:REF_DIGITS],
        "mime": file.media_type,
        "size": file.size,
        "filename": file.filename,
    }
    not_inline = f", not within this message since {why}" if why else ""
    return f"[Attached file{not_inline}: {_facts(facts, file.path)}]{_opened_by(file, tools, meant)}"


def _alternating(written: list[Json]) -> list[Json]:
    """User messages behind one another as one: some providers refuse two, as after an answer that never began."""
    joined: list[Json] = []
    for message in written:
        if joined and message["role"] == joined[-1]["role"] == "user":
            joined[-1] = {"role": "user", "content": _both(joined[-1]["content"], message["content"])}
        else:
            joined.append(message)
    return joined


def _both(first: JsonValue, second: JsonValue) -> JsonValue:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return _joined([part for content in (first, second) for part in _parts(content)])


def _parts(content: JsonValue) -> list[Json]:
    if isinstance(content, list):
        return [part for part in content if isinstance(part, dict)]
    return [{"type": "text", "text": content}]


def _joined(parts: list[Json]) -> list[JsonValue]:
    """Texts behind one another as one: for some providers LiteLLM would put them together without a space."""
    joined: list[JsonValue] = []
    for is_text, group in groupby(parts, key=lambda part: part["type"] == "text"):
        if is_text:
            joined.append({"type": "text", "text": "\n\n".join(str(part["text"]) for part in group)})
        else:
            joined += group
    return joined


def _system(message: Message) -> Json:
    return {"role": "system", "content": message.text}


def _images_of_results(message: Message) -> list[ImagePart]:
    results = (part for part in message.parts if isinstance(part, ToolResult))
    parts = (part for result in results for part in result.parts)
    return [part for part in parts if isinstance(part, ImagePart)]


def _call(call: ToolCall, ids: Mapping[str, str], *, is_own: bool) -> Json:
    written: Json = {
        "id": ids.get(call.call_id, call.call_id),
        "type": "function",
        "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
    }
    fields = {name: value for name, value in call.provider_fields.items() if name != PROVIDER_ID}
    if is_own and fields:
        written["provider_specific_fields"] = fields
    return written


def _returned(message: Message) -> Json:
    """The thinking and the fields that the provider of this message wants back."""
    returned: Json = {}
    for part in message.parts:
        if not isinstance(part, ReasoningPart):
            continue
        fields = part.provider_fields
        if fields.get("blocks"):
            returned["thinking_blocks"] = fields["blocks"]
        if fields.get("message"):
            returned["provider_specific_fields"] = fields["message"]
        name = fields.get("field")
        if isinstance(name, str) and part.text:
            returned[name] = part.text
    return returned


def result_text(result: ToolResult, tools: tuple[ToolSpec, ...] = (), sent: Sent = NONE_SENT) -> str:
    """A tool result as the model reads it: how it ended, when it did not end well, and what came out."""
    lines = [line for part in result.parts if (line := _line(part, tools, sent))]
    text = "\n".join(lines) or "(nothing came back)"
    return f"[{result.status}] {text}" if result.failed else text


def _line(part: TextPart | ImagePart | FilePart | AppPart, tools: tuple[ToolSpec, ...], sent: Sent) -> str:
    match part:
        case TextPart():
            return part.text
        case FilePart():
            return file_line(part, tools)
        case ImagePart() if is_inline(part, sent):
            return f"[Image: {part.alt or part.media_type}, shown below]"
        case ImagePart():
            return _stub(part, tools, sent.get(sent_key(part)))
        case AppPart():
            return "[An interactive view was shown to the user]"


def _unseen(image: ImagePart, tools: tuple[ToolSpec, ...], why: str, meant: str) -> str:
    facts: dict[str, str | int] = {"ref": image.artifact[:REF_DIGITS], "mime": image.media_type, "filename": image.name}
    since = f" since {why}" if why else ""
    return f"[Attached image, not shown{since}: {_facts(facts, image.path)}]{_opened_by(image, tools, meant)}"


def _facts(facts: dict[str, str | int], path: str) -> str:
    return json.dumps({**facts, "path": path} if path else facts, ensure_ascii=False)


def _opened_by(part: ImagePart | FilePart, tools: tuple[ToolSpec, ...], meant: str) -> str:
    """Which tools to open it with: that which it is meant for, else those that say that they open such files."""
    if any(spec.name == meant for spec in tools):
        return f" Open it with {meant}."
    names = [spec.name for spec in tools if spec.opens(part.media_type)]
    return f" Tools that can open it: {', '.join(names)}." if names else ""
