"""The Setup guide: from the first start to the first answer, in steps that can be left and gone on with."""

from collections.abc import Awaitable, Callable

from nicegui import PageArguments, background_tasks, events, ui

from app.domain.agents import Agent, model_of, tools_of
from app.domain.errors import NotFound, WorkbenchError
from app.domain.settings import SetupProgress, SetupStep
from app.llm.providers.catalog import DEMO
from app.ui.elements.addresses import OVERVIEW, SETUP, session_address
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.modes import MODE_WORDS, ModeChoice
from app.ui.elements.notices import notify, problems_shown
from app.ui.elements.provider_views import READ_FORM
from app.ui.elements.setup_offer import BEGINNINGS, STEPS, setup_saved
from app.ui.setup.choose import SetupChoose
from app.ui.setup.key import SetupKey
from app.ui.setup.server import SetupServer
from app.ui.setup.views import (
    own_question,
    questions_view,
    reachable,
    step_head,
    tour_view,
    ways_view,
)
from app.workbench import Workbench

_FOCUS = "document.querySelector('.setup-page h2[tabindex]')?.focus()"


class SetupPage:
    """`/setup`; `?begin=` opens one of the ways to begin, for who comes from the Overview."""

    def __init__(self, workbench: Workbench, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._wanted = arguments.query_parameters.get("begin", "")
        self._begun = False
        self._heads: dict[SetupStep, LiveHtml] = {}
        self._bodies: dict[SetupStep, ui.element] = {}
        ui.page_title("Setup guide · Agent Playground")
        with ui.element("div").classes("page setup-page").props("data-testid=setup-guide") as self._page:
            self._build_head()
            for step in STEPS:
                self._build_step(step)
        ui.timer(0, self._begin, once=True)

    @property
    def _progress(self) -> SetupProgress:
        return self._workbench.preferences.get().setup

    def _build_head(self) -> None:
        with ui.element("header").classes("row-line setup-title"):
            words = "Three steps to the first answer, then a tour. Nothing goes to the network before you say so."
            title = joined(tag("h1", "Setup guide", cls="page-title"), tag("p", words, cls="page-lead"))
            ui.html(title, sanitize=False).classes("grow")
            button("Skip for now", lambda: ui.navigate.to(OVERVIEW), look="quiet", testid="setup-skip")
        with ui.element("div").classes("setup-mode"):
            ui.label("What the pages show").classes("set-title")
            ModeChoice(self._workbench.preferences, testid="setup-mode-{}")
            ui.label(MODE_WORDS).classes("set-note")

    def _build_step(self, step: SetupStep) -> None:
        with ui.element("section").classes("panel setup-step") as place:
            place.props(f'data-testid=setup-step-{step} aria-label="{STEPS[step]}"')
            self._heads[step] = LiveHtml()
            on_click_of(self._heads[step], "pick", self._head_clicked)
            self._bodies[step] = ui.element("div").classes("setup-body")

    async def _begin(self) -> None:
        await self._workbench.catalog.ready()
        if self._wanted in BEGINNINGS:
            ui.navigate.history.replace(SETUP)
            if self._wanted == DEMO.provider:
                await self._chosen_provider(DEMO.provider)
            else:
                await self._move("begin")
            return
        self._show()

    async def _head_clicked(self, wanted: str) -> None:
        for step in reachable(self._progress):
            if step == wanted:
                await self._move(step)

    async def _move(self, step: SetupStep, **changes: str) -> None:
        """Open that step, and keep where the guide is."""
        if await setup_saved(self._workbench.preferences, step=step, **changes):
            self._show()
            self._page.client.run_javascript(_FOCUS)  # not in the context of a button that is gone with its step

    def _show(self) -> None:
        progress = self._progress
        for step, head in self._heads.items():
            head.show(step_head(step, progress, self._summary(step)))
            self._bodies[step].clear()
            self._bodies[step].visible = step == progress.step
        if progress.step in ("choose", "ask") and progress.provider not in ("", DEMO.provider):
            background_tasks.create(self._workbench.models.prepare(), name="load what real models need")
        with self._bodies[progress.step]:
            self._build_body(progress)

    def _build_body(self, progress: SetupProgress) -> None:
        agent = self._agent()
        match progress.step:
            case "begin":
                SetupBegin(self._workbench, self._wanted, self._chosen_provider)
            case "choose" if self._provider_title(progress.provider):
                SetupChoose(self._workbench, progress, self._chosen_agent)
            case "ask" if agent is not None:
                self._build_questions(agent)
            case "tour":
                self._build_tour()
            case _:
                ui.html(tag("p", "What was chosen here is gone. Choose again above.", cls="set-note"), sanitize=False)

    def _summary(self, step: SetupStep) -> str:
        """What was chosen in that step."""
        progress = self._progress
        match step:
            case "begin":
                return self._provider_title(progress.provider)
            case "choose":
                agent = self._agent()
                return f"{agent.name}, {progress.model}" if agent is not None and progress.model else ""
            case _:
                return ""

    def _provider_title(self, provider: str) -> str:
        if not provider or provider == DEMO.provider:
            return "The demo" if provider else ""
        try:
            return self._workbench.provider_desk.state(provider).provider.title
        except WorkbenchError:  # it was removed in Settings since
            return ""

    def _agent(self) -> Agent | None:
        try:
            agent = self._workbench.agents.get(self._progress.agent)
        except NotFound:
            return None
        return None if agent.deleted_at else agent

    async def _chosen_provider(self, provider: str) -> None:
        await self._move("choose", provider=provider, model="")

    async def _chosen_agent(self, model: str, agent_id: str) -> None:
        """Go on with both; a model that was chosen here is also the one of new agents from now on."""
        preferences = self._workbench.preferences
        if model != DEMO.name:
            with problems_shown():
                await preferences.save(preferences.get().model_copy(update={"default_model": model}))
        await self._move("ask", model=model, agent=agent_id)

    def _build_questions(self, agent: Agent) -> None:
        words = f"{agent.name} answers with {self._progress.model}. Press a question; you are taken to the answer."
        ui.html(tag("p", words, cls="set-note"), sanitize=False)
        on_click_of(ui.html(questions_view(agent), sanitize=False), "pick", self._ask)
        ui.html(own_question(agent), sanitize=False).on("submit", self._question_written, js_handler=READ_FORM)
        self._note = ui.html(sanitize=False).props("role=status aria-live=polite data-testid=setup-ask-note")

    async def _question_written(self, event: events.GenericEventArguments) -> None:
        await self._ask(str(dict(event.args).get("question", "")))

    async def _ask(self, text: str) -> None:
        trouble = await self._workbench.choices.trouble(self._progress.model)
        if trouble or not text.strip():
            words = trouble or "Write a question, or press one."
            self._note.set_content(tag("p", icon("error_outline"), tag("span", words), cls="set-said is-bad"))
            return
        await self._start(self._progress.agent, self._progress.model, text)

    async def _start(self, agent_id: str, model: str, text: str, toured: tuple[str, ...] = ()) -> None:
        """A session that begins with the message, shown at once; one, where it is clicked twice."""
        if self._begun:
            return
        self._begun = True
        chat = self._workbench.chat
        with problems_shown():
            own = model_of(self._workbench.agents.get(agent_id).active_variant.behaviour)
            session = await chat.new_session(agent_id, model=None if own in (None, model) else model)
            await chat.send(session.id, text)
            if await setup_saved(self._workbench.preferences, step="tour", session=session.id, toured=toured):
                ui.navigate.to(session_address(session.id))
                return
        self._begun = False

    def _build_tour(self) -> None:
        words = "The demo model acts these out, offline. Each begins a session; come back here for the next."
        ui.html(tag("p", words, cls="set-note"), sanitize=False)
        on_click_of(ui.html(tour_view(self._progress.toured), sanitize=False), "pick", self._tour_pressed)
        with ui.element("div").classes("row-line setup-end"):
            button("Finish", self._finish, look="primary", icon="check", testid="setup-finish")
            button("Start over", self._start_over, look="quiet", testid="setup-again")

    async def _tour_pressed(self, stop: str) -> None:
        agent = guide_of_tour(self._workbench.agents.all())
        if agent is None:
            notify("There is no agent to show it with. Make one on the Agents page.")
            return
        seen = dict.fromkeys((*self._progress.toured, stop))
        await self._start(agent.id, DEMO.name, stop, tuple(seen))

    async def _finish(self) -> None:
        if await setup_saved(self._workbench.preferences, step="begin", session="", toured=(), offered=False):
            ui.navigate.to(OVERVIEW)

    async def _start_over(self) -> None:
        self._wanted = ""
        await self._move("begin")


class SetupBegin:
    """The ways to begin.

    `on_chosen` gets the name of the provider whose models work now; `wanted` is the way that is open at first.
    """

    def __init__(self, workbench: Workbench, wanted: str, on_chosen: Callable[[str], Awaitable[object]]) -> None:
        self._workbench = workbench
        self._on_chosen = on_chosen
        self._opened = ""
        self._ways = LiveHtml()
        on_click_of(self._ways, "pick", self._picked)
        self._body = ui.element("div").classes("setup-more")
        self._open(wanted)

    async def _picked(self, way: str) -> None:
        if way == "demo":
            await self._on_chosen("demo")
        else:
            self._open("" if way == self._opened else way)

    def _open(self, way: str) -> None:
        self._opened = way
        self._ways.show(ways_view(way))
        self._body.clear()
        with self._body:
            match way:
                case "key":
                    SetupKey(self._workbench, self._on_chosen)
                case "server":
                    SetupServer(self._workbench, self._on_chosen)
                case _:
                    pass
        self._body.visible = way in ("key", "server")


def guide_of_tour(agents: list[Agent]) -> Agent | None:
    """An agent that calculates, since the demo's loop does that; else any."""

    def calculates(agent: Agent) -> bool:
        tools = tools_of(agent.active_variant.behaviour)
        return any(choice.name == "calculator" and choice.policy != "off" for choice in tools)

    return next((agent for agent in agents if calculates(agent)), next(iter(agents), None))
