"""A provider behind a company's own authority: its certificate is known to the computer, not to the app's libraries."""

import asyncio
import os
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web

from app.llm.litellm.direct import SWITCH
from tests.app_process import ROOT, plain_environment
from tests.fakes.server import event
from tests.tools.certificates import certificate_of

ASK = """
import asyncio, sys
from tests.llm.calling import call

print(asyncio.run(call("openai/x", sys.argv[1], idle_timeout=60)).text)
"""
ANSWER = {
    "id": "1", "object": "chat.completion.chunk", "created": 1, "model": "x",
    "choices": [{"index": 0, "finish_reason": "stop", "delta": {"role": "assistant", "content": "trusted"}}],
}  # fmt: skip


def told_by(url: str, **environment: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", ASK, url],
        cwd=ROOT,
        env=plain_environment() | {"HOME": os.environ.get("HOME", "/")} | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return ran.stdout or ran.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the store is the system's, and no variable names it")
@pytest.mark.parametrize("route", ["direct", "litellm"])
async def test_a_certificate_that_the_system_trusts_is_trusted(route: str, tmp_path: Path):
    pem = certificate_of("localhost", tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    application = web.Application()

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=event(ANSWER) + event("[DONE]"), content_type="text/event-stream")

    application.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    url = f"https://localhost:{runner.addresses[0][1]}"
    environment = {"SSL_CERT_DIR": str(system_store(pem, tmp_path)), SWITCH: route}
    try:
        assert await asyncio.to_thread(told_by, url, **environment) == "trusted\n"
    finally:
        await runner.cleanup()


def system_store(pem: Path, folder: Path) -> Path:
    """A folder of certificates as OpenSSL has it: each by the hash of its subject."""
    store = folder / "store"
    store.mkdir()
    (folder / "only.pem").write_bytes(pem.read_bytes()[pem.read_bytes().index(b"-----BEGIN CERT") :])
    hashed = subprocess.run(
        ["openssl", "x509", "-hash", "-noout", "-in", str(folder / "only.pem")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    (store / f"{hashed.stdout.strip()}.0").write_bytes((folder / "only.pem").read_bytes())
    return store
