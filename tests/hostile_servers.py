"""Servers for hostile pages: another origin that counts who comes, and a model that says what it hears."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeVar

Server = TypeVar("Server", bound=ThreadingHTTPServer)
REFUSE = "Refuse: "
"""A message that begins so is answered with an error that says the rest."""


class Collector(ThreadingHTTPServer):
    """Counts connections too: a browser that only connects has told its address already."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Collect)
        self.hits: list[str] = []

    def process_request(self, request: object, client_address: object) -> None:
        self.hits.append("a connection")
        super().process_request(request, client_address)  # type: ignore[arg-type]


class _Collect(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if isinstance(self.server, Collector):
            self.server.hits.append(f"{self.command} {self.path}")
        self.send_response(204)
        self.end_headers()

    do_POST = do_PUT = do_HEAD = do_OPTIONS = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Model(BaseHTTPRequestHandler):
    """OpenAI's chat completions, as far as LiteLLM asks for them here."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = _text(asked["messages"][-1]["content"])
        if text.startswith(REFUSE):
            error = {"message": text.removeprefix(REFUSE), "type": "invalid_request_error", "code": None}
            self._send(400, "application/json", json.dumps({"error": error}))
            return
        pieces = [text[start : start + 5] for start in range(0, len(text), 5)]
        chunks = [*({"content": piece} for piece in pieces), {}]
        lines = [f"data: {json.dumps(_chunk(one, last=not one))}\n\n" for one in chunks]
        self._send(200, "text/event-stream", "".join(lines) + "data: [DONE]\n\n")

    def _send(self, status: int, kind: str, body: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _text(content: str | list[dict[str, str]]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _chunk(delta: dict[str, str], *, last: bool) -> dict[str, object]:
    choice = {"index": 0, "delta": delta, "finish_reason": "stop" if last else None}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "echo", "choices": [choice]}


@contextmanager
def collector() -> Iterator[tuple[str, list[str]]]:
    """Another origin on this machine, and who came there."""
    with _serving(Collector()) as server:
        yield _address(server), server.hits


@contextmanager
def echo() -> Iterator[str]:
    """The address of a provider whose models say what they are told."""
    with _serving(ThreadingHTTPServer(("127.0.0.1", 0), _Model)) as server:
        yield f"{_address(server)}/v1"


@contextmanager
def _serving(server: Server) -> Iterator[Server]:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def _address(server: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}"
