"""What is said before a fork begins."""

from app.domain.forks.forks import CallAgain, ForkCheck
from app.ui.run.fork_dialog import check_words

HIDDEN = "rm -rf /\u202e # txt.setoN\u200b"


def again(*, asked: bool) -> CallAgain:
    return CallAgain(call_id="c", name="shell", arguments={"command": HIDDEN}, asked=asked)


def test_the_arguments_of_a_call_that_is_made_again_are_shown_as_they_are():
    words = check_words(ForkCheck(seq=1, reused_steps=0, reused_calls=0, again=(again(asked=True),)))
    assert "shell is called again when you have allowed it, with:" in words
    assert "rm -rf /\\u202e # txt.setoN\\u200b" in words and "\u202e" not in words
    assert "fork-unasked" not in words


def test_it_is_said_that_nobody_is_asked():
    check = ForkCheck(seq=1, reused_steps=0, reused_calls=0, again=(again(asked=False),), unasked=("shell", "look"))
    words = check_words(check)
    assert "shell is called again at once, and nobody is asked, with:" in words
    assert "Nobody is asked before these are called: shell, look." in words
