"""The pages by their addresses.

The code of a page is read when it is opened, or before: when somebody points at its link, or has opened another one.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from types import ModuleType

from nicegui import PageArguments, background_tasks, context, ui

from app.domain.settings import Theme
from app.late import is_read, late, read
from app.ui.elements import addresses
from app.ui.elements.sub_pages import Pages, failed, shown, shown_later
from app.ui.markdown.live_markdown import LiveMarkdown
from app.ui.overview.overview_page import OverviewPage
from app.workbench import Workbench

with late():
    from app.ui.agents import agent_page as agent
    from app.ui.agents import agents_page as agents
    from app.ui.build import build_page as build
    from app.ui.build import workflow_page as workflow
    from app.ui.compare import compare_page as compare
    from app.ui.compare import comparison_page as comparison
    from app.ui.evals import dataset_page as dataset
    from app.ui.evals import evals_page as evals
    from app.ui.evals import experiment_page as experiment
    from app.ui.integrations import integrations_page as integrations
    from app.ui.matrix import matrix_page as matrix
    from app.ui.monitoring import monitoring_page as monitoring
    from app.ui.overview import standing, waiting
    from app.ui.playground import landing_page as landing
    from app.ui.playground import session_page as session
    from app.ui.resources import resources_page as resources
    from app.ui.review import judges_page as judges
    from app.ui.review import review_page as review
    from app.ui.run import run_page as run
    from app.ui.runs import jobs_page as jobs
    from app.ui.runs import runs_page as runs
    from app.ui.settings import settings_page as settings
    from app.ui.setup import setup_page as setup
    from app.ui.suggest import suggest_page as suggest
    from app.ui.tools import tools_page as tools

log = logging.getLogger(__name__)

FIRST_PAGES = (waiting, standing, landing, session)
"""What the first page is served without, and a first use comes to at once."""
PAGES_BELOW: dict[str, tuple[ModuleType, ...]] = {
    addresses.LANDING: (landing, session),
    addresses.AGENTS: (agents, agent, suggest),
    addresses.BUILD: (build, workflow),
    addresses.TOOLS: (tools,),
    addresses.RUNS: (runs, run),
    addresses.COMPARE: (compare, comparison),
    addresses.EVALS: (evals, dataset, experiment),
    addresses.MONITORING: (monitoring,),
    addresses.RESOURCES: (resources,),
    addresses.JOBS: (jobs,),
    addresses.SETTINGS: (settings,),
    addresses.SETUP: (setup,),
    addresses.REVIEW: (review, judges),
    addresses.MATRIX: (matrix,),
    addresses.INTEGRATIONS: (integrations,),
}
"""The page of a link in the navigation, and those reached from it: whoever points at the link may open them."""
PAGE_SECONDS = 0.3
"""Between two pages that nobody has asked for yet."""


async def read_ahead(path: str) -> None:
    """Read what may be opened next by whoever points at the link with that path."""
    await asyncio.to_thread(read, *PAGES_BELOW.get(path, ()))


def read_first(page: ModuleType, build: Callable[..., object]) -> Callable[..., object]:
    """`build`, for which the page's module is read before, off the event loop, unless somebody has read it already.

    Whoever opens a page beside the first ones will open others too: they are read meanwhile.
    """

    @wraps(build)
    def built(*arguments: object, **named: object) -> object:
        if page not in FIRST_PAGES:
            background_tasks.create_lazy(_read_others(), name="read pages")
        building = partial(build, *arguments, **named)
        return building() if is_read(page) else _read_and_built(page, building, context.slot.parent)

    return built


async def _read_and_built(page: ModuleType, build: Callable[[], object], place: ui.element) -> None:
    try:
        with _reading(place):
            await asyncio.to_thread(read, page)
    except Exception:  # the border of a page, whose file may be gone since the start
        log.exception("A page could not be read")
        failed()
        return
    building = build()
    if isinstance(building, Awaitable):
        await building


@contextmanager
def _reading(place: ui.element) -> Iterator[None]:
    if isinstance(place, Pages):
        place.reading = True
    try:
        yield
    finally:
        if isinstance(place, Pages):
            place.reading = False


async def _read_others() -> None:
    for page in (page for pages in PAGES_BELOW.values() for page in pages):
        if not is_read(page):
            await asyncio.sleep(PAGE_SECONDS)
            await asyncio.to_thread(read, page)


class PagesOfTab:
    """What one tab shows at which address."""

    def __init__(
        self,
        workbench: Workbench,
        live_markdown: LiveMarkdown,
        *,
        set_theme: Callable[[Theme], Awaitable[None]],
        turn_sound: Callable[[], Awaitable[None]],
    ) -> None:
        self._workbench = workbench
        self._live_markdown = live_markdown
        self._set_theme = set_theme
        self._turn_sound = turn_sound

    def by_address(self) -> dict[str, Callable[..., object]]:
        """How each is built."""
        pages: dict[str, tuple[ModuleType, Callable[..., object]]] = {
            addresses.LANDING: (landing, self._landing),
            f"{addresses.LANDING}/{{session_id}}": (session, self._session),
            addresses.AGENTS: (agents, self._agents),
            f"{addresses.AGENTS}/{{slug}}": (agent, self._agent),
            f"{addresses.AGENTS}/{{slug}}/suggest": (suggest, self._suggest),
            addresses.BUILD: (build, self._build),
            f"{addresses.BUILD}/{{slug}}": (workflow, self._workflow),
            addresses.TOOLS: (tools, self._tools),
            addresses.COMPARE: (compare, self._comparisons),
            f"{addresses.COMPARE}/{{comparison_id}}": (comparison, self._comparison),
            addresses.EVALS: (evals, self._evals),
            f"{addresses.EVALS}/{{slug}}": (dataset, self._dataset),
            "/experiments/{experiment_id}": (experiment, self._experiment),
            addresses.MATRIX: (matrix, self._matrix),
            f"{addresses.MATRIX}/{{experiment_id}}": (matrix, self._matrix),
            addresses.REVIEW: (review, self._review),
            addresses.JUDGES: (judges, self._judges),
            addresses.RUNS: (runs, self._runs),
            f"{addresses.RUNS}/{{run_id}}": (run, self._run),
            addresses.JOBS: (jobs, self._jobs),
            addresses.MONITORING: (monitoring, self._monitoring),
            addresses.RESOURCES: (resources, self._resources),
            addresses.INTEGRATIONS: (integrations, self._integrations),
            addresses.SETTINGS: (settings, self._settings),
            addresses.SETUP: (setup, self._setup),
        }
        return {
            addresses.OVERVIEW: self._overview,
            **{address: read_first(page, build) for address, (page, build) in pages.items()},
        }

    def _overview(self) -> None:
        shown(lambda: OverviewPage(self._workbench))

    def _landing(self, arguments: PageArguments) -> None:
        shown(lambda: landing.Landing(self._workbench, arguments))

    async def _session(self, session_id: str, arguments: PageArguments) -> None:
        build = partial(session.session_page, self._workbench, self._live_markdown, session_id, arguments)
        await shown_later(build)

    def _agents(self, arguments: PageArguments) -> None:
        shown(lambda: agents.AgentsPage(self._workbench, arguments))

    def _build(self, arguments: PageArguments) -> None:
        shown(lambda: build.BuildPage(self._workbench, arguments))

    async def _workflow(self, slug: str, arguments: PageArguments) -> None:
        await shown_later(partial(workflow.workflow_page, self._workbench, self._live_markdown, slug, arguments))

    def _comparisons(self, arguments: PageArguments) -> None:
        shown(lambda: compare.ComparisonsPage(self._workbench, arguments))

    def _tools(self) -> None:
        shown(lambda: tools.ToolsPage(self._workbench))

    async def _comparison(self, comparison_id: str) -> None:
        build = partial(comparison.comparison_page, self._workbench, self._live_markdown, comparison_id)
        await shown_later(build)

    def _evals(self, arguments: PageArguments) -> None:
        shown(lambda: evals.EvalsPage(self._workbench, arguments))

    def _dataset(self, slug: str, arguments: PageArguments) -> None:
        shown(lambda: dataset.dataset_page(self._workbench, slug, arguments))

    def _experiment(self, experiment_id: str) -> None:
        shown(lambda: experiment.experiment_page(self._workbench, experiment_id))

    def _matrix(self, arguments: PageArguments, experiment_id: str = "") -> None:
        shown(lambda: matrix.matrix_page(self._workbench, experiment_id, arguments))

    def _review(self, arguments: PageArguments) -> None:
        shown(lambda: review.ReviewPage(self._workbench, arguments))

    def _judges(self) -> None:
        shown(lambda: judges.JudgesPage(self._workbench))

    def _agent(self, slug: str, arguments: PageArguments) -> None:
        shown(lambda: agent.agent_page(self._workbench, self._live_markdown, slug, arguments))

    def _suggest(self, slug: str, arguments: PageArguments) -> None:
        shown(lambda: suggest.suggest_page(self._workbench, slug, arguments))

    def _runs(self, arguments: PageArguments) -> None:
        shown(lambda: runs.runs_page(self._workbench, arguments))

    async def _run(self, run_id: str, arguments: PageArguments) -> None:
        await shown_later(lambda: run.run_page(self._workbench, run_id, arguments))

    def _jobs(self, arguments: PageArguments) -> None:
        shown(lambda: jobs.JobsPage(self._workbench, arguments))

    def _monitoring(self, arguments: PageArguments) -> None:
        shown(lambda: monitoring.MonitoringPage(self._workbench, arguments))

    def _resources(self, arguments: PageArguments) -> None:
        shown(lambda: resources.ResourcesPage(self._workbench, arguments))

    def _integrations(self, arguments: PageArguments) -> None:
        shown(lambda: integrations.IntegrationsPage(self._workbench, arguments))

    async def _settings(self, arguments: PageArguments) -> None:
        page = partial(settings.SettingsPage, set_theme=self._set_theme, turn_sound=self._turn_sound)
        await shown_later(lambda: page(self._workbench, arguments).fill())

    def _setup(self, arguments: PageArguments) -> None:
        shown(lambda: setup.SetupPage(self._workbench, arguments))
