"""Live text: no part of a secret is in it, and the pieces in which it comes tell nothing of what is secret."""

import hashlib
import json
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as some

from app.domain.secrets.redaction import Redaction
from app.domain.secrets.secret import Secret
from app.domain.secrets.stream import HELD
from app.domain.streaming import CallDelta, Delta, ReasoningDelta, TextDelta

KEY = "planted-key-0123456789"
LONG = "".join(hashlib.sha256(str(number).encode()).hexdigest() for number in range(190))
PEM = "\n".join(("-----BEGIN PRIVATE KEY-----", *(LONG[at : at + 64] for at in range(0, 1600, 64)), "-----END-----"))
WORDS = "three words 0123456789 of a phrase"
SECRETS = (KEY, "ключ-0123456789", LONG[:100], PEM, WORDS)
SIZES = (1, 2, 5, 11, 64, 100, 10_000)


def cut(text: str, size: int) -> list[str]:
    return [text[place : place + size] for place in range(0, len(text), size)]


def shown(pieces: Iterable[str], *secrets: str) -> list[str]:
    """What each piece shows, and what comes in the end."""
    stream = Redaction(lambda: [Secret(secret, "key") for secret in secrets]).stream()
    texts = ["".join(delta.text for delta in stream.take(TextDelta(piece))) for piece in pieces]
    return [*texts, "".join(delta.text for delta in stream.rest())]


def clean(text: str, *secrets: str) -> str:
    return Redaction(lambda: [Secret(secret, "key") for secret in secrets]).text(text)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("secret", [KEY, "ключ-0123456789", LONG[:100], LONG])
def test_of_a_secret_nothing_is_shown_while_it_streams(secret: str, size: int):
    for text in (f"Your key {secret}, and that is all", secret, f"{secret}{secret} x", json.dumps({"key": secret})):
        whole = "".join(shown(cut(text, size), *SECRETS, LONG))
        assert whole == clean(text, *SECRETS, LONG) and secret[:4] not in whole


@pytest.mark.parametrize("size", SIZES)
def test_of_a_private_key_nothing_is_shown_but_its_first_line(size: int):
    text = "".join(shown(cut(f"See:\n{PEM}\nand so on", size), *SECRETS))
    assert text.removeprefix("See:\n").removeprefix("-----BEGIN PRIVATE KEY-----\n") == "[redacted: key]\nand so on"


@pytest.mark.parametrize("size", [1, 2, 5])
def test_of_a_secret_with_blanks_the_last_word_is_not_shown(size: int):
    text = "".join(shown(cut(f"It is {WORDS}. Yes", size), WORDS))
    assert "phrase" not in text and text.endswith("[redacted: key]. Yes")


def test_a_secret_that_begins_a_longer_one_does_not_show_the_rest_of_it():
    assert "".join(shown(cut(f"It is {LONG[:30]}, right", 3), LONG[:12], LONG[:30])) == "It is [redacted: key], right"


@some.composite
def near_misses(draw: some.DrawFn) -> list[str]:
    """Texts in pieces that hold much of some secret and no secret."""
    letters = some.text("kp01 \n,-=日本", max_size=12)
    parts = draw(some.lists(some.tuples(letters, some.sampled_from(SECRETS), some.integers(0, HELD - 1)), max_size=5))
    text = "".join(before + secret[: min(length, len(secret) - 1)] for before, secret, length in parts)
    text += draw(letters)
    cuts = sorted(draw(some.sets(some.integers(0, len(text)), max_size=20)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(near_misses())
def test_the_pieces_are_the_same_whatever_is_secret(pieces: list[str]):
    text = "".join(pieces)
    if clean(text, *SECRETS) == text and not any(secret[:HELD] in text for secret in SECRETS if len(secret) > HELD):
        assert shown(pieces, *SECRETS) == shown(pieces) == shown(pieces, LONG)


def test_how_far_a_guess_is_right_is_not_told_beyond_the_characters_by_which_a_secret_is_known():
    guesses = [LONG[:right] + "!" * (120 - right) + " and on" for right in range(HELD, 99)]
    seams = {tuple(map(len, shown(cut(guess, 7), LONG[:100]))) for guess in guesses}
    assert len(seams) == 1
    assert all("".join(shown(cut(guess, 7), LONG[:100])) == guess for guess in guesses), "nothing of it is lost"


@pytest.mark.parametrize(
    ("pieces", "texts"),
    [
        (["Hel", "lo ", "wor", "ld"], ["", "Hello ", "", "", "world"]),
        (["x" * 60, "y" * 10], ["", "x" * 6, "x" * 54 + "y" * 10]),
        (["今日は", "良い天気", "です。ok"], ["今日は", "良い天気", "です。", "ok"]),
        (["วันนี้", "อากาศดี"], ["วันนี้", "อากาศดี", ""]),
        ([".", ".", ".", "."], ["", "", "...", ".", ""]),
    ],
)
def test_the_last_run_without_a_blank_is_held_back(pieces: Sequence[str], texts: Sequence[str]):
    assert shown(pieces, KEY) == shown(pieces) == texts


def test_thoughts_and_arguments_are_texts_of_their_own():
    pieces: list[Delta] = [ReasoningDelta("hm, planted-"), TextDelta("key-0123456789")]
    pieces += [CallDelta("c", "t", '{"a": "plan'), CallDelta("c", "t", 'ted-key-0123456789"}')]
    stream = Redaction(lambda: [Secret(KEY, "key")]).stream()
    taken = [stream.take(piece) for piece in pieces]
    assert taken[0] == [ReasoningDelta("hm, ")]
    assert taken[1] == [ReasoningDelta("planted-"), TextDelta("")], "what is thought is brought to its end"
    assert taken[2] == [TextDelta("key-0123456789"), CallDelta("c", "t", '{"a": ')]
    assert taken[3] == [CallDelta("c", "t", "")]
    assert stream.held == '"[redacted: key]"}'
    assert stream.rest() == [CallDelta("c", "t", '"[redacted: key]"}')] and stream.rest() == []


def test_a_text_that_goes_on_after_another_one_began_shows_no_rest_of_a_secret():
    stream = Redaction(lambda: [Secret(KEY, "key")]).stream()
    pieces: list[Delta] = [TextDelta("planted-"), ReasoningDelta("hm "), TextDelta("key-0123456789 yes")]
    texts = [delta for piece in pieces for delta in stream.take(piece) if isinstance(delta, TextDelta)]
    assert [delta.text for delta in texts] == ["", "planted-", "[redacted: key] "]
