"""What the Setup guide shows in each of its states."""

from dataclasses import replace

import pytest

from app.domain.agents import PromptBehaviour, new_agent
from app.domain.errors import ModelFailure
from app.domain.settings import SetupProgress, SetupStep
from app.llm.demo.failing import failure_in
from app.llm.providers.nearby import NearbyServer
from app.llm.providers.provider_desk import KeyState
from app.llm.providers.providers import PROVIDERS
from app.ui.elements.key_form import still_missing
from app.ui.elements.provider_views import short_form_view
from app.ui.elements.setup_offer import offer_view
from app.ui.setup.setup_page import guide_of_tour
from app.ui.setup.views import (
    ANYWAY,
    TOUR,
    agents_view,
    models_view,
    providers_view,
    questions_view,
    reachable,
    servers_view,
    step_head,
    tour_view,
    ways_view,
)
from tests.ui.settings.test_settings import OPENAI

OLLAMA = NearbyServer("ollama", "Ollama", "http://127.0.0.1:11434", ("llama3.2", "qwen3"))
SILENT = NearbyServer("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1", trouble=ModelFailure("network", "No."))


@pytest.mark.parametrize(
    ("progress", "steps"),
    [
        (SetupProgress(), ("begin", "tour")),
        (SetupProgress(provider="demo"), ("begin", "choose", "tour")),
        (SetupProgress(provider="demo", model="demo/agent"), ("begin", "choose", "tour")),
        (SetupProgress(provider="demo", model="demo/agent", agent="a1"), ("begin", "choose", "ask", "tour")),
    ],
)
def test_a_step_can_be_opened_once_what_it_needs_was_chosen(progress: SetupProgress, steps: tuple[SetupStep, ...]):
    assert reachable(progress) == steps


def test_the_open_step_is_a_heading_that_takes_the_focus_and_the_others_are_buttons():
    progress = SetupProgress(step="choose", provider="demo")
    assert '<h2 tabindex="-1">' in step_head("choose", progress, "")
    assert "Change" not in step_head("begin", SetupProgress(step="tour"), ""), "nothing was chosen there"
    done = step_head("begin", progress, "The demo")
    assert "Change" in done and "The demo" in done and "disabled" not in done
    ahead = step_head("ask", progress, "")
    assert "disabled" in ahead and "Change" not in ahead


def test_the_landing_offers_the_ways_to_begin_and_later_the_way_back():
    first = offer_view(SetupProgress())
    assert [f'href="/setup?begin={way}"' in first for way in ("demo", "key", "server")] == [True] * 3
    later = offer_view(SetupProgress(step="ask"))
    assert "Ask the first question" in later and 'href="/setup"' in later


def test_the_way_that_is_open_says_so_to_a_screen_reader():
    shown = ways_view("key")
    assert shown.count('aria-expanded="true"') == 1
    assert shown.index('data-pick="key"') < shown.index('aria-expanded="true"') < shown.index('data-pick="server"')


def test_only_servers_that_answer_are_shown_with_their_models():
    shown = servers_view([SILENT, OLLAMA])
    assert "llama3.2, qwen3" in shown and "2 models" in shown
    assert "LM Studio" not in shown


def test_without_a_server_it_is_said_who_was_asked_and_how_to_start_one():
    shown = servers_view([SILENT])
    assert "LM Studio (http://127.0.0.1:1234/v1)" in shown
    assert "ollama run" in shown and "llama-server" in shown


def test_a_server_without_models_cannot_be_used_and_says_what_to_do():
    shown = servers_view([NearbyServer("ollama", "Ollama", OLLAMA.address)])
    assert "ollama pull" in shown and "disabled" in shown


def test_a_model_beyond_those_that_are_shown_is_shown_once_it_is_chosen():
    names = [f"own/m{place}" for place in range(40)]
    shown = models_view(names, "own/m39")
    assert shown.count("data-testid") == 13
    assert shown.count('aria-pressed="true"') == 1 and "m39" in shown


def test_a_provider_says_whether_it_has_a_key_and_what_is_missing_still():
    assert "needs a key" not in providers_view([OPENAI], "openai")
    assert "Paste your key of OpenAI" in still_missing(OPENAI)


def test_agents_are_offered_with_a_way_to_make_one():
    agent = new_agent("<b>Bold</b>", PromptBehaviour(model="demo/agent"), taken_slugs=())
    shown = agents_view([agent], agent.id)
    assert "&lt;b&gt;" in shown and 'href="/agents?new=1"' in shown and 'aria-pressed="true"' in shown


def test_an_agent_without_examples_can_be_asked_all_the_same():
    agent = new_agent("Silent", PromptBehaviour(model="demo/agent"), taken_slugs=())
    assert all(text in questions_view(agent) for text in ANYWAY)


def test_the_tour_asks_for_what_the_demo_model_acts_out():
    assert failure_in(TOUR[0].text) == "rate_limit"
    assert [stop.text for stop in TOUR if stop.text not in tour_view()] == []
    assert "seen" not in tour_view()
    assert tour_view([TOUR[2].text]).count("setup-seen") == 1


def test_the_tour_is_given_by_an_agent_that_calculates():
    plain = new_agent("Plain", PromptBehaviour(model="demo/agent"), taken_slugs=())
    sums = new_agent(
        "Sums",
        PromptBehaviour.model_validate({"model": "demo/agent", "tools": [{"name": "calculator"}]}),
        taken_slugs=("plain",),
    )
    assert guide_of_tour([plain, sums]) == sums
    assert guide_of_tour([plain]) == plain
    assert guide_of_tour([]) is None


def test_a_newcomer_is_asked_for_the_key_alone_and_told_where_to_get_one():
    shown = short_form_view(OPENAI)
    assert "https://platform.openai.com/api-keys" in shown and "noopener" in shown
    assert shown.index('name="key:key"') < shown.index("<details") < shown.index('name="address"')
    has_one = replace(OPENAI, keys=(KeyState("key", "WXYZ", where="in a file"),))
    assert "No key yet" not in short_form_view(has_one)


def test_what_a_provider_cannot_do_without_is_not_folded():
    azure = replace(
        OPENAI, name="azure", provider=PROVIDERS["azure"], fields=("address", "api_version"), lists_models=False
    )
    shown = short_form_view(azure)
    assert shown.index('name="address"') < shown.index('name="models"') < shown.index("<details")
    assert "openai.azure.com" in shown


def test_a_key_of_the_environment_is_enough():
    state = replace(OPENAI, keys=(KeyState("key", "WXYZ", "OPENAI_API_KEY"),))
    assert still_missing(state) == ""
