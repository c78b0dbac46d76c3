import pytest

from app.domain.collectors import (
    CollectorSettings,
    checked_address,
    destination,
    headers_of,
    is_header,
    named_address,
)
from app.domain.errors import WorkbenchError
from app.domain.provenance import caller_span

BASE, EXACT = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
TRACE, SPAN = "ab" * 16, "cd" * 8


@pytest.mark.parametrize(
    ("environment", "address"),
    [
        ({}, ""),
        ({BASE: "http://c:4318"}, "http://c:4318/v1/traces"),
        ({BASE: "https://c/otlp/"}, "https://c/otlp/v1/traces"),
        ({BASE: "http://c:4318", EXACT: "http://other/take"}, "http://other/take"),
        ({BASE: "http://c:4318", "OTEL_SDK_DISABLED": "true"}, ""),
        ({BASE: "http://c:4318", "OTEL_TRACES_EXPORTER": "none"}, ""),
    ],
)
def test_the_environment_names_an_address_as_opentelemetry_says(environment, address):
    assert named_address(environment) == address


def test_nothing_goes_where_only_the_environment_wants_it():
    environment = {BASE: "http://c:4318"}
    asked = destination(CollectorSettings(), environment)
    assert asked is not None and asked.agreed is None and asked.place == "c:4318"
    answers = {asked.address: True}
    agreed = destination(CollectorSettings(answers=answers), environment)
    assert agreed is not None and agreed.agreed
    moved = destination(CollectorSettings(answers=answers), {BASE: "http://d:4318"})
    assert moved is not None and moved.agreed is None  # it is asked for each address
    assert destination(CollectorSettings(), {BASE: "grpc://c:4317"}) is None
    own = destination(CollectorSettings(address="http://mine"), environment)
    assert own is not None and own.agreed and own.address == "http://mine/v1/traces" and not own.by_environment


def test_headers_of_the_environment_are_unpacked():
    written = "authorization=Bearer%20abc, x-key = 1=2 ,bad name=x,empty=,host=evil,broken=a%0d%0ab"
    assert headers_of({"OTEL_EXPORTER_OTLP_HEADERS": written}) == {"authorization": "Bearer abc", "x-key": "1=2"}
    own = {"OTEL_EXPORTER_OTLP_HEADERS": "a=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "b=2"}
    assert headers_of(own) == {"b": "2"}
    assert not is_header("x-key", "ä") and not is_header("content-type", "text/html")


@pytest.mark.parametrize(
    "address",
    ["ftp://c", "c:4318", "http://", "http://u:p@c", "http://c/?key=1", "http://c:99999", "http://[c", "http://c\nd"],
)
def test_an_address_to_which_nothing_can_be_sent_is_refused_in_words(address):
    with pytest.raises(WorkbenchError, match=r"address"):
        checked_address(address)


@pytest.mark.parametrize(
    ("header", "place"),
    [
        (f"00-{TRACE}-{SPAN}-01", (TRACE, SPAN)),
        (f"00-{TRACE}-{SPAN}-00", (TRACE, SPAN)),
        (f"cc-{TRACE}-{SPAN}-01-what-comes-then", (TRACE, SPAN)),
        (f"cc-{TRACE}-{SPAN}-01", (TRACE, SPAN)),
        (f"00-{TRACE}-{SPAN}-01-more", None),
        (f"cc-{TRACE}-{SPAN}-01.more", None),
        (f"ff-{TRACE}-{SPAN}-01", None),
        (f"00-{'0' * 32}-{SPAN}-01", None),
        (f"00-{TRACE}-{'0' * 16}-01", None),
        (f"00-{TRACE.upper()}-{SPAN}-01", None),
        (f"00-{TRACE}-{SPAN}", None),
        (f"00-{TRACE}-{SPAN}-01\n", None),
        ("", None),
    ],
)
def test_a_traceparent_is_read_as_the_standard_says(header, place):
    assert caller_span(header) == place
