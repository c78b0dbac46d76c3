"""The demo model as the engine sees it: it decides on an answer, then streams it at a human pace."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import replace

from app.domain.messages import Message, Part, ReasoningPart, TextPart, ToolCall, ToolResult, Usage
from app.domain.streaming import CallDelta, Delta, ModelRequest, ReasoningDelta, Reply, TextDelta
from app.llm.demo import HUMAN_PACE
from app.llm.demo.calling import call_tool, loop, run_code
from app.llm.demo.cleaning import clean_data
from app.llm.demo.failing import act_out
from app.llm.demo.files import use_files
from app.llm.demo.judging import judged
from app.llm.demo.plan import Answer, Ask, Plan, answer_at, ask_of
from app.llm.demo.shaped import shaped
from app.llm.demo.suggesting import suggested
from app.llm.demo.sums import work_out
from app.llm.demo.talk import LABEL, chat, fallback, recite, too_long
from app.llm.demo.tasks import hand_over
from app.llm.demo.writing import edit_text

NAME = "demo/agent"

LONGEST_ASK = 4_000
"""Characters of a message that scripts are tried on."""

Script = Callable[[Ask], Plan | Answer | None]

# From the most to the least particular: "write 2 + 2 to /sum.txt" is about a file, "think about 2 + 2" is a sum;
# what a task is to do is for the one that gets it.
SCRIPTS: tuple[Script, ...] = (
    hand_over, edit_text, act_out, loop, call_tool, run_code, use_files, clean_data, recite, work_out, chat,
)  # fmt: skip

_TOKEN = re.compile(r"\s*\S+\s*|\s+")
_ARGUMENT_PIECE = 8


class DemoModel:
    """A scripted model: the same request always gets the same answer. `pace` is in seconds for a token."""

    def __init__(self, pace: float = HUMAN_PACE) -> None:
        self._pace = pace

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | Reply, None]:
        ask = ask_of(request)
        await request.stored()
        answer = judged(request) or suggested(request)
        answer = answer or _as_asked(await asyncio.to_thread(answer_to, ask), ask, request)
        calls = _calls(answer, ask.key)
        pieces = [*_spoken(answer), *_called(calls)]
        cut = len(pieces) > request.parameters.max_tokens
        said: list[Delta] = []
        for piece in pieces[: request.parameters.max_tokens]:
            await asyncio.sleep(self._pace * answer.slowness)
            said.append(piece)
            yield piece
        if answer.failure is not None:
            raise answer.failure
        yield _reply(request, answer, said, () if cut else calls, cut=cut)


def answer_to(ask: Ask) -> Answer:
    """What the demo model does next; it always has an answer, which may take it some milliseconds."""
    if len(ask.text) > LONGEST_ASK:
        return edit_text(ask) or too_long(ask, LONGEST_ASK)
    found = next((found for found in (script(ask) for script in SCRIPTS) if found is not None), None) or fallback(ask)
    return found if isinstance(found, Answer) else answer_at(found, ask.rounds)


def _as_asked(answer: Answer, ask: Ask, request: ModelRequest) -> Answer:
    """The answer with its words as JSON, where the request has a schema for them.

    Where no script knew an answer, the JSON is about what the user said.
    """
    if request.output_schema is None or not answer.text:
        return answer
    words = ask.text if LABEL in answer.text and ask.text else answer.text
    return replace(answer, text=shaped(request.output_schema, words))


def _calls(answer: Answer, key: str) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(call_id=f"demo_{key}_{number}", name=wish.tool, arguments=dict(wish.arguments))
        for number, wish in enumerate(answer.wishes, start=1)
    )


def _spoken(answer: Answer) -> Iterator[Delta]:
    yield from (ReasoningDelta(token) for token in _TOKEN.findall(answer.thought))
    yield from (TextDelta(token) for token in _TOKEN.findall(answer.text))


def _called(calls: tuple[ToolCall, ...]) -> Iterator[Delta]:
    for call in calls:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        for start in range(0, len(arguments), _ARGUMENT_PIECE):
            yield CallDelta(call.call_id, call.name, arguments[start : start + _ARGUMENT_PIECE])


def _reply(
    request: ModelRequest, answer: Answer, said: list[Delta], calls: tuple[ToolCall, ...], *, cut: bool
) -> Reply:
    thought = "".join(piece.text for piece in said if isinstance(piece, ReasoningDelta))
    text = "".join(piece.text for piece in said if isinstance(piece, TextDelta))
    parts: list[Part] = []
    if thought:
        parts.append(ReasoningPart(text=thought))
    if text:
        parts.append(TextPart(text=text))
    usage = Usage(
        input_tokens=prompt_tokens(request),
        output_tokens=len(said),
        reasoning_tokens=sum(isinstance(piece, ReasoningDelta) for piece in said),
    )
    finish = "length" if cut else "tool_calls" if calls else answer.finish
    return Reply(Message(role="assistant", parts=(*parts, *calls), model=NAME), usage, finish)


def prompt_tokens(request: ModelRequest) -> int:
    """The prompt's tokens as the demo model counts them: one for each four characters."""
    system = request.system.text if request.system else ""
    tools = sum(len(tool.name) + len(tool.description) for tool in request.tools)
    return (len(system) + tools + sum(map(_length, request.messages))) // 4 + 1


def _length(message: Message) -> int:
    arguments = sum(len(str(call.arguments)) for call in message.tool_calls)
    results = sum(len(part.text) for part in message.parts if isinstance(part, ToolResult))
    return len(message.text) + arguments + results
