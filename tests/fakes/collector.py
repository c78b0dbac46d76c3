"""A fake collector of spans: takes OTLP over HTTP as Protobuf, and acts in the way it was told to."""

import asyncio
from collections import Counter
from collections.abc import Mapping

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.fakes.server import FakeServer, serve

PROTOBUF = "application/x-protobuf"


class FakeCollector(FakeServer):
    """`ways` are what the next requests meet, one each; behind them, and for `ok`, spans are taken."""

    def __init__(self, *ways: str) -> None:
        super().__init__()
        self.ways = list(ways)
        self.spans: list[Span] = []
        """All that were taken, in the order in which they came."""
        self.raw: list[bytes] = []
        """What was sent, taken or not."""
        self.asked: list[Mapping[str, str]] = []

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/traces", self._take),
            web.post("/elsewhere", self._take),
            web.get("/spans", self._told),
            web.post("/ways", self._prepared),
        ]

    def times(self) -> Counter[str]:
        """How often each run was taken, by its own span."""
        ids = [values(span).get("agent_playground.run.id", "") for span in self.spans]
        return Counter(str(one) for one in ids if one)

    async def _take(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.raw.append(body)
        self.asked.append({name.lower(): value for name, value in request.headers.items()})
        way = self.ways.pop(0) if self.ways else "ok"
        answer = await self._answered(way, request, body)
        await self.note(request, way, {})
        return answer

    async def _answered(self, way: str, request: web.Request, body: bytes) -> web.StreamResponse:
        answer = web.Response()
        match way:
            case "slow":
                await asyncio.sleep(30)
            case "redirect":
                answer = web.Response(status=307, headers={"location": f"{self.url}/elsewhere"})
            case "garbage":
                answer = web.Response(body=b"\xff\xfe<nothing>", content_type=PROTOBUF)
            case "page":
                answer = web.Response(text="<html>Log in to the hotel's network</html>", content_type="text/html")
            case "hang up":
                assert request.transport is not None
                request.transport.close()
            case "partial":
                said = ExportTraceServiceResponse()
                said.partial_success.rejected_spans, said.partial_success.error_message = 2, "too\nold"
                answer = web.Response(body=said.SerializeToString(), content_type=PROTOBUF)
            case "ok" | "json":
                sent = ExportTraceServiceRequest.FromString(body)
                self.spans += [one for of in sent.resource_spans for scope in of.scope_spans for one in scope.spans]
                is_json = way == "json"
                answer = web.json_response({"partialSuccess": {}}) if is_json else web.Response(content_type=PROTOBUF)
            case _:
                status, _, after = way.partition(" after ")
                answer = web.Response(status=int(status), text="No.", headers={"retry-after": after} if after else {})
        return answer

    async def _told(self, _: web.Request) -> web.Response:
        found = [[span.trace_id.hex(), span.span_id.hex(), span.name] for span in self.spans]
        return web.json_response({"spans": found, "runs": dict(self.times())})

    async def _prepared(self, request: web.Request) -> web.Response:
        self.ways = await request.json()
        return web.Response()


def values(span: Span) -> dict[str, object]:
    """The attributes that are no list."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value") or "string_value") for one in span.attributes}


if __name__ == "__main__":
    serve(FakeCollector())
