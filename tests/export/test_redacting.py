import base64
import codecs

import pytest

from app.domain.secrets.shapes import SHAPES
from app.export.known import known_secrets
from app.export.redacting import KNOWN, LOOKED_AT, Redactor, masked
from tests.export.runs import digest
from tests.traces import asked, call, called, finished, ran, returned, said, started, the_sum, trace_of

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"
PLANTED = {
    "API key": "sk-proj-Abcdef0123456789xyz",
    "AWS key": "AKIAIOSFODNN7EXAMPLE",
    "GitHub token": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "Slack token": "xoxb-1234567890-abcdefghij",
    "web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
    "private key": PEM,
}
IN_CONTEXT = {
    "bearer token": ("Authorization: Bearer abcdef.123456-XYZ==", "abcdef.123456"),
    "password in an address": ("postgres://user:hunter22@db.example/x", "hunter22"),
}


@pytest.mark.parametrize(("shape", "secret"), PLANTED.items())
@pytest.mark.parametrize("around", ["{}", "key={}", "a {} b", '"{}"', "({})", "\n{}\n"])
def test_a_secret_is_known_by_its_shape_wherever_it_stands(shape, secret, around):
    redactor = Redactor("r1")
    cleaned = redactor.text(around.format(secret))
    assert secret not in cleaned
    assert cleaned == around.format(f"[redacted {shape}]")
    assert [(one.kind, one.count) for one in redactor.redactions] == [(shape, 1)]


@pytest.mark.parametrize(("shape", "text", "secret"), [(shape, *one) for shape, one in IN_CONTEXT.items()])
def test_a_secret_is_known_by_what_stands_before_it(shape, text, secret):
    redactor = Redactor("r1")
    cleaned = redactor.text(text)
    assert secret not in cleaned and f"[redacted {shape}]" in cleaned
    assert [one.kind for one in redactor.redactions] == [shape]


def test_a_key_in_a_query_is_taken_out_and_the_rest_of_the_address_stays():
    cleaned = Redactor("r1").text("https://api.example/v1?q=rain&api_key=0123456789&lang=en")
    assert cleaned == "https://api.example/v1?q=rain&api_key=[redacted password in an address]&lang=en"


@pytest.mark.parametrize(
    "text",
    [
        "Learn scikit: sk-learn and task-force work. The bearer of this letter.",
        "https://user@host/path and mailto:a@b.example and http://host:8080/a@b",
        "0123456789abcdef" * 4,
        "toolu_01A09q90qw90lq917835lq9 call_abc123 fc_67890",
        "eyJ is how many web tokens begin.",
    ],
)
def test_ordinary_words_stay(text):
    assert Redactor("r1").text(text) == text


def test_known_keys_are_taken_out_however_they_are_written():
    secret = 'pa"ss/w\\ord+ü'
    redactor = Redactor("r1", [secret])
    for written in (secret, "pa%22ss%2Fw%5Cord%2B%C3%BC", 'pa\\"ss/w\\\\ord+\\u00fc'):
        assert redactor.text(f"x {written} y") == f"x [redacted {KNOWN}] y"


@pytest.mark.parametrize("user", ["", "u", "us", "use"])
def test_known_keys_are_taken_out_of_what_is_packed_in_base64(user):
    secret = "q9zRk2Sm4NxR7tY1wB5c"
    packed = base64.b64encode(f"{user}{secret}:".encode()).decode()
    cleaned = Redactor("r1", [secret]).text(f"Authorization: Basic {packed}")
    assert f"[redacted {KNOWN}]" in cleaned and packed[8:24] not in cleaned


def test_shapes_can_be_let_through_and_known_keys_never():
    redactor = Redactor("r1", [PLANTED["API key"]], let_through=SHAPES)
    assert redactor.text(PLANTED["AWS key"]) == PLANTED["AWS key"]
    assert redactor.text(PLANTED["API key"]) == f"[redacted {KNOWN}]"


def test_a_trace_has_no_secret_left_in_any_field_and_each_place_is_told():
    secret = "planted-secret-0042"
    bad = call(f"c-{secret}", f"tool-{secret}", **{secret: {"deep": [secret]}})
    entries = trace_of(
        started(model=f"openai/{secret}", variables={"key": secret}, files={f"/{secret}.txt": "0" * 64}),
        asked(f"My key is {secret}, again {secret}"),
        called(),
        said(secret, bad, reasoning=secret),
        returned(),
        *ran(bad, secret, status="error"),
        finished(),
    )
    redactor = Redactor("r1", [secret])
    cleaned = redactor.entries(entries)
    assert secret not in "".join(entry.model_dump_json() for entry in cleaned)
    assert [type(entry.event) for entry in cleaned] == [type(entry.event) for entry in entries]
    assert {one.seq for one in redactor.redactions} == {0, 1, 3, 5, 6}
    assert next(one.count for one in redactor.redactions if one.seq == 1) == 2


def test_entries_without_a_secret_stay_the_same_objects():
    entries = the_sum()
    cleaned = Redactor("r1", ["nowhere-to-be-seen"]).entries(entries)
    assert all(before is after for before, after in zip(entries, cleaned, strict=True))


def test_an_artifact_with_a_secret_gets_another_digest_and_its_entries_follow():
    content = f"token: {PLANTED['Slack token']}".encode()
    picture = b"\x89PNG\x00\xff" + b"planted-secret-0042"
    redactor = Redactor("r1", ["planted-secret-0042"])
    contents, renamed = redactor.artifacts({digest(content): content, digest(picture): picture})
    redactor.rename(renamed)
    assert all(digest(cleaned) == name for name, cleaned in contents.items())
    assert PLANTED["Slack token"].encode() not in b"".join(contents.values())
    assert b"planted" not in b"".join(contents.values())
    entry = redactor.entries(trace_of(started(files={"/a.txt": digest(content)})))[0]
    assert entry.event.files == {"/a.txt": digest(contents[renamed[digest(content)]])}
    assert {one.seq for one in redactor.redactions} == {-1}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "latin-1"])
def test_no_text_keeps_a_secret_however_its_signs_are_written(encoding):
    bom = codecs.BOM_UTF16_BE if encoding == "utf-16-be" else b""
    text = f"clé {{}}; {{}}\n-----\n{PEM[:11]}".format
    shaped = PLANTED["AWS key"]
    redactor = Redactor("r1", ["planted-secret-ü42"])
    cleaned = redactor.content(bom + text("planted-secret-ü42", shaped).encode(encoding))
    assert cleaned == bom + text(f"[redacted {KNOWN}]", "[redacted AWS key]").encode(encoding)
    assert {one.kind for one in redactor.redactions} == {KNOWN, "AWS key"}


@pytest.mark.parametrize(
    ("encoding", "before"),
    [(encoding, b"\x00\xff\x00") for encoding in ("utf-8", "utf-16-le", "utf-16-be")] + [("utf-16-le", b"\x00\x00")],
)
def test_in_what_is_no_text_a_known_key_is_covered_and_nothing_moves(encoding, before):
    key = "planted-secret-042"
    written = key.encode(encoding)
    redactor = Redactor("r1", [key])
    assert redactor.content(before + b"A" + written + b"B") == before + b"A" + b"*" * len(written) + b"B"
    assert [one.kind for one in redactor.redactions] == [KNOWN]


def test_in_what_is_no_text_a_key_of_a_known_shape_is_covered_wherever_it_stands():
    key = PLANTED["GitHub token"].encode()
    for place in (0, LOOKED_AT - 20, LOOKED_AT - 1, 2 * LOOKED_AT):
        redactor = Redactor("r1")
        content = b"\x89PNG\x00" + b"\xff" * place + b"\x00" + key + b"\x00"
        assert redactor.content(content) == content.replace(key, b"*" * len(key))
        assert [(one.kind, one.count) for one in redactor.redactions] == [("GitHub token", 1)]
    allowed = Redactor("r1", let_through=SHAPES)
    assert allowed.content(content) is content


@pytest.mark.parametrize(
    "content",
    [bytes(range(256)) * 2000, b"\xff\xfe\x00", b"\xff\xfeA\x00", b"\xe9t\xe9", "été".encode(), b"", b"\x00" * 10],
    ids=["binary", "cut off", "wide", "latin", "text", "empty", "nothing"],
)
def test_a_file_without_a_secret_stays_the_same_object(content):
    assert Redactor("r1", ["planted-secret-0042"]).content(content) is content


def test_a_preview_shows_the_head_of_a_secret_and_never_more_than_a_fifth():
    assert masked("sk-proj-Abcdef0123456789xyz") == "sk-p… (27 characters)"
    assert masked("hunter22") == "h… (8 characters)"
    assert "MIIE" not in masked(PEM)


def test_the_known_keys_are_those_that_are_named_so():
    environment = {
        "OPENAI_API_KEY": "sk-1234567890",
        "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI",
        "SSH_KEY_FILE": "/home/me/.ssh/id",
        "MY_PASSWORD": "short",
        "HOME": "/home/somebody",
        "KEY_OF_ANOTHER": "$OPENAI_API_KEY",
    }
    headers = {"Authorization": "Bearer header-secret-1"}
    assert known_secrets(environment, headers) == ["header-secret-1", "sk-1234567890", "wJalrXUtnFEMI"]
    assert known_secrets({}) == []
