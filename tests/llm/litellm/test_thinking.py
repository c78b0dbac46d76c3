import pytest

from app.domain.streaming import ReasoningDelta
from app.llm.litellm.thinking import ThinkSplitter


def split(*pieces: str) -> tuple[str, str]:
    splitter = ThinkSplitter()
    found = [piece for text in pieces for piece in splitter.feed(text)] + splitter.end()
    thought = "".join(piece.text for piece in found if isinstance(piece, ReasoningDelta))
    answer = "".join(piece.text for piece in found if not isinstance(piece, ReasoningDelta))
    return thought, answer


@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("<think>hm</think>yes", "hm", "yes"),
        ("\n<think>\nhm\n</think>\n\nyes\n", "hm\n", "yes\n"),
        ("<thinking>hm</thinking>yes", "hm", "yes"),
        ("yes", "", "yes"),
        ("<this is a tag>", "", "<this is a tag>"),
        (
            "The tag <think> opens thinking, </think> closes it.",
            "",
            "The tag <think> opens thinking, </think> closes it.",
        ),
        ("<think>a < b and </thin</think>c", "a < b and </thin", "c"),
        ("<think>for ever", "for ever", ""),
        ("<think></think>yes", "", "yes"),
        ("<thi", "", "<thi"),
        ("  <", "", "  <"),
        ("", "", ""),
    ],
)
def test_thinking_is_told_apart_however_it_is_cut(text: str, thought: str, answer: str):
    assert split(text) == (thought, answer)
    assert split(*text) == (thought, answer)
    for cut in range(len(text)):
        assert split(text[:cut], text[cut:]) == (thought, answer)


def test_an_answer_without_thinking_is_not_held_back():
    splitter = ThinkSplitter()

    assert [piece.text for piece in splitter.feed("Hello")] == ["Hello"]
    assert [piece.text for piece in splitter.feed(" <")] == [" <"]
