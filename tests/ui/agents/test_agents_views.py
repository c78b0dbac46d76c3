"""Cards, rows of variants and tool policies, as pure functions."""

from datetime import UTC, datetime, timedelta

import pytest

from app.domain.agents import (
    Agent,
    PromptBehaviour,
    ToolChoice,
    archived,
    new_agent,
    promoted,
    with_variant,
)
from app.domain.tools import ToolSpec
from app.domain.trace import Week
from app.ui.agents.agent_cards import agent_card, trash_row
from app.ui.agents.agent_heading import agent_heading
from app.ui.agents.tool_groups import PolicyRow, chosen_first, fitting, policy_groups, with_group, with_policy
from app.ui.agents.variants import variant_row

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HOSTILE = "<script>hurt()</script>\"'><img src=x onerror=hurt()>"
NEVER = Week(0, 0.0, None)


def spec(name: str, kit: str = "") -> ToolSpec:
    return ToolSpec(name=name, description=f"Does {name}.\nAnd more.", parameters={}, kit=kit)


TOOLS = (
    ("Built in", spec("calculator")),
    ("Built in", spec("data__sort", "data")),
    ("Built in", spec("data__join", "data")),
    ("Your files", spec("words")),
)


def agent(**changes: object) -> Agent:
    made = new_agent("Tutor", PromptBehaviour(tools=(ToolChoice(name="calculator"),)), taken_slugs=())
    return made.model_copy(update=changes)


def rows(*choices: ToolChoice) -> dict[str, PolicyRow]:
    return {row.name: row for group in policy_groups(choices, TOOLS) for row in group.rows}


def test_a_card_says_how_much_the_agent_was_used():
    card = agent_card(agent(), Week(3, 0.5, NOW - timedelta(hours=2)), NOW)
    for words in ("Tutor", "v1 active", "demo/agent", "1 tool", "Last run 2 h ago", "3 runs, $0.50 this week"):
        assert words in card
    assert "Never ran" in agent_card(agent(), NEVER, NOW)


@pytest.mark.parametrize(("cost", "words"), [(0.0, "3 runs, unpriced"), (0.5, "3 runs, $0.50 + unpriced")])
def test_what_has_no_price_is_said_of_an_agents_week(cost: float, words: str):
    week = Week(3, cost, NOW - timedelta(hours=2), unpriced=True)
    assert f"{words} this week" in agent_card(agent(), week, NOW)
    assert f"{words} this week" in agent_heading(agent(), week)


def test_a_public_agent_says_so():
    assert "Public" in agent_card(agent(is_public=True), NEVER, NOW)
    assert "Public" in agent_heading(agent(is_public=True), NEVER)
    assert "Public" not in agent_card(agent(), NEVER, NOW)


def test_a_card_of_an_imported_agent_says_that_its_tools_are_off():
    off = PromptBehaviour(tools=(ToolChoice(name="calculator", policy="off"),))
    assert "Tools off" in agent_card(new_agent("Imported", off, taken_slugs=()), NEVER, NOW)


def test_hostile_names_notes_and_tools_stay_text():
    hostile = with_variant(
        agent(name=HOSTILE, description=HOSTILE, icon=HOSTILE),
        PromptBehaviour(model=HOSTILE, tools=(ToolChoice(name=HOSTILE),)),
        origin=1,
        note=HOSTILE,
    )
    hostile = promoted(hostile, 2).model_copy(update={"deleted_at": NOW})
    variant = hostile.active_variant
    shown = (
        agent_card(hostile, NEVER, NOW) + trash_row(hostile, NOW) + variant_row(hostile, variant, NOW, in_editor=True)
    )
    assert "<script>" not in shown
    assert "<img" not in shown


def test_a_variant_that_is_not_active_can_be_promoted_and_an_older_one_rolled_back_to():
    three = with_variant(with_variant(agent(), PromptBehaviour(), origin=1, note="kinder"), PromptBehaviour(), origin=2)
    three = promoted(three, 2)
    shown = {one.number: variant_row(three, one, NOW, in_editor=False) for one in three.variants}
    assert "Roll back" in shown[1]
    assert "promote-button" not in shown[2]
    assert "Promote" in shown[3]
    assert "kinder" in shown[2]
    assert "from v2" in shown[3]
    assert 'data-action="archive"' in shown[1]
    assert 'data-action="archive"' not in shown[2]
    for words in ("Changes", "Talk", "Runs", "Compare", "Edit", "Archive"):
        assert f">{words}</button>" in shown[3]
    gone = archived(three, 1)
    assert "Archived" in variant_row(gone, gone.variant(1), NOW, in_editor=False)


def test_every_tool_is_offered_by_its_source_and_says_its_first_line():
    groups = policy_groups((ToolChoice(name="words", policy="ask"),), TOOLS)
    assert [(group.title, [row.policy for row in group.rows]) for group in groups] == [
        ("Your files", ["ask"]),
        ("Built in", ["off"]),
        ("data", ["off", "off"]),
    ]
    assert groups[1].rows[0].about == "Does calculator."


def test_a_kit_that_is_chosen_as_a_whole_stands_for_its_tools_but_those_that_say_otherwise():
    choices = (ToolChoice(name="data"), ToolChoice(name="data__join", policy="ask"))
    offered = rows(*choices)
    assert (offered["data__sort"].policy, offered["data__join"].policy) == ("auto", "ask")
    off = with_policy(choices, "data__sort", "off", kit="data")
    assert off[-1] == ToolChoice(name="data__sort", policy="off")
    assert not rows(*off)["data__sort"].not_allowed_yet
    assert with_policy(off, "data__sort", "auto", kit="data")[-1] == ToolChoice(name="data__sort")


def test_all_of_a_source_are_chosen_at_once():
    kit = next(group for group in policy_groups((), TOOLS) if group.kit == "data")
    chosen = with_group((ToolChoice(name="data__join", policy="off"), ToolChoice(name="words")), kit, "ask")
    assert chosen == (ToolChoice(name="words"), ToolChoice(name="data", policy="ask"))
    shown = next(group for group in policy_groups(chosen, TOOLS) if group.kit == "data")
    assert (shown.policy, shown.chosen) == ("ask", 2)
    assert with_group(chosen, shown, "off") == (ToolChoice(name="words"),)
    files = next(group for group in policy_groups((), TOOLS) if group.title == "Your files")
    assert with_group((), files, "auto") == (ToolChoice(name="words"),)


def test_tools_are_found_by_any_word_and_the_chosen_ones_come_first():
    groups = policy_groups((ToolChoice(name="data__join"),), TOOLS)
    assert chosen_first(groups)["data__join"] < chosen_first(groups)["data__sort"]
    assert [[row.name for row in group.rows] for group in fitting(groups, "built SORT")] == [["data__sort"]]
    assert list(fitting(groups, "nothing")) == []


def test_a_deleted_tool_is_marked_and_can_be_taken_away():
    choices = (ToolChoice(name="old-tool"), ToolChoice(name="calculator"))
    assert rows(*choices)["old-tool"].missing
    assert with_policy(choices, "old_tool", "off") == (ToolChoice(name="calculator"),)


def test_an_imported_tool_waits_for_permission_and_one_turned_off_does_not():
    imported = (ToolChoice(name="calculator", policy="off"),)
    assert rows(*imported)["calculator"].not_allowed_yet
    assert not rows(*with_policy(imported, "calculator", "off"))["calculator"].not_allowed_yet
    assert with_policy(imported, "calculator", "ask") == (ToolChoice(name="calculator", policy="ask"),)


def test_a_changed_policy_keeps_the_order_of_the_tools():
    choices = (ToolChoice(name="b"), ToolChoice(name="a"))
    assert with_policy(choices, "b", "ask") == (ToolChoice(name="b", policy="ask"), ToolChoice(name="a"))
    assert with_policy(choices, "c", "auto")[-1] == ToolChoice(name="c")
