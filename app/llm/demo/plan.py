"""What a script decides: an answer, or a plan of tool calls with an answer at its end.

A plan is a generator: it yields an answer with calls and is sent their results. It is gone through anew for each
request, with the results that the conversation holds, so nothing is kept in between.
"""

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from app.domain.errors import ModelFailure
from app.domain.messages import ToolResult
from app.llm.demo.ask import Ask, Results


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
