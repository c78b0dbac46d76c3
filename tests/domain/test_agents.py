import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.agents import Behaviour, archived, free_slug, new_agent, promoted, slug_of, with_variant
from app.domain.errors import Conflict, NotFound
from app.domain.messages import Usage
from app.domain.models import Price
from app.domain.prompts import filled, variables_of
from app.domain.sessions import title_of


def make_agent(name="Math tutor"):
    return new_agent(name, Behaviour(system_prompt="one"), taken_slugs=())


def test_a_new_variant_is_a_candidate_and_changes_none_before_it():
    agent = make_agent()
    changed = with_variant(agent, Behaviour(system_prompt="two"), origin=1, note="shorter")
    assert changed.variants[0] == agent.variants[0]
    assert changed.variants[1].number == 2 and changed.variants[1].origin == 1
    assert (changed.status_of(1), changed.status_of(2)) == ("active", "candidate")


def test_promotion_brings_an_archived_variant_back():
    agent = with_variant(make_agent(), Behaviour(system_prompt="two"), origin=1)
    agent = archived(agent, 2)
    assert agent.status_of(2) == "archived"
    agent = promoted(agent, 2)
    assert (agent.status_of(1), agent.status_of(2)) == ("candidate", "active")
    assert agent.active_variant.behaviour.system_prompt == "two"


def test_the_active_variant_cannot_be_archived():
    with pytest.raises(Conflict, match="Promote another"):
        archived(make_agent(), 1)


def test_a_variant_that_is_not_there_is_named():
    with pytest.raises(NotFound, match="no variant 7"):
        make_agent().variant(7)


@given(st.text())
def test_a_slug_is_safe_whatever_the_name(name):
    slug = slug_of(name)
    assert 1 <= len(slug) <= 64 and set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_a_taken_slug_gets_a_number():
    assert free_slug("Ünïted Agents!", ()) == "united-agents"
    assert free_slug("a", {"a", "a-2"}) == "a-3"


def test_variables_are_filled_once_and_unknown_ones_stay():
    assert variables_of("{{a}} {{ b }} {{a}} {{no good}}") == ("a", "b")
    assert filled("{{a}} {{ b }} {{c}}", {"a": "{{b}}", "b": "B"}) == "{{b}} B {{c}}"


def test_cached_tokens_are_paid_at_their_own_price():
    price = Price(input=2, output=10, cached=1)
    assert price.cost(Usage(input_tokens=5, cached_tokens=3, output_tokens=1)) == 2 * 2 + 3 * 1 + 10


@pytest.mark.parametrize(("text", "title"), [("\n  hello\nworld", "hello"), ("x" * 80, "x" * 59 + "…"), ("  \n", "")])
def test_a_title_is_the_first_line(text, title):
    assert title_of(text) == title
