"""Who answers in a run that goes on from a step, as the dialog says it and as it is asked for."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest
from nicegui import Client, core
from nicegui.page import page

from app.domain.agents import PromptBehaviour, new_agent, with_variant
from app.domain.prompts import system_of
from app.domain.provenance import AgentRef
from app.ui.run.fork_dialog import ForkDialog
from tests.api.over import opened
from tests.traces import asked, started, trace_of


async def test_another_variant_brings_its_own_prompt_unless_one_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
    first = new_agent("Counter", PromptBehaviour(model="demo/agent", system_prompt="Count."), taken_slugs=())
    agent = with_variant(first, PromptBehaviour(model="demo/agent", system_prompt="For {{who}}."), origin=1)
    begun = started(
        agent=AgentRef(id=agent.id, slug=agent.slug, name=agent.name, variant=1), system=system_of("Count.", {})
    )
    workbench = opened(tmp_path)
    await workbench.agents.create(agent)
    with Client(page("")) as client:
        dialog = ForkDialog(workbench, "r1", begun, trace_of(begun, asked("Count.")), 1)

        def prompt() -> tuple[str, str | None, str]:
            return str(dialog._prompt.value), dialog._draft.plan().system_prompt, dialog._note.content

        assert prompt() == ("Count.", None, "")
        await dialog._choose_variant(SimpleNamespace(value=2))
        assert prompt()[:2] == ("For {{who}}.", None)
        await dialog._choose_variant(SimpleNamespace(value=0))
        assert prompt() == ("Count.", None, "")
        dialog._prompt.value = "Count twice."
        await dialog._choose_variant(SimpleNamespace(value=2))
        assert prompt()[:2] == ("Count twice.", "Count twice.")
    client.delete()
    await workbench.close()


async def test_another_variant_brings_its_own_model_and_any_other_can_be_had_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
    first = new_agent("Counter", PromptBehaviour(model="demo/agent"), taken_slugs=())
    agent = with_variant(first, PromptBehaviour(model="demo/other"), origin=1)
    begun = started(agent=AgentRef(id=agent.id, slug=agent.slug, name=agent.name, variant=1))
    workbench = opened(tmp_path)
    await workbench.agents.create(agent)
    with Client(page("")) as client:
        dialog = ForkDialog(workbench, "r1", begun, trace_of(begun, asked("Count.")), 1)

        def answers() -> tuple[str, str | None]:
            return dialog._picker.model, dialog._draft.plan().model

        assert answers() == ("demo/agent", None)
        await dialog._choose_variant(SimpleNamespace(value=2))
        assert answers() == ("demo/other", None) and dialog._picker.reset == "The variant's own model"
        await dialog._choose_model("demo/agent")
        assert answers() == ("demo/agent", "demo/agent")
        await dialog._choose_model(None)
        assert answers() == ("demo/other", None)
        await dialog._choose_model("demo/third")
        await dialog._choose_variant(SimpleNamespace(value=0))
        assert answers() == ("demo/agent", None)
    client.delete()
    await workbench.close()
