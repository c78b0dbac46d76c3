"""What fills the context of the next call, before it is sent."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from app.domain.agents import PromptBehaviour, Variable, new_agent, with_variant
from app.domain.errors import NotFound, WorkbenchError
from app.domain.messages import ToolCall, system_message, user_message
from app.domain.models import Price
from app.domain.streaming import ModelRequest
from app.engine.loop.context import context_of
from app.llm.directory import ModelDirectory
from app.llm.providers.catalog import Catalog
from tests.builtin_tools import builtin_registry
from tests.engine.scripted import reply

PRICE = Price(input=0.001, output=1)


async def no_artifact(digest: str) -> bytes:
    raise NotFound(digest)


def request(model: str = "demo/agent") -> ModelRequest:
    return ModelRequest(
        model,
        (user_message("first question"), replace_role("an answer"), user_message("and the next one?")),
        system=system_message("You are helpful. " * 20),
        tools=builtin_registry().all(),
    )


def replace_role(text: str):
    return user_message(text).model_copy(update={"role": "assistant"})


@pytest.mark.parametrize("model", ["demo/agent", "openai/gpt-4o", "anthropic/claude-sonnet-4-5"])
async def test_the_parts_add_up_to_what_is_counted_for_the_whole(model):
    models = ModelDirectory(Catalog(), no_artifact)
    parts = await context_of(request(model), models, typed=True)
    assert abs(parts.total - await models.count_tokens(request(model))) <= 4
    assert min(parts.system, parts.tools, parts.history, parts.message) > 0
    assert parts.window is not None and parts.window > 100_000


async def test_the_cost_of_sending_is_the_tokens_at_the_models_price(bench):
    bench.models.priced = PRICE
    bench.models.holds = 1000
    parts = await context_of(request("scripted/model"), bench.models, typed=True)
    assert (parts.message, parts.history) == (len("and the next one?"), len("first question") + len("an answer"))
    assert parts.input_cost == pytest.approx(parts.total * 0.001)
    assert parts.window == 1000


async def test_a_message_that_was_sent_and_never_answered_is_history(bench):
    parts = await context_of(request("scripted/model"), bench.models)
    assert (parts.message, parts.history) == (0, len("first question" + "an answer" + "and the next one?"))


async def test_a_model_nobody_knows_has_no_window_and_no_price(bench):
    parts = await context_of(request("scripted/model"), bench.models)
    assert (parts.window, parts.input_cost) == (None, None)


async def test_a_free_model_costs_nothing():
    parts = await context_of(request(), ModelDirectory(Catalog(), no_artifact))
    assert parts.input_cost == 0


async def test_the_demo_is_counted_without_the_list_of_all_models(tmp_path: Path):
    """Reading it takes a while, and the single file would have to unpack it first."""
    unread = Catalog(price_list=tmp_path / "missing")
    assert (await context_of(request(), ModelDirectory(unread, no_artifact))).total > 0


async def test_an_output_schema_is_part_of_what_is_sent():
    models = ModelDirectory(Catalog(), no_artifact)
    plain = request("openai/gpt-4o")
    shaped = replace(plain, output_schema={"type": "object", "properties": {"city": {"type": "string"}}})
    before, after = [await context_of(asked, models) for asked in (plain, shaped)]
    assert after.system > before.system
    assert after.total == await models.count_tokens(shaped)


@pytest.mark.parametrize("model", ["demo/agent", "openai/gpt-4o"])
async def test_an_empty_request_fills_nothing(model):
    empty = replace(request(model), system=None, tools=(), messages=())
    assert (await context_of(empty, ModelDirectory(Catalog(), no_artifact), typed=True)).total == 0


async def test_the_next_request_is_what_send_asks_first(bench):
    session = await bench.session("add", "talk")
    bench.models.say(reply("", ToolCall(call_id="c1", name="talk")))
    bench.models.say("done")
    live = await bench.chat.send(session.id, "write")
    await asyncio.wait_for(live.ended(), 30)
    foretold = await bench.chat.next_request(session.id, "and now?")
    bench.models.say("ok")
    live = await bench.chat.send(session.id, "and now?")
    await live.ended()
    assert bench.models.requests[-1] == foretold
    assert bench.data.rows.get(live.run_id) is not None


async def test_before_a_message_is_typed_the_request_is_the_history(bench):
    session = await bench.session()
    assert (await bench.chat.next_request(session.id)).messages == ()
    bench.models.say("1")
    await (await bench.chat.send(session.id, "one")).ended()
    assert [message.text for message in (await bench.chat.next_request(session.id, " ")).messages] == ["one", "1"]


async def test_the_next_request_is_refused_as_send_would_be(bench):
    session = await bench.session("vanished")
    with pytest.raises(WorkbenchError, match="'vanished'"):
        await bench.chat.next_request(session.id, "hi")


async def two_variants(bench):
    first = PromptBehaviour(system_prompt="Be {{mood}}.", model="scripted/model", variables=(Variable(name="mood"),))
    agent = new_agent("Tester", first, taken_slugs=())
    agent = with_variant(agent, first.model_copy(update={"system_prompt": "Be brief."}), origin=1)
    agent = with_variant(agent, first.model_copy(update={"model": "scripted/other"}), origin=1)
    await bench.data.agents.create(agent)
    return await bench.chat.new_session(agent.id)


async def test_a_changed_system_prompt_is_seen_before_the_next_run(bench):
    session = await two_variants(bench)
    assert not await bench.chat.system_changed(session.id)
    bench.models.say("hi")
    await (await bench.chat.send(session.id, "one")).ended()
    assert not await bench.chat.system_changed(session.id)
    await bench.data.sessions.change(session.id, lambda old: old.model_copy(update={"variant": 3}))
    assert not await bench.chat.system_changed(session.id)
    await bench.data.sessions.change(session.id, lambda old: old.model_copy(update={"variant": 2}))
    assert await bench.chat.system_changed(session.id)
    bench.models.say("hi")
    live = await bench.chat.send(session.id, "two")
    await live.ended()
    assert live.started.agent.variant == 2
    assert not await bench.chat.system_changed(session.id)


async def test_another_value_of_a_variable_changes_the_system_prompt(bench):
    session = await two_variants(bench)
    bench.models.say("hi")
    await (await bench.chat.send(session.id, "one")).ended()
    await bench.data.sessions.change(session.id, lambda old: old.model_copy(update={"variables": {"mood": "calm"}}))
    assert await bench.chat.system_changed(session.id)
