"""Which secrets somebody might guess."""

import base64
import secrets
import string
import uuid

import pytest

from app.domain.secrets.secret import Secret

GUESSED = [
    *("hunter2!", "password1", "P@ssw0rd123!", "Tr0ub4dor&3", "Sommer2024!", "qwertzuiop1234567890", "12345678"),
    *("correcthorsebatterystaple", "correct horse battery staple", "changeme-changeme-changeme-changeme", "a" * 40),
    *("letmein-please-now-2025!!", "P@ssw0rd!P@ssw0rd!P@ssw0rd!", "Sommer2024!Sommer2024!", "admin:admin:admin:1"),
    base64.b64encode(b"somebody:hunter2!").decode(),
]


@pytest.mark.parametrize("value", GUESSED)
def test_what_people_think_of_can_be_guessed(value: str):
    assert Secret(value, "password").guessable


@pytest.mark.parametrize(
    "random",
    [
        lambda: secrets.token_urlsafe(32),
        lambda: secrets.token_hex(16),
        lambda: str(uuid.uuid4()),
        lambda: "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(40)),
        lambda: f"-----BEGIN PRIVATE KEY-----\n{base64.encodebytes(secrets.token_bytes(1200)).decode()}",
    ],
)
def test_what_was_chosen_by_chance_cannot(random):
    assert not [value for value in (random() for _ in range(500)) if Secret(value, "key").guessable]


def test_a_secret_whose_name_is_nobodys_business_leaves_a_bare_mark():
    assert (Secret("x", "DB *PASSWORD*").mark, Secret("x", "").mark) == ("[redacted: DB PASSWORD]", "[redacted]")
