"""One request of OTLP over HTTP: spans as Protobuf, which every collector takes, and what came of it in words.

Source of what is tried again and what is not: opentelemetry.io/docs/specs/otlp/#otlphttp-response.
"""

import asyncio
import base64
import functools
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

import httpx
from google.protobuf.json_format import Parse, ParseDict, ParseError
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from pydantic import JsonValue

from app.domain.collectors import Destination

Outcome = Literal["taken", "refused", "later"]
SECONDS = 10.0
"""For a whole request, as OpenTelemetry's own exporters wait."""
PROTOBUF = "application/x-protobuf"
MOST_BYTES = 64 * 1024
"""Of an answer."""
_AGAIN = (408, 429, 502, 503, 504)
_IDS = ("traceId", "spanId", "parentSpanId")


@dataclass(frozen=True, slots=True)
class Receipt:
    outcome: Outcome
    """`later`: it may be taken when it is tried again."""
    words: str = ""
    """Why it was not taken, as a sentence."""
    after: float = 0.0
    """Seconds that the collector wants to be left alone."""


async def post(spans: dict[str, JsonValue], to: Destination, *, seconds: float = SECONDS) -> Receipt:
    """What the collector said to that `TracesData`. Redirects are not followed."""
    content = await asyncio.to_thread(packed, spans)
    headers = {"user-agent": "agent-playground", **to.headers, "content-type": PROTOBUF, "accept-encoding": "identity"}
    try:
        async with asyncio.timeout(seconds):
            trust = await asyncio.to_thread(_trust)
            async with (
                httpx.AsyncClient(verify=trust, timeout=None) as client,  # noqa: S113  the whole has its time
                client.stream("POST", to.address, content=content, headers=headers) as response,
            ):
                return received(response, await _beginning(response))
    except TimeoutError:
        return Receipt("later", f"{to.place} did not answer within {seconds:g} seconds.")
    except httpx.HTTPError as error:
        said = str(error) or type(error).__name__
        return Receipt("later", f"{to.place} cannot be reached: {said}")
    except (httpx.InvalidURL, ValueError) as error:
        return Receipt("refused", f"Nothing can be sent to {to.place}: {error}")


def received(response: httpx.Response, body: bytes) -> Receipt:
    """What an answer means."""
    status = response.status_code
    if status in _AGAIN:
        return Receipt("later", f"The collector answered {status}.", _seconds(response.headers.get("retry-after", "")))
    if response.has_redirect_location:
        return Receipt("refused", f"The collector answered {status}: the spans are wanted at another address.")
    if not response.is_success:
        return Receipt("refused", f"The collector answered {status}{_said(body)}.")
    try:
        partial = _answer(response.headers.get("content-type", ""), body).partial_success
    except (DecodeError, ParseError, UnicodeDecodeError):
        return Receipt("refused", "What answered there is no collector: it gave no receipt of spans.")
    if partial.rejected_spans:
        why = f": {_plain(partial.error_message)}" if partial.error_message else ""
        return Receipt("refused", f"The collector refused {partial.rejected_spans} of the spans{why}.")
    return Receipt("taken")


def packed(spans: dict[str, JsonValue]) -> bytes:
    """A `TracesData` as the bytes of a request. OTLP's JSON has ids in hexadecimal digits, Protobuf's own in base64."""
    content: bytes = ParseDict(_in_base64(spans), ExportTraceServiceRequest()).SerializeToString()
    return content


def _in_base64(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {
            key: base64.b64encode(bytes.fromhex(inner)).decode()
            if key in _IDS and isinstance(inner, str)
            else _in_base64(inner)
            for key, inner in value.items()
        }
    return [_in_base64(inner) for inner in value] if isinstance(value, list) else value


def _answer(media_type: str, body: bytes) -> ExportTraceServiceResponse:
    answer = ExportTraceServiceResponse()
    if "json" in media_type:
        Parse(body or b"{}", answer, ignore_unknown_fields=True)
    elif media_type.startswith("text/") and body:
        raise DecodeError(media_type)
    else:
        answer.ParseFromString(body)
    return answer


async def _beginning(response: httpx.Response) -> bytes:
    body = b""
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > MOST_BYTES:
            break
    return body[:MOST_BYTES]


def _said(body: bytes) -> str:
    """The beginning of what was said, where that is text."""
    text = _plain(body[:2000].decode(errors="replace"))
    return f": {text}" if text and "\ufffd" not in text else ""


def _plain(text: str) -> str:
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())[:200].rstrip(".")


def _seconds(after: str) -> float:
    """What `Retry-After` says, which is a number or a date; 0 where it says nothing that can be read."""
    if after.strip().isascii() and after.strip().isdigit():
        return float(after.strip()[:6])
    try:
        return max(0.0, (parsedate_to_datetime(after).astimezone(UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return 0.0


@functools.cache
def _trust() -> ssl.SSLContext:
    """The certificates that this computer believes in, also the authority of a company."""
    import truststore  # noqa: PLC0415  no start asks anybody anything

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
