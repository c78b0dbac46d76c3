"""Agents and their variants, and the rules that keep a saved variant as it was saved."""

import re
import unicodedata
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from app.domain.agents.behaviours import Behaviour, BehaviourKind
from app.domain.errors import Conflict, NotFound, WorkbenchError
from app.domain.evals.gates import Activation, Gate
from app.domain.values import Value, new_id, now

LONGEST_NAME = 80  # characters
LONGEST_DESCRIPTION = 2_000
_FINE = re.compile("(?<=.)[\u00a0\u200c\u200d\u202f\u3000](?=.)")
"""Blanks and joiners without which some languages and emoji cannot be written; Python calls them not printable."""
VariantStatus = Literal["candidate", "active", "archived"]


class Variant(Value):
    """A numbered version of an agent's behaviour. Never changed once saved."""

    number: int
    behaviour: Behaviour
    note: str = ""
    origin: int | None = None
    """The number of the variant it was made from."""
    created_at: datetime


class WorkingCopy(Value):
    """What somebody changed of an agent and has not saved as a variant yet; kept a second after typing stops."""

    agent_id: str
    origin: int
    """The number of the variant it began from."""
    behaviour: Behaviour
    pins: dict[str, JsonValue] = {}
    """By node of a workflow: the value that stands for what it gives, whenever a part of it is tried."""
    updated_at: datetime

    def changes(self, agent: "Agent") -> bool:
        """Whether there is something to save: pins alone are kept, and are nothing of a variant."""
        return all(one.number != self.origin or one.behaviour != self.behaviour for one in agent.variants)


class VariableSet(Value):
    """Values for an agent's variables that somebody keeps under a name."""

    id: str
    agent_id: str
    name: str
    values: dict[str, str] = {}


class Agent(Value):
    id: str
    slug: str
    name: str
    description: str = ""
    icon: str = "smart_toy"
    examples: tuple[str, ...] = ()
    """Questions to start with, shown in an empty conversation."""
    variants: tuple[Variant, ...]
    active: int
    """The number of the variant that runs when none is asked for."""
    archived: tuple[int, ...] = ()
    gate: Gate | None = None
    """What a variant has to show before it is the active one."""
    activations: tuple[Activation, ...] = ()
    """Which variants became the active one, in order."""
    is_public: bool = False
    created_at: datetime
    created_by: str = ""
    """`page`, `app` for a sample, or who called; empty in agents that were made before this was kept."""
    updated_at: datetime | None = None
    """When it was last changed; `None` as long as it is as it was made."""
    deleted_at: datetime | None = None

    @property
    def active_variant(self) -> Variant:
        return self.variant(self.active)

    @property
    def kind(self) -> BehaviourKind:
        """How all its variants answer."""
        return self.active_variant.behaviour.kind

    def variant(self, number: int) -> Variant:
        """The variant with that number; raises `NotFound` where there is none."""
        for variant in self.variants:
            if variant.number == number:
                return variant
        raise NotFound(f"Agent {self.name!r} has no variant {number}.")

    def was_active(self, number: int) -> bool:
        """Whether it is active or was before; where nothing is known of that, each one up to the active one was."""
        if not self.activations:
            return number <= self.active
        return number == self.active or any(one.variant == number for one in self.activations)

    def status_of(self, number: int) -> VariantStatus:
        if number == self.active:
            return "active"
        return "archived" if number in self.archived else "candidate"


def tool_name(agent: Agent) -> str:
    """What it is called as a tool of MCP: `run_` and its slug, at most the 64 characters that every client takes."""
    name = f"run_{agent.slug}"
    return name if len(name) <= 64 else f"{name[:55]}-{agent.id[:8]}"


def new_agent(
    name: str,
    behaviour: Behaviour,
    *,
    taken_slugs: Collection[str],
    description: str = "",
    icon: str = "smart_toy",
    examples: tuple[str, ...] = (),
    created_by: str = "page",
) -> Agent:
    """An agent whose first variant is `behaviour`, under a slug of its own."""
    made_at = now()
    return Agent(
        id=new_id(),
        slug=free_slug(name, taken_slugs),
        name=name.strip(),
        description=description,
        icon=icon,
        examples=examples,
        variants=(Variant(number=1, behaviour=behaviour, created_at=made_at),),
        active=1,
        created_at=made_at,
        created_by=created_by,
    )


def with_variant(agent: Agent, behaviour: Behaviour, *, origin: int, note: str = "") -> Agent:
    """The agent with `behaviour` saved as its next variant, a candidate. Raises `Conflict` for another kind of it."""
    if behaviour.kind != agent.kind:
        raise Conflict(f"Agent {agent.name!r} answers by a {agent.kind}. Make a new agent for a {behaviour.kind}.")
    number = max(variant.number for variant in agent.variants) + 1
    variant = Variant(number=number, behaviour=behaviour, note=note, origin=origin, created_at=now())
    return agent.model_copy(update={"variants": (*agent.variants, variant)})


def promoted(agent: Agent, number: int, *, by: str = "", override: str = "", reasons: tuple[str, ...] = ()) -> Agent:
    """The agent with that variant active; whether its gate lets it is asked in `engine/experiments/gating.py`."""
    agent.variant(number)
    if number == agent.active:
        return agent
    earlier = (one for one in agent.variants if agent.was_active(one.number))
    before = agent.activations or tuple(Activation(variant=one.number, at=one.created_at) for one in earlier)
    then = Activation(variant=number, at=now(), by=by, override=override, reasons=reasons)
    archived = tuple(other for other in agent.archived if other != number)
    return agent.model_copy(update={"active": number, "archived": archived, "activations": (*before, then)})


def unpromoted(newest: Agent, *, before: Agent, after: Agent) -> Agent:
    """The agent without the promotion that made `after` of `before`; as it is where another one came since."""
    own = after.active, after.activations[-1:]
    if before.active == after.active or (newest.active, newest.activations[-1:]) != own:
        return newest
    again = {after.active} & {*before.archived}
    archived = tuple(sorted(({*newest.archived} | again) - {before.active}))
    changes = {"active": before.active, "archived": archived, "activations": newest.activations[:-1]}
    return newest.model_copy(update=changes)


def archived(agent: Agent, number: int) -> Agent:
    """The agent with that variant out of the way; the active one cannot be archived."""
    agent.variant(number)
    if number == agent.active:
        raise Conflict(f"Variant {number} is active. Promote another one before you archive it.")
    return agent.model_copy(update={"archived": tuple(sorted({*agent.archived, number}))})


def unarchived(agent: Agent, number: int) -> Agent:
    """The agent with that variant a candidate again."""
    agent.variant(number)
    return agent.model_copy(update={"archived": tuple(other for other in agent.archived if other != number)})


def duplicated(agent: Agent, taken_slugs: Collection[str]) -> Agent:
    """A new agent with all that the other one has, its variants included, under a name and slug of its own."""
    name = f"{agent.name} (copy)"
    fresh = {"id": new_id(), "name": name, "slug": free_slug(name, taken_slugs), "is_public": False}
    made = {"created_at": now(), "created_by": "page", "updated_at": None, "deleted_at": None}
    return agent.model_copy(update=fresh | made)


def renamed(agent: Agent, name: str) -> Agent:
    """The agent under another name; its slug stays, since addresses and API calls use it."""
    if not name.strip():
        raise WorkbenchError("The agent has no name. Give it one.")
    return agent.model_copy(update={"name": name.strip()})


def slug_of(name: str, *, nameless: str = "agent") -> str:
    """The name in lower case ASCII words joined by `-`, 64 characters at most; `nameless` when nothing is left."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", ascii_name.lower())
    return "-".join(words)[:64].strip("-") or nameless


def free_slug(name: str, taken: Collection[str], *, nameless: str = "agent") -> str:
    """The name's slug, with the first number behind it that makes it unique."""
    slug = slug_of(name, nameless=nameless)
    candidates = (slug, *(f"{slug[:60]}-{number}" for number in range(2, len(taken) + 3)))
    return next(candidate for candidate in candidates if candidate not in taken)


def name_problem(name: str, others: Iterable[Agent]) -> str:
    """Why an agent cannot be called that, with the way out; empty when it can. `others` are those not deleted."""
    words = name.strip()
    if not words:
        return "Give the agent a name."
    if len(words) > LONGEST_NAME:
        return f"A name has at most {LONGEST_NAME} characters; this one has {len(words)}."
    if hidden := hidden_in(name):
        return f"A name cannot hold {hidden!a}, which does not show. Take it out."
    for other in others:
        if _alike(words, other.name):
            return f"There is already an agent called “{other.name}”. Choose another name."
    return ""


def hidden_in(name: str) -> str:
    """The first character in it that does not show, or turns its neighbours around; empty where there is none."""
    return next((sign for sign in _FINE.sub("", name.strip()) if not sign.isprintable()), "")


def _alike(name: str, other: str) -> bool:
    """True also for names that differ in signs only; those without a Latin letter share a slug, and may differ."""
    slug = slug_of(name)
    return name.casefold() == other.strip().casefold() or (slug == slug_of(other) and slug != "agent")
