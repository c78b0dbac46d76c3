"""The first HTTP request of the app."""

import subprocess
import sys
from pathlib import Path

FIRST_REQUEST = """
import asyncio, sys, threading

on_the_loop = []

class Watching:
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is threading.main_thread():
            on_the_loop.append(name)
        return None

async def serve(reader, writer):
    await reader.readuntil(b"\\r\\n\\r\\n")
    writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nhi")
    writer.close()

async def main():
    from app.tools.http.message import Sent
    from app.tools.http.net_guard import Guard
    from app.tools.http.web import fetch

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    guard = Guard(("127.0.0.1",), "", frozenset(("127.0.0.1",)))
    sys.meta_path.insert(0, Watching())
    received = await fetch(Sent(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"), guard)
    print(received.content.decode(), *on_the_loop)

asyncio.run(main())
"""


def test_nothing_waits_while_its_library_is_loaded() -> None:
    root = Path(__file__).parents[3]
    ran = subprocess.run([sys.executable, "-c", FIRST_REQUEST], cwd=root, capture_output=True, text=True, check=False)
    said, *loaded_on_the_loop = ran.stdout.split()
    heavy = {"httpx", "httpcore", "anyio", "anyio._backends", "anyio._backends._asyncio", "asyncio.base_tasks"}
    assert (said, heavy & set(loaded_on_the_loop)) == ("hi", set()), ran.stderr
    print(loaded_on_the_loop)
