"""Starts an MCP server and keeps what is called of it: `python -m tests.view_servers.counted FILE COMMAND ARGUMENT…`.

Each call becomes a line of JSON in the file; everything else passes unchanged.
"""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO


def main(calls: Path, command: list[str]) -> int:
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=sys.stdout)
    assert server.stdin
    threading.Thread(target=pass_on, args=(calls, server.stdin), daemon=True).start()
    return server.wait()


def pass_on(calls: Path, stdin: IO[bytes]) -> None:
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "tools/call":
            with calls.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"name": message["params"]["name"]}) + "\n")
        stdin.write(line)
        stdin.flush()
    stdin.close()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
