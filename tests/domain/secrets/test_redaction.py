"""The known secrets are in no text, value or file, however they are written and in whatever pieces they come."""

import base64
import hashlib
import json
import tracemalloc
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from app.domain.events import MessageAdded, ToolReturned
from app.domain.messages import TextPart, ToolCall, ToolResult, user_message
from app.domain.secrets.redaction import Redaction
from app.domain.secrets.secret import Secret
from app.domain.streaming import TextDelta

KEY = "planted-key-0123456789"
ODD = 'odd"\\/+ 0123456789'


def redaction(*secrets: Secret) -> Redaction:
    known = secrets or (Secret(KEY, "OpenAI key"), Secret(ODD, "MCP secret"))
    return Redaction(lambda: known)


def test_a_text_says_which_key_stood_there():
    assert redaction().text(f"Use {KEY} now") == "Use [redacted: OpenAI key] now"
    assert redaction().text("Use nothing now") == "Use nothing now"


def test_a_key_is_known_in_every_spelling():
    for spelled in (ODD, quote(ODD, safe=""), json.dumps(ODD), json.dumps(json.dumps(ODD))):
        assert "0123456789" not in redaction().text(f"x {spelled} y"), spelled
    packed = base64.b64encode(KEY.encode()).decode()
    assert "[redacted: OpenAI key]" in redaction().text(f"Basic {packed}")


@pytest.mark.parametrize("key", [KEY, ODD, "ключ-0123456789"])
@pytest.mark.parametrize("before", ["", ":", "me:", "you:", "user:"])
def test_a_key_is_known_in_base64_of_something_longer(before: str, key: str):
    for pack in (base64.b64encode, base64.urlsafe_b64encode):
        for behind in ("", ":", "::", " and more"):
            packed = pack(f"{before}{key}{behind}".encode()).decode()
            left = redaction(Secret(key, "key")).text(f"Basic {packed}").removeprefix("Basic ")
            assert "[redacted: key]" in left
            rest = left.replace("[redacted: key]", "").rstrip("=")
            assert len(rest) <= len(base64.b64encode((before + behind).encode())) + 2, "no part of the key is left"


def test_what_only_looks_packed_is_no_key():
    text = base64.b64encode(hashlib.shake_256(b"noise").digest(100_000)).decode() + " planted words and keys of no use "
    assert redaction(Secret("12345678", "one"), Secret("password", "two")).text(text) == text


def test_a_key_is_known_beside_signs_that_no_text_may_have():
    assert redaction().text(f"\udc80 {KEY}") == "\udc80 [redacted: OpenAI key]"


def test_many_keys_are_known_and_where_none_are_nothing_is():
    many = [Secret(f"{number:03}-key-of-many-{number:03}", f"key {number}") for number in range(300)]
    for secret in many[::50]:
        assert redaction(*many).text(f"é {secret.value} é") == f"é [redacted: {secret.label}] é"
    assert Redaction(lambda: ()).text(KEY) == KEY


def test_short_words_are_no_keys():
    assert redaction(Secret("letmein", "password")).text("letmein") == "letmein"


def test_an_event_is_cleaned_in_all_its_fields_and_else_the_same_object():
    clean, result = redaction(), ToolResult(call_id="c", name="t", parts=(TextPart(text=f'{{"key": "{KEY}"}}'),))
    returned = ToolReturned(call_id="c", result=result, printed=f"printed {ODD}", ms=1, traceback=KEY)
    cleaned = clean.value(returned)
    assert cleaned.result.text == '{"key": "[redacted: OpenAI key]"}'
    assert cleaned.printed == "printed [redacted: MCP secret]" and cleaned.traceback == "[redacted: OpenAI key]"
    call = ToolCall(call_id="c", name="t", arguments={KEY: [{"deep": KEY}]})
    assert clean.value(call).arguments == {"[redacted: OpenAI key]": [{"deep": "[redacted: OpenAI key]"}]}
    harmless = MessageAdded(message=user_message("nothing"), origin="user")
    assert clean.value(harmless) is harmless


def test_a_file_is_cleaned_and_one_that_is_no_text_keeps_its_length():
    clean = redaction()
    assert clean.content(f"a {KEY}".encode()) == b"a [redacted: OpenAI key]"
    packed = b"\xff\xfe" + KEY.encode() + b"\x00"
    assert clean.content(packed) == b"\xff\xfe" + b"*" * len(KEY) + b"\x00"
    assert clean.content(b"nothing") == b"nothing"


def test_another_key_is_known_once_that_is_said_and_the_old_one_stays_known():
    known = [Secret(KEY, "one")]
    clean = Redaction(lambda: known)
    assert clean.text(KEY) == "[redacted: one]"
    known[:] = [Secret("another-key-9876543210", "two")]
    assert "another" in clean.text("another-key-9876543210")
    clean.changed()
    assert clean.text(f"another-key-9876543210 {KEY}") == "[redacted: two] [redacted: one]"


def test_a_secret_that_is_no_text_hides_none_of_the_others():
    clean = redaction(Secret("not-text-\udcff-0123", "odd one"), Secret(KEY, "OpenAI key"))
    assert clean.text(KEY) == "[redacted: OpenAI key]"


def test_while_the_secrets_cannot_be_read_nothing_goes_by():
    def secrets() -> Iterator[Secret]:
        yield Secret(KEY, "OpenAI key")
        if troubles:
            raise OSError(troubles.pop())

    troubles = ["once", "twice"]
    clean = Redaction(secrets)
    for _ in range(2):
        with pytest.raises(OSError, match=r"once|twice"):
            clean.text(KEY)
    assert clean.text(KEY) == "[redacted: OpenAI key]"


def test_a_secret_costs_no_more_than_its_length():
    long = "".join(hashlib.sha256(str(number).encode()).hexdigest() for number in range(190))
    tracemalloc.start()
    clean = redaction(Secret(long, "long one"))
    assert clean.stream().take(TextDelta("hello ")) == [TextDelta("hello ")]
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 100 * len(long), f"{kept:,} bytes for {len(long):,} characters"
