"""Setting a comparison up, and the recent ones to go on with."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from nicegui import PageArguments, ui
from starlette.datastructures import QueryParams

from app.domain.agents import Agent, model_of
from app.domain.comparisons import LETTERS, ColumnChoice, Comparison
from app.domain.errors import WorkbenchError
from app.domain.values import now
from app.engine.sessions.compare import FEWEST_COLUMNS, MOST_COLUMNS
from app.ui.elements.addresses import AGENTS, comparison_address
from app.ui.elements.buttons import button, icon_action, icon_button
from app.ui.elements.choice import choice_box
from app.ui.elements.clicks import ONE_CLICK, on_click_of
from app.ui.elements.format import ago, head, moment_text, plural
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.model_picker import ModelPicker
from app.ui.elements.notices import empty_state, problems_shown
from app.ui.elements.undo_bar import UndoBar
from app.ui.elements.variant_select import standing
from app.workbench import Workbench

AS_VARIANT = "As the variant says"


@dataclass
class ColumnDraft:
    """What one card of the form says."""

    agent_id: str
    variant: int
    model: str | None = None

    @property
    def choice(self) -> ColumnChoice:
        return ColumnChoice(agent_id=self.agent_id, variant=self.variant, model=self.model)


def newest_candidate(agent: Agent) -> int | None:
    """The newest variant that is neither active nor archived."""
    candidates = [one.number for one in agent.variants if agent.status_of(one.number) == "candidate"]
    return max(candidates, default=None)


def suggested(agent: Agent) -> tuple[int, int]:
    """The variants that are worth a comparison: the active one, and the newest that could take its place."""
    return agent.active, newest_candidate(agent) or agent.active


def variant_words(agent: Agent) -> dict[int, str]:
    """What each variant is called in a list, the newest first."""
    newest_first = sorted(agent.variants, key=lambda one: one.number, reverse=True)
    return {
        one.number: f"v{one.number} · {standing(agent, one.number)}" + (f" · {head(one.note, 40)}" if one.note else "")
        for one in newest_first
    }


class CompareSetup(ui.element):
    """A card for each column; `on_start` gets the choices."""

    def __init__(
        self,
        workbench: Workbench,
        drafts: Sequence[ColumnDraft],
        on_start: Callable[[list[ColumnChoice]], Awaitable[None]],
    ) -> None:
        super().__init__()
        self.classes("compare-setup").props("data-testid=compare-setup")
        self._workbench = workbench
        self._agents = {agent.id: agent for agent in workbench.agents.all()}
        self._drafts = list(drafts)
        self._on_start = on_start
        with self:
            self._cards = ui.element("div").classes("compare-cards")
            self._hint = ui.label().classes("composer-hint compare-hint").props("role=status")
            with ui.element("div").classes("toolbar"):
                self._add = button("Add a column", self._add_column, icon="add", testid="compare-add")
                ui.element("div").classes("grow")
                start = button("Start comparing", look="primary", icon="compare_arrows", testid="compare-start")
                start.on("click", self._start, js_handler=ONE_CLICK)
        self._show()

    def _show(self) -> None:
        self._cards.clear()
        with self._cards:
            for place, draft in enumerate(self._drafts):
                self._card(place, draft)
        self._add.visible = len(self._drafts) < MOST_COLUMNS
        self._show_hint()

    def _show_hint(self) -> None:
        choices = [draft.choice for draft in self._drafts]
        same = len({choice.model_dump_json() for choice in choices}) < len(choices)
        self._hint.text = (
            "Two columns are the same. Choose another variant or model in one of them, or go on to see how much "
            "its answers vary."
        )
        self._hint.visible = same

    def _card(self, place: int, draft: ColumnDraft) -> None:
        letter = LETTERS[place]
        with ui.element("div").classes("panel compare-card").props(f'role=group aria-label="Column {letter}"'):
            with ui.element("div").classes("row-line"):
                ui.html(tag("span", letter, cls="compare-letter"), sanitize=False)
                ui.label(f"Column {letter}").classes("section-title grow")
                remove = icon_button(
                    "close", f"Remove column {letter}", partial(self._remove, place), testid="compare-remove"
                )
                remove.visible = len(self._drafts) > FEWEST_COLUMNS
            self._agent_select(draft)
            self._variant_select(draft)
            self._model_picker(draft)

    def _agent_select(self, draft: ColumnDraft) -> None:
        names = {agent.id: agent.name for agent in self._agents.values()}
        box = choice_box(names, draft.agent_id, label="Agent", testid="agent-select", cls="compare-box")

        def choose() -> None:
            if (agent := self._agents.get(str(box.value))) is not None:
                draft.agent_id, draft.variant, draft.model = agent.id, agent.active, None
            self._show()

        box.on_value_change(choose)

    def _variant_select(self, draft: ColumnDraft) -> None:
        words = variant_words(self._agents[draft.agent_id])
        box = ui.select(words, value=draft.variant, label="Variant")
        box.props("outlined dense options-dense data-testid=variant-select").classes("compare-box")

        def choose() -> None:
            draft.variant = int(box.value or draft.variant)
            self._show()

        box.on_value_change(choose)

    def _model_picker(self, draft: ColumnDraft) -> None:
        own = model_of(self._agents[draft.agent_id].variant(draft.variant).behaviour)

        async def choose(model: str | None) -> None:
            draft.model = model
            picker.show(model or own)
            self._show_hint()

        with ui.element("div").classes("compare-model"):
            ui.label("Model").classes("faint")
            picker = ModelPicker(
                self._workbench,
                draft.model or own,
                choose,
                reset=f"{AS_VARIANT}: {own}",
            )

    def _add_column(self) -> None:
        last = self._drafts[-1]
        agent = self._agents[last.agent_id]
        used = {draft.variant for draft in self._drafts if draft.agent_id == agent.id}
        unused = [one.number for one in agent.variants if one.number not in used]
        self._drafts.append(ColumnDraft(agent.id, max(unused, default=last.variant)))
        self._show()

    def _remove(self, place: int) -> None:
        del self._drafts[place]
        self._show()

    async def _start(self) -> None:
        await self._on_start([draft.choice for draft in self._drafts])


PAGE_SIZE = 30
UNTITLED = "New comparison"
_HEADING = joined(
    tag("h1", "Compare", cls="page-title"),
    tag("p", "The same message to two, three or four variants or models. See who answers better.", cls="page-lead"),
)


class ComparisonsPage:
    def __init__(self, workbench: Workbench, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._shown = PAGE_SIZE
        ui.page_title("Compare · Agent Playground")
        with ui.element("div").classes("page compare-page"):
            ui.html(_HEADING, sanitize=False)
            if drafts := self._drafts(arguments.query_parameters):
                CompareSetup(workbench, drafts, self._start)
            else:
                way_out = tag("a", "Create an agent", href=AGENTS)
                empty_state("smart_toy", "No agents", "There is nobody to compare yet.", way_out)
            ui.html(tag("h2", "Recent comparisons", cls="section-title"), sanitize=False)
            self._recent = ui.element("div").props("data-testid=comparison-list")
        self._undo = UndoBar()
        self._show_recent()

    def _drafts(self, query: QueryParams) -> list[ColumnDraft]:
        """The agent and the variants that the address names, else those that suit best."""
        agent = self._agent(query.get("agent", ""))
        if agent is None:
            return []
        known = {str(one.number): one.number for one in agent.variants}
        named = [known[number] for number in query.getlist("variant") if number in known]
        if len(named) == 1:
            named.insert(0, agent.active if named[0] != agent.active else suggested(agent)[1])
        return [ColumnDraft(agent.id, number) for number in (named or suggested(agent))[:4]]

    def _agent(self, slug: str) -> Agent | None:
        """The one that the address names, else one with a newer variant, the one talked to last if it has one."""
        agents = {agent.id: agent for agent in self._workbench.agents.all()}
        named = [agent for agent in agents.values() if agent.slug == slug]
        recent = [agents[one.agent_id] for one in self._workbench.sessions.recent(limit=5) if one.agent_id in agents]
        likely = [agent for agent in (*recent, *agents.values()) if newest_candidate(agent) is not None]
        return next(iter((*named, *likely, *recent, *agents.values())), None)

    async def _start(self, columns: list[ColumnChoice]) -> None:
        with problems_shown():
            comparison = await self._workbench.compare.start(columns)
            ui.navigate.to(comparison_address(comparison.id))

    async def _delete(self, _: str, comparison_id: str) -> None:
        with problems_shown():
            gone = await self._workbench.comparisons.delete(comparison_id)
            undo = partial(self._workbench.comparisons.restore, comparison_id)
            self._undo.show(f"Deleted “{head(gone.title or UNTITLED, 40)}”", undo, self._show_recent)
            self._show_recent()

    def _show_more(self) -> None:
        self._shown += PAGE_SIZE
        self._show_recent()

    def _show_recent(self) -> None:
        found = self._workbench.comparisons.recent(self._shown + 1)
        self._recent.clear()
        with self._recent:
            if not found:
                empty_state("compare_arrows", "No comparisons yet", "Choose the columns above, then start comparing.")
                return
            rows = joined(*(self._row(one) for one in found[: self._shown]))
            recent = ui.html(rows, sanitize=False, tag="ul").classes("session-list")
            on_click_of(recent, "action", self._delete, along=("comparison",))
            if len(found) > self._shown:
                more = ui.html("Show more", sanitize=False, tag="button").classes("link-button")
                more.on("click", self._show_more)

    def _row(self, comparison: Comparison) -> Html:
        title = comparison.title or UNTITLED
        columns = " vs ".join(self._column_words(session_id) for session_id in comparison.sessions)
        link = tag(
            "a",
            icon("compare_arrows", "faint"),
            tag("span", title, cls="session-title truncate grow"),
            tag("span", columns, cls="session-meta optional truncate compare-who", title=columns),
            tag("span", plural(len(comparison.turns), "turn"), cls="session-meta optional"),
            tag(
                "time",
                ago(comparison.updated_at, now()),
                cls="session-meta",
                title=moment_text(comparison.updated_at),
                datetime=comparison.updated_at.isoformat(),
            ),
            href=comparison_address(comparison.id),
        )
        delete = icon_action("delete", "delete_outline", f"Delete {title}", title="Delete")
        return tag("li", link, delete, cls="session-row", data_comparison=comparison.id, data_testid="comparison-row")

    def _column_words(self, session_id: str) -> str:
        try:
            session = self._workbench.sessions.get(session_id)
            name = self._workbench.agents.get(session.agent_id).name
        except WorkbenchError:
            return "Unknown"
        return f"{name} v{session.variant}" + (f" ({session.model})" if session.model else "")
