"""What of a step may be edited before a run goes on from it, and what was written there as a plan."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue, TypeAdapter, ValidationError

from app.domain.agents import Agent, template_of
from app.domain.edits import Edit, EditedArguments, EditedMessage, EditedResult
from app.domain.errors import WorkbenchError
from app.domain.events import Entry, MessageAdded, RunStarted, ToolCalled, ToolReturned
from app.domain.forks.forks import ForkPlan, ToolPlan
from app.domain.prompts import filled

_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


@dataclass(frozen=True, slots=True)
class Editable:
    """What can be edited at a step."""

    kind: Literal["message", "arguments", "result"]
    target: int | str
    """The place of the message, or the call."""
    text: str
    label: str


@dataclass(slots=True)
class ForkDraft:
    """What somebody has chosen so far."""

    seq: int
    editable: Editable | None
    text: str = ""
    variant: int | None = None
    model: str | None = None
    system_prompt: str = ""
    own_prompt: str = ""
    """What is sent where nobody types another one."""
    tools: dict[str, ToolPlan] = field(default_factory=dict)
    join: bool = True

    def choose(self, variant: int | None, own_prompt: str) -> None:
        """Run on with that variant, and its own model and prompt; a prompt that was typed stays."""
        if self.system_prompt == self.own_prompt:
            self.system_prompt = own_prompt
        self.variant, self.model, self.own_prompt = variant, None, own_prompt

    def plan(self) -> ForkPlan:
        """Raises `WorkbenchError` for arguments that are no JSON object, and for a message without words."""
        edit = self._edit()
        return ForkPlan(
            seq=self.seq,
            edits=() if edit is None else (edit,),
            variant=self.variant,
            model=self.model,
            system_prompt=None if self.system_prompt == self.own_prompt else self.system_prompt,
            tools=self.tools,
            join=self.join,
        )

    def _edit(self) -> Edit | None:
        match self.editable:
            case Editable(kind="arguments", target=str() as call_id):
                return EditedArguments(call_id=call_id, arguments=_arguments(self.text))
            case Editable(kind="result", target=str() as call_id, text=before) if self.text != before:
                return EditedResult(call_id=call_id, text=self.text)
            case Editable(kind="message", target=int() as seq, text=before) if self.text != before:
                if not self.text.strip():
                    raise WorkbenchError("The message is empty. Write something for the agent.")
                return EditedMessage(seq=seq, text=self.text)
            case _:
                return None


def prompt_template(agent: Agent | None, started: RunStarted) -> str | None:
    """The prompt of the run's variant, where that is still what the run was sent; `None` where it is not known."""
    variants = agent.variants if agent is not None else ()
    template = next((template_of(one.behaviour) for one in variants if one.number == started.agent.variant), "")
    return template if filled(template, started.variables).strip() == sent_prompt(started) else None


def sent_prompt(started: RunStarted) -> str:
    return started.system.text if started.system else ""


def editable_at(entries: Sequence[Entry], seq: int) -> Editable | None:
    """What can be edited at that entry."""
    match entries[seq].event:
        case MessageAdded(message=message) if message.role == "user":
            return Editable("message", seq, message.text, "Message")
        case ToolCalled(call_id=call_id, name=name, arguments=arguments):
            text = json.dumps(arguments, indent=2, ensure_ascii=False)
            return Editable("arguments", call_id, text, f"Arguments of {name}, which is called again with them")
        case ToolReturned(call_id=call_id, result=result):
            return Editable("result", call_id, result.text, f"Result of {result.name}")
        case _:
            return None


def _arguments(text: str) -> dict[str, JsonValue]:
    try:
        return _OBJECT.validate_json(text or "{}")
    except ValidationError:
        raise WorkbenchError('The arguments have to be a JSON object, such as {"x": 1}.') from None
