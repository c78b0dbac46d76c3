"""A server that speaks Amazon Bedrock's streamed Converse, in Amazon's own framing, to signed requests only."""

import json
import struct
import zlib

from aiohttp import web

from tests.fakes.server import FakeServer, Json

SIGNED = "AWS4-HMAC-SHA256 Credential="


class FakeBedrock(FakeServer):
    """Any model says `Hello world`."""

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/model/{model}/converse-stream", self._converse)]

    async def _converse(self, request: web.Request) -> web.StreamResponse:
        await self.note(request, request.match_info["model"], await request.json())
        if not request.headers.get("Authorization", "").startswith(SIGNED):
            return web.json_response({"message": "Missing Authentication Token"}, status=403)

        async def write(response: web.StreamResponse) -> None:
            for kind, event in EVENTS:
                await response.write(framed(kind, event))

        return await self.stream(request, write, "application/vnd.amazon.eventstream")


EVENTS: list[tuple[str, Json]] = [
    ("messageStart", {"role": "assistant"}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Hello "}}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "world"}}),
    ("contentBlockStop", {"contentBlockIndex": 0}),
    ("messageStop", {"stopReason": "end_turn"}),
    ("metadata", {"usage": {"inputTokens": 10, "outputTokens": 2, "totalTokens": 12}, "metrics": {"latencyMs": 5}}),
]


def framed(kind: str, event: Json) -> bytes:
    """One message of the encoding `vnd.amazon.eventstream`: lengths, headers and payload, each with its checksum."""
    names = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(_header(name, value) for name, value in names.items())
    payload = json.dumps(event).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return message + struct.pack(">I", zlib.crc32(message))


def _header(name: str, value: str) -> bytes:
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
