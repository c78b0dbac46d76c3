"""Which tools a run gets, and in which order the model is offered them."""

from collections.abc import Collection, Iterable

from app.domain.agents import Agent, Behaviour, ToolChoice, tools_of
from app.domain.errors import WorkbenchError
from app.domain.messages import TOOL, Dispositions, Message, disposition_of
from app.domain.tools import GrantedTool, canonical_name
from app.engine.loop.results import READER, wants_reader
from app.engine.ports import Toolbox


def granted(
    toolbox: Toolbox,
    agent: Agent,
    behaviour: Behaviour,
    tools_off: Collection[str] = (),
    unasked: Collection[str] = (),
) -> tuple[GrantedTool, ...]:
    """The variant's tools that are on, those that are `unasked` called without asking.

    Refuses a variant that uses a tool there is not.
    """
    if missing := toolbox.missing(tuple(choice.name for choice in _used(behaviour))):
        listed = ", ".join(repr(name) for name in missing)
        raise WorkbenchError(
            f"Agent {agent.name!r} uses tools that do not exist: {listed}. Remove them from its variant, "
            "turn them off, or bring them back."
        )
    return tuple(
        tool.model_copy(update={"policy": "auto"}) if tool.spec.name in unasked else tool
        for tool in allowed(toolbox, behaviour, tools_off)
    )


def allowed(toolbox: Toolbox, behaviour: Behaviour, tools_off: Collection[str] = ()) -> tuple[GrantedTool, ...]:
    """The tools there are of those that the variant may use, without what is off.

    What is said of a tool by its own name goes before what is said of its kit. An agent whose tools may return more
    than a model can take is also given the reader of such results, unless it is off for the variant or the session: it
    is one small tool, and agents that only calculate are not charged for it.
    """
    off = {canonical_name(name) for name in tools_off}
    policies = {canonical_name(choice.name): choice.policy for choice in tools_of(behaviour)}
    found: dict[str, GrantedTool] = {}
    for choice in _used(behaviour):
        for spec in toolbox.specs((choice.name,)):
            policy = policies.get(spec.name, choice.policy)
            if policy != "off" and not {spec.name, canonical_name(choice.name)} & off:
                found[spec.name] = GrantedTool(spec=spec, policy=policy)
    if wants_reader(found) and READER not in off and policies.get(READER) != "off":
        for spec in toolbox.specs((READER,)):
            found.setdefault(spec.name, GrantedTool(spec=spec))
    return tuple(found.values())


def offered(
    tools: tuple[GrantedTool, ...], messages: Iterable[Message], dispositions: Dispositions
) -> tuple[GrantedTool, ...]:
    """Those first that are named for what is attached to these messages, then those that say that they open it.

    Each group is in its own order.
    """
    parts = [part for message in messages for part in message.attachments]
    meant = (disposition_of(part, dispositions) for part in parts)
    named = {canonical_name(one.removeprefix(TOOL)) for one in meant if one.startswith(TOOL)}
    types = {part.media_type for part in parts}

    def place(tool: GrantedTool) -> int:
        return 0 if tool.spec.name in named else 1 if any(tool.spec.opens(kind) for kind in types) else 2

    return tuple(sorted(tools, key=place))


def _used(behaviour: Behaviour) -> tuple[ToolChoice, ...]:
    return tuple(choice for choice in tools_of(behaviour) if choice.policy != "off")
