from app.domain.evals.calibration import Judged, judges_beside
from app.domain.evals.experiments import Cell, CellScore, Experiment
from app.domain.evals.scorers import Judge
from tests.tried import cases_of, cell, experiment

POLITE = Judge(name="polite", model="demo/agent", criteria=("It is polite.",))
STRICT = POLITE.model_copy(update={"criteria": ("It is polite and short.",)})


def tried(judge: Judge = POLITE) -> Experiment:
    return experiment(cases_of(4), columns=1, scorers=(judge,))


def judged(planned: Experiment, *said: bool | None, runs: str = "r") -> list[Cell]:
    return [
        cell(planned, case_id, 0, 0, "passed", runs=("first", f"{runs}{place}"),
             scores=(CellScore(name="polite", passed=passed, scorer=planned.plan.scorers[0].digest),))
        for place, (case_id, passed) in enumerate(zip(planned.plan.case_ids, said, strict=True))
    ]  # fmt: skip


def test_only_answers_that_both_rated_count():
    planned = tried()
    rated = {"r0": True, "r1": False, "r3": True, "first": False}
    [polite] = judges_beside([(planned.plan, judged(planned, True, True, False, None))], rated)
    assert polite.rows == (Judged("r0", person=True, judge=True), Judged("r1", person=False, judge=True))
    assert polite.where(person=False, judge=True) == [polite.rows[1]]
    assert (polite.agreement.both, polite.agreement.only_judge, polite.agreement.labels) == (1, 1, 2)


def test_another_prompt_is_another_judge_and_begins_anew():
    old, new = tried(), tried(STRICT)
    cells = judged(old, True, True, True, True), judged(new, True, False, True, True)
    found = judges_beside([(old.plan, cells[0]), (new.plan, cells[1][:1])], {f"r{n}": True for n in range(4)})
    assert [(one.scorer.criteria, one.agreement.labels) for one in found] == [
        (POLITE.criteria, 4),
        (STRICT.criteria, 1),
    ]


def test_an_answer_that_was_judged_in_two_experiments_counts_once():
    planned = tried()
    cells = judged(planned, True, False, True, True)
    [polite] = judges_beside([(planned.plan, cells), (planned.plan, cells)], {"r0": True, "r1": True})
    assert polite.agreement.labels == 2


def test_a_judge_that_nobody_was_beside_is_there_all_the_same():
    planned = tried()
    [polite] = judges_beside([(planned.plan, ())], {})
    assert (polite.rows, polite.agreement.state) == ((), "uncalibrated")
