"""The scorers of a dataset, changed on one page while another changes them too."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.evals.cases import Dataset, DatasetChanges
from app.domain.evals.scorers import Exact, Scorer
from app.ui.evals.scorers_panel import ScorersPanel
from app.workbench import Workbench
from tests.ui.runs.test_runs_pages import marked, the, visitor
from tests.waiting import until


class Page:
    def __init__(self, user: User, workbench: Workbench, dataset: Dataset) -> None:
        self.user, self._workbench, self._dataset = user, workbench, dataset

    @property
    def panel(self) -> ScorersPanel:
        [panel] = [one for one in self.user.current_layout.descendants() if isinstance(one, ScorersPanel)]
        return panel

    @property
    def stored(self) -> tuple[list[str], str]:
        """The names of the scorers, and of the one that decides."""
        dataset = self._workbench.datasets.get(self._dataset.id)
        return [one.name for one in dataset.scorers], dataset.primary

    async def elsewhere(self, *names: str, primary: str) -> None:
        scorers: tuple[Scorer, ...] = tuple(Exact(name=name) for name in names)
        await self._workbench.collecting.change_dataset(
            self._dataset.id, DatasetChanges(scorers=scorers, primary=primary)
        )

    async def act(self, action: str, name: str) -> None:
        with self.panel:
            await self.panel._act(action, name)

    def press(self, testid: str) -> None:
        UserInteraction(self.user, {the(self.user, testid)}, None).click()


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    async with visitor(tmp_path) as (user, workbench):
        await workbench.start()
        made = await workbench.collecting.new_dataset(
            "Sums", "", scorers=tuple(Exact(name=name) for name in ("one", "two", "three")), primary="one"
        )
        await user.open(f"/evals/{made.slug}?show=scorers")
        await until(lambda: marked(user, "new-scorer-button"))
        yield Page(user, workbench, made)


async def test_undo_brings_one_back_and_takes_nothing_away_that_was_done_since(page: Page):
    await page.act("delete", "one")
    await page.elsewhere("two", "three", "exact", primary="three")
    page.press("undo-button")
    await until(lambda: "one" in page.stored[0])
    assert page.stored == (["one", "two", "three", "exact"], "three")


async def test_a_scorer_that_is_being_written_is_closed_by_its_buttons_alone(page: Page):
    page.press("new-scorer-button")
    await until(lambda: marked(page.user, "scorer-dialog"))
    card = the(page.user, "scorer-dialog")
    dialog = card.parent_slot.parent
    assert not dialog.props.get("persistent")
    UserInteraction(page.user, {card}, None).trigger("input.once")
    await until(lambda: dialog.props.get("persistent"))


async def test_undo_lets_it_decide_again_where_nobody_chose_another(page: Page):
    await page.act("delete", "one")
    page.press("undo-button")
    await until(lambda: page.stored == (["one", "two", "three"], "one"))


async def test_a_scorer_whose_name_is_taken_stays_in_its_dialog_until_it_has_another(page: Page):
    page.press("new-scorer-button")
    await until(lambda: marked(page.user, "scorer-dialog"))
    dialog = the(page.user, "scorer-dialog").parent_slot.parent
    assert isinstance(dialog, ui.dialog)
    await until(lambda: dialog.value)
    box = the(page.user, "field-name")
    assert isinstance(box, ui.input)
    box.value = "one"
    page.press("scorer-save")
    await until(lambda: "Two scorers are called 'one'. Give each a name of its own." in page.user.notify.messages)
    box.value = "four"
    page.press("scorer-save")
    await until(lambda: not marked(page.user, "scorer-dialog"))
    assert page.stored == (["one", "two", "three", "four"], "one")
