"""Names for agents: what is wrong with one, said while it is typed."""

from collections.abc import Iterable

from app.domain.agents import Agent, slug_of

LONGEST_NAME = 80


def name_problem(name: str, others: Iterable[Agent]) -> str:
    """Why an agent cannot be called that, with the way out; empty when it can. `others` are those not deleted."""
    words = name.strip()
    if not words:
        return "Give the agent a name."
    if len(words) > LONGEST_NAME:
        return f"A name has at most {LONGEST_NAME} characters; this one has {len(words)}."
    for other in others:
        if _alike(words, other.name):
            return f"There is already an agent called “{other.name}”. Choose another name."
    return ""


def _alike(name: str, other: str) -> bool:
    """True also for names that differ in signs only; those without a Latin letter share a slug, and may differ."""
    slug = slug_of(name)
    return name.casefold() == other.strip().casefold() or (slug == slug_of(other) and slug != "agent")
