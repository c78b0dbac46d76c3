"""Where the spans of runs are sent on to: what Settings say, else what the environment asks for and a person agreed to.

Source of the variables: opentelemetry.io/docs/specs/otel/protocol/exporter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from app.domain.errors import WorkbenchError
from app.domain.values import Value

PATH = "/v1/traces"
HEADER_KEY = "otlp:"
"""What the names of saved headers begin with, where keys are kept."""
_VARIABLE = "OTEL_EXPORTER_OTLP_"


class CollectorSettings(Value):
    address: str = ""
    """Of a collector, without `/v1/traces`; empty for the one that the environment names."""
    content: bool = False
    """Whether messages, arguments and results go along."""
    answers: dict[str, bool] = {}
    """By address that the environment named: whether a person wants spans to go there."""


class UnsentRun(Value):
    """A run that ended while spans were wanted, and that no collector has taken yet."""

    run_id: str
    given_up: str = ""
    """Why it is not tried again by itself; empty while it waits."""


@dataclass(frozen=True, slots=True)
class Destination:
    address: str
    """What is posted to."""
    by_environment: bool
    agreed: bool | None
    """`None` while nobody was asked."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """What goes along with each request; nothing where it is only told of."""

    @property
    def place(self) -> str:
        """The address as far as a person has to know it."""
        return urlsplit(self.address).netloc


def destination(settings: CollectorSettings, environment: Mapping[str, str]) -> Destination | None:
    """Where spans are wanted; `None` for nowhere, also where the environment names what is no address."""
    if settings.address:
        return Destination(spans_address(settings.address), by_environment=False, agreed=True)
    address = named_address(environment)
    if not address or trouble_of(address):
        return None
    return Destination(address, by_environment=True, agreed=settings.answers.get(address))


def named_address(environment: Mapping[str, str]) -> str:
    """What the environment wants spans to be posted to, empty for nowhere."""
    switched_off = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if switched_off or environment.get("OTEL_TRACES_EXPORTER", "").strip() == "none":
        return ""
    if exact := environment.get(f"{_VARIABLE}TRACES_ENDPOINT", "").strip():
        return exact
    return spans_address(base) if (base := environment.get(f"{_VARIABLE}ENDPOINT", "").strip()) else ""


def spans_address(base: str) -> str:
    """Where the collector of that address takes spans."""
    base = base.rstrip("/")
    return base if base.endswith(PATH) else base + PATH


def headers_of(environment: Mapping[str, str]) -> dict[str, str]:
    """The headers that the environment names, as `name=value,name=value` with `%` before what is special."""
    written = environment.get(f"{_VARIABLE}TRACES_HEADERS") or environment.get(f"{_VARIABLE}HEADERS", "")
    pairs = (pair.partition("=") for pair in written.split(","))
    found = {name.strip(): unquote(value.strip()) for name, _, value in pairs}
    return {name: value for name, value in found.items() if value and is_header(name, value)}


def is_header(name: str, value: str) -> bool:
    """Whether HTTP can carry it, and it is none of those that every request has of its own."""
    own = name.lower() in ("host", "content-type", "content-length", "content-encoding", "transfer-encoding")
    named = name.isascii() and name.replace("-", "").replace("_", "").replace(".", "").isalnum()
    return named and not own and value.isascii() and value.isprintable()


def checked_address(text: str) -> str:
    """The address as it is kept. Raises `WorkbenchError`."""
    address = text.strip()
    if address and (trouble := trouble_of(address)):
        raise WorkbenchError(trouble)
    return address


def trouble_of(address: str) -> str:
    """Why nothing can be sent there, in words; empty where it can."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return "This is no address. Write one like http://127.0.0.1:4318."
    if parts.scheme not in ("http", "https") or not parts.hostname or not address.isprintable() or " " in address:
        return "A collector's address begins with http:// or https://, such as http://127.0.0.1:4318."
    if parts.username is not None or parts.query or parts.fragment:
        return "Leave user names, passwords and what follows a ? or # out of the address. Keys go into a header."
    return ""
