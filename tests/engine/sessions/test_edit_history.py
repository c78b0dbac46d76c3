"""Undo and redo of what is built."""

from app.domain.workflows.document import InputNode, Workflow
from app.engine.sessions import edit_history
from app.engine.sessions.edit_history import EditHistory


def titled(title: str) -> Workflow:
    return Workflow(nodes=(InputNode(id="input", title=title),))


def test_each_gesture_is_a_step_and_typing_is_one() -> None:
    history = EditHistory()
    history.keep(titled("a"))
    history.keep(titled("b"), "input.title")
    history.keep(titled("bo"), "input.title")
    assert history.undo(titled("box")) == titled("b")
    assert history.undo(titled("b")) == titled("a")
    assert not history.can_undo
    assert history.undo(titled("a")) == titled("a")


def test_what_is_taken_back_is_done_again_until_something_else_is_done() -> None:
    history = EditHistory()
    history.keep(titled("a"))
    assert history.undo(titled("b")) == titled("a")
    assert history.redo(titled("a")) == titled("b")
    history.undo(titled("b"))
    history.keep(titled("a"))
    assert not history.can_redo


def test_a_step_that_changed_nothing_in_the_end_is_passed_over() -> None:
    history = EditHistory()
    history.keep(titled("a"))
    history.keep(titled("b"), "input.title")
    history.keep(titled("bo"), "input.title")
    assert history.undo(titled("b")) == titled("a")
    assert history.redo(titled("a")) == titled("b")


def test_the_oldest_steps_are_forgotten() -> None:
    history = EditHistory()
    now = titled("last")
    for number in range(edit_history.MOST + 5):
        history.keep(titled(str(number)))
    for _ in range(edit_history.MOST):
        now = history.undo(now)
    assert now == titled("5")
    assert not history.can_undo
