"""Keys that nobody told the app, known by their shape; those that plainly are another provider's."""

import time
from random import Random

import pytest

from app.domain.errors import WorkbenchError
from app.domain.secrets import shapes
from app.domain.secrets.shapes import KEYS, check_owner, looks_like_key, replaced
from app.domain.tool_settings import HttpTransport
from app.export.redacting import Redactor
from app.llm.failures import redacted
from app.tools.http.secret_scan import SecretScan

KEYS_SEEN = [
    *("github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz", "ghu_abcdefghijklmnopqrstuv", "glpat-abcdefghijklmnop1234"),
    *("xoxb-123456789012-abcdefABCDEF", "xapp-1-A02-0123456789", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefg"),
    *("pplx-abcdefghijklmnopqrstuv", "ap_abcdefghijklmnopqrstuv", "hf_abcdefghijklmnopqrstuv", "rk_0123456789abc"),
    *("sk-proj-abcdefghijklmnopqrst", "sk-ant-api03-0123456789abcdef", "AIzaSyA0123456789abcdefghij"),
    *("sk-abcd****************wxyz", "gsk_0123456789abcdef", "xai-0123456789abcdef", "AKIAIOSFODNN7EXAMPLE"),
    *("bedrock-api-key-" + "QmVkcm9j" * 5, "ABSK" + "QmVkcm9j" * 5),
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("key", KEYS_SEEN)
def test_whoever_looks_for_keys_sees_the_same_ones(key: str):
    assert redacted(f"x {key} y") == "x [key] y"
    assert Redactor("r").text(f"x {key} y").startswith("x [redacted ")
    assert key not in Redactor("r").text(f"x {key} y")
    assert looks_like_key(key)
    form = HttpTransport(url="https://host/", headers={"X-Harmless": key})
    assert key not in str(SecretScan(()).transport(form))


BEGINS = [begin for keys in KEYS for begin in keys.begins]
REPEATED = ("eyJ-", "eyJaaaaaa.", "-eyJaaaaaaa", "sk-a*", "bearer ", "://:@", "://a:", "?key=", "-----END ")


@pytest.mark.parametrize("before", ["", "sk-", "eyJaaaaaa.", "://", "-----BEGIN PRIVATE KEY-----"])
def test_no_text_takes_more_time_than_its_length_asks_for(before: str):
    """One that took time by the square of its length would take minutes."""
    began = time.perf_counter()
    for unit in (*BEGINS, *REPEATED):
        text = (before + unit * 100_000)[:100_000]
        replaced(text, lambda _shape, _secret: "")
        looks_like_key(text)
    assert time.perf_counter() - began < 15


BESIDE = ("Bearer\n abcdefghijkl.mnop", "https://me:hunter2x@host/?key=0123456&x", "bearer", "a word", "x\n\n")
BLANKS = (" ", "\n", "  ", ", ", "")


def test_a_long_text_loses_piece_by_piece_what_it_loses_at_once(monkeypatch: pytest.MonkeyPatch):
    chance = Random(5)
    for _ in range(300):
        text = "".join(chance.choice((*KEYS_SEEN, *BESIDE)) + chance.choice(BLANKS) for _ in range(20))
        found: dict[int, str] = {}
        for looked_at in (len(text), 1):
            monkeypatch.setattr(shapes, "LOOKED_AT", looked_at)
            found[looked_at] = replaced(text, lambda shape, secret: f"[{shape}: {len(secret)}]")
        assert len(set(found.values())) == 1, text


def test_no_more_of_a_long_text_is_looked_at_at_once_than_goes_by_unnoticed(monkeypatch: pytest.MonkeyPatch):
    pieces = shapes._pieces
    seen: list[int] = []
    monkeypatch.setattr(shapes, "_pieces", lambda text: [seen.append(len(piece)) or piece for piece in pieces(text)])
    replaced("some words and more " * 20_000 + KEYS_SEEN[0], lambda _shape, _secret: "")
    assert len(seen) == 7 and max(seen) < shapes.LOOKED_AT + 20


@pytest.mark.parametrize(
    ("key", "owner"),
    [
        ("sk-ant-api03-0123456789", "Anthropic"),
        ("sk-or-v1-0123456789", "OpenRouter"),
        ("AIzaSy0123456789012345678901234567890", "Google"),
        ("gsk_0123456789", "Groq"),
        ("xai-0123456789", "xAI"),
        ("AKIA0123456789ABCDEF", "Amazon"),
        ("ghp_0123456789", "GitHub"),
    ],
)
def test_a_key_of_another_provider_is_told_without_being_quoted(key: str, owner: str):
    with pytest.raises(WorkbenchError, match=f"a key of {owner}.*not sent to Mistral") as told:
        check_owner(key, "mistral", "Mistral")
    assert "0123456789" not in str(told.value)


@pytest.mark.parametrize(
    ("key", "provider"),
    [
        ("sk-proj-0123456789", "openai"),
        ("sk-0123456789", "deepseek"),
        ("sk-ant-api03-0123456789", "anthropic"),
        ("0123456789abcdef", "mistral"),
        ("AKIA0123456789ABCDEF", "bedrock"),
    ],
)
def test_a_key_that_may_be_its_own_is_let_through(key: str, provider: str):
    check_owner(key, provider, "It")
