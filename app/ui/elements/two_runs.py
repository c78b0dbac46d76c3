"""Two runs side by side, step by step: what each was asked and used up, and their steps in rows."""

import re
from collections.abc import Iterator, Sequence

from app.domain.trace import AlignedStep, RunRow, TrajectoryStep, Verdict
from app.ui.elements.addresses import run_address
from app.ui.elements.format import dollars, duration, head, plural, tokens
from app.ui.elements.markup import Html, joined, tag
from app.ui.elements.status_pill import status_pill

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
    yield tag("p", f"{run.agent.name} v{run.agent.variant}, {run.model}")
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
    calls = (
        tag("p", tag("code", call.name), " ", head(call.result.text if call.result else "", 160)) for call in step.calls
    )
    return joined(said, *calls)
