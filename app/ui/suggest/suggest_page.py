"""`/agents/{slug}/suggest`: a model reads what failed and proposes a better prompt, which a person may save."""

from nicegui import PageArguments, background_tasks, ui

from app.domain.agents import BY_NODES, Agent, by_prompt
from app.domain.evals.cases import Dataset
from app.domain.evals.suggestions import FEWEST_TO_PROVE
from app.domain.provenance import Trigger
from app.engine.experiments.searching import MOST_PROPOSALS, Suggestion, Wish
from app.ui.conversation.differences_view import compared, differences_view
from app.ui.elements.addresses import EVALS, agent_address, build_address
from app.ui.elements.buttons import button, loading
from app.ui.elements.clicks import one_at_a_time
from app.ui.elements.format import plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.model_picker import ModelPicker
from app.ui.elements.notices import empty_state, problems_shown
from app.ui.elements.variant_select import variant_words
from app.ui.suggest.suggestion_view import progress_view, proposal_view
from app.workbench import Workbench

REFRESH_SECONDS = 0.5
PAGE = Trigger(kind="page")


def suggest_page(workbench: Workbench, slug: str, arguments: PageArguments) -> None:
    """Build the page; its address may say the `dataset` and the `variant`. Raises `NotFound`."""
    SuggestPage(workbench, workbench.agents.by_slug(slug), arguments)


class SuggestPage:
    """Pulls: a timer of the page looks how far the search is."""

    def __init__(self, workbench: Workbench, agent: Agent, arguments: PageArguments) -> None:
        self._workbench, self._agent = workbench, agent
        self._datasets = {one.id: one for one in workbench.datasets.all() if one.scorers}
        self._suggestion: Suggestion | None = workbench.suggesting.of_agent(agent.id)
        self._seen: object = None
        self._diffed: str = ""
        ui.page_title(f"Suggest · {agent.name} · Agent Playground")
        with ui.element("div").classes("page suggest-page"):
            with ui.element("div").classes("toolbar"):
                back = tag("a", icon("arrow_back"), agent.name, href=agent_address(agent.slug), cls="back-link")
                ui.html(joined(back, tag("h1", "Suggest a better prompt", cls="page-title")), sanitize=False).classes(
                    "grow"
                )
            if agent.kind == "workflow":
                to_nodes = tag("a", "Open in Build", href=build_address(agent.slug), cls="text-button")
                empty_state("account_tree", "This agent has no prompt of its own", BY_NODES, to_nodes)
                return
            if not self._datasets:
                empty_state("dataset", "There is no dataset with a scorer yet", _NONE, _LINK)
                return
            self._build_form(arguments)
            with ui.element("div").classes("stack").props("aria-live=polite"):
                self._progress = LiveHtml().props("data-testid=suggest-progress")
                self._proposal = LiveHtml().props("data-testid=suggest-proposal")
                self._diff = LiveHtml()
                with ui.element("div").classes("row-line"):
                    self._save = button("Save as variant", self._save_it, look="primary", testid="suggest-save")
                self._saved = LiveHtml()
        self._look()
        ui.timer(REFRESH_SECONDS, self._look)

    def _build_form(self, arguments: PageArguments) -> None:
        query, agent = arguments.query_parameters, self._agent
        asked = next((one.id for one in self._datasets.values() if one.slug == query.get("dataset")), "")
        number = query.get("variant", "")
        numbers = {one.number: variant_words(agent, one.number) for one in reversed(agent.variants)}
        chosen = int(number) if number.isdecimal() and int(number) in numbers else agent.active
        guard = agent.gate.dataset_id if agent.gate and agent.gate.dataset_id in self._datasets else ""
        with ui.element("div").classes("panel stack suggest-form"):
            ui.label(_WORDS).classes("faint")
            with ui.element("div").classes("settings-grid"):
                self._dataset = self._select(
                    "Dataset", {one.id: one.name for one in self._datasets.values()}, asked or guard, "dataset"
                )
                self._variant = self._select("Variant", numbers, chosen, "variant")
                self._live = tuple(filter(None, query.get("live", "").split(",")))
                but = f", but for {', '.join(self._live)}" if self._live else ""
                ways = {"recorded": f"Tools answer from the record{but}", "live": "Tools are called for real"}
                self._ways_asked = "tools" in query
                self._tools = self._select("Tools", ways, query.get("tools", ""), "tools")
                self._money = ui.number("Money at most", value=1.0, min=0, step=0.5, suffix="US$")
                self._money.props('outlined dense hint="0 or empty: no limit" data-testid=suggest-money')
            with ui.element("div").classes("row-line"):
                ui.label("Model that proposes").classes("faint")
                self._model = ModelPicker(
                    self._workbench,
                    by_prompt(agent.variant(chosen).behaviour).model,
                    self._choose_model,
                    testid="suggest-model",
                )
            self._note = ui.label().classes("faint").props("role=status data-testid=suggest-note")
            with ui.element("div").classes("row-line"):
                self._start = button("Suggest", self._begin, icon="auto_fix_high", look="primary")
                self._start.props("data-testid=suggest-start")
                self._stop = button("Stop", self._stop_it, icon="stop", look="danger", testid="suggest-stop")
        self._dataset.on_value_change(self._count)
        self._count()

    def _select(self, label: str, options: dict[int, str] | dict[str, str], chosen: object, name: str) -> ui.select:
        value = chosen if chosen in options else next(iter(options))
        box = ui.select(options, label=label, value=value)
        return box.props(f"outlined dense options-dense data-testid=suggest-{name}").classes("fill")

    async def _choose_model(self, model: str | None) -> None:
        if model is not None:
            self._model.show(model)

    @property
    def _chosen(self) -> Dataset:
        return self._datasets[str(self._dataset.value)]

    def _count(self) -> None:
        """Say what so many cases allow; where one holds no record, its tools could not answer from it."""
        cases, dataset = self._workbench.cases, self._chosen
        count = cases.count(dataset.id)
        if not self._ways_asked:
            self._tools.value = "recorded" if cases.all_recorded(dataset.id) else "live"
        few = count < FEWEST_TO_PROVE
        self._note.text = f"{plural(count, 'case')}. " + (_FEW if few else _ENOUGH)

    @one_at_a_time
    async def _begin(self) -> None:
        """It may take seconds until the first one is there."""
        wish = Wish(
            agent_id=self._agent.id,
            variant=int(self._variant.value or self._agent.active),
            dataset_id=self._chosen.id,
            model=self._model.model,
            ceiling_usd=float(self._money.value or 0),
            tools="live" if self._tools.value == "live" else "recorded",
            live=self._live if self._tools.value == "recorded" else (),
        )
        with problems_shown(), loading(self._start):
            self._suggestion = await self._workbench.suggesting.start(wish, PAGE)
        self._look()

    def _stop_it(self) -> None:
        if self._suggestion is not None:
            self._suggestion.stop()

    @one_at_a_time
    async def _save_it(self) -> None:
        if self._suggestion is None:
            return
        with problems_shown():
            await self._workbench.suggesting.save(self._suggestion.id)
        self._look()

    def _look(self) -> None:
        """Show how far it is, and what is proposed."""
        one = self._suggestion
        running = one is not None and one.status == "running"
        self._start.set_enabled(not running)
        self._stop.visible = running
        proposed = one is not None and one.behaviour is not None
        self._save.visible = one is not None and proposed and not running and one.saved is None
        if one is None:
            return
        seen = (one.id, len(one.told), one.status, one.cost, one.saved)
        if seen == self._seen:
            return
        self._seen = seen
        self._progress.show(progress_view(one))
        self._proposal.show(proposal_view(one) if proposed else Html(""))
        self._saved.show(self._saved_words(one))
        if proposed and self._diffed != one.id:
            self._diffed = one.id
            background_tasks.create(self._show_diff(one), name="difference of a suggestion", context=self._diff)
        elif not proposed:
            self._diff.show(Html(""))
            self._diffed = ""

    async def _show_diff(self, one: Suggestion) -> None:
        if one.behaviour is None:
            return
        before = self._workbench.agents.get(self._agent.id).variant(one.wish.variant).behaviour
        found = await compared(before, one.behaviour)
        if not self._diff.is_deleted:
            self._diff.show(differences_view(found))

    def _saved_words(self, one: Suggestion) -> Html:
        if one.saved is None:
            return Html("")
        link = tag("a", f"Variant {one.saved}", href=agent_address(self._agent.slug))
        return tag("p", link, " is saved and not active. Try it, then promote it.", data_testid="suggest-saved")


_NONE = "A suggestion is made of answers that failed, so it needs cases and something that scores them."
_LINK = tag("a", "Go to Evals", href=EVALS, cls="text-button")
_WORDS = (
    "A model reads answers that failed and notes of thumbs down, and rewrites the prompt. At most "
    f"{MOST_PROPOSALS} proposals are tried, each on cases that it was not made from; nothing becomes active by itself."
)
_FEW = f"Fewer than {FEWEST_TO_PROVE}: you get one draft without scores."
_ENOUGH = "Half are learned from, a quarter chooses, and a quarter that no proposal saw proves."
