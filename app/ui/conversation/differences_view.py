"""What changed between two behaviours, in a dialog too, and how two runs went: side by side, step by step."""

import asyncio
import re
from collections.abc import Iterator, Sequence

from nicegui import background_tasks, ui

from app.domain.agents import NODES_MODELS, Agent, Behaviour
from app.domain.differences import Area, Change, Differences, WordRun, differences
from app.domain.trace import AlignedStep, RunRow, TrajectoryStep, Verdict
from app.ui.elements.addresses import run_address
from app.ui.elements.buttons import icon_button
from app.ui.elements.format import dollars, duration, head, moment_text, plural, tokens
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.questions import named_dialog
from app.ui.elements.status_pill import status_pill
from app.ui.elements.variant_select import variant_words
from app.ui.elements.visible import visible
from app.ui.graph.node_words import state_words

AROUND = 160
"""Characters of unchanged text shown before and after a change."""
LONGEST_RUN = 20_000
_TITLES: dict[Area, str] = {
    "settings": "Model and settings",
    "limits": "Limits",
    "tools": "Tools",
    "nodes": "Nodes and edges",
    "variables": "Variables",
    "output": "Output schema",
    "attachments": "Attachments",
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
    """What is changed, in words; tools, variables and nodes are called what they are called."""
    return change.name if change.area in ("tools", "variables", "nodes") else change.name.replace("_", " ")


def past_gate(agent: Agent, number: int) -> Html:
    """Why somebody let that variant past the gate, each time; empty where nobody did."""
    let = [one for one in agent.activations if one.variant == number and one.override]
    rows = (
        tag(
            "p",
            f"Promoted past its gate on {moment_text(one.at)}: “{one.override}”",
            tag("span", f" {' '.join(one.reasons)}", cls="faint"),
            cls="variant-note",
            data_testid="gate-override-note",
        )
        for one in let
    )
    return joined(*rows)


EDITOR = 0
"""Stands for what is in the editor, in the place of a variant's number."""


class DifferencesDialog:
    """Opens with `before` and `after`, two numbers of variants; `behaviour` is what is in the editor."""

    def __init__(self, agent: Agent, behaviour: Behaviour, *, before: int, after: int) -> None:
        self._agent = agent
        self._behaviour = behaviour
        options = {EDITOR: "The editor"}
        for one in sorted(agent.variants, key=lambda one: one.number, reverse=True):
            options[one.number] = variant_words(agent, one.number) + (f" · {one.note[:40]}" if one.note else "")
        with (
            named_dialog("What is different") as self._dialog,
            ui.card().classes("dialog-card diff-dialog").props("data-testid=diff-dialog"),
        ):
            with ui.element("div").classes("row-line diff-head"):
                ui.html("What is different", sanitize=False, tag="h2").classes("section-title grow")
                icon_button("close", "Close", self._dialog.close, testid="close-diff")
            with ui.element("div").classes("row-line diff-choice"):
                self._before = self._select("Before", options, before)
                ui.html("→", sanitize=False).classes("faint")
                self._after = self._select("After", options, after)
            self._view = ui.html(tag("p", "Looking…", cls="faint"), sanitize=False).classes("diff-place")
        self._dialog.on("hide", self._dialog.delete)
        self._dialog.open()
        background_tasks.create(self._show(), name="find differences", context=self._view)

    def _select(self, label: str, options: dict[int, str], chosen: int) -> ui.select:
        box = ui.select(options, label=label, value=chosen, on_change=self._show).classes("grow")
        return box.props(f"outlined dense options-dense stack-label data-testid=diff-{label.lower()}")

    async def _show(self) -> None:
        before, after = self._of(self._before.value), self._of(self._after.value)
        found = await compared(before, after)
        if not self._view.is_deleted:
            shown = differences_view(found, empty="Nothing is different between these two.")
            number = self._after.value
            self._view.set_content(joined(past_gate(self._agent, number) if number else "", shown))

    def _of(self, number: object) -> Behaviour:
        return self._agent.variant(number).behaviour if isinstance(number, int) and number else self._behaviour


SHOWN = 50
_BOLD = re.compile(r"\*\*(\S(?:.*?\S)?)\*\*")
WORDS: dict[Verdict, str] = {
    "same": "The same",
    "other_arguments": "Other arguments",
    "other_tool": "Another tool",
    "extra": "Only in the fork",
    "missing": "Only in the original",
}
OF_TWO = WORDS | {"extra": "Only in the second", "missing": "Only in the first"}


def beside_table(runs: Sequence[RunRow], steps: Sequence[AlignedStep], *, names: Sequence[str] = ()) -> Html:
    """What each was asked and used up, and their steps in rows; without `names` they are called by their requests."""
    called = names or [head(run.request, 120) or "(no text)" for run in runs]
    heads = (tag("a", name, href=run_address(run.run_id)) for name, run in zip(called, runs, strict=True))
    corner = tag("span", "Step", cls="visually-hidden")
    columns = tag("tr", *(tag("th", one, scope="col") for one in (corner, *heads)))
    facts = tag("tr", tag("td", tag("strong", "Run")), *(tag("td", *_facts(run)) for run in runs))
    rows = [
        tag("tr", tag("td", tag("strong", f"Step {step.number}"), tag("div", _of_two(step), cls="faint")),
            *(tag("td", step_view(one)) for one in step.columns))
        for step in steps[:SHOWN]
    ]  # fmt: skip
    same = sum(_of_two(step) == OF_TWO["same"] for step in steps)
    summary = tag("p", tag("strong", f"{same} of {plural(len(steps), 'step')} the same"), ".")
    more = tag("p", f"{plural(len(steps) - SHOWN, 'more step')} not shown.", cls="faint") if len(steps) > SHOWN else ""
    return joined(summary, tag("table", tag("thead", columns), tag("tbody", facts, *rows), cls="fork-rows"), more)


def _of_two(step: AlignedStep) -> str:
    if step.verdict == "same" and said_in(step.columns[0]) != said_in(step.columns[1]):
        return "The same calls, other words" if any(one and one.calls for one in step.columns) else "Other words"
    return OF_TWO[step.verdict]


def _facts(run: RunRow) -> Iterator[Html]:
    yield tag("p", f"{run.agent.name} v{run.agent.variant}, {run.model or NODES_MODELS}")
    spent = (
        duration(run.duration_ms),
        tokens(run.input_tokens + run.output_tokens),
        dollars(run.cost, unpriced=run.unpriced),
    )
    yield tag("p", status_pill(run.status), " ", ", ".join(spent), cls="faint")


def said_in(step: TrajectoryStep | None) -> tuple[str, ...]:
    """What was said, and what came of the calls."""
    if step is None:
        return ()
    return (step.decision.text, *(call.result.text if call.result else "" for call in step.calls))


def step_view(step: TrajectoryStep | None) -> Html:
    if step is None:
        return tag("span", "no step", cls="faint")
    said = tag("p", head(_BOLD.sub(r"\1", step.decision.text), 200)) if step.decision.text.strip() else Html("")
    if step.node is not None:
        return joined(tag("p", tag("strong", visible(step.node.label)), " ", state_words(step.node)), said)
    calls = (
        tag("p", tag("code", call.name), " ", head(call.result.text if call.result else "", 160)) for call in step.calls
    )
    return joined(said, *calls)
