"""A run as ATIF, the Agent Trajectory Interchange Format of the Harbor project, version 1.7.

Source of the rules: `rfcs/0001-trajectory-format.md` of harbor-framework/harbor. A document alone, or `trajectory.json`
with the images that it names by their paths as a zip file. What ATIF has no place for is told in its `notes`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from app.domain.events import Entry, MessageAdded, ModelReturned, NodeEnded, NodeStarted, RunStarted
from app.domain.messages import ImagePart, Message, Part, TextPart, ToolCall
from app.domain.tools import GrantedTool
from app.domain.trace import CallView, NodeRun, call_views, nodes, run_row, status, text_of, totals
from app.domain.trace.children import children
from app.domain.trace.fork_view import fork_of
from app.domain.trace.usage import own_entries
from app.export.bundle import zipped
from app.export.review import attachment_files
from app.export.words import json_bytes

VERSION = "ATIF-v1.7"
TRAJECTORY = "trajectory.json"
IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
"""What an image of a trajectory may be."""
NO_PLACE: Mapping[str, str] = {
    "model_failed": "failed model call",
    "file_changed": "change of a file",
    "pause_requested": "pause for a person",
    "pause_resolved": "decision of a person",
    "context_trimmed": "shortening of the conversation",
    "limit_reached": "limit that was reached",
    "run_resumed": "restart of the app",
    "forked": "end of a copied beginning",
}
"""What happens in a run and is no step of a trajectory, by the type of its event."""
Json = dict[str, JsonValue]


def atif(
    entries: Sequence[Entry],
    *,
    app: str,
    artifacts: Mapping[str, bytes],
    alive: bool = False,
    notes: Sequence[str] = (),
) -> bytes:
    """The document, or a zip file of it with its images. `app`: the version that writes it.

    `notes`: sentences to go with it, such as what a person edited.
    """
    paths = {digest: file.path for digest, file in attachment_files(entries).items() if file.path.startswith("images/")}
    written = _Writer({digest: path for digest, path in paths.items() if digest in artifacts})
    document = json_bytes(written.document(entries, notes, app=app, alive=alive), indent=2)
    images = {written.paths[digest]: artifacts[digest] for digest in sorted(written.used)}
    return zipped({TRAJECTORY: document, **images}) if images else document


class _Writer:
    def __init__(self, paths: Mapping[str, str]) -> None:
        """`paths`: where each image lies that comes along, by its sha256."""
        self.paths = paths
        self.used: set[str] = set()
        self._left_out: Counter[str] = Counter()
        self._copied_until = 0
        """Where a fork's copied beginning ends, whose cost is that of the run it comes from."""

    def document(self, entries: Sequence[Entry], notes: Sequence[str], *, app: str, alive: bool) -> Json:
        started = entries[0].event
        if not isinstance(started, RunStarted):
            raise TypeError("A run begins with RunStarted")
        self._copied_until = fork[0] if (fork := fork_of(entries)) else 0
        steps: list[JsonValue] = []
        for number, step in enumerate(self._steps(entries, started), start=1):
            steps.append({"step_id": number, **step})
        agent = started.agent
        said: Json = {
            "schema_version": VERSION,
            "session_id": started.session_id,
            "trajectory_id": entries[0].run_id,
            "agent": {
                "name": agent.name,
                "version": str(agent.variant),
                "model_name": started.model,
                "tool_definitions": [_definition(tool) for tool in started.tools if tool.policy != "off"],
                "extra": {"slug": agent.slug, "parameters": started.parameters.model_dump(mode="json")},
            },
            "steps": steps,
            "final_metrics": _final(entries, len(steps), alive=alive),
            "extra": {"app": f"Agent Playground {app}", "status": status(entries, alive=alive)},
        }
        sentences = [*notes, left_out_words(self._left_out + _unplaced(entries))]
        noted = " ".join(filter(None, sentences))
        return said | ({"notes": noted} if noted else {})

    def _steps(self, entries: Sequence[Entry], started: RunStarted) -> Iterator[Json]:
        calls, ends = call_views(entries), _ends(own_entries(entries))
        of_nodes = nodes(entries).by_call
        if started.system is not None and started.system.text:
            yield _step("system", entries[0], started.system.text)
        for message in started.history:
            yield from self._copied(message, entries[0])
        for entry in entries:
            match entry.event:
                case MessageAdded(message=message, origin=origin) if message.role == "user":
                    yield {**_step("user", entry, self._content(message.parts)), "extra": {"origin": origin}}
                case MessageAdded(message=message) if message.role == "assistant":
                    yield self._answer(entry, message, [calls[call.call_id] for call in message.tool_calls], ends)
                case NodeStarted(call_id=call_id) | NodeEnded(call_id=call_id, pinned=True) if (
                    of_nodes[call_id].seq == entry.seq
                ):
                    yield self._node(entry, of_nodes[call_id])
                case _:
                    pass

    def _copied(self, message: Message, at: Entry) -> Iterator[Json]:
        """What was said before the run; results of tools stand with the step that called them, which is not there."""
        if message.role == "tool":
            self._left_out["tool result of the earlier conversation"] += 1
            return
        source = "agent" if message.role == "assistant" else "user"
        yield {**_step(source, at, self._content(message.parts)), "is_copied_context": True}

    def _answer(
        self, entry: Entry, message: Message, calls: Sequence[CallView], ends: Mapping[int, ModelReturned]
    ) -> Json:
        step = {**_step("agent", entry, self._content(message.parts)), "model_name": message.model or None}
        step["reasoning_content"] = message.reasoning or None
        step["llm_call_count"] = None if message.model else 0
        if message.tool_calls:
            step["tool_calls"] = [_call(call) for call in message.tool_calls]
            step["observation"] = {"results": [self._result(call) for call in calls if call.result is not None]}
        if (end := ends.get(entry.seq)) is not None:
            usage = end.usage
            tokens = {"cache_write_tokens": usage.cache_write_tokens, "reasoning_tokens": usage.reasoning_tokens}
            step["metrics"] = {
                "prompt_tokens": usage.input_tokens,
                "completion_tokens": usage.output_tokens,
                "cached_tokens": usage.cached_tokens,
                **({} if end.cost is None else {"cost_usd": end.cost}),
                "extra": {**tokens, "first_token_ms": end.first_token_ms, "total_ms": end.total_ms},
            }
            step["extra"] = {"finish_reason": end.finish_reason}
        elif entry.seq < self._copied_until:
            step["extra"] = {"copied": True}
        return {name: value for name, value in step.items() if value is not None}

    def _node(self, entry: Entry, run: NodeRun) -> Json:
        """No model was asked; the calls are those of its tool."""
        made = [ToolCall(call_id=call.call_id, name=call.name, arguments=call.arguments) for call in run.calls.values()]
        results = [self._result(call) for call in run.calls.values() if call.result is not None]
        said = text_of(run.value) if not run.as_returned else ""
        step: Json = {**_step("agent", entry, f"{run.label}: {said}" if said else run.label), "llm_call_count": 0}
        if made:
            step["tool_calls"] = [_call(call) for call in made]
            step["observation"] = {"results": [*results]}
        if run.pinned:
            step["extra"] = {"pinned": True}
        return step

    def _result(self, call: CallView) -> Json:
        result = call.result
        if result is None:
            raise TypeError("Only a call that has a result is told")
        extra: Json = {"status": result.status, "ms": call.ms}
        return {"source_call_id": call.call_id, "content": self._content(result.parts), "extra": extra}

    def _content(self, parts: Sequence[Part]) -> JsonValue:
        """The text, or a list of text and images where there are some of these."""
        said: list[JsonValue] = []
        for part in parts:
            match part:
                case TextPart(text=text):
                    said.append({"type": "text", "text": text})
                case ImagePart(artifact=digest, media_type=kind) if digest in self.paths and kind in IMAGES:
                    self.used.add(digest)
                    said.append({"type": "image", "source": {"media_type": kind, "path": self.paths[digest]}})
                case _ if part.type in ("image", "file", "app"):
                    self._left_out[{"image": "image", "file": "file", "app": "interactive view"}[part.type]] += 1
                case _:
                    pass
        texts = [one["text"] for one in said if isinstance(one, dict) and "text" in one]
        return said if len(texts) < len(said) else "\n".join(map(str, texts))


def left_out_words(left_out: Mapping[str, int]) -> str:
    """`Not told here: 2 files, 1 pause for a person.`; empty where all is told."""
    said = [f"{count} × {noun}" for noun, count in left_out.items() if count]
    return f"ATIF has no place for: {', '.join(said)}." if said else ""


def _unplaced(entries: Sequence[Entry]) -> Counter[str]:
    found = Counter(NO_PLACE[entry.event.type] for entry in entries if entry.event.type in NO_PLACE)
    if count := len(children(entries)):
        found["run that it started"] = count
    return found


def _step(source: str, entry: Entry, message: JsonValue) -> Json:
    return {"timestamp": entry.at.isoformat(), "source": source, "message": message}


def _call(call: ToolCall) -> Json:
    told: Json = {"tool_call_id": call.call_id, "function_name": call.name, "arguments": call.arguments}
    return told | ({} if call.malformed is None else {"extra": {"malformed": call.malformed}})


def _definition(tool: GrantedTool) -> Json:
    spec = tool.spec
    told: Json = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return {"type": "function", "function": told}


def _ends(entries: Sequence[Entry]) -> dict[int, ModelReturned]:
    """By the place of an answer: the end of the model call that gave it, which stands behind."""
    ends: dict[int, ModelReturned] = {}
    said = -1
    for entry in entries:
        match entry.event:
            case MessageAdded(message=message) if message.role == "assistant":
                said = entry.seq
            case ModelReturned() as returned if said >= 0:
                ends[said], said = returned, -1
            case _:
                pass
    return ends


def _final(entries: Sequence[Entry], steps: int, *, alive: bool) -> Json:
    sums, row = totals(entries), run_row(entries, alive=alive)
    return {
        "total_prompt_tokens": sums.usage.input_tokens,
        "total_completion_tokens": sums.usage.output_tokens,
        "total_cached_tokens": sums.usage.cached_tokens,
        **({} if sums.unpriced else {"total_cost_usd": sums.cost}),
        "total_steps": steps,
        "extra": {"duration_ms": row.duration_ms, "unpriced": sums.unpriced},
    }
