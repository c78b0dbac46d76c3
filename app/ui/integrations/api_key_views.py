"""The API keys as a list."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from app.domain.agents import Agent
from app.domain.keys import RIGHT_TITLES, ApiKey
from app.ui.elements.format import ago, day, moment_text, plural
from app.ui.elements.markup import Html, icon, joined, tag

MOST_SHOWN = 100
"""Keys of a list; the others are counted."""
MOST_NAMED = 3
"""Agents of a key that its row names; the others are counted."""


def keys_list(keys: Sequence[ApiKey], agents: Sequence[Agent], at: datetime) -> Html:
    """Those that open something or have expired; the newest first."""
    kept = [key for key in keys if key.revoked_at is None]
    return _table(kept, agents, at) if kept else _no_keys()


def revoked_list(keys: Sequence[ApiKey], agents: Sequence[Agent], at: datetime) -> tuple[str, Html]:
    """How many were revoked, in words, and which; both empty where none was."""
    revoked = [key for key in keys if key.revoked_at is not None]
    return (plural(len(revoked), "revoked key"), _table(revoked, agents, at)) if revoked else ("", Html(""))


def reaching(keys: Sequence[ApiKey], agent: Agent, at: datetime) -> list[ApiKey]:
    """The keys that open the agent."""
    return [key for key in keys if key.standing(at) == "valid" and key.may_use(agent)]


def agents_words(key: ApiKey, names: Mapping[str, str]) -> str:
    """Which agents the key opens; `names` by their ids."""
    if key.agents is None:
        return "All agents"
    known = [names[one] for one in key.agents if one in names]
    if not known:
        return "Its agents were deleted"
    left = len(known) - MOST_NAMED
    return ", ".join(known[:MOST_NAMED]) + (f" and {left} more" if left > 0 else "")


def rights_words(key: ApiKey) -> str:
    """What the key may besides running its agents."""
    if key.agents is None:
        return "Everything but keys"
    return ", ".join(RIGHT_TITLES[right] for right in key.may) or "Nothing"


def _no_keys() -> Html:
    words = "A program shows a key to use your agents. Make one for each program, so that you can revoke it alone."
    return tag("div", icon("key"), tag("strong", "No keys yet"), tag("span", words), cls="empty")


def _table(keys: Sequence[ApiKey], agents: Sequence[Agent], at: datetime) -> Html:
    names = {agent.id: agent.name for agent in agents}
    heads = ("Name", "Agents", "May also", "Ends with", "Expires", "Created", "Last used")
    actions = tag("th", tag("span", "Change it", cls="visually-hidden"), scope="col")
    head = tag("tr", *(tag("th", words, scope="col") for words in heads), actions)
    rows = joined(*(_row(key, names, at) for key in keys[:MOST_SHOWN]))
    left = len(keys) - MOST_SHOWN
    more = tag("p", f"And {plural(left, 'older key')}: agent-playground key list", cls="faint") if left > 0 else ""
    return joined(tag("table", tag("thead", head), tag("tbody", rows), cls="keys-table"), more)


def _row(key: ApiKey, names: Mapping[str, str], at: datetime) -> Html:
    every = [names[one] for one in key.agents or () if one in names]
    return tag(
        "tr",
        tag("th", key.name, scope="row", cls="key-name"),
        _cell("Agents", tag("span", agents_words(key, names), title=", ".join(every) or None)),
        _cell("May also", rights_words(key)),
        _cell("Ends with", tag("code", f"…{key.last_four}")),
        _cell("Expires", _expiry(key, at)),
        _cell("Created", _moment(key.created_at, at)),
        _cell("Last used", _moment(key.last_used_at, at) if key.last_used_at else "never"),
        tag("td", _actions(key), cls="key-actions"),
        data_testid="key-row",
        data_key=key.name,
    )


def _cell(label: str, words: str) -> Html:
    """A narrow window has no head over it, so the cell brings its own."""
    return tag("td", words, data_label=label)


def _moment(moment: datetime, at: datetime) -> Html:
    return tag("span", ago(moment, at), title=moment_text(moment))


def _expiry(key: ApiKey, at: datetime) -> Html:
    match key.standing(at):
        case "revoked" if key.revoked_at:
            return tag("span", f"revoked {day(key.revoked_at)}", cls="chip")
        case "expired" if key.expires_at:
            return tag("span", f"expired {day(key.expires_at)}", cls="chip is-warn")
        case _:
            return tag("span", day(key.expires_at) if key.expires_at else "never")


def _actions(key: ApiKey) -> Html:
    if key.revoked_at is not None:
        return Html("")
    rights = _action("Rights", "Rights of", key, data_rights=key.id, data_testid="key-rights")
    revoke = _action("Revoke", "Revoke", key, data_revoke=key.id, data_testid="revoke-key")
    return revoke if key.agents is None else joined(rights, revoke)


def _action(words: str, label: str, key: ApiKey, **attributes: str) -> Html:
    known = {"aria_label": f"{label} the key {key.name}", "data_key": f"{words} {key.id}"}
    return tag("button", words, cls="text-button", **known, **attributes)
