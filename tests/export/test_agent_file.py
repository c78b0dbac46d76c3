"""An agent's file, and files that are none."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.agents import (
    Agent,
    Limits,
    Parameters,
    PromptBehaviour,
    ToolChoice,
    Variable,
    archived,
    name_problem,
    new_agent,
    promoted,
    renamed,
    with_variant,
)
from app.domain.errors import TooLarge, WorkbenchError
from app.export.agent_file import FORMAT, agent_file, read_agent_file
from app.export.limits import LARGEST_AGENT

RICH = PromptBehaviour(
    system_prompt="Be {{mood}} – ünïcode, {{ braces }}, \u202e and 🎉\n" * 10,
    variables=(Variable(name="mood", default="calm {{x}}", description="How"),),
    model="openai/gpt-4o",
    parameters=Parameters(temperature=0.1, top_p=0.9, max_tokens=7, stop=("END",), seed=1, reasoning_effort="high"),
    tools=(ToolChoice(name="calculator"), ToolChoice(name="write_file", policy="ask")),
    limits=Limits(max_steps=3, run_cost=0.5),
    output_schema={"type": "object", "properties": {"a": {"enum": [1, None, "x", 1.5]}}},
)


def rich_agent() -> Agent:
    agent = new_agent(
        "Math tutor", RICH, taken_slugs=(), description="Sums", icon="calculate", examples=("What is 1 + 1?",)
    )
    agent = with_variant(agent, PromptBehaviour(system_prompt="two"), origin=1, note="shorter")
    agent = with_variant(agent, RICH, origin=2)
    return archived(promoted(agent, 2), 1)


def tools_off(agent: Agent) -> Agent:
    def off(behaviour: PromptBehaviour) -> PromptBehaviour:
        return behaviour.model_copy(
            update={"tools": tuple(ToolChoice(name=tool.name, policy="off") for tool in behaviour.tools)}
        )

    variants = tuple(variant.model_copy(update={"behaviour": off(variant.behaviour)}) for variant in agent.variants)
    return agent.model_copy(update={"variants": variants})


def test_an_agent_comes_back_as_it_was_but_for_its_id_and_history_and_with_its_tools_off():
    agent = rich_agent()
    assert agent.activations
    back = read_agent_file(agent_file(agent), taken_slugs=())
    assert back.id != agent.id
    assert back.model_copy(update={"id": agent.id}) == tools_off(agent).model_copy(update={"activations": ()})
    assert [tool.policy for tool in back.variants[2].behaviour.tools] == ["off", "off"]


def test_a_file_of_an_imported_agent_can_be_imported():
    once = read_agent_file(agent_file(rich_agent()), taken_slugs=())
    again = read_agent_file(agent_file(once), taken_slugs={once.slug})
    assert (again.slug, again.variants) == ("math-tutor-2", once.variants)


def test_an_agent_with_a_name_of_any_language_comes_back():
    name = "Family\u00a0👨\u200d👩\u200d👧"
    assert name_problem(name, ()) == ""
    assert read_agent_file(agent_file(renamed(rich_agent(), name)), taken_slugs=()).name == name


def test_an_imported_agent_is_neither_public_nor_deleted():
    agent = rich_agent().model_copy(update={"is_public": True, "deleted_at": rich_agent().created_at})
    back = read_agent_file(agent_file(agent), taken_slugs=())
    assert (back.is_public, back.deleted_at) == (False, None)


def test_an_imported_agent_is_held_to_the_limits_of_a_new_one():
    wide = Limits(max_steps=10**6, run_cost=1e9, session_cost=0, result_size=0, repeats=0, total_time=1e9)
    agent = new_agent("Rich", PromptBehaviour(limits=wide), taken_slugs=())
    assert read_agent_file(agent_file(agent), taken_slugs=()).active_variant.behaviour.limits == Limits()


def test_a_small_file_that_would_take_much_memory_is_refused():
    with pytest.raises(TooLarge, match="more than 500,000 values"):
        read_agent_file(b'{"agent":[%b]}' % b",".join([b"[]"] * 300_000), taken_slugs=())


def document(**changes: object) -> dict[str, object]:
    written: dict[str, object] = json.loads(agent_file(rich_agent()))
    return {**written, **changes}


def with_agent(**changes: object) -> bytes:
    agent = {**json.loads(agent_file(rich_agent()))["agent"], **changes}
    return json.dumps(document(agent=agent)).encode()


VARIANT = json.loads(agent_file(rich_agent()))["agent"]["variants"][0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not JSON"),
        (b"\x89PNG\r\n\x1a\n", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "does not say"),
        (b'{"name": "Assistant"}', "does not say"),
        (json.dumps({"format": "something/else", "version": 1}).encode(), "does not say"),
        (json.dumps({"format": FORMAT}).encode(), "no version"),
        (json.dumps({"format": FORMAT, "version": True}).encode(), "no version"),
        (json.dumps({"format": FORMAT, "version": 0}).encode(), "no version"),
        (json.dumps({"format": FORMAT, "version": 3, "agents": []}).encode(), "newer Agent Playground (version 3"),
        (json.dumps({"format": FORMAT, "version": 1}).encode(), "agent: Input should be"),
        (with_agent(name=" "), "it has no name"),
        (with_agent(name="x" * 201), "longer than 200"),
        (with_agent(name="a\x00b"), "cannot be shown"),
        (with_agent(name="evil\u202egnp.exe"), "cannot be shown"),
        (with_agent(description="x" * 3000), "description is longer"),
        (with_agent(icon="img:http://example.com/x.png"), "icon"),
        (with_agent(icon="M0 0h24v24z"), "icon"),
        (with_agent(active=9), "active variant is missing"),
        (with_agent(active=1), "archived its active"),
        (with_agent(archived=[1, 8]), "archived a variant that is missing"),
        (with_agent(variants=[VARIANT, VARIANT], active=1, archived=[]), "same number"),
        (with_agent(variants=[], active=1, archived=[]), "active variant is missing"),
        (with_agent(variants=[{**VARIANT, "number": -5}], active=-5, archived=[]), "numbered from 1"),
        (with_agent(variants=[{**VARIANT, "number": "one"}]), "variants.0.number"),
        (with_agent(variants=[{**VARIANT, "behaviour": {"parameters": {"temperature": 99}}}]), "temperature"),
        (with_agent(variants=[{**VARIANT, "behaviour": {"limits": {"max_steps": -1}}}]), "max_steps"),
        (with_agent(examples=[{"a": 1}]), "examples.0"),
        (with_agent(created_at="2026-11-01T10:00:00"), "a time in it is none, or names no time zone"),
        (with_agent(updated_at="9999-12-31T23:59:59Z"), "a time in it is none"),
        (with_agent(variants=[{**VARIANT, "created_at": "0001-01-01T00:00:00Z"}], active=1, archived=[]), "a time in"),
    ],
)
def test_a_file_that_is_none_of_ours_is_refused_in_words(content, said):
    with pytest.raises(WorkbenchError) as caught:
        read_agent_file(content, taken_slugs=())
    assert said in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_deeply_nested_schema_is_refused():
    schema: dict[str, object] = {}
    for _ in range(200):
        schema = {"properties": schema}
    content = with_agent(variants=[{**VARIANT, "behaviour": {"output_schema": schema}}], active=1, archived=[])
    with pytest.raises(WorkbenchError, match="nested"):
        read_agent_file(content, taken_slugs=())


def test_a_file_that_is_too_large_is_refused_before_it_is_read():
    with pytest.raises(TooLarge, match="16 MiB at most"):
        read_agent_file(b" " * (LARGEST_AGENT + 1), taken_slugs=())


def test_an_agent_with_a_long_history_of_long_prompts_reads_back():
    agent = new_agent("Long", PromptBehaviour(system_prompt="a" * 200_000), taken_slugs=())
    for number in range(50):
        agent = with_variant(agent, PromptBehaviour(system_prompt=f"{number:02}" * 100_000), origin=1)
    back = read_agent_file(agent_file(agent), taken_slugs=())
    assert [one.behaviour for one in back.variants] == [one.behaviour for one in agent.variants]


def test_a_prompt_of_200_000_characters_is_no_problem():
    agent = new_agent("Long", PromptBehaviour(system_prompt="ä" * 200_000), taken_slugs=())
    back = read_agent_file(agent_file(agent), taken_slugs=())
    assert back.active_variant.behaviour.system_prompt == "ä" * 200_000


def test_fields_of_a_later_app_are_read_over():
    assert read_agent_file(with_agent(mood="new"), taken_slugs=()).name == "Math tutor"


@given(st.binary(max_size=200))
@settings(max_examples=80, deadline=None)
def test_any_bytes_are_an_agent_or_refused_in_words(content):
    with pytest.raises(WorkbenchError):
        read_agent_file(content, taken_slugs=())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(json.loads(agent_file(rich_agent()))["agent"])), JSON)
@settings(max_examples=80, deadline=None)
def test_any_value_in_any_field_makes_an_agent_that_can_be_stored_or_is_refused(field, value):
    try:
        agent = read_agent_file(with_agent(**{field: value}), taken_slugs=())
    except WorkbenchError:
        return
    assert Agent.model_validate_json(agent.model_dump_json()) == agent
