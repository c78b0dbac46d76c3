"""The variant editor over a real workbench, and what its boxes take."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import JsonValue, ValidationError

from app.domain.agents import Agent, Limits, Parameters, PromptBehaviour, Variable, WorkingCopy
from app.domain.errors import StorageError
from app.domain.values import now
from app.ui.agents.editor_draft import EditorDraft
from app.ui.agents.editor_form import EditorForm
from app.ui.agents.editor_output import BadSchema, read_schema
from app.ui.agents.editor_tabs import PARTS, changed_tabs, tab_of
from app.ui.elements.editor_numbers import fault_words, with_field
from app.workbench import Workbench
from tests.ui.runs.test_runs_pages import marked, sees, visitor, words
from tests.waiting import until


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    opened = Workbench.open(tmp_path)
    await opened.start()
    yield opened
    await opened.close()


@pytest.fixture
def tutor(workbench: Workbench) -> Agent:
    return workbench.agents.by_slug("math-tutor")


def prompted(text: str) -> PromptBehaviour:
    return PromptBehaviour(system_prompt=text)


async def test_a_change_is_the_working_copy_of_every_page_at_once(workbench: Workbench, tutor: Agent):
    draft = EditorDraft(workbench, tutor)
    assert not draft.changed
    draft.change(prompted("Changed"))
    assert draft.changed
    assert not draft.is_written
    other = EditorDraft(workbench, tutor)
    assert other.behaviour == prompted("Changed")
    assert other.origin == 1
    await until(lambda: draft.is_written)


async def test_taking_a_change_back_leaves_no_working_copy(workbench: Workbench, tutor: Agent):
    draft = EditorDraft(workbench, tutor)
    draft.change(prompted("Changed"))
    draft.change(draft.saved)
    await until(lambda: workbench.working_copies.get(tutor.id) is None)


@pytest.mark.parametrize("pins", [{}, {"draft": [1]}])
async def test_taking_a_change_back_leaves_what_another_page_changed(
    workbench: Workbench, tutor: Agent, pins: dict[str, JsonValue]
):
    first, second = EditorDraft(workbench, tutor), EditorDraft(workbench, tutor)
    first.pins = pins
    first.change(prompted("First"))
    second.change(prompted("Second"))
    first.change(first.saved)
    await until(lambda: second.is_written)
    assert EditorDraft(workbench, tutor).behaviour == prompted("Second")


async def test_what_another_page_went_on_with_and_saved_is_not_brought_back_by_this_one(
    workbench: Workbench, tutor: Agent
):
    EditorDraft(workbench, tutor).change(prompted("Half"))
    first, second = EditorDraft(workbench, tutor), EditorDraft(workbench, tutor)
    second.change(prompted("Whole"))
    first.look()
    await second.save("")
    first.look()
    assert workbench.working_copies.get(tutor.id) is None


async def test_a_draft_that_a_known_key_was_taken_out_of_is_discarded_too(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-q8Zr1Kf5Vt2Wn7Yb3Mx6")
    workbench = Workbench.open(tmp_path / "with-a-key")
    await workbench.start()
    tutor = workbench.agents.by_slug("math-tutor")
    draft = EditorDraft(workbench, tutor)
    draft.change(prompted("Use sk-q8Zr1Kf5Vt2Wn7Yb3Mx6 now"))
    await until(lambda: draft.is_written)
    assert "redacted" in repr(workbench.working_copies.get(tutor.id)) and not draft.elsewhere
    draft.change(draft.saved)
    await until(lambda: workbench.working_copies.get(tutor.id) is None)
    await workbench.close()


async def test_once_a_change_is_kept_nothing_is_said_of_one_that_could_not_be_forgotten(
    workbench: Workbench, tutor: Agent, monkeypatch: pytest.MonkeyPatch
):
    draft = EditorDraft(workbench, tutor)
    draft.change(prompted("Changed"))
    await until(lambda: draft.is_written)
    with monkeypatch.context() as patched:
        patched.setattr(type(workbench.working_copies), "drop", refused)
        draft.change(draft.saved)
        await until(lambda: draft.trouble)
    draft.change(prompted("Changed again"))
    await until(lambda: draft.is_written)
    assert not draft.trouble


async def refused(*_: object) -> None:
    raise StorageError("The disk is full.")


async def test_two_drafts_saved_at_once_become_two_variants(workbench: Workbench, tutor: Agent):
    first, second = EditorDraft(workbench, tutor), EditorDraft(workbench, tutor)
    first.change(prompted("First"))
    second.change(prompted("Second"))
    assert first.elsewhere
    assert not second.elsewhere
    assert (await first.save("one")).number == 2
    kept = workbench.working_copies.get(tutor.id)
    assert kept is not None, "what the other tab typed has to stay"
    assert kept.behaviour == prompted("Second")
    assert (await second.save("two")).number == 3
    agent = workbench.agents.get(tutor.id)
    assert [one.behaviour.system_prompt for one in agent.variants[1:]] == ["First", "Second"]
    assert [one.origin for one in agent.variants[1:]] == [1, 1]
    assert workbench.working_copies.get(tutor.id) is None
    assert agent.active == 1


async def test_a_draft_of_a_variant_that_is_gone_goes_on_from_the_active_one(workbench: Workbench, tutor: Agent):
    copy = WorkingCopy(agent_id=tutor.id, origin=99, behaviour=prompted("Kept"), updated_at=now())
    await workbench.working_copies.save(copy)
    draft = EditorDraft(workbench, tutor)
    assert (draft.origin, draft.behaviour.system_prompt) == (1, "Kept")
    assert (await draft.save("")).origin == 1


async def test_a_copied_version_is_where_the_draft_comes_from(workbench: Workbench, tutor: Agent):
    draft = EditorDraft(workbench, tutor)
    draft.change(prompted("Second"))
    await draft.save("")
    draft.change(tutor.active_variant.behaviour, origin=1)
    assert not draft.changed
    draft.change(prompted("Third"))
    assert (await draft.save("")).origin == 1


async def test_pinned_values_stay_with_what_is_in_the_editor_and_are_no_change(workbench: Workbench, tutor: Agent):
    draft = EditorDraft(workbench, tutor)
    draft.pin({"draft": [1]})
    assert not draft.changed and EditorDraft(workbench, tutor).pins == {"draft": [1]}
    draft.change(prompted("Second"))
    await draft.save("")
    assert EditorDraft(workbench, workbench.agents.get(tutor.id)).pins == {"draft": [1]}
    copy = workbench.working_copies.get(tutor.id)
    assert copy is not None and not copy.changes(workbench.agents.get(tutor.id))
    draft.pin({})
    await until(lambda: workbench.working_copies.get(tutor.id) is None)


async def test_pinned_values_are_those_of_every_page_with_the_same_in_its_editor(workbench: Workbench, tutor: Agent):
    first, second = EditorDraft(workbench, tutor), EditorDraft(workbench, tutor)
    first.pin({"draft": [1]})
    second.look()
    second.change(prompted("Second"))
    kept = workbench.working_copies.get(tutor.id)
    assert kept is not None and kept.pins == {"draft": [1]}
    second.change(second.saved)
    first.look()
    first.pin({})
    await until(lambda: workbench.working_copies.get(tutor.id) is None)
    second.look()
    assert second.pins == {}


def test_each_change_is_one_of_a_tab():
    before = PromptBehaviour()
    after = before.model_copy(update={"variables": (Variable(name="tone"),), "limits": Limits(max_steps=3)})
    assert changed_tabs(before, after) == {"prompt", "limits"}
    assert changed_tabs(after, after) == frozenset()
    parts = {part for one in PARTS.values() for part in one}
    assert parts == set(PromptBehaviour.model_fields) - {"kind"}, "what is in no tab is never marked"
    assert (tab_of("limits"), tab_of("nowhere")) == ("limits", "prompt")


@pytest.mark.parametrize(
    ("field", "number", "told"),
    [
        ("max_steps", 0, "At least 1"),
        ("max_steps", 2.5, "A whole number, please"),
        ("max_steps", None, "This needs a number"),
        ("tool_timeout", 0, "More than 0"),
        ("run_cost", None, "This needs a number"),
    ],
)
def test_a_limit_that_cannot_be_is_refused_in_words(field: str, number: float | None, told: str):
    with pytest.raises(ValidationError) as refused:
        with_field(Limits(), field, number)
    assert fault_words(refused.value) == told


def test_an_empty_box_leaves_a_parameter_to_the_provider():
    assert with_field(Parameters(temperature=1), "temperature", None) == Parameters()
    with pytest.raises(ValidationError) as refused:
        with_field(Parameters(), "temperature", 7)
    assert fault_words(refused.value) == "At most 2"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"type": ', "not JSON"),
        ("[]", "a JSON object"),
        ('{"type": "objekt"}', "no JSON Schema"),
        ("[" * 100_000, "not JSON"),
        ('{"a": "' + "x" * 100_000 + '"}', "longer than 100,000"),
    ],
)
def test_what_is_no_schema_is_refused_in_words(text: str, told: str):
    with pytest.raises(BadSchema, match=told):
        read_schema(text)


def test_a_schema_is_read_and_a_blank_text_is_none():
    assert read_schema(" \n") is None
    assert read_schema('{"type": "object"}') == {"type": "object"}


async def test_the_editor_shows_faults_and_tokens(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        agent = workbench.agents.by_slug("math-tutor")
        behaviour = agent.active_variant.behaviour.model_copy(
            update={"system_prompt": "One {{audience}}\n{{two words}}\n{{open"}
        )
        await workbench.working_copies.save(
            WorkingCopy(agent_id=agent.id, origin=1, behaviour=behaviour, updated_at=now())
        )
        await user.open("/agents/math-tutor")
        await sees(user, "“{{two words}}” is no variable")
        assert "Line 3: “{{open” is never closed" in words(user)
        await sees(user, "tokens")
        assert "draft kept" in words(user)


async def test_what_another_page_had_replaced_is_kept_again_once_that_is_discarded(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        agent, copies = workbench.agents.by_slug("math-tutor"), workbench.working_copies
        here, elsewhere = (
            WorkingCopy(agent_id=agent.id, origin=1, behaviour=prompted(text), updated_at=now())
            for text in ("Here", "Elsewhere")
        )
        await copies.save(here)
        await user.open("/agents/math-tutor")
        await sees(user, "draft kept")
        await copies.save(elsewhere)
        await until(lambda: marked(user, "changed-elsewhere"))
        await copies.drop(agent.id)
        await until(lambda: not marked(user, "changed-elsewhere"))
        kept = copies.get(agent.id)
        assert kept is not None and kept.behaviour == here.behaviour


async def test_a_draft_that_was_discarded_elsewhere_stays_discarded_and_is_not_called_kept(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        agent, copies = workbench.agents.by_slug("math-tutor"), workbench.working_copies
        await copies.save(WorkingCopy(agent_id=agent.id, origin=1, behaviour=prompted("Here"), updated_at=now()))
        await user.open("/agents/math-tutor")
        await sees(user, "draft kept")
        await copies.drop(agent.id)
        await sees(user, "not kept: saved or discarded elsewhere")
        assert "draft kept" not in words(user)
        assert copies.get(agent.id) is None


async def test_an_unknown_model_is_marked(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        agent = workbench.agents.by_slug("math-tutor")
        behaviour = PromptBehaviour(model="nobody/knows")
        await workbench.working_copies.save(
            WorkingCopy(agent_id=agent.id, origin=1, behaviour=behaviour, updated_at=now())
        )
        await user.open("/agents/math-tutor")
        await sees(user, "error_outline")
        assert "nobody" in words(user)


@pytest.mark.parametrize("model", ["nobody/knows", "openai/gpt-4o"])
async def test_an_editor_that_was_left_is_not_written_to_any_more(tmp_path: Path, model: str):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        await user.open("/jobs")
        with user.current_layout:
            behaviour = PromptBehaviour(model=model)
            form = EditorForm(workbench, behaviour, tab="model", on_change=print, on_turn=print)
        parts = list(form.descendants())
        shown = [str(one.props) for one in parts]
        looking = asyncio.create_task(form.look_up_model())
        form.delete()
        await looking
        assert [str(one.props) for one in parts] == shown


async def test_an_unknown_and_a_deleted_agent_are_told_apart(tmp_path: Path):
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        await workbench.agents.delete(workbench.agents.by_slug("assistant").id)
        await user.open("/agents/assistant")
        await sees(user, "Restore it from the Trash")
        await user.open("/agents/nobody")
        await sees(user, "There is no agent at this address")


async def test_a_data_folder_without_agents_says_what_to_do(tmp_path: Path):
    async with visitor(tmp_path) as (user, _):
        await user.open("/agents")
        await sees(user, "Create one with “New agent”")
        await user.open("/agents?trash=1")
        await sees(user, "The Trash is empty")
        assert not marked(user, "agent-card")
