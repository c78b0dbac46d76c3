"""Names for agents."""

import pytest

from app.domain.agents import LONGEST_NAME, Agent, PromptBehaviour, name_problem, new_agent


def named(name: str) -> Agent:
    return new_agent(name, PromptBehaviour(), taken_slugs=())


@pytest.mark.parametrize("name", ["Math tutor", " math TUTOR ", "Math-Tutor!"])
def test_a_name_is_taken_whatever_its_case_and_signs(name: str):
    assert name_problem(name, [named("Math tutor")]) == (
        "There is already an agent called “Math tutor”. Choose another name."
    )


def test_another_name_is_free():
    assert name_problem("Math tutor 2", [named("Math tutor")]) == ""


def test_names_without_latin_letters_are_told_apart():
    others = [named("数学")]
    assert name_problem("化学", others) == ""
    assert "already" in name_problem("数学", others)


def test_a_name_is_neither_empty_nor_endless():
    assert name_problem("  ", []) == "Give the agent a name."
    assert "at most 80 characters" in name_problem("x" * (LONGEST_NAME + 1), [])
    assert name_problem("x" * LONGEST_NAME, []) == ""


@pytest.mark.parametrize(
    "name", ["می\u200cخواهم", "Family 👨\u200d👩\u200d👧", "営業\u3000担当", "Pasted\u00a0words\u00a0"]
)
def test_a_name_may_be_written_in_any_language(name: str):
    assert name_problem(name, []) == ""


@pytest.mark.parametrize("name", ["evil\u202egnp.exe", "a\x00b", "\u200d", "Tutor\u200d", "two\nlines"])
def test_a_name_holds_nothing_that_does_not_show(name: str):
    assert "which does not show. Take it out." in name_problem(name, [])
