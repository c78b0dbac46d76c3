import pytest

from app.domain.events import Entry, FinalStatus
from app.ui.compare.figures import AnswerFigures, best, figures_list
from tests.traces import asked, called, finished, returned, said, started, trace_of


def answer(
    *, tokens: int = 10, cost: float | None = 0.5, first_token_ms: float = 200, status: FinalStatus = "completed"
) -> AnswerFigures:
    return AnswerFigures.of(trace(tokens, cost, first_token_ms, status))


def trace(tokens: int, cost: float | None, first_token_ms: float, status: FinalStatus) -> list[Entry]:
    return trace_of(
        started(),
        asked("Hello"),
        called(),
        said("Hello."),
        returned(tokens=tokens, cost=cost, first_token_ms=first_token_ms),
        finished(status),
    )


def test_figures_are_those_of_the_run() -> None:
    html = figures_list(answer(tokens=10, cost=0.25, first_token_ms=200), set())
    for words in ("<dd>1</dd>", "<dd>30</dd>", "<dd>$0.25</dd>", "<dd>0.2 s</dd>", "<dd>0.5 s</dd>"):
        assert words in html


def test_the_best_of_each_figure_is_found() -> None:
    cheap, fast = answer(cost=0.1, first_token_ms=900), answer(cost=0.2, first_token_ms=200)
    assert best([cheap, fast]) == [{"cost"}, {"first token"}]


def test_nobody_is_best_where_all_show_the_same() -> None:
    assert best([answer(first_token_ms=201), answer(first_token_ms=202)]) == [set(), set()]


def test_two_may_share_the_first_place() -> None:
    assert best([answer(tokens=1), answer(tokens=1), answer(tokens=2)]) == [{"tokens"}, {"tokens"}, set()]


@pytest.mark.parametrize("status", ["failed", "cancelled", "limited"])
def test_a_run_that_did_not_complete_wins_nothing(status: FinalStatus) -> None:
    cut_short = answer(tokens=1, cost=0.0, status=status)
    assert best([cut_short, answer(), answer(tokens=20)])[0] == set()


def test_an_unpriced_answer_is_not_the_cheapest() -> None:
    won = best([answer(cost=None), answer(cost=0.5), answer(cost=0.6)])
    assert "cost" not in won[0]
    assert "cost" in won[1]


def test_a_column_without_an_answer_does_not_disturb() -> None:
    assert best([None, answer(tokens=1), answer()]) == [set(), {"tokens"}, set()]


def test_the_best_is_marked_in_words_too() -> None:
    html = figures_list(answer(), {"tokens"})
    assert html.count("is-best") == 1
    assert ">best<" in html


def test_what_ended_otherwise_says_so() -> None:
    assert "Stopped" in figures_list(answer(status="cancelled"), set())
