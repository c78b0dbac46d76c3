"""A text that is being written is counted as its model counts."""

import subprocess
import sys

from app.llm.tokens import text_tokens
from tests.app_process import ROOT

DEMO_ONLY = """
import asyncio, sys
from app.llm.tokens import text_tokens
print(asyncio.run(text_tokens("Twelve signs", "demo/agent")).tokens, "tiktoken" in sys.modules)
"""


def test_for_the_demo_no_vocabulary_is_read():
    told = subprocess.run([sys.executable, "-c", DEMO_ONLY], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["3", "False"]


async def test_for_others_words_are_counted_not_signs():
    counted = await text_tokens("internationalization", "openai/gpt-4o")
    assert not counted.estimated and counted.tokens < 5
