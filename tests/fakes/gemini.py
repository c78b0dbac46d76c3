"""A server that speaks Google Gemini's streamed generation; the model's name says what it does.

As a process of its own: `python -m tests.fakes.gemini --port 8097`.
"""

from aiohttp import web

from tests.fakes.files import FileStore
from tests.fakes.server import FakeServer, Json, event, serve

SIGNATURE = "VEhPVUdIVC1TSUdOQVRVUkU="

REFUSALS: dict[str, tuple[int, str, str]] = {
    "e400": (400, "INVALID_ARGUMENT", "Invalid JSON payload received."),
    "e400-context": (400, "INVALID_ARGUMENT", "The input token count exceeds the maximum context length of 1048576."),
    "e400-key": (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    "e404": (404, "NOT_FOUND", "models/x is not found for API version v1beta"),
    "e429": (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    "e500": (500, "INTERNAL", "An internal error has occurred."),
    "e503": (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
}


def candidate(*parts: Json, finish: str | None = None) -> Json:
    content: Json = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    return {"candidates": [{**content, **({"finishReason": finish} if finish else {})}]}


def finished(reason: str = "STOP") -> Json:
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 8, "thoughtsTokenCount": 4, "totalTokenCount": 22}
    return {**candidate({"text": ""}, finish=reason), "usageMetadata": usage}


STREAMS: dict[str, list[Json]] = {
    "ok": [candidate({"text": "Hello "}), candidate({"text": "world"}), finished()],
    "thinking-tools": [
        candidate({"text": "thinking..", "thought": True}),
        candidate({"text": "Answer "}),
        candidate(
            {"functionCall": {"name": "get_weather", "args": {"city": "Paris"}}, "thoughtSignature": SIGNATURE},
            {"functionCall": {"name": "add", "args": {"a": 2, "b": 40}}},
        ),
        finished(),
    ],
    "signed-text": [candidate({"text": "Hello", "thoughtSignature": SIGNATURE}), finished()],
    "length": [candidate({"text": "I was cut"}), finished("MAX_TOKENS")],
    "safety": [finished("SAFETY")],
    "eof": [candidate({"text": "Hello"})],
}


class FakeGemini(FakeServer):
    def __init__(self) -> None:
        super().__init__()
        self.store = FileStore("gemini")

    def routes(self) -> list[web.RouteDef]:
        return [*self.store.routes(), web.post("/{path:.*}", self._generate)]

    async def _generate(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        model = request.match_info["path"].rpartition("/")[2].partition(":")[0]
        await self.note(request, model, body)
        if self.store.uploads and (missing := self.store.missing(body).rpartition("/")[2]):
            words = f"You do not have permission to access the File {missing} or it may not exist."
            lost = {"code": 403, "message": words, "status": "PERMISSION_DENIED"}
            return web.json_response({"error": lost}, status=403)
        if model in REFUSALS:
            status, kind, message = REFUSALS[model]
            return web.json_response({"error": {"code": status, "message": message, "status": kind}}, status=status)

        async def write(response: web.StreamResponse) -> None:
            for part in STREAMS.get(model, STREAMS["ok"]):
                await response.write(event(part))

        return await self.stream(request, write)


if __name__ == "__main__":
    serve(FakeGemini())
