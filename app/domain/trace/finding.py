"""Search inside a run: which of its steps hold a text, wherever in them it stands."""

import json
from collections.abc import Sequence

from app.domain.trace.nodes import text_of
from app.domain.trace.steps import Step

LONGEST_STEP = 1_000_000
"""Characters of one step that are searched."""


class StepTexts:
    """What can be found in each step, read once; a run that grows adds its new steps only."""

    def __init__(self) -> None:
        self._texts: list[str] = []

    def find(self, steps: Sequence[Step], text: str) -> list[int]:
        """The indexes of the steps that hold the text, in any case; none for an empty one."""
        for step in steps[len(self._texts) :]:
            self._texts.append(searched_text(step).casefold())
        wanted = " ".join(text.split()).casefold()
        return [index for index, said in enumerate(self._texts) if wanted in said] if wanted else []


def searched_text(step: Step) -> str:
    """Everything that a step shows as text, on one line: words, the tool's name, arguments, result, output."""
    parts = [step.text]
    if step.call is not None and step.type == "tool-call":
        parts += [step.call.name, json.dumps(step.call.arguments, ensure_ascii=False), step.call.malformed or ""]
    if step.call is not None and step.type == "tool-result":
        parts += [step.call.name, step.call.printed, step.call.traceback]
    if step.node is not None:
        parts += [json.dumps(step.node.inputs, ensure_ascii=False), text_of(step.node.value)]
        parts += [step.node.error.text if step.node.error else ""]
        parts += [f"{call.name} {call.printed} {call.traceback}" for call in step.node.calls.values()]
    return " ".join("\n".join(parts)[:LONGEST_STEP].split())
