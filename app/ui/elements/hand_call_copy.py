"""The same call from outside the app: as a curl command, as a Python program."""

import json
import pprint
import shlex
from collections.abc import Mapping
from urllib.parse import quote

from pydantic import JsonValue

KEY = "AGENT_PLAYGROUND_KEY"
"""The environment variable that both read the key from."""


def as_curl(base: str, tool: str, arguments: Mapping[str, JsonValue]) -> str:
    """A command for a POSIX shell; `base` is the app's address without a slash at its end."""
    body = json.dumps({"arguments": arguments}, ensure_ascii=False)
    return (
        f"curl -sS {shlex.quote(_address(base, tool))} \\\n"
        f'  -H "Authorization: Bearer ${KEY}" \\\n'
        f"  -H 'Content-Type: application/json' \\\n"
        f"  --data-raw {shlex.quote(body)}"
    )


def as_python(base: str, tool: str, arguments: Mapping[str, JsonValue]) -> str:
    """A program that needs nothing but Python."""
    written = pprint.pformat(dict(arguments), width=100, sort_dicts=False)
    return f"""import json
import os
from urllib.request import Request, urlopen

arguments = {written}
request = Request(
    {_address(base, tool)!r},
    data=json.dumps({{"arguments": arguments}}).encode(),
    headers={{
        "Authorization": f"Bearer {{os.environ['{KEY}']}}",
        "Content-Type": "application/json",
    }},
)
with urlopen(request) as reply:
    print(json.load(reply)["data"]["output"])
"""


def _address(base: str, tool: str) -> str:
    return f"{base}/api/v1/tools/{quote(tool, safe='')}/call"
