"""What the side panel shows, as pure functions."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.domain.agents import (
    Parameters,
    PromptBehaviour,
    ToolChoice,
    Variable,
    archived,
    new_agent,
    promoted,
    with_variant,
)
from app.domain.differences import differences
from app.domain.models import ModelCard, Price
from app.domain.sessions import Session, switched
from app.engine.loop.context import ContextParts
from app.llm.providers.choices import ProviderChoice
from app.tools.builtin.calculator import calculator
from app.tools.registry import Registry
from app.ui.conversation.differences_view import compared, differences_summary, differences_view
from app.ui.elements.model_options import abilities, card_words, options_of, price_words
from app.ui.elements.variant_select import variant_options
from app.ui.playground.context_bar import context_html, context_summary, with_message
from app.ui.playground.tool_switches import allowed_tools, tool_rows

PARTS = ContextParts(system=60, tools=30, history=10, message=0, window=1000, input_cost=0.01)
CARD = ModelCard(
    name="openai/gpt-4o",
    provider="openai",
    title="gpt-4o",
    context_window=128_000,
    price=Price(input=2.5e-6, output=1e-5),
)
BEFORE = PromptBehaviour(system_prompt="Be kind to all.", parameters=Parameters(temperature=0.5))


TOOLBOX = Registry([calculator])


def test_the_context_is_shown_by_its_parts_with_its_cost():
    html = context_html(PARTS, system_changed=False)
    assert 'data-testid="context-system">60<' in html
    assert "about 100 tokens of 1,000 (10 %)" in html
    assert "$0.0100 to send" in html
    assert "system-changed" not in html


def test_a_message_is_counted_in_at_the_same_price():
    counted = with_message(PARTS, 100)
    assert counted.total == 200
    assert counted.input_cost == pytest.approx(0.02)


def test_without_a_price_the_context_is_unpriced():
    unpriced = ContextParts(system=1, tools=0, history=0, message=0, window=None, input_cost=None)
    assert context_summary(unpriced) == "Next turn: about 1 token, unpriced"
    html = context_html(with_message(unpriced, 5), system_changed=True)
    assert "unpriced" in html
    assert " of " not in html.split("context-tokens")[1].split("<")[0]
    assert "system-changed" in html


def test_a_context_that_is_too_long_says_so():
    assert "left out" not in context_html(with_message(PARTS, 800), system_changed=False)
    roomy = replace(PARTS, history=500, longest_answer=300)
    assert "context-warning" not in context_html(with_message(roomy, 100), system_changed=False)
    assert "the oldest turns" in context_html(with_message(roomy, 200), system_changed=False)
    assert "even without the history" in context_html(with_message(roomy, 2000), system_changed=False)


def test_no_tokens_have_no_price_to_go_by():
    nothing = ContextParts(system=0, tools=0, history=0, message=0, window=10, input_cost=0.0)
    assert with_message(nothing, 5).input_cost == 0


def test_differences_are_told_on_one_line_and_in_full():
    after = BEFORE.model_copy(
        update={
            "system_prompt": "Be <b>kind</b> to few.",
            "parameters": Parameters(temperature=None, seed=3),
            "tools": (ToolChoice(name="read_file"),),
        }
    )
    found = differences(BEFORE, after)
    html = differences_view(found)
    assert "<del>all</del>" in html and "&lt;" in html and "<b>" not in html
    assert "<dt>temperature</dt><dd><del>0.5</del>" in html
    summary = differences_summary(found)
    assert summary.startswith("3 words added, 1 word removed, temperature, seed, read_file")
    assert "<dt>read_file</dt>" in html


def test_equal_behaviours_show_words_in_place_of_differences():
    found = differences(BEFORE, BEFORE)
    assert "Nothing is different." in differences_view(found)
    assert differences_summary(found) == "nothing"


def test_spaces_alone_are_a_difference():
    after = BEFORE.model_copy(update={"system_prompt": "Be kind  to all."})
    assert differences_summary(differences(BEFORE, after)) == "spaces or lines"


async def test_what_is_far_from_a_change_is_counted_and_not_shown():
    long = PromptBehaviour(system_prompt="same words " * 1000 + "old")
    found = await compared(long, long.model_copy(update={"system_prompt": "same words " * 1000 + "new"}))
    html = differences_view(found)
    assert "characters unchanged" in html
    assert len(html) < 2000


def test_tools_say_whether_they_are_on_here_and_whether_they_are_gone():
    used = PromptBehaviour(tools=(ToolChoice(name="calculator", policy="ask"), ToolChoice(name="abacus")))
    html = tool_rows(used, TOOLBOX, off=("calculator",), edited=used)
    assert 'aria-checked="false"' in html
    assert "asks first" in html
    assert "“abacus” does not exist any more" in html
    assert "remove-tool-button" in html
    without = used.model_copy(update={"tools": used.tools[:1]})
    assert "remove-tool-button" not in tool_rows(used, TOOLBOX, off=(), edited=without)


def test_a_tool_that_the_variant_has_off_is_not_listed():
    used = PromptBehaviour(tools=(ToolChoice(name="calculator", policy="off"),))
    assert "has no tools" in tool_rows(used, TOOLBOX, off=(), edited=used)


def test_models_are_searched_by_all_words():
    choices = [ProviderChoice("OpenAI", (CARD,)), ProviderChoice("Elsewhere", (), needs="a key")]
    assert [one.model for one in options_of(choices, "GPT openai")] == ["openai/gpt-4o"]
    assert options_of(choices, "gpt claude") == []


def test_a_model_says_what_it_takes_and_costs():
    assert card_words(CARD) == "calls tools · 128k tokens context · $2.5 in, $10 out per 1M tokens"
    assert price_words(None) == "unpriced"
    assert price_words(Price(input=0, output=0)) == "free"
    assert "not in the catalog" in card_words(None)
    assert abilities(CARD.model_copy(update={"sees_images": True, "reasons": True})) == (
        "sees images · thinks · calls tools"
    )
    assert abilities(ModelCard(name="own/m", provider="own", title="m")) == "", "nobody said what it can do"


def test_what_was_used_comes_first_and_what_needs_a_key_last_and_is_cut_short():
    many = tuple(CARD.model_copy(update={"name": f"openai/m{number}", "title": f"m{number}"}) for number in range(20))
    locked = tuple(CARD.model_copy(update={"name": f"xai/x{number}", "title": f"x{number}"}) for number in range(9))
    choices = [ProviderChoice("OpenAI", many), ProviderChoice("xAI", locked, needs="a key", needs_key=True)]
    shown = options_of(choices, "", recent=("openai/m15", "xai/x1", "gone/gone"))
    assert [one.model for one in shown if one.group == "Recently used"] == ["openai/m15"]
    assert [one.model for one in shown if one.group == "OpenAI"] == [f"openai/m{number}" for number in range(8)]
    assert [one.model for one in shown if one.needs_key] == ["xai/x0", "xai/x1", "xai/x2"]
    assert [one.more for one in shown if one.more] == [12, 6]
    assert len(options_of(choices, "calls tools")) == 29, "abilities are searched as well"


def test_archived_variants_are_offered_only_while_in_use():
    agent = new_agent("A", BEFORE, taken_slugs=())
    agent = promoted(with_variant(with_variant(agent, BEFORE, origin=1), BEFORE, origin=2), 2)
    agent = archived(agent, 1)
    assert variant_options(agent, 2) == {3: "v3 · newer", 2: "v2 · active"}
    assert variant_options(agent, 1)[1] == "v1 · archived"


def test_a_switched_session_keeps_the_values_somebody_chose():
    first = PromptBehaviour(variables=(Variable(name="tone", default="kind"), Variable(name="place", default="Rome")))
    agent = new_agent("A", first, taken_slugs=())
    second = PromptBehaviour(variables=(Variable(name="tone", default="stern"),))
    agent = with_variant(agent, second, origin=1)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    values = {"tone": "kind", "place": "Oslo"}
    session = Session(
        id="s", agent_id=agent.id, agent_slug="a", variant=1, variables=values, created_at=moment, updated_at=moment
    )
    after = switched(session, agent, 2)
    assert (after.variant, after.variables) == (2, {"place": "Oslo"})


def test_the_model_whose_name_begins_with_the_words_comes_first():
    tuned = CARD.model_copy(update={"name": "openai/ft:gpt-4o", "title": "ft:gpt-4o"})
    older = CARD.model_copy(update={"name": "openai/chat-gpt-4o", "title": "chat-gpt-4o"})
    found = options_of([ProviderChoice("OpenAI", (tuned, older, CARD))], "gpt-4o")
    assert [one.title for one in found] == ["gpt-4o", "chat-gpt-4o", "ft:gpt-4o"]


def test_tools_that_are_always_allowed_can_be_asked_about_again():
    shown = allowed_tools(("calculator", "abacus"), TOOLBOX)
    assert shown.count('data-action="ask-again"') == 2
    assert 'data-tool="abacus"' in shown  # also one that is gone
    assert allowed_tools((), TOOLBOX) == ""
