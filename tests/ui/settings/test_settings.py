"""What the settings say of a provider, in each of its states."""

from dataclasses import replace
from datetime import timedelta

import pytest

from app.domain.providers import ProviderSettings
from app.domain.values import now
from app.llm.providers.doctor import STEPS, Finding
from app.llm.providers.last_seen import Seen
from app.llm.providers.provider_desk import KeyState, ProviderState
from app.llm.providers.providers import PROVIDERS
from app.ui.elements.provider_views import card_head, form_view, models_view, seen_words, state_words
from app.ui.settings.provider_doctor import steps_of
from app.ui.settings.providers import own_server_form
from app.ui.settings.settings_page import libraries, libraries_view

OPENAI = ProviderState(
    name="openai",
    provider=PROVIDERS["openai"],
    settings=ProviderSettings(name="openai"),
    keys=(KeyState("key"),),
    address="https://api.openai.com/v1",
    address_variable="",
    fields=("address", "organisation"),
    is_custom=False,
    lists_models=True,
    uses_profile=False,
)


@pytest.mark.parametrize(
    ("key", "words", "note"),
    [
        (KeyState("key"), "Needs a key", "Not set."),
        (KeyState("key", "WXYZ", where="in a file"), "Key set, …WXYZ", "Set, ends in …WXYZ. Kept in a file."),
        (KeyState("key", "", where="in a file"), "Key set", "Set. Kept in a file."),
        (KeyState("key", "WXYZ", "OPENAI_API_KEY"), "Key from the environment", "from the environment: OPENAI_API_KEY"),
        (KeyState("key", "", where="x", trouble="It hangs."), "The key needs a look", "It hangs."),
    ],
)
def test_a_card_says_where_the_key_comes_from(key: KeyState, words: str, note: str):
    state = replace(OPENAI, keys=(key,))
    assert state_words(state)[0] == words
    assert note in form_view(state)
    assert words in card_head(state, is_open=False)


def test_a_badge_says_what_was_seen_last_by_what_and_when():
    moment = now()
    refused = Seen("a run", moment - timedelta(minutes=2), "invalid_key")
    assert seen_words(refused, moment) == "Refused the key 2 min ago, by a run"
    assert seen_words(Seen("the doctor", moment), moment) == "Answered just now, by the doctor"
    assert seen_words(Seen("a run", moment, "context_overflow"), moment).startswith("Answered")
    assert seen_words(Seen("a look at this computer", moment, "network"), moment) == "Not running, looked just now"
    ollama = replace(OPENAI, name="ollama", provider=PROVIDERS["ollama"], keys=(KeyState("key"),))
    assert state_words(ollama)[0] == "Needs no key"
    assert "provider-seen" not in card_head(ollama, is_open=False)
    shown = card_head(replace(ollama, seen=refused), is_open=False, served=3)
    assert "Refused the key" in shown and "3 models" in shown and "is-warn" in shown


def test_an_address_from_the_environment_cannot_be_written_over():
    form = form_view(replace(OPENAI, address="http://box:1/v1", address_variable="OPENAI_BASE_URL"))
    assert 'value="http://box:1/v1"' in form
    assert " disabled" in form
    assert "From the environment: OPENAI_BASE_URL." in form


def test_what_was_written_becomes_no_markup():
    nasty = '"><script>alert(1)</script>'
    state = replace(
        OPENAI,
        name=nasty,
        provider=replace(PROVIDERS["openai"], title=nasty),
        settings=ProviderSettings(name=nasty, address=nasty, organisation=nasty, models=(nasty,), listed_at=now()),
        lists_models=False,
    )
    for shown in (form_view(state), card_head(state, is_open=True), models_view((nasty,), state)):
        assert "<script>" not in shown


def test_models_are_listed_with_when_they_were_asked():
    asked = ProviderSettings(name="openai", listed_at=now() - timedelta(minutes=5))
    assert "Not asked yet" in models_view((), OPENAI)
    shown = models_view(tuple(f"m{number}" for number in range(100)), replace(OPENAI, settings=asked))
    assert "100 models, asked 5 min" in shown
    assert "and 20 more" in shown
    assert "Load one" in models_view((), replace(OPENAI, settings=asked))


def test_the_doctor_shows_what_is_tried_and_what_is_to_come():
    works = Finding("resolves", "works", "It is known.", seconds=0.2)
    fails = Finding("connects", "fails", "Refused.", "Start it.", 1.0)
    assert [step.outcome for step in steps_of([works], running=True)] == ["works", "trying", *["waiting"] * 5]
    assert [step.outcome for step in steps_of([works, fails], running=True)] == ["works", "fails", *["waiting"] * 5]
    assert steps_of([works, fails], running=False)[1].fix == "Start it."
    assert len(STEPS) == 7


def test_every_library_is_named_with_its_licence():
    found = libraries()
    named = {one.name.lower(): one.licence for one in found}
    assert named["nicegui"] == "MIT"
    assert "<table" in libraries_view(found)
    assert "not known" in libraries_view([])


def test_a_key_field_hides_what_is_typed():
    for form in (form_view(OPENAI), own_server_form()):
        assert 'type="password"' in form
        assert 'autocomplete="new-password"' in form
