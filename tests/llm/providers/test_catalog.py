import json
import subprocess
import sys
import tracemalloc
from pathlib import Path

import orjson
import pytest

from app.domain.messages import ImagePart, Message, TextPart, ToolCall, ToolResult, Usage, system_message, user_message
from app.domain.streaming import ModelRequest
from app.domain.tools import ToolSpec
from app.llm.providers.catalog import PRICE_LIST, Catalog, inside_litellm
from app.llm.tokens import count_tokens


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog()


def test_every_alias_leads_to_a_priced_model_that_calls_tools(catalog: Catalog):
    for alias, name in catalog.aliases.items():
        card = catalog.card(alias)
        assert card is not None, alias
        assert card.name == name
        assert card.price is not None
        assert card.calls_tools


@pytest.mark.parametrize("alias", ["claude-sonnet", "claude-opus", "claude-haiku", "gpt-4o", "gpt-4", "gpt-3.5"])
def test_the_promised_aliases_are_there(catalog: Catalog, alias: str):
    assert "/" in catalog.resolve(alias)


def test_a_name_without_a_provider_finds_its_own(catalog: Catalog):
    assert catalog.resolve("gpt-4.1-mini") == "openai/gpt-4.1-mini"
    assert catalog.resolve("openai/anything") == "openai/anything"
    assert catalog.resolve("no-such-model") == "no-such-model"


def test_a_card_says_what_the_list_says(catalog: Catalog):
    path = inside_litellm(PRICE_LIST)
    assert path is not None
    record = orjson.loads(path.read_bytes())["gpt-4o"]

    card = catalog.card("gpt-4o")

    assert card is not None
    assert card.provider == "openai"
    assert card.context_window == record["max_input_tokens"]
    assert card.sees_images
    assert card.price is not None
    assert card.price.cost(Usage(input_tokens=1000, cached_tokens=400, output_tokens=10)) == pytest.approx(
        600 * record["input_cost_per_token"]
        + 400 * record["cache_read_input_token_cost"]
        + 10 * record["output_cost_per_token"]
    )


async def test_no_more_of_the_list_is_in_memory_at_a_time_than_its_text_and_one_model():
    tracemalloc.start()
    try:
        await Catalog().ready()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 12_000_000, "all of it takes 44 MB"


def test_the_demo_and_local_models_are_free_and_unknown_ones_are_unpriced(catalog: Catalog):
    demo, local = catalog.card("demo"), catalog.card("ollama/my-own:1b")
    assert demo is not None
    assert local is not None
    assert demo.price == local.price
    assert demo.price is not None
    assert demo.price.cost(Usage(input_tokens=1000, output_tokens=1000)) == 0
    assert catalog.card("openai/no-such-model") is None


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "bedrock", "azure", "mistral", "ollama"])
def test_the_cards_of_a_provider_bear_its_name(catalog: Catalog, provider: str):
    cards = catalog.cards(provider)

    assert cards
    assert all(card.name.startswith(f"{provider}/") for card in cards)
    assert "container" not in [card.title for card in cards]


def test_the_models_with_an_alias_come_first(catalog: Catalog):
    main = {name for name in catalog.aliases.values() if name.startswith("openai/")}

    assert [card.name for card in catalog.cards("openai")][: len(main)] == sorted(main)


def test_a_damaged_entry_hides_no_other(tmp_path: Path):
    path = tmp_path / "prices.json"
    good = {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6}
    odd = {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": "free", "max_input_tokens": "many"}
    path.write_text(json.dumps({"good": good, "odd": odd, "list": [1], "none": {}}))

    catalog = Catalog(path)

    assert [card.name for card in catalog.cards("openai")] == ["openai/good", "openai/odd"]
    assert catalog.cards("openai")[1].price is None


async def test_tokens_are_counted_close_to_what_they_are():
    text = "The quick brown fox jumps over the lazy dog. " * 100
    count = await count_tokens(ModelRequest("openai/gpt-4o", (user_message(text),)))

    assert not count.estimated
    assert 950 < count.tokens < 1050


async def test_everything_in_a_request_counts():
    call = ToolCall(call_id="c", name="add", arguments={"a": 1, "b": 2})
    result = ToolResult(call_id="c", name="add", parts=(TextPart(text="three " * 50),))
    messages = (user_message("hi"), Message(role="assistant", parts=(call,)), Message.of_result(result))
    spec = ToolSpec(name="add", description="adds two numbers", parameters={"type": "object"})
    image = ImagePart(artifact="a", media_type="image/png")
    requests = [
        ModelRequest("x/y", messages[:1]),
        ModelRequest("x/y", messages),
        ModelRequest("x/y", messages, system=system_message("be nice")),
        ModelRequest("x/y", messages, system=system_message("be nice"), tools=(spec,)),
        ModelRequest("x/y", (*messages, user_message("see", image)), system=system_message("be nice"), tools=(spec,)),
    ]

    counts = [(await count_tokens(request)).tokens for request in requests]

    assert counts == sorted(set(counts))
    assert counts[1] - counts[0] > 50


async def test_a_long_text_is_counted_the_same_each_time():
    request = ModelRequest("x/y", (user_message("many words " * 5000),))
    counts = {(await count_tokens(request)).tokens for _ in range(3)}
    assert len(counts) == 1 and counts.pop() > 9000


def test_neither_prices_nor_counts_nor_the_demo_import_litellm():
    script = """
import asyncio, sys
from app.domain.messages import user_message
from app.domain.streaming import ModelRequest
from app.llm.providers.catalog import Catalog
from app.llm.directory import ModelDirectory
from app.llm.tokens import count_tokens

async def run():
    catalog = Catalog()
    models = ModelDirectory(catalog, None, pace=0)
    model = await models.open("demo/agent")
    request = ModelRequest("demo/agent", (user_message("What is 5 + 10?"),))
    async for _ in model.stream(request):
        pass
    await models.count_tokens(request)
    assert "tiktoken" not in sys.modules and "httpx" not in sys.modules
    assert catalog.card("claude-sonnet").price
    assert (await count_tokens(request)).tokens
    assert not {"litellm", "openai"} & set(sys.modules)

asyncio.run(run())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
