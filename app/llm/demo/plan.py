"""What a script decides: an answer, or a plan of tool calls with an answer at its end.

A plan is a generator: it yields an answer with calls and is sent their results. It is gone through anew for each
request, with the results that the conversation holds, so nothing is kept in between.
"""

import hashlib
import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from app.domain.errors import ModelFailure
from app.domain.messages import Message, ToolResult
from app.domain.streaming import ModelRequest
from app.domain.tools import FIND_TOOLS

Results = tuple[ToolResult, ...]
"""Of the tool calls of one message, in the order of the calls."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What a request asks: the last thing the user said, and what was done about it since.

    All of it is read from the request, so the model keeps no state and answers the same request the same way again.
    """

    text: str
    rounds: tuple[Results, ...]
    """What came of the tool calls since the user spoke."""
    earlier: tuple[Message, ...]
    """The conversation before that."""
    tools: frozenset[str]
    """The names of the tools it was granted."""
    sought: frozenset[str]
    """The tools that were looked for, for not all fit into the request."""
    parallel: bool
    """True when one message may hold several calls."""
    key: str
    """Differs from turn to turn; the call ids are made of it."""

    @property
    def is_first(self) -> bool:
        """True when nothing was answered in this conversation before."""
        return not any(message.role == "assistant" for message in self.earlier)


@dataclass(frozen=True, slots=True)
class Wish:
    """A tool call that a script wants made."""

    tool: str
    arguments: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply of the demo model: it thinks, speaks, then calls tools."""

    text: str = ""
    thought: str = ""
    wishes: tuple[Wish, ...] = ()
    slowness: float = 1
    """How many times slower than usual it streams."""
    failure: ModelFailure | None = None
    """Raised when all else was said."""
    finish: Literal["stop", "length"] = "stop"


Plan = Generator[Answer, Results, Answer]


class Ended(Exception):
    """The plan cannot go on; the answer says why."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.text)
        self.answer = answer


def answer_at(plan: Plan, rounds: tuple[Results, ...]) -> Answer:
    """What the plan comes to after those results; calls that are not its own, as of a run forked, are passed over."""
    try:
        answer = next(plan)
        for results in rounds:
            if len(results) == len(answer.wishes):
                answer = plan.send(results)
    except StopIteration as end:
        said: Answer = end.value
        return said
    except Ended as end:
        return end.answer
    return answer


def called(ask: Ask, *wishes: Wish, thought: str) -> Generator[Answer, Results, Results]:
    """The results of these calls; the plan ends in words where the agent lacks a tool, or a call fails."""
    needs(ask, *(wish.tool for wish in wishes))
    if ask.parallel:
        results = yield Answer(thought=thought, wishes=wishes)
    else:
        results = ()
        for wish in wishes:
            results += yield Answer(thought=thought, wishes=(wish,))
    for result in results:
        if result.failed:
            raise Ended(told(result))
    return results


def needs(ask: Ask, *tools: str) -> None:
    """End the plan with an answer that names the first of these tools that the agent has not got."""
    for tool in tools:
        if tool not in ask.tools and FIND_TOOLS in ask.tools and tool not in ask.sought:
            raise Ended(Answer(thought="I look for the tool.", wishes=(Wish(FIND_TOOLS, {"words": tool}),)))
        if tool not in ask.tools:
            raise Ended(
                Answer(
                    text=f"For that I would call the tool `{tool}`, but this agent is not allowed to use it. Switch it "
                    "on in the list of tools beside the conversation, or choose an agent that has it, and ask me again."
                )
            )


def told(result: ToolResult) -> Answer:
    """The failure of a tool call in words."""
    match result.status:
        case "denied":
            text = f"You did not allow the call of `{result.name}`, so I stopped there. {result.text}".strip()
        case "timeout":
            text = f"The tool `{result.name}` took too long and was stopped, so I have no result to show you."
        case "cancelled":
            text = f"The call of `{result.name}` was cancelled before it had a result."
        case _:
            text = f"The tool `{result.name}` could not do that. It said:\n\n{fenced(result.text)}"
    return Answer(text=text)


def fenced(text: str, language: str = "") -> str:
    """The text as a Markdown code block; its fence is longer than any run of backticks inside."""
    fence = "`" * (max((len(run) for run in re.findall("`{3,}", text)), default=2) + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def ask_of(request: ModelRequest) -> Ask:
    messages = request.messages
    start = max((index for index, message in enumerate(messages) if message.role == "user"), default=-1)
    text = messages[start].text if start >= 0 else ""
    return Ask(
        text=text.strip(),
        rounds=_rounds(messages[start + 1 :]),
        earlier=messages[: max(start, 0)],
        tools=frozenset(tool.name for tool in request.tools),
        sought=frozenset(_sought(messages[start + 1 :])),
        parallel=request.parameters.parallel_tool_calls,
        key=hashlib.sha256(f"{len(messages)} {text}".encode()).hexdigest()[:10],
    )


def _rounds(messages: tuple[Message, ...]) -> tuple[Results, ...]:
    results = {part.call_id: part for message in messages for part in message.parts if isinstance(part, ToolResult)}
    return tuple(
        tuple(results[call.call_id] for call in message.tool_calls if call.call_id in results)
        for message in messages
        if any(call.name != FIND_TOOLS for call in message.tool_calls)
    )


def _sought(messages: tuple[Message, ...]) -> Iterator[str]:
    calls = (call for message in messages for call in message.tool_calls)
    yield from (str(call.arguments.get("words")) for call in calls if call.name == FIND_TOOLS)
