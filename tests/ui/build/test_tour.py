"""A step of the tour is done once somebody did what it says, on this page and since it began."""

import pytest

from app.domain.settings import TOUR_STEPS
from app.domain.workflows.document import TransformNode
from app.ui.build.tour import WORDS, Doings, done
from tests.domain.workflows.worlds import chain

BEFORE = Doings(chain(), chosen="", faulty=False, tries=1, variants=1)
MORE = chain(TransformNode(id="new"))


@pytest.mark.parametrize(
    ("step", "before", "now", "is_done"),
    [
        ("choose", BEFORE, BEFORE, False),
        ("choose", BEFORE, BEFORE._replace(chosen="input"), True),
        ("choose", BEFORE._replace(chosen="input"), BEFORE._replace(chosen="input"), False),
        ("add", BEFORE, BEFORE._replace(workflow=MORE), True),
        ("add", BEFORE._replace(workflow=MORE), BEFORE, False),
        ("mend", BEFORE._replace(faulty=True), BEFORE._replace(workflow=MORE, faulty=True), False),
        ("mend", BEFORE._replace(faulty=True), BEFORE._replace(workflow=MORE), True),
        ("mend", BEFORE, BEFORE, False),
        ("run", BEFORE, BEFORE, False),
        ("run", BEFORE, BEFORE._replace(tries=2), True),
        ("save", BEFORE, BEFORE._replace(variants=2), True),
        ("save", BEFORE, BEFORE._replace(tries=2), False),
        ("over", BEFORE, BEFORE._replace(workflow=MORE, chosen="new", tries=9, variants=9), False),
    ],
)
def test_a_step_is_done_once_what_it_says_was_done(step, before, now, is_done):
    assert done(step, before, now) is is_done


def test_each_step_has_words():
    assert tuple(WORDS) == TOUR_STEPS
