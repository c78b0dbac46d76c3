"""What the prompt editor keeps of a person's edits, and what it says about variables."""

import random

import pytest

from app.domain.agents import Variable
from app.domain.prompts import PromptFault
from app.ui.elements.prompt_editor import Document
from app.ui.elements.variables_form import brace_faults, declared_with, fault_words, fields_of

TONE = Variable(name="tone", default="friendly")
OLD = Variable(name="old", default="gone")


def test_edits_count_in_the_units_of_a_browser():
    document = Document("a😀b")
    assert document.length == 4
    document.edit(3, 1, "ü🎉")
    assert document.text == "a😀ü🎉"
    document.edit(1, 2, "")
    assert document.text == "aü🎉"


def test_line_ends_are_those_of_the_editor():
    document = Document("one\r\ntwo\rthree")
    assert document.text == "one\ntwo\nthree"
    assert document.length == len("one\ntwo\nthree")


def test_half_a_character_breaks_nothing():
    document = Document("a\ud83d")
    assert document.text == "a\ufffd"
    document.edit(2, 0, "\ude00")
    assert document.length == 3
    assert document.text == "a😀"


def test_a_thousand_edits_leave_the_text_that_the_browser_has():
    chance = random.Random(7)
    units = list("The quick brown fox.")
    document = Document("".join(units))
    for _ in range(1000):
        place = chance.randint(0, len(units))
        removed = chance.randint(0, min(3, len(units) - place))
        inserted = "".join(chance.choices("abc {}\nü", k=chance.randint(0, 4)))
        units[place : place + removed] = inserted
        document.edit(place, removed, inserted)
    assert document.text == "".join(units)


def test_fields_are_the_prompts_variables_then_the_unused_ones():
    fields = fields_of("{{new}} {{tone}} {{new}}", (OLD, TONE), {"tone": "grave"})
    assert [(field.variable.name, field.value, field.mark) for field in fields] == [
        ("new", "", "new"),
        ("tone", "grave", ""),
        ("old", "gone", "unused"),
    ]


def test_a_saved_prompt_declares_what_it_uses():
    assert declared_with("{{tone}} {{new}}", (TONE,)) == (TONE, Variable(name="new"))


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("{{ two words }}", "“{{two words}}” is no variable"),
        ("{{a {{b}} }}", "is no variable"),
        ("{{open", "“{{open” is never closed"),
        ("{{}}", "is no variable"),
    ],
)
def test_braces_that_make_no_variable_are_told_with_the_way_out(prompt: str, words: str):
    found = brace_faults(prompt)
    assert words in fault_words(found[0])


@pytest.mark.parametrize("prompt", ["", "{{tone}}", "{ one } brace", "{{ tone }}"])
def test_braces_that_are_meant_are_left_alone(prompt: str):
    assert brace_faults(prompt) == []


def test_every_fault_has_words():
    for fault in ("unclosed", "bad_name", "undeclared", "unused"):
        assert "{{" in fault_words(PromptFault.model_validate({"fault": fault, "name": "tone"}))
