"""Texts that the demo model writes, reviews, revises, summarises and looks through, by rules."""

import json

import pytest

from app.llm.demo.model import LONGEST_ASK
from app.llm.demo.shaped import shaped
from app.llm.demo.writing import NOT_THERE
from tests.llm.demo.conversation import converse

POINTS = "The release moves to Friday. Anna writes the notes. Please test the new build by Thursday."
TOPIC = {"enum": ["other", "billing", "technical"],
         "description": "billing: invoices, charges and refunds; technical: errors and crashes"}  # fmt: skip


async def said(text: str) -> str:
    [_, answer] = await converse(text)
    return answer.text


async def test_a_draft_gets_better_with_each_review_until_nothing_is_left() -> None:
    text, scores = await said(f"Write a short message about this: {POINTS}"), []
    for _ in range(3):
        advice, score = (await said(f"Review this text: {text}")).split("\n\nScore: ")
        scores.append(int(score))
        text = await said(f"Revise this text by the advice: {advice}\n\nText: {text}")
    assert scores == [4, 7, 10]
    assert "wanted to tell you that the release moves to Friday. Anna writes the notes. Please test" in text
    assert "really" not in text


async def test_of_many_words_of_advice_the_first_twenty_are_followed() -> None:
    words = [f"word{number}x" for number in range(25)]
    advice = " ".join(f"“{word}”" for word in [words[0], *words])
    assert await said(f"Revise this text by the advice: {advice}\n\nText: {' '.join(words)}") == " ".join(words[20:])


async def test_a_long_file_is_summarised_by_what_it_speaks_of_most() -> None:
    file = "/a.txt: 9 lines, 900 bytes\n\nHello there. Turbines turn wind into power. " + "Nobody was late. " * 300
    answer = await said(f"Summarise this file: {file} The turbines of the wind farm gave the power that turbines give.")
    assert len(file) > LONGEST_ASK
    assert answer.endswith("the power that turbines give.") and "/a.txt" not in answer and len(answer) < 200


@pytest.mark.parametrize(
    ("question", "answer"),
    [("I was charged twice!", "Double charges are returned in five days."), ("Is it blue?", NOT_THERE)],
)
async def test_a_question_is_answered_from_notes_alone(question: str, answer: str) -> None:
    notes = "Passwords are reset under Settings.\nDouble charges are returned in five days."
    assert await said(f"Answer from the notes: {notes}\nRequest: {question}") == answer


@pytest.mark.parametrize(
    ("text", "topic"),
    [("I was charged twice", "billing"), ("The app crashed", "technical"), ("A technical one", "technical"),
     ("When do you open?", "other")],
)  # fmt: skip
def test_of_several_values_the_one_is_taken_that_the_text_speaks_of(text: str, topic: str) -> None:
    assert json.loads(shaped(TOPIC, text)) == topic


async def test_an_order_without_a_text_is_told_so() -> None:
    assert await said("Summarise this:") == "There is no text behind the colon."
    assert "hello" in (await converse("Write hello to /notes.txt"))[1].tool_calls[0].arguments.values()
