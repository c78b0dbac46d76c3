"""The matrix as one table: a head for each column, a row for each case, a button for each cell."""

from collections.abc import Collection, Sequence

from app.domain.evals.matrix import MatrixCell, MatrixRow
from app.domain.evals.results import ColumnResults
from app.domain.evals.verdicts import Verdict
from app.engine.experiments.matrices import Looked
from app.ui.elements.format import dollars, duration, head
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.visible import visible
from app.ui.matrix.matrix_words import BESIDE, FLAG_WORDS, MARKS, cell_words, deltas, dots, left_words

HEADLINE = 160  # characters


def matrix_table(looked: Looked, rows: Sequence[MatrixRow], *, pins: Collection[int], column: int) -> Html:
    """`column`: the one that a narrow window shows."""
    names = [one.words for one in looked.experiment.plan.columns]
    heads = (tag("th", tag("span", "Case", cls="muted"), scope="col"), *_heads(looked, names, column))
    body = (_row(row, names, pins, column, is_first=row is rows[0]) for row in rows)
    return tag(
        "table",
        tag("caption", "Cases by columns; the first column is the baseline", cls="visually-hidden"),
        tag("thead", tag("tr", *heads)),
        tag("tbody", *body),
        cls="matrix-table",
        data_testid="matrix",
    )


def _heads(looked: Looked, names: Sequence[str], shown: int) -> list[Html]:
    verdicts = {one.column: one.verdict for one in looked.results.verdicts}
    return [
        tag("th", _head(name, results, verdicts.get(place), verdicts), scope="col", cls=_look(place, shown))
        for place, (name, results) in enumerate(zip(names, looked.results.columns, strict=True))
    ]


def _head(name: str, results: ColumnResults, verdict: Verdict | None, others: Collection[int]) -> Html:
    """`others`: the columns that are compared with it, where it is the baseline."""
    took = f"{duration(results.p50_ms)} (95 %: {duration(results.p95_ms)})" if results.p50_ms is not None else ""
    judges = f" + {dollars(results.judge_usd)} judges" if results.judge_usd else ""
    paid = dollars(results.cost_usd, unpriced=results.unpriced) + judges
    lines = (paid, took, *left_words(results))
    return joined(
        tag("div", tag("strong", visible(name), cls="truncate", title=visible(name)),
            tag("span", "Baseline", cls="chip") if others and verdict is None else "", cls="row-line"),
        tag("div", results.rate_words, cls="matrix-rate", data_testid="matrix-rate"),
        tag("div", " · ".join(line for line in lines if line), cls="matrix-took"),
        verdict_view(verdict) if verdict is not None else "",
    )  # fmt: skip


def verdict_view(verdict: Verdict, *, testid: str = "verdict") -> Html:
    """The counts and the word, with the figures behind them in the tooltip and for who cannot point."""
    behind = tag("span", f" ({verdict.figures})", cls="visually-hidden") if verdict.figures else ""
    look = f"matrix-verdict is-{verdict.verdict.replace(' ', '-')}"
    return tag("div", verdict.words, behind, cls=look, title=verdict.figures or None, data_testid=testid,
               data_verdict=verdict.verdict)  # fmt: skip


def _row(row: MatrixRow, names: Sequence[str], pins: Collection[int], shown: int, *, is_first: bool) -> Html:
    """Tab leads to one cell of the table; from there on the arrows lead."""
    cells = (
        tag("td", _cell(row, cell, place, names[place], is_first=is_first and place == shown), cls=_look(place, shown))
        for place, cell in enumerate(row.cells)
    )
    case = tag("th", _case(row, is_pinned=row.number in pins), scope="row")
    return tag("tr", case, *cells, data_testid="matrix-row")


def _case(row: MatrixRow, *, is_pinned: bool) -> Html:
    number, words = str(row.number), visible(head(row.case.headline, HEADLINE))
    label = f"Unpin case {number}" if is_pinned else f"Pin case {number} to the top"
    pin = tag("button", icon("push_pin"), cls="icon-action is-on" if is_pinned else "icon-action", data_pin=number,
              data_key=f"pin-{number}", data_testid="matrix-pin", tabindex="-1", aria_label=label, title=label,
              aria_pressed="true" if is_pinned else "false")  # fmt: skip
    chips = [tag("span", FLAG_WORDS["flaky"], cls="chip is-warn")] if "flaky" in row.flags else []
    chips += [tag("span", "must pass", cls="chip")] if row.case.must_pass else []
    chips += [tag("span", visible(head(one, 30)), cls="chip") for one in row.case.tags[:4]]
    said = tag("span", tag("span", number, cls="matrix-number"), " ", words, title=words)
    return tag("div", pin, tag("div", said, tag("div", *chips, cls="matrix-chips") if chips else ""), cls="matrix-case")


def _cell(row: MatrixRow, cell: MatrixCell, place: int, column: str, *, is_first: bool) -> Html:
    baseline, (sign, words) = row.cells[0], MARKS[cell.mark]
    beside = cell.beside(baseline) if place else "same"
    changed = bool(place) and cell.differs(baseline)
    seen = BESIDE[beside] or (
        "other answer" if changed else "" if cell.mark in ("passed", "failed", "flaky") else words
    )
    more = deltas(cell, baseline) if place else []
    told = ", ".join(filter(None, (cell_words(cell), seen if seen != words else "", *more)))
    return tag(
        "button",
        tag("span", dots(cell) if len(cell.tries) > 1 else sign, cls="matrix-mark", aria_hidden="true"),
        tag("span", seen, cls="matrix-beside") if seen else "",
        tag("small", " · ".join(more)) if more else "",
        cls=f"matrix-cell is-{cell.mark.replace('_', '-')}",
        data_testid="matrix-cell",
        data_cell=f"{row.number}.{place}",
        data_key=f"{row.number}.{place}",
        data_mark=cell.mark,
        data_beside=beside if place else None,
        data_differs=bool(place) and (beside in ("better", "worse") or changed),
        tabindex="0" if is_first else "-1",
        aria_label=f"Case {row.number}, {visible(column)}: {told}",
        title=told,
    )


def _look(place: int, shown: int) -> str:
    return "is-shown" if place == shown else "is-other"
