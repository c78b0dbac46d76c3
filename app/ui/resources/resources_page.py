"""Resources: what may be spent and what is left; money and tokens by what they went to; what else it had cost."""

import asyncio
from datetime import timedelta
from functools import partial
from time import monotonic

from nicegui import PageArguments, background_tasks, ui

from app.domain.errors import WorkbenchError
from app.domain.models import Price
from app.domain.usage.days import local_midnight, local_month, midnight
from app.domain.usage.pricing import together
from app.domain.values import now
from app.ui.charts.chart_view import ChartView
from app.ui.elements.addresses import LANDING
from app.ui.elements.choice import Choice
from app.ui.elements.live_html import LiveHtml, rests_hidden
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.model_picker import ModelPicker
from app.ui.elements.notices import empty_state
from app.ui.elements.pager import say_address
from app.ui.resources import ceilings, figures
from app.ui.resources.asked import GROUPS, OF, OVER, Names, ResourcesQuery
from app.ui.resources.figures import Looked
from app.workbench import Workbench

LOOK_SECONDS = 10.0
"""Between two looks at the figures, while the page is open."""
DEAREST = 10
"""Runs that cost most themselves; what they started stands for itself."""
NO_MODEL = "Choose a model"
_HEADING = joined(
    tag("h1", "Resources", cls="page-title"),
    tag("p", "What runs cost in money and tokens, what for, and how much may still be spent.", cls="page-lead"),
)


class ResourcesPage:
    """`/resources`; the days, what they are told apart by and the other price stand in the address."""

    def __init__(self, workbench: Workbench, arguments: PageArguments) -> None:
        self._workbench, self._frame = workbench, arguments.frame
        self._query = ResourcesQuery.of_address(arguments.query_parameters)
        self._seen: tuple[object, ...] = ()
        self._not_before = 0.0
        ui.page_title("Resources · Agent Playground")
        with ui.element("div").classes("page page-wide resources-page").props("data-testid=resources") as page:
            ui.html(_HEADING, sanitize=False)
            _title("Ceilings")
            self._ceilings, self._agents = (LiveHtml().classes("fill") for _ in range(2))
            self._build_choices()
            self._problem = ui.element("div").classes("fill")
            self._tiles = LiveHtml().classes("fill")
            self._chart = ChartView()
            self._rows = LiveHtml().classes("fill")
            self._unpriced = LiveHtml()
            self._build_what_if()
            _title("Dearest runs")
            self._dearest = LiveHtml().classes("fill")
        self._show_query()
        self._begin_load()
        rests_hidden(page, ui.timer(LOOK_SECONDS, self._tick, immediate=False))

    def _build_choices(self) -> None:
        _title("Money and tokens")
        with ui.element("div").classes("toolbar"):
            self._over = Choice(list(OVER.items()), partial(self._ask, "over"), label="Which days", testid="over-{}")
            names = [(one, one.capitalize()) for one in GROUPS]
            self._by = Choice(names, partial(self._ask, "by"), label="Told apart by", testid="by-{}")
            self._of = Choice(list(OF.items()), partial(self._ask, "of"), label="What the chart shows", testid="of-{}")
            self._files = ui.html(sanitize=False).classes("row-line")
            self._told = ui.html(sanitize=False).classes("muted").props("role=status data-testid=resources-told")

    def _build_what_if(self) -> None:
        _title("What if")
        with ui.element("div").classes("toolbar"):
            model, words = self._query.at or NO_MODEL, "No comparison"
            self._at = ModelPicker(
                self._workbench, model, self._compare, reset=words, testid="what-if-model", will_ask=False
            )
        self._what_if = LiveHtml().props("data-testid=what-if")

    def _show_query(self) -> None:
        query = self._query
        self._over.show(query.over)
        self._by.show(query.by)
        self._of.show(query.of)
        self._of.visible = query.by != "tool"
        self._told.set_content(tag("span", "Adding up…"))

    def _begin_load(self) -> None:
        background_tasks.create(self._load(), name="figures of Resources", context=self._told)

    async def _tick(self) -> None:
        if not 0 < self._not_before <= monotonic():
            return  # the first look goes on, or the last one took long
        self._show_ceilings()
        if self._seen != self._stamp():
            await self._load()

    def _stamp(self) -> tuple[object, ...]:
        """Changes when a run begins or ends, and with the day."""
        runs = self._workbench.runs
        return self._query, runs.begun, len(runs.live_runs()), now().astimezone().date()

    async def _load(self) -> None:
        """Read the figures and show them; the longer that took, the later again."""
        began, query = monotonic(), self._query
        try:
            await asyncio.to_thread(lambda: self._workbench.runs)  # nobody waits for the engine to be read
            await self._workbench.data.warm()
            await self._workbench.rows.spent.warm(local_midnight(now()), local_month(now()))
            self._seen = self._stamp()
            self._show_ceilings()
            looked = await _looked(self._workbench, query)
        except WorkbenchError as problem:
            self._seen, self._not_before = (), monotonic()  # the next look tries it again
            self._show_problem("error", "The figures could not be read", f"{problem} It is tried again in a moment.")
            return
        self._not_before = monotonic() + 10 * (monotonic() - began)
        if query != self._query or self._told.is_deleted:
            return  # something else was asked meanwhile
        self._show(looked)
        since, until = midnight(looked.span[0]), midnight(looked.span[1] + timedelta(days=1))
        dearest = await asyncio.to_thread(partial(self._workbench.rows.dearest, since, until, limit=DEAREST))
        if query == self._query and not self._dearest.is_deleted:
            limits = {one.id: one.variant(one.active).behaviour.limits.run_cost for one in self._workbench.agents.all()}
            self._dearest.show(figures.dearest_view(dearest, limits, now()))

    def _show_ceilings(self) -> None:
        day, month = ceilings.paces(self._workbench, now())
        if self._ceilings.is_deleted:
            return
        self._ceilings.show(ceilings.ceilings_view(day, month))
        agents = self._workbench.agents.all()
        sessions = ceilings.dearest_sessions(self._workbench, agents)
        self._agents.show(ceilings.agents_view(agents, sessions, day.spent))

    def _show(self, looked: Looked) -> None:
        self._problem.clear()
        first, last = looked.span
        self._told.set_content(tag("span", f"{first.day} {first:%b} to {last.day} {last:%b %Y}"))
        self._files.set_content(_files(looked))
        if not looked.whole.figures:
            way = tag("a", "Go to the Playground", href=LANDING)
            self._show_problem("savings", "Nothing ran in these days", "Choose other days, or write to an agent.", way)
        something = bool(looked.whole.figures)
        for place in (self._tiles, self._chart, self._rows, self._unpriced):
            place.visible = something
        if something:
            self._tiles.show(figures.tiles_view(looked))
            self._chart.show_chart(figures.chart(looked))
            self._rows.show(figures.table_view(looked))
            self._unpriced.show(figures.unpriced_view(looked))
        self._what_if.show(figures.what_if_view(looked))

    def _show_problem(self, symbol: str, title: str, words: str, *way: Html) -> None:
        if self._problem.is_deleted:
            return
        self._problem.clear()
        if symbol == "error":
            self._told.set_content(tag("span", ""))
        with self._problem:
            empty_state(symbol, title, words, *way)

    async def _compare(self, model: str | None) -> None:
        self._at.show(model or NO_MODEL)
        self._ask("at", model or "")

    def _ask(self, field: str, chosen: str) -> None:
        self._query = self._query.model_copy(update={field: chosen})
        self._show_query()
        say_address(self._frame, self._query.address)
        self._begin_load()


async def _looked(workbench: Workbench, query: ResourcesQuery) -> Looked:
    """Read what the query asks for, off the event loop."""
    usage, price = await asyncio.to_thread(lambda: workbench.usage), await _price(workbench, query.at)
    await usage.ready()
    today = now().astimezone().date()
    span = query.span(today)
    asked = query.usage(span)
    found = await usage.priced_days(asked, price)
    whole = await usage.priced(asked.model_copy(update={"by": ()}), price) if query.by == "tool" else found.rows
    return Looked(query, span, today, _names(workbench), together(whole), found.rows, found.series, price)


async def _price(workbench: Workbench, model: str) -> Price | None:
    if not model:
        return None
    await workbench.catalog.ready()
    return workbench.models.price(model)


def _names(workbench: Workbench) -> Names:
    return {one.id: (one.name, one.slug) for one in (*workbench.agents.deleted(), *workbench.agents.all())}


def _files(looked: Looked) -> Html:
    at = looked.query.at if looked.price else ""
    return joined(
        *(
            tag(
                "a",
                icon("download"),
                form.upper(),
                href=looked.query.download(looked.span, form, at=at),
                download=f"resources.{form}",
                cls="text-button",
                aria_label=f"Download as {form.upper()}",
                data_testid=f"download-{form}",
            )
            for form in ("csv", "json")
        )
    )


def _title(words: str) -> None:
    ui.html(words, sanitize=False, tag="h2").classes("section-title")
