"""How far each judge agrees with the people who rated the same answers: four counts first, the figures behind them."""

from collections.abc import Sequence

from nicegui import background_tasks, ui

from app.domain.errors import WorkbenchError
from app.domain.evals.agreement import FEWEST_LABELS, Agreement, Share
from app.domain.evals.calibration import JudgeBeside
from app.domain.trace import RunRow
from app.ui.elements.addresses import REVIEW, run_address
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import head, plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.notices import empty_state
from app.ui.elements.visible import visible
from app.workbench import Workbench

MOST_ROWS = 100
SIDES = ((True, True), (False, True), (True, False), (False, False))
"""By what the person said, and the judge."""
HEADING = joined(
    tag("a", icon("arrow_back"), "Quick review", href=REVIEW, cls="back-link"),
    tag("h1", "Judges beside people", cls="page-title"),
    tag("p", "What a model says of answers is worth as much as it agrees with you on the same ones.", cls="page-lead"),
)


class JudgesPage:
    """`/review/judges`."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        ui.page_title("Judges · Agent Playground")
        with ui.element("div").classes("page"):
            ui.html(HEADING, sanitize=False)
            self._place = ui.element("div").classes("stack fill review-judges")
        with self._place:
            ui.html("Reading what was said…", sanitize=False).classes("muted")
        background_tasks.create(self._load(), name="read judges", context=self._place)

    async def _load(self) -> None:
        try:
            judges = await self._workbench.reviewing.judges()
        except WorkbenchError as problem:
            self._say("error", "This could not be read", str(problem))
            return
        if not judges:
            self._say("gavel", "No judge yet", "Let a model judge in an experiment, then rate the same answers here.")
            return
        self._place.clear()
        with self._place:
            for judge in judges:
                _Judge(workbench=self._workbench, judge=judge)

    def _say(self, symbol: str, title: str, words: str) -> None:
        self._place.clear()
        with self._place:
            empty_state(symbol, title, words, tag("a", "Go to Quick review", href=REVIEW))


class _Judge:
    def __init__(self, workbench: Workbench, judge: JudgeBeside) -> None:
        self._workbench = workbench
        self._judge = judge
        with ui.element("section").classes("panel stack").props("data-testid=judge"):
            table = ui.html(judge_view(judge), sanitize=False)
            on_click_of(table, "side", self._show)
            self._rows = ui.html(sanitize=False).props("role=status")

    def _show(self, side: str) -> None:
        person, judge = SIDES[int(side)]
        found = self._judge.where(person=person, judge=judge)
        rows = [(one.run_id, self._workbench.rows.get(one.run_id)) for one in found[:MOST_ROWS]]
        self._rows.set_content(rows_view(rows, len(found), person=person, judge=judge))


def judge_view(judge: JudgeBeside) -> Html:
    """Its name and state, the four counts, what to label next, and the figures closed below."""
    found, scorer = judge.agreement, judge.scorer
    criteria = tag("ul", *(tag("li", visible(one)) for one in scorer.criteria))
    title = tag("h2", visible(scorer.name), " ", _state(found), cls="section-title")
    return joined(
        title,
        tag("p", visible(scorer.model), cls="muted"),
        criteria,
        _table(found),
        tag("p", found.wanted) if found.wanted else "",
        tag("details", tag("summary", "Figures"), _figures(found)) if found.labels else "",
    )


def _state(found: Agreement) -> Html:
    words = f"uncalibrated: {found.labels} of {FEWEST_LABELS}" if found.state == "uncalibrated" else found.state
    return tag("span", words, cls="chip" if found.state == "usable" else "chip is-warn", data_testid="judge-state")


def _table(found: Agreement) -> Html:
    counts = (found.both, found.only_judge, found.only_person, found.neither)
    cells = [tag("td", _count(place, number)) for place, number in enumerate(counts)]
    heads = tag("tr", tag("td"), *(tag("th", words, scope="col") for words in ("You: good", "You: not good")))
    rows = (
        tag("tr", tag("th", words, scope="row"), *cells[2 * at : 2 * at + 2])
        for at, words in enumerate(("Judge: passed", "Judge: failed"))
    )
    caption = tag("caption", "How many answers both rated so", cls="visually-hidden")
    return tag("table", caption, tag("thead", heads), tag("tbody", *rows), cls="judge-table", data_testid="judge-table")


def _count(place: int, number: int) -> Html:
    if not number:
        return tag("span", "0", cls="faint")
    return tag("button", str(number), cls="link-button", data_side=str(place), data_testid=f"judge-side-{place}",
               aria_label=f"Show {plural(number, 'answer')}")  # fmt: skip


def _figures(found: Agreement) -> Html:
    kappa, interval = found.kappa, found.kappa_interval
    told = "–" if kappa is None or interval is None else f"{kappa:.2f} ({interval.low:.2f} to {interval.high:.2f})"
    rows = (
        ("Both said the same", _share(found.agreed)),
        ("Passed, of those you found good", _share(found.sensitivity)),
        ("Failed, of those you found not good", _share(found.specificity)),
        ("κ, agreement above chance", told),
        ("AC1, which nearly equal answers do not spoil", "–" if found.ac1 is None else f"{found.ac1:.2f}"),
    )
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", words)) for name, words in rows), cls="judge-figures")


def _share(share: Share) -> str:
    if share.rate is None:
        return "–"
    low, high = share.interval
    return f"{share.right} of {share.of} ({100 * low:.0f}–{100 * high:.0f} %)"


def rows_view(rows: Sequence[tuple[str, RunRow | None]], count: int, *, person: bool, judge: bool) -> Html:
    """The answers behind a count, each a link; a run that is gone is called by its id."""
    words = f"You: {'good' if person else 'not good'}, judge: {'passed' if judge else 'failed'}"
    links = (tag("li", tag("a", _words(run_id, row), href=run_address(run_id))) for run_id, row in rows)
    left = tag("p", f"{count - MOST_ROWS:,} more not shown.", cls="faint") if count > MOST_ROWS else ""
    return joined(tag("h3", words, cls="section-title"), tag("ul", *links), left)


def _words(run_id: str, row: RunRow | None) -> str:
    return visible(f"{head(row.request, 80)} → {head(row.answer or '', 80)}") if row else run_id
