"""The steps of the columns' answers to one message, aligned as a table."""

from collections import Counter
from collections.abc import Sequence

from app.domain.comparisons import LETTERS
from app.domain.trace import AlignedStep, CallView, NodeRun, TrajectoryStep, Verdict, align, text_of
from app.ui.elements.format import head, plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.visible import visible
from app.ui.graph.node_words import state_words

SHOWN_STEPS = 50
_WORDS: dict[Verdict, tuple[str, str]] = {
    "same": ("same", "check"),
    "other_arguments": ("other arguments", "tune"),
    "other_tool": ("other tool", "swap_horiz"),
    "extra": ("extra", "add"),
    "missing": ("missing", "remove"),
}


def review(columns: Sequence[Sequence[TrajectoryStep] | None]) -> Html:
    """The columns' steps as a table under one line that sums them up; `None` stands for a column without a run.

    Nothing when there is nothing to compare: fewer than two columns answered, or none called a tool or has nodes.
    """
    present = [(LETTERS[place], steps) for place, steps in enumerate(columns) if steps]
    if len(present) < 2 or not any(step.calls or step.node for _, steps in present for step in steps):
        return Html("")
    aligned = align([steps for _, steps in present])
    return tag(
        "details",
        tag("summary", _sum(aligned)),
        _table([letter for letter, _ in present], aligned),
        cls="compare-steps",
        data_testid="compare-steps",
    )


def _sum(aligned: Sequence[AlignedStep]) -> Html:
    """All steps in one line: how many there are, and how they differ."""
    counts = Counter(row.verdict for row in aligned if row.verdict != "same")
    if not counts:
        has_nodes = any(step and step.node for row in aligned for step in row.columns)
        words = f"the same {'nodes and inputs' if has_nodes else 'tool calls'} in all columns"
    else:
        words = " · ".join(f"{number} {_WORDS[verdict][0]}" for verdict, number in counts.items())
    return joined(tag("strong", "Step by step"), tag("span", f"{plural(len(aligned), 'step')}: {words}", cls="muted"))


def _table(letters: Sequence[str], aligned: Sequence[AlignedStep]) -> Html:
    names = tag("tr", tag("th", "Step", scope="col"), *(tag("th", letter, scope="col") for letter in letters))
    rows = [_row(step) for step in aligned[:SHOWN_STEPS]]
    left = len(aligned) - SHOWN_STEPS
    more = tag("p", f"{plural(left, 'more step')} not shown; see each run's own page.", cls="faint") if left > 0 else ""
    table = tag("table", tag("thead", names), tag("tbody", *rows))
    return joined(tag("div", table, cls="compare-table", tabindex="0", role="group", aria_label="Step by step"), more)


def _row(row: AlignedStep) -> Html:
    cells = [
        _cell(step, verdict, is_first=place == 0)
        for place, (step, verdict) in enumerate(zip(row.columns, row.verdicts, strict=True))
    ]
    return tag("tr", tag("th", str(row.number), scope="row"), *cells, data_verdict=row.verdict)


def _cell(step: TrajectoryStep | None, verdict: Verdict | None, *, is_first: bool) -> Html:
    if step is None:
        words = _verdict(verdict) if verdict else tag("span", "–", cls="faint")
        return tag("td", words, data_verdict=verdict)
    if not step.calls and step.node is None and verdict == "same":
        return tag("td", tag("span", "Answers", cls="faint"))
    mark = "" if is_first or verdict is None else _verdict(verdict)
    told = [_node(step.node)] if step.node else [_call(call) for call in step.calls]
    answers = () if told else (tag("span", "Answers", cls="faint"),)
    return tag("td", *told, *answers, mark, data_verdict=None if is_first else verdict)


def _verdict(verdict: Verdict) -> Html:
    words, symbol = _WORDS[verdict]
    return tag("span", icon(symbol), words, cls=f"compare-verdict is-{verdict.replace('_', '-')}")


def _node(node: NodeRun) -> Html:
    """Its title, how it went and the beginning of what it gave."""
    gave = (node.error.text if node.error else "") or text_of(node.value)
    words, value = tag("span", state_words(node), cls="muted"), tag("span", head(gave, 90), cls="mono muted")
    return tag("div", tag("strong", visible(node.label)), " ", words, " ", value)


def _call(call: CallView) -> Html:
    told = ", ".join(f"{name}: {value}" for name, value in call.arguments.items())
    failed = tag("span", "failed", cls="compare-failed") if call.state == "failed" else ""
    return tag(
        "div",
        tag("strong", call.name),
        " ",
        tag("span", head(told, 90), cls="mono muted"),
        " ",
        failed,
        title=told[:500],
    )
