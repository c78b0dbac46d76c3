"""What changed between two behaviours, as a page shows it."""

import asyncio

from app.domain.agents import Behaviour
from app.domain.differences import Area, Change, Differences, WordRun, differences
from app.ui.elements.format import plural
from app.ui.elements.markup import Html, joined, tag

AROUND = 160
"""Characters of unchanged text shown before and after a change."""
LONGEST_RUN = 20_000
_TITLES: dict[Area, str] = {
    "settings": "Model and settings",
    "limits": "Limits",
    "tools": "Tools",
    "variables": "Variables",
    "output": "Output schema",
}


async def compared(before: Behaviour, after: Behaviour) -> Differences:
    """The differences, found in a thread: long prompts take a while."""
    return await asyncio.to_thread(differences, before, after)


def differences_view(found: Differences, *, empty: str = "Nothing is different.") -> Html:
    """The prompt woven together word by word, then what else changed; `empty` in its place when nothing did."""
    if found.none:
        return tag("div", tag("p", empty, cls="faint"), cls="variant-diff", data_testid="variant-diff")
    areas = (_area(area, [one for one in found.changes if one.area == area]) for area in _TITLES)
    return tag("div", _prompt(found), *areas, cls="variant-diff", data_testid="variant-diff")


def differences_summary(found: Differences) -> str:
    """`2 words added, 1 removed, model, temperature`: the differences on one line."""
    parts = [
        f"{plural(words, 'word')} {kind}"
        for kind in ("added", "removed")
        if (words := sum(len(run.text.split()) for run in found.prompt if run.kind == kind))
    ]
    if not parts and any(run.kind != "same" for run in found.prompt):
        parts.append("spaces or lines")
    names = [_name(change) for change in found.changes]
    shown = [*parts, *names[:3]]
    if len(names) > 3:
        shown.append(f"{len(names) - 3} more")
    return ", ".join(shown) or "nothing"


def _prompt(found: Differences) -> Html:
    if all(run.kind == "same" for run in found.prompt):
        return tag("p", "The prompt is the same.", cls="faint")
    last = len(found.prompt) - 1
    runs = (_run(run, first=place == 0, last=place == last) for place, run in enumerate(found.prompt))
    return joined(tag("h3", "Prompt"), tag("div", *runs, cls="diff-text", tabindex="0"))


def _run(run: WordRun, *, first: bool, last: bool) -> Html:
    match run.kind:
        case "same":
            return _unchanged(run.text, first=first, last=last)
        case "added":
            return tag("ins", _cut(run.text))
        case "removed":
            return tag("del", _cut(run.text))


def _unchanged(text: str, *, first: bool, last: bool) -> Html:
    """The text near the changes; what is left out is counted."""
    head = "" if first else text[:AROUND]
    tail = "" if last else text[-AROUND:]
    left_out = len(text) - len(head) - len(tail)
    if left_out < AROUND:
        return joined(text)
    return joined(head, tag("span", f"… {left_out:,} characters unchanged …", cls="diff-gap"), tail)


def _cut(text: str) -> Html:
    if len(text) <= LONGEST_RUN:
        return joined(text)
    more = tag("span", f"… {len(text) - LONGEST_RUN:,} more characters …", cls="diff-gap")
    return joined(text[:LONGEST_RUN], more)


def _area(area: Area, changes: list[Change]) -> Html:
    if not changes:
        return Html("")
    rows = joined(*(_change(change) for change in changes))
    return joined(tag("h3", _TITLES[area]), tag("dl", rows, cls="diff-facts"))


def _change(change: Change) -> Html:
    before = tag("del", change.before) if change.before else tag("span", "not set", cls="faint")
    after = tag("ins", change.after) if change.after else tag("span", "not set", cls="faint")
    arrow = tag("span", " → ", cls="faint")
    return joined(tag("dt", _name(change)), tag("dd", before, arrow, after))


def _name(change: Change) -> str:
    """What is changed, in words; tools and variables are called what they are called."""
    return change.name if change.area in ("tools", "variables") else change.name.replace("_", " ")
