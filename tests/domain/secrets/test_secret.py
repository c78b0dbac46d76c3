"""Which secrets somebody might guess."""

import base64
import string
import uuid
from collections.abc import Callable
from random import Random

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
        lambda chance: base64.urlsafe_b64encode(chance.randbytes(32)).decode().rstrip("="),
        lambda chance: chance.randbytes(16).hex(),
        lambda chance: str(uuid.UUID(bytes=chance.randbytes(16), version=4)),
        lambda chance: "".join(chance.choices(string.ascii_letters + string.digits, k=40)),
        lambda chance: f"-----BEGIN PRIVATE KEY-----\n{base64.encodebytes(chance.randbytes(1200)).decode()}",
    ],
)
def test_what_was_chosen_by_chance_cannot(random: Callable[[Random], str]):
    chance = Random(1)  # three keys in a million look as if they were not
    assert not [value for value in (random(chance) for _ in range(500)) if Secret(value, "key").guessable]


def test_a_secret_whose_name_is_nobodys_business_leaves_a_bare_mark():
    assert (Secret("x", "DB *PASSWORD*").mark, Secret("x", "").mark) == ("[redacted: DB PASSWORD]", "[redacted]")
