"""The prompt beside a conversation, where another tab works on it too."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.agents import Agent, WorkingCopy, by_prompt
from app.domain.values import now
from app.ui.elements.prompt_editor import PromptEditor
from app.ui.playground.prompt_panel import PromptPanel
from app.workbench import Workbench
from tests.ui.runs.test_runs_pages import marked, sees, the, visitor
from tests.waiting import until


class Panel:
    """A session's page with its prompt; `elsewhere` is what another tab makes of the working copy."""

    def __init__(self, user: User, workbench: Workbench, agent: Agent, editor: PromptEditor) -> None:
        self.user, self.editor = user, editor
        self.saved = by_prompt(agent.active_variant.behaviour).system_prompt
        self._copies, self._agents, self._agent = workbench.working_copies, workbench.agents, agent

    @property
    def kept(self) -> str | None:
        """The prompt of the working copy, where there is one."""
        copy = self._copies.get(self._agent.id)
        return None if copy is None else by_prompt(copy.behaviour).system_prompt

    @property
    def can_save(self) -> bool:
        button = the(self.user, "save-variant-button")
        assert isinstance(button, ui.button)
        return button.enabled

    async def type(self, text: str) -> None:
        edit = {"edit": [0, len(self.editor.text), text], "length": len(text)}
        UserInteraction(self.user, {self.editor}, None).trigger("edited", edit)
        await until(lambda: self.kept == text)

    async def elsewhere(self, text: str) -> None:
        """In place of what is typed here."""
        self.typed_elsewhere(text)
        await sees(self.user, "Changed in another tab too")

    def typed_elsewhere(self, text: str) -> None:
        behaviour = by_prompt(self._agent.active_variant.behaviour).model_copy(update={"system_prompt": text})
        self._copies.typed(WorkingCopy(agent_id=self._agent.id, origin=1, behaviour=behaviour, updated_at=now()))

    async def thrown_away_elsewhere(self) -> None:
        await self._copies.drop(self._agent.id)

    async def described(self, text: str) -> None:
        """Something of the agent is changed that is no prompt, and the page has looked since."""
        shown: list[object] = []
        show = PromptPanel.show
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PromptPanel, "show", lambda panel, session: (show(panel, session), shown.append(session)))
            await self._agents.change(self._agent.id, lambda agent: agent.model_copy(update={"description": text}))
            await until(lambda: shown)

    def press(self, testid: str) -> None:
        UserInteraction(self.user, {the(self.user, testid)}, None).click()


@asynccontextmanager
async def panel_of(folder: Path) -> AsyncIterator[Panel]:
    async with visitor(folder) as (user, workbench):
        await workbench.start()
        agent = workbench.agents.by_slug("assistant")
        session = await workbench.chat.new_session(agent.id)
        await user.open(f"/playground/{session.id}")
        await until(lambda: marked(user, "save-variant-button"))
        [editor] = [one for one in user.current_layout.descendants() if isinstance(one, PromptEditor)]
        yield Panel(user, workbench, agent, editor)


async def test_what_was_typed_here_is_kept_again_once_another_tab_throws_its_own_away(tmp_path: Path):
    async with panel_of(tmp_path) as panel:
        await panel.type("Typed here")
        await panel.elsewhere("Typed elsewhere")
        await panel.thrown_away_elsewhere()
        await until(lambda: panel.kept == "Typed here")
        assert panel.editor.text == "Typed here"
        assert panel.can_save


async def test_what_was_typed_here_and_is_thrown_away_in_another_tab_is_gone_here_too(tmp_path: Path):
    async with panel_of(tmp_path) as panel:
        await panel.type("Typed here")
        await sees(panel.user, "Changed since variant 1")
        await panel.thrown_away_elsewhere()
        await until(lambda: panel.editor.text == panel.saved)
        await sees(panel.user, "As saved in variant 1")
        assert panel.kept is None
        assert not panel.can_save


async def test_what_was_typed_here_stays_where_another_tab_types_and_something_else_changes(tmp_path: Path):
    async with panel_of(tmp_path) as panel:
        await panel.type("Typed here")
        await panel.elsewhere("Typed elsewhere")
        await panel.described("Counts")
        assert panel.editor.text == "Typed here"


async def test_a_reset_throws_away_what_was_typed_here_and_brings_just_that_back(tmp_path: Path):
    async with panel_of(tmp_path) as panel:
        await panel.type("Typed here")
        await panel.elsewhere("Typed elsewhere")
        panel.press("reset-prompt-button")
        await until(lambda: panel.editor.text == "Typed elsewhere")
        assert panel.kept == "Typed elsewhere"
        panel.press("undo-button")
        await until(lambda: panel.editor.text == "Typed here")
        assert panel.kept == "Typed here"


@pytest.mark.parametrize("go_on", ["types", "saves"])
async def test_what_was_reset_is_offered_back_until_somebody_goes_on(tmp_path: Path, go_on: str):
    async with panel_of(tmp_path) as panel:
        await panel.type("Typed here")
        panel.press("reset-prompt-button")
        await until(lambda: marked(panel.user, "undo-bar"))
        if go_on == "types":
            await panel.type("Typed since")
        else:
            panel.typed_elsewhere("Typed elsewhere")
            await until(lambda: panel.can_save)
            panel.press("save-variant-button")
            await until(lambda: panel.user.notify.messages)
        assert not marked(panel.user, "undo-bar")
