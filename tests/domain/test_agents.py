import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.agents import (
    PromptBehaviour,
    archived,
    duplicated,
    free_slug,
    new_agent,
    promoted,
    renamed,
    slug_of,
    unarchived,
    unpromoted,
    with_variant,
)
from app.domain.errors import Conflict, NotFound, WorkbenchError
from app.domain.messages import Usage
from app.domain.models import Price
from app.domain.prompts import filled, variables_of
from app.domain.sessions import title_of


def make_agent(name="Math tutor"):
    return new_agent(name, PromptBehaviour(system_prompt="one"), taken_slugs=())


def test_a_new_variant_is_a_candidate_and_changes_none_before_it():
    agent = make_agent()
    changed = with_variant(agent, PromptBehaviour(system_prompt="two"), origin=1, note="shorter")
    assert changed.variants[0] == agent.variants[0]
    assert changed.variants[1].number == 2 and changed.variants[1].origin == 1
    assert (changed.status_of(1), changed.status_of(2)) == ("active", "candidate")


def test_promotion_brings_an_archived_variant_back():
    agent = with_variant(make_agent(), PromptBehaviour(system_prompt="two"), origin=1)
    agent = archived(agent, 2)
    assert agent.status_of(2) == "archived"
    agent = promoted(agent, 2)
    assert (agent.status_of(1), agent.status_of(2)) == ("candidate", "active")
    assert agent.active_variant.behaviour.system_prompt == "two"


def make_variants():
    """An agent with four, of which the second is active after the first, and the third archived."""
    agent = make_agent()
    for prompt in ("two", "three", "four"):
        agent = with_variant(agent, PromptBehaviour(system_prompt=prompt), origin=1)
    return archived(promoted(agent, 2), 3)


def test_a_promotion_is_taken_back_with_its_place_in_the_history():
    before = make_variants()
    for after in (promoted(before, 4), promoted(before, 3)):
        assert unpromoted(after, before=before, after=after) == before, "and what was archived is so again"


def test_what_changed_since_a_promotion_stays_when_that_is_taken_back():
    before = make_variants()
    after = promoted(before, 4)
    newest = archived(archived(unarchived(renamed(after, "Tutor"), 3), 1), 2)
    undone = unpromoted(newest, before=before, after=after)
    assert (undone.active, undone.name, undone.archived) == (2, "Tutor", (1,)), "the active one is not archived"


def test_a_promotion_is_not_taken_back_once_there_was_another():
    before = make_variants()
    after = promoted(before, 4)
    for newest in (promoted(after, 1), promoted(promoted(after, 1), 4)):
        assert unpromoted(newest, before=before, after=after) is newest
    assert unpromoted(before, before=before, after=promoted(before, 2)) is before


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


def test_a_duplicate_has_all_variants_and_an_identity_of_its_own():
    agent = promoted(with_variant(make_agent(), PromptBehaviour(system_prompt="two"), origin=1), 2)
    agent = agent.model_copy(update={"is_public": True})
    copy = duplicated(agent, {agent.slug})
    assert (copy.variants, copy.active) == (agent.variants, 2)
    assert (copy.name, copy.slug, copy.is_public) == ("Math tutor (copy)", "math-tutor-copy", False)
    assert copy.id != agent.id
    assert duplicated(agent, {agent.slug, copy.slug}).slug == "math-tutor-copy-2"


def test_a_duplicate_of_a_deleted_agent_is_not_deleted():
    agent = make_agent()
    assert duplicated(agent.model_copy(update={"deleted_at": agent.created_at}), ()).deleted_at is None


def test_a_new_name_leaves_the_slug():
    agent = renamed(make_agent(), "  Algebra  ")
    assert (agent.name, agent.slug) == ("Algebra", "math-tutor")


def test_an_empty_name_is_refused():
    with pytest.raises(WorkbenchError, match="Give it one"):
        renamed(make_agent(), " ")
