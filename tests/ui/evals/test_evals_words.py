"""What an experiment would cost, and what came of it, in words."""

import pytest

from app.domain.evals.cases import CaseContent, Dataset, new_cases
from app.domain.evals.drafts import Estimate, ExperimentDraft, Progress
from app.domain.evals.experiments import Column, Plan
from app.domain.evals.results import ColumnResults, ColumnVerdict, Results
from app.domain.evals.scorers import Checks, Contains, Steps
from app.domain.evals.verdicts import Verdict
from app.domain.values import now
from app.engine.experiments.working import Tally
from app.ui.conversation.save_case import UNSCORED, saved_words
from app.ui.evals.estimate_words import FREE, PILOT, cost_words, estimate_view
from app.ui.evals.experiment_views import action_buttons, columns_table, progress_view
from app.ui.evals.verdict_view import verdict_view
from tests.tried import cases_of, cell, experiment

ESTIMATE = Estimate(
    cells=24, low_usd=0.0, high_usd=0.0, judge_low_usd=0.0, judge_high_usd=0.0, pilot=False, reach="with 12 cases"
)
PLAN = Plan(
    dataset_id="d",
    dataset_slug="sums",
    dataset_version=1,
    cases="0" * 64,
    case_ids=("a",),
    agent_id="a",
    agent_slug="counter",
    columns=(Column(variant=1), Column(variant=2)),
    ceiling_usd=2,
)


def test_a_case_that_nothing_decides_says_so_where_it_is_saved():
    contents = (CaseContent(input="a"), CaseContent(input="a", checks=(Contains(texts=("b",)),)))
    plain, checked = new_cases("d", contents)
    scorers = (Checks(), Steps(most_steps=3))
    dataset = Dataset(id="d", slug="d", name="D", scorers=scorers, created_at=now(), updated_at=now())
    assert UNSCORED in saved_words(dataset, plain)
    assert UNSCORED not in saved_words(dataset, checked)
    for other in ({"primary": "steps"}, {"scorers": ()}):
        assert UNSCORED not in saved_words(dataset.model_copy(update=other), plain)


def column(passed: int, failed: int, low: float | None = 0.7, high: float | None = 0.97) -> ColumnResults:
    counts = {"errors": 0, "not_scored": 0, "skipped": 0, "pending": 0, "recorded": 0, "called": 0}
    figures = {"rate": None, "worst": None, "best": None, "p50_ms": None, "p95_ms": None}
    money = {"cost_usd": 0, "judge_usd": 0}
    fields = {"column": Column(variant=2), "passed": passed, "failed": failed, "low": low, "high": high}
    return ColumnResults.model_validate({**fields, **counts, **figures, **money})


def results(*, finished: bool, verdict: Verdict | None = None) -> Results:
    verdicts = (ColumnVerdict(column=1, verdict=verdict),) if verdict else ()
    columns = (column(17, 3), column(19, 1))
    return Results(experiment_id="e", columns=columns, verdicts=verdicts, finished=finished, noise="About 2 flip.")


BETTER = Verdict(
    verdict="better", better=8, worse=0, same=12, dropped=0, n=20, p=0.0078, low=0.2, high=0.6, words="8 better: better"
)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, FREE),
        ({"low_usd": 0.02, "high_usd": 0.5}, "About $0.0200 to $0.50."),
        ({"high_usd": 0.5, "low_usd": 0.5, "judge_high_usd": 0.1}, "About $0.50. Its judges: $0.00 to $0.10."),
        ({"low_usd": None, "high_usd": None, "pilot": True}, PILOT),
        ({"judge_low_usd": None, "judge_high_usd": None, "high_usd": 1.0, "low_usd": 1.0},
         "About $1.00. What its judges cost is not known."),
    ],
)  # fmt: skip
def test_an_estimate_says_money_as_a_range(changes: dict[str, object], words: str) -> None:
    assert cost_words(ESTIMATE.model_copy(update=changes)) == words


def test_tools_that_change_something_are_named_once_more() -> None:
    estimate = ESTIMATE.model_copy(update={"live": ("mail", "look"), "side_effects": ("mail",), "notes": ("<b>",)})
    view = estimate_view(estimate, ExperimentDraft(dataset="d", agent="a"))
    assert "they change something outside: mail." in view
    assert "&lt;b&gt;" in view
    assert "With 12 cases." in view


def test_a_rate_has_its_interval() -> None:
    assert column(17, 3).rate_words == "17 of 20 passed (70–97 %)"
    assert column(0, 0, None, None).rate_words == "nothing scored"


def test_a_list_says_the_verdict_and_before_the_end_how_far_it_is() -> None:
    assert results(finished=True, verdict=BETTER).outcome == "variant 2: better"
    assert results(finished=True).outcome == "17 of 20 passed (70–97 %)"
    assert results(finished=False, verdict=BETTER).outcome == "40 of 40 done"


def test_no_verdict_is_shown_before_the_plan_is_done() -> None:
    assert "Better" in verdict_view(results(finished=True, verdict=BETTER))
    assert "p 0.0078, 95 %: 20 to 60 points" in verdict_view(results(finished=True, verdict=BETTER))
    before = verdict_view(results(finished=False, verdict=BETTER))
    assert "Not yet" in before
    assert "hourglass_empty" in before
    assert "Better" not in before
    assert "nothing to compare" in verdict_view(results(finished=True))


def test_only_what_can_be_done_is_offered() -> None:
    running = Progress(status="running", total=4)
    assert [name for name in ("pause", "cancel", "resume") if f'data-do="{name}"' in action_buttons(running)] == [
        "pause",
        "cancel",
    ]
    done = action_buttons(Progress(status="completed", total=4, passed=4))
    assert "Score again" in done
    assert "Retry errors" not in done
    assert "Retry errors" in action_buttons(Progress(status="completed", total=4, error=1))


def test_progress_counts_each_end_and_the_money() -> None:
    shown = progress_view(
        Progress(status="running", total=9, passed=2, failed=1, error=1, not_scored=1, running=2, cost=0.5, judged=0.2),
        PLAN,
    )
    for words in ("> passed<", "> failed<", "> error<", "> not scored<", "> running<", "5 of 9", "$0.50 of $2.00"):
        assert words in shown
    assert "<strong>2</strong> to go" in shown
    assert "$0.20 of it for judges" in shown
    assert "skipped" not in shown


def test_money_that_nobody_priced_is_not_nothing() -> None:
    columns = (column(17, 3).model_copy(update={"unpriced": True}), column(19, 1))
    shown = columns_table(results(finished=True).model_copy(update={"columns": columns}))
    assert shown.count(">unpriced<") == shown.count(">$0.00<") == 1
    assert "unpriced of $2.00" in progress_view(Progress(status="running", total=9, unpriced=True), PLAN)
    planned = experiment(cases_of(1))
    tally = Tally.of([cell(planned, "case1", 0, 0, "passed", cost=0.0, unpriced=True)])
    assert tally.progress(planned).unpriced


def test_what_a_stopped_experiment_never_began_is_skipped_and_not_to_go() -> None:
    stopping = progress_view(Progress(status="cancelled", total=9, passed=2, skipped=1, running=2), PLAN)
    assert "<strong>5</strong> skipped" in stopping and "to go" not in stopping
    assert "3 of 9" in stopping
