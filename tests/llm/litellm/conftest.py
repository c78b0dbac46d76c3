"""Both ways to a model, for tests of what has to hold on each."""

import pytest

from app.llm.litellm.direct import SWITCH
from app.llm.litellm.litellm_model import ensure_litellm


@pytest.fixture(params=["direct", "litellm"])
async def route(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A test with it is run on both; Gemini, Azure and Bedrock have LiteLLM's call alone."""
    monkeypatch.setenv(SWITCH, request.param)
    await ensure_litellm()
    return request.param
