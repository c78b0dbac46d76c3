"""The scorers of a dataset: which there are, which one decides; added, changed, removed and brought back."""

from functools import partial

from nicegui import ui

from app.domain.evals.cases import Dataset, DatasetChanges
from app.domain.evals.scorers import NEEDS_MODEL, Scorer
from app.ui.elements.buttons import button, icon_action
from app.ui.elements.clicks import on_click_of
from app.ui.elements.focus import refocus
from app.ui.elements.format import head
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, tag
from app.ui.elements.notices import empty_state, problems_shown
from app.ui.elements.undo_bar import UndoBar
from app.ui.evals.scorer_files import ScorerFiles
from app.ui.evals.scorer_form import ScorerDialog, scorer_words
from app.workbench import Workbench

_LEAD = "What makes an answer a good one. One of them decides whether a case passed; the others are shown beside it."


class ScorersPanel(ui.element):
    def __init__(self, workbench: Workbench, dataset: Dataset) -> None:
        super().__init__("div")
        self.classes("stack")
        self._workbench = workbench
        with self:
            with ui.element("div").classes("toolbar"):
                ui.label(_LEAD).classes("muted grow scorers-lead")
                button("Add scorer", self._add, icon="add", testid="new-scorer-button")
            self._list = LiveHtml()
            on_click_of(self._list, "action", self._act, along=("scorer",))
            self._nothing = ui.element("div")
            ScorerFiles(workbench)
            self._undo = UndoBar()
        self.load(dataset)

    def load(self, dataset: Dataset) -> None:
        """Show the scorers as they are by now."""
        self._dataset = dataset
        rows = (_row(scorer, decides=scorer == dataset.deciding) for scorer in dataset.scorers)
        self._list.show(tag("ul", *rows, cls="session-list"))
        self._list.visible = bool(dataset.scorers)
        self._nothing.clear()
        if not dataset.scorers:
            with self._nothing:
                words = "Without one nothing passes or fails. “The answer contains texts” is a good one to begin with."
                empty_state("rule", "No scorers yet", words)

    @property
    def _newest(self) -> Dataset:
        """As any tab has left it."""
        return self._workbench.datasets.get(self._dataset.id)

    async def _add(self) -> None:
        await ScorerDialog(self._workbench, keep=self._added).asked()

    async def _added(self, scorer: Scorer) -> None:
        newest = self._newest
        await self._keep((*newest.scorers, scorer), newest.primary)

    async def _act(self, action: str, name: str) -> None:
        before, primary = self._dataset.scorers, self._dataset.primary
        scorer = next((one for one in before if one.name == name), None)
        if scorer is None:
            return
        with problems_shown():
            match action:
                case "edit":
                    await ScorerDialog(self._workbench, scorer, keep=partial(self._changed, scorer)).asked()
                case "primary":
                    await self._keep(before, name)
                    refocus(self._list, "[aria-pressed=true]")
                case "delete":
                    left = tuple(one for one in before if one.name != name)
                    await self._keep(left, "" if primary == name else primary)
                    back = partial(self._bring_back, scorer, before.index(scorer), decided=primary == name)
                    self._undo.show(f"Removed “{head(name, 40)}”", back)
                case _:
                    pass

    async def _changed(self, scorer: Scorer, changed: Scorer) -> None:
        newest = self._newest
        primary = changed.name if newest.primary == scorer.name else newest.primary
        kept = tuple(changed if one.name == scorer.name else one for one in newest.scorers)
        await self._keep(kept if changed in kept else (*kept, changed), primary)

    async def _bring_back(self, scorer: Scorer, place: int, *, decided: bool) -> None:
        """That one, and nothing else that was done since."""
        newest = self._newest
        if all(one.name != scorer.name for one in newest.scorers):
            primary = scorer.name if decided and not newest.primary else newest.primary
            with problems_shown():
                await self._keep((*newest.scorers[:place], scorer, *newest.scorers[place:]), primary)

    async def _keep(self, scorers: tuple[Scorer, ...], primary: str) -> None:
        """Raises `WorkbenchError`."""
        changes = DatasetChanges(scorers=scorers, primary=primary)
        self.load(await self._workbench.collecting.change_dataset(self._dataset.id, changes))


def _row(scorer: Scorer, *, decides: bool) -> Html:
    costs = tag("span", "costs money", cls="chip", title="It asks a model") if scorer.type in NEEDS_MODEL else ""
    choose = tag(
        "button",
        icon("radio_button_checked" if decides else "radio_button_unchecked"),
        tag("span", "Decides" if decides else "Let it decide"),
        cls="scorer-decides",
        aria_pressed="true" if decides else "false",
        data_action="primary",
        data_key=f"primary-{scorer.name}",
    )
    words = tag("div", tag("strong", scorer.name), tag("span", scorer_words(scorer), cls="muted"), cls="scorer-words")
    return tag(
        "li",
        words,
        costs,
        choose,
        icon_action("edit", "edit", f"Change the scorer {scorer.name}", title="Change", of=scorer.name),
        icon_action("delete", "delete_outline", f"Remove the scorer {scorer.name}", title="Remove", of=scorer.name),
        cls="session-row scorer-row",
        data_scorer=scorer.name,
        data_testid="scorer-row",
    )
