"""What the page of an experiment shows: its plan, how far it is, a row for each column, cells with their reasons."""

from collections.abc import Mapping, Sequence

from app.domain.evals.drafts import Progress
from app.domain.evals.experiments import Cell, CellState, Experiment, ExperimentStatus, Plan
from app.domain.evals.results import ColumnResults, Results
from app.ui.elements.addresses import (
    EXPERIMENTS,
    agent_address,
    dataset_address,
    matrix_address,
    run_address,
    suggest_address,
)
from app.ui.elements.format import dollars, duration, head, percent, plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.status_pill import experiment_pill

ACTIONS: dict[str, tuple[str, tuple[ExperimentStatus, ...]]] = {
    "start": ("Start", ("planned",)),
    "pause": ("Pause", ("running",)),
    "resume": ("Resume", ("paused", "interrupted")),
    "cancel": ("Stop", ("running", "paused", "interrupted")),
    "retry_errors": ("Retry errors", ("paused", "interrupted", "completed", "cancelled")),
    "score_again": ("Score again", ("paused", "interrupted", "completed", "cancelled")),
}
"""What each is called, and when it can be done."""
EMPTY: dict[CellState, str] = {
    "failed": "No cell failed.",
    "error": "No cell ended in an error.",
    "not_scored": "Every answer was scored.",
    "skipped": "No cell was skipped.",
}
COLUMNS = ("Column", "Passed", "Failed", "Errors", "Not scored", "Skipped", "Cost", "p50", "From the record")


def heading(experiment: Experiment, names: Mapping[str, str]) -> Html:
    """What it is called, how it stands, and its plan."""
    plan = experiment.plan
    dataset = tag("a", plan.dataset_slug, href=dataset_address(plan.dataset_slug))
    agent = tag("a", names.get(plan.agent_id, plan.agent_slug), href=agent_address(plan.agent_slug))
    tools = "tools answer from the record" if plan.tools == "recorded" else "tools called for real"
    live = f", {', '.join(plan.live)} for real" if plan.live and plan.tools == "recorded" else ""
    facts = (
        plural(len(plan.case_ids), "case"),
        plural(len(plan.columns), "column"),
        plural(plan.repeats, "repeat"),
        tools + live,
        f"decided by {plan.deciding}" if plan.deciding else "nothing scored",
    )
    matrix = tag("a", icon("grid_on"), "Matrix", href=matrix_address(experiment.id), data_testid="open-matrix")
    return joined(
        tag("a", icon("arrow_back"), "Experiments", href=EXPERIMENTS, cls="back-link"),
        tag("h1", head(experiment.title, 120), cls="page-title"),
        tag("p", experiment_pill(experiment.status), agent, " on ", dataset, f" version {plan.dataset_version}",
            matrix, _suggest(plan), cls="experiment-facts"),
        tag("p", " · ".join(facts), cls="faint"),
    )  # fmt: skip


def _suggest(plan: Plan) -> Html:
    """The way to a better prompt for its last variant; none where only recorded runs were scored."""
    tried = [column.variant for column in plan.columns if not (column.as_recorded or column.agent_id)]
    if not tried:
        return Html("")
    slug, variant, dataset = plan.agent_slug, tried[-1], plan.dataset_slug
    address = suggest_address(slug, variant=variant, dataset=dataset, tools=plan.tools, live=plan.live)
    return tag("a", icon("auto_fix_high"), "Suggest a better prompt", href=address, data_testid="open-suggest")


def action_buttons(progress: Progress) -> Html:
    """What can be done with it as it stands."""
    offered = [name for name, (_, when) in ACTIONS.items() if progress.status in when]
    if not progress.error and "retry_errors" in offered:
        offered.remove("retry_errors")
    if not progress.ended and "score_again" in offered:
        offered.remove("score_again")
    main = ("start", "resume")
    return joined(
        *(
            tag(
                "button",
                ACTIONS[name][0],
                cls=f"text-button{' text-button-primary' if name in main else ''}",
                data_do=name,
                data_key=name,
                data_testid=f"experiment-{name.replace('_', '-')}",
            )
            for name in offered
        )
    )


def progress_view(progress: Progress, plan: Plan) -> Html:
    """How many cells stand how, and the money so far."""
    counts = (
        (progress.passed, "passed", "good"),
        (progress.failed, "failed", "bad"),
        (progress.error, "errors" if progress.error != 1 else "error", "warn"),
        (progress.not_scored, "not scored", "plain"),
        (progress.skipped + progress.given_up, "skipped", "plain"),
        (progress.running, "running", "accent"),
        (progress.pending - progress.running - progress.given_up, "to go", "plain"),
    )
    told = (
        tag("span", tag("strong", f"{number:,}"), f" {words}", cls=f"count is-{tone}")
        for number, words, tone in counts
        if number > 0 or words in ("passed", "failed")
    )
    ceiling = f" of {dollars(plan.ceiling_usd)}" if plan.ceiling_usd else ""
    judges = f", {dollars(progress.judged)} of it for judges" if progress.judged else ""
    spent = f"{dollars(progress.cost, unpriced=progress.unpriced)}{ceiling}{judges}"
    bar = tag("progress", max=str(progress.total), value=str(progress.ended), aria_label="Cells that have ended")
    return joined(
        tag("div", bar, tag("span", f"{progress.ended:,} of {progress.total:,}"), cls="experiment-bar"),
        tag("div", *told, tag("span", spent, cls="muted"), cls="counts"),
        tag("p", why_words(progress), cls="notice notice-warn", data_testid="experiment-why") if progress.why else "",
    )


def why_words(progress: Progress) -> str:
    """Why it stands still, and what of it is done anew."""
    if progress.status != "interrupted" or not progress.left:
        return progress.why
    words = (
        "1 cell was going on then; it is"
        if progress.left == 1
        else f"{progress.left} cells were going on then; they are"
    )
    return f"{progress.why} {words} tried anew, and what that has cost so far counts."


def columns_table(results: Results) -> Html:
    """A row for each column."""
    head_row = tag("tr", *(tag("th", name, scope="col") for name in COLUMNS))
    rows = (_column(one, is_baseline=not place) for place, one in enumerate(results.columns))
    return tag("table", tag("thead", head_row), tag("tbody", *rows), cls="eval-table", data_testid="experiment-columns")


def cells_list(plan: Plan, cells: Sequence[Cell], headlines: Mapping[str, str], only: CellState) -> Html:
    """Cells that stand so, each with its reason and its run."""
    if not cells:
        return tag("p", EMPTY.get(only, "None."), cls="muted")
    return tag("ul", *(_cell(plan, cell, headlines.get(cell.case_id, cell.case_id)) for cell in cells),
               cls="session-list", data_testid="experiment-cells")  # fmt: skip


def _column(one: ColumnResults, *, is_baseline: bool) -> Html:
    name = joined(one.column.words, tag("small", "baseline") if is_baseline else "")
    recorded = percent(one.recorded / one.called) if one.called else "no calls"
    cost = dollars(one.cost_usd + one.judge_usd, unpriced=one.unpriced)
    values = (str(one.failed), str(one.errors), str(one.not_scored), str(one.skipped), cost, duration(one.p50_ms))
    cells = zip(COLUMNS[1:], (one.rate_words, *values, recorded), strict=True)
    return tag("tr", tag("th", name, scope="row"), *(tag("td", said, data_label=label) for label, said in cells))


def _cell(plan: Plan, cell: Cell, headline: str) -> Html:
    score = cell.score(plan.deciding)
    why = cell.why or (score.reason if score else "") or "No reason was given."
    again = f", repeat {cell.repeat + 1}" if plan.repeats > 1 else ""
    where = f"{plan.columns[cell.column].words}{again}"
    label = f"See the run of {head(headline, 40)}"
    address = run_address(cell.runs[-1]) if cell.runs else ""
    run = tag("a", "See the run", href=address, aria_label=label, data_key=cell.id) if address else ""
    words = tag("span", tag("strong", head(headline, 120)), tag("small", head(why, 300)), cls="eval-name grow")
    who = tag("span", where, cls="session-meta")
    return tag("li", words, who, run, cls="session-row cell-row", data_testid="experiment-cell")
