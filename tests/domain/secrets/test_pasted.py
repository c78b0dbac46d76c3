import pytest

from app.domain.errors import WorkbenchError
from app.domain.secrets.pasted import cleaned_key, last_four

KEY = "sk-proj-0123456789abcdEF_gh=="


@pytest.mark.parametrize(
    ("pasted", "removed"),
    [
        (KEY, []),
        (f"  {KEY}\r\n", ["spaces or line breaks"]),
        (f'"{KEY}"', ["quotes"]),
        (f"“{KEY}”", ["quotes"]),
        (f"OPENAI_API_KEY={KEY}", ["OPENAI_API_KEY="]),
        (f"export OPENAI_API_KEY='{KEY}'\n", ["spaces", "OPENAI_API_KEY=", "quotes"]),
        (f'$env:OPENAI_API_KEY = "{KEY}"', ["OPENAI_API_KEY=", "quotes"]),
        (f"Authorization: Bearer {KEY}", ["Bearer"]),
    ],
)
def test_what_surrounds_a_pasted_key_is_taken_away_and_told(pasted: str, removed: list[str]):
    cleaned = cleaned_key(pasted)
    assert cleaned.value == KEY
    assert len(cleaned.removed) == len(removed)
    assert all(words in told for words, told in zip(removed, cleaned.removed, strict=True))


@pytest.mark.parametrize("key", ["abc:def=", "a1b2=c3==", "key:with-colon", "x" * 200])
def test_signs_that_keys_have_are_left_in(key: str):
    assert cleaned_key(key).value == key


@pytest.mark.parametrize(
    ("pasted", "words"),
    [
        ("", "no key in it"),
        ("  \n", "no key in it"),
        ('""', "no key in it"),
        ("sk-secret-one\nsk-secret-two", "line break"),
        ("my key is sk-secret", "space"),
        ("sk-sec\x00ret", "a sign in the key"),
        ("sk-sec\u200bret", "a sign in the key"),
        ("••••••••", "a sign in the key"),
        ("https://api.example.com/v1", "an address"),
        ("k" * 5000, "too long"),
    ],
)
def test_what_is_no_key_is_refused_in_words_that_do_not_quote_it(pasted: str, words: str):
    with pytest.raises(WorkbenchError) as caught:
        cleaned_key(pasted)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


def test_of_a_short_key_nothing_is_shown():
    assert last_four("abcdefghijkl") == "ijkl"
    assert last_four("abcdefghijk") == ""
