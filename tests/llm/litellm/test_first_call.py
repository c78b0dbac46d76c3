"""What a process loads before its first answer."""

import asyncio
import subprocess
import sys

import pytest

from app.llm.litellm.direct import SWITCH
from tests.app_process import ROOT, plain_environment
from tests.fakes.openai import FakeOpenAI

ASK = """
import asyncio, sys
from tests.llm.calling import call

print(asyncio.run(call("openai/ok", sys.argv[1])).text, "openai.resources" in sys.modules)
"""


@pytest.mark.parametrize(("route", "loaded"), [("direct", False), ("litellm", True)])
async def test_the_direct_route_loads_no_client_of_another_library(route: str, loaded: bool):
    async with FakeOpenAI() as fake:
        ran = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", ASK, fake.url],
            cwd=ROOT,
            env=plain_environment() | {SWITCH: route},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert ran.stdout == f"Hello world {loaded}\n", ran.stderr
