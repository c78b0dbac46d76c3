"""The dialog that plans an experiment on a dataset: who is tried, how often, with which tools, and what that costs."""

import asyncio
from collections.abc import Sequence
from functools import partial

from nicegui import background_tasks, ui
from pydantic import JsonValue, ValidationError

from app.domain.agents import Agent, model_of
from app.domain.errors import WorkbenchError
from app.domain.evals.cases import Case, Dataset
from app.domain.evals.drafts import ExperimentDraft
from app.domain.evals.experiments import ToolMode
from app.domain.provenance import Trigger
from app.domain.tools import GrantedTool
from app.engine.loop.granting import allowed
from app.ui.elements.addresses import experiment_address
from app.ui.elements.buttons import button, loading
from app.ui.elements.choice import Choice, choice_box
from app.ui.elements.clicks import on_click_of
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.model_picker import ModelPicker
from app.ui.elements.notices import notify, problems_shown
from app.ui.elements.questions import named_dialog
from app.ui.elements.variant_select import variant_options
from app.ui.elements.visible import title_of
from app.ui.evals.estimate_words import estimate_view
from app.ui.evals.fields import fault_of, value_of
from app.workbench import Workbench
from app.workbench.cluster.dask_workers import can_connect

TOOLS: tuple[tuple[ToolMode, str], ...] = (("recorded", "From the record"), ("live", "For real"))
NO_CASES = "This dataset has no cases yet. Add one, or save a run as a case."
NO_AGENT = "There is no agent to try. Create one on the Agents page first."
ANOTHER = "Another model…"
WORKERS = "The scheduler of a Dask cluster of yours that tries the cells. Empty: this computer tries them."


async def open_try(workbench: Workbench, dataset: Dataset) -> None:
    """Ask how the dataset is to be tried, with what is likely wanted chosen already."""
    cases = await asyncio.to_thread(workbench.cases.of, dataset.id)
    agent = likely_agent(workbench, dataset, cases)
    if not cases:
        notify(NO_CASES)
    elif agent is None:
        notify(NO_AGENT)
    else:
        TryDialog(workbench, dataset, agent, recorded=all(case.record for case in cases))


class TryDialog:
    def __init__(self, workbench: Workbench, dataset: Dataset, agent: Agent, *, recorded: bool) -> None:
        """`recorded`: whether all its cases have recorded calls; else tools that change nothing are called for real."""
        self._workbench = workbench
        self._dataset = dataset
        self._agents = {agent.id: agent for agent in workbench.agents.all()}
        self._models: list[str] = []
        self._live: set[str] = set()
        self._tools: ToolMode = "recorded"
        self._asked = 0
        self._recorded = recorded
        self._agent = agent
        with named_dialog("Try it") as self._dialog, ui.card().classes("dialog-card try-dialog") as card:
            card.props("data-testid=try-dialog")
            ui.html(f"Try “{tag('span', dataset.name)}”", sanitize=False, tag="h2").classes("section-title")
            with ui.element("div").classes("dialog-body fill stack"):
                self._build_columns()
                self._build_tools()
                self._build_bounds()
                self._estimate = ui.html(tag("p", "Estimating…", cls="faint"), sanitize=False).classes("fill")
                self._estimate.props("role=status data-testid=experiment-estimate")
            with ui.element("div").classes("row-line dialog-buttons"):
                button("Cancel", self._dialog.close, look="quiet")
                self._start = button("Start", self._begin, look="primary", icon="play_arrow")
                self._start.props("autofocus data-testid=experiment-start-button")
        self._dialog.on("hide", self._dialog.delete)
        self._show_agent()
        self._dialog.open()

    def _build_columns(self) -> None:
        names = {agent.id: agent.name for agent in self._agents.values()}
        with ui.element("div").classes("try-row"):
            self._agent_box = choice_box(names, self._agent.id, label="Agent", testid="agent-select", cls="")
            self._agent_box.on_value_change(self._chose_agent)
            self._variants = ui.select({}, multiple=True, label="Variants, the first one is the baseline")
            self._variants.props("outlined dense options-dense use-chips data-testid=try-variants")
            self._variants.on_value_change(self._chose_variants)
        self._others = ui.select({}, multiple=True, label="Other agents beside it")
        self._others.props("outlined dense options-dense use-chips data-testid=try-beside").classes("fill")
        self._others.props["title"] = "Each is tried with its active variant."
        self._others.visible = len(names) > 1
        self._others.on_value_change(self._chose_variants)
        with ui.element("div").classes("try-models"):
            ui.label("Models").classes("faint")
            self._chosen_models = ui.html(sanitize=False).classes("chips").props("data-testid=try-models")
            on_click_of(self._chosen_models, "model", self._drop_model)
            self._picker = ModelPicker(self._workbench, ANOTHER, self._add_model, testid="try-add-model")
        self._as_recorded = ui.checkbox("Also score the runs that the cases were made from, as the baseline")
        self._as_recorded.props("dense data-testid=try-as-recorded").on_value_change(self._look)

    def _build_tools(self) -> None:
        with ui.element("div").classes("row-line"):
            ui.label("Tools answer").classes("faint")
            self._mode = Choice(TOOLS, self._choose_tools, label="How tools answer", testid="tools-{}")
            self._mode.show(self._tools)
        with ui.element("details").classes("fill try-live") as self._live_place:
            ui.html("Call some of them for real", sanitize=False, tag="summary")
            self._live_boxes = ui.element("div").classes("stack")

    def _build_bounds(self) -> None:
        with ui.element("div").classes("try-row"):
            self._repeats = ui.input("Repeats", value="1").props("outlined dense inputmode=numeric")
            self._ceiling = ui.input("Ceiling in US dollars, 0 for none", value="1")
            self._margin = ui.input("No worse than, in points").props("outlined dense inputmode=decimal")
            self._ceiling.props("outlined dense inputmode=decimal data-testid=try-ceiling")
            self._repeats.props("data-testid=try-repeats debounce=300")
            self._margin.props["title"] = "How much worse still counts as no worse. Empty: it is not asked."
            self._workers = ui.input("Workers", placeholder="tcp://10.0.0.5:8786").props("outlined dense debounce=300")
            self._workers.props["title"] = WORKERS
            self._workers.props("data-testid=try-workers").visible = can_connect()
            for box in (self._repeats, self._ceiling, self._margin, self._workers):
                box.on_value_change(self._look)

    def _chose_agent(self) -> None:
        self._agent = self._agents.get(str(self._agent_box.value), self._agent)
        self._models = []
        self._show_agent()

    def _show_agent(self) -> None:
        agent = self._agent
        newer = [one.number for one in agent.variants if agent.status_of(one.number) == "candidate"]
        self._variants.set_options(variant_options(agent, agent.active), value=[agent.active, *newer[-1:]])
        self._others.set_options({id_: one.name for id_, one in self._agents.items() if one is not agent}, value=[])
        self._picker.show(None if agent.kind == "workflow" else ANOTHER)
        self._live = set() if self._recorded else {one.spec.name for one in self._granted() if _is_harmless(one)}
        self._show_models()
        self._show_tools()

    def _chose_variants(self) -> None:
        self._live &= {tool.spec.name for tool in self._granted()}
        self._show_tools()
        self._look()

    def _show_models(self) -> None:
        chips = (
            tag("button", model, icon("close"), cls="runs-chip", data_model=model, aria_label=f"Leave out {model}")
            for model in self._models
        )
        own = tag("span", "each variant's own", cls="muted")
        self._chosen_models.set_content(joined(*chips) if self._models else own)
        self._look()

    async def _add_model(self, model: str | None) -> None:
        own = model_of(self._agent.variant(self._numbers()[0]).behaviour)
        wanted = [*(self._models or ([own] if own else [])), *([model] if model else [])]
        self._models = list(dict.fromkeys(wanted))
        self._show_models()

    def _drop_model(self, model: str) -> None:
        left = [one for one in self._models if one != model]
        self._models = left if len(left) > 1 else []
        self._show_models()

    def _choose_tools(self, mode: ToolMode) -> None:
        self._tools = mode
        self._mode.show(mode)
        self._show_tools()
        self._look()

    def _show_tools(self) -> None:
        tools = self._granted() if self._tools == "recorded" else []
        self._live_place.set_visibility(bool(tools))
        self._live_place.props("open" if self._live else "", remove="" if self._live else "open")
        self._live_boxes.clear()
        with self._live_boxes:
            for tool in tools:
                words = f"{title_of(tool.spec)}{': it changes something outside' if tool.spec.side_effects else ''}"
                box = ui.checkbox(words, value=tool.spec.name in self._live).props("dense data-testid=try-live-tool")
                box.on_value_change(partial(self._tick_tool, tool.spec.name))

    def _granted(self) -> list[GrantedTool]:
        """The tools of all that is tried, each once."""
        others = [self._agents[id_].active_variant for id_ in self._others.value or []]
        variants = [*(self._agent.variant(number) for number in self._numbers()), *others]
        behaviours = [variant.behaviour for variant in variants]
        found = {tool.spec.name: tool for one in behaviours for tool in allowed(self._workbench.tools, one)}
        return list(found.values())

    def _tick_tool(self, name: str) -> None:
        self._live ^= {name}
        self._look()

    def _numbers(self) -> list[int]:
        return [int(number) for number in self._variants.value or []] or [self._agent.active]

    def _draft(self) -> ExperimentDraft:
        """Raises `WorkbenchError` for what was not typed well."""
        workers = str(self._workers.value or "").strip()
        if workers and not workers.startswith(("tcp://", "tls://")):
            raise WorkbenchError(f"Workers: {workers!r} is no address of a scheduler. Write tcp://10.0.0.5:8786.")
        margin = value_of("number", str(self._margin.value or ""), "No worse than")
        typed: dict[str, JsonValue] = {
            "repeats": value_of("number", str(self._repeats.value or ""), "Repeats") or 1,
            "ceiling_usd": value_of("number", str(self._ceiling.value or ""), "Ceiling") or 0,
            "margin": margin / 100 if isinstance(margin, int | float) and margin else None,
            "workers": workers,
        }
        said = {"dataset": self._dataset.id, "agent": self._agent.id, "variants": tuple(self._numbers())}
        said["beside"] = tuple(self._others.value or [])
        live = tuple(sorted(self._live)) if self._tools == "recorded" else ()
        tools = {"models": tuple(self._models), "tools": self._tools, "live": live}
        try:
            return ExperimentDraft.model_validate({**said, **tools, **typed, "as_recorded": self._as_recorded.value})
        except ValidationError as error:
            raise fault_of(error) from error

    def _look(self) -> None:
        """Say anew what it would cost; the answer to the last question counts."""
        self._asked += 1
        background_tasks.create(self._tell(self._asked), name="estimate", context=self._estimate)

    async def _tell(self, asked: int) -> None:
        try:
            draft = self._draft()
            estimate = await self._workbench.experimenting.estimate(draft)
            view, fine = estimate_view(estimate, draft), True
        except WorkbenchError as problem:
            view, fine = tag("p", str(problem), cls="is-bad"), False
        if asked == self._asked and not self._estimate.is_deleted:
            self._estimate.set_content(view)
            self._start.set_enabled(fine)

    async def _begin(self) -> None:
        with problems_shown(), loading(self._start):
            experiment = await self._workbench.experimenting.plan(self._draft(), Trigger(kind="page"))
            await self._workbench.experimenting.start(experiment.id)
            ui.navigate.to(experiment_address(experiment.id))


def _is_harmless(tool: GrantedTool) -> bool:
    return tool.policy == "auto" and not tool.spec.side_effects


def likely_agent(workbench: Workbench, dataset: Dataset, cases: Sequence[Case]) -> Agent | None:
    """The one that was tried on it last, that its first case was made with, or whose name it bears; else the first."""
    agents = workbench.agents.all()
    tried = {one.plan.agent_id for one in workbench.experiments.recent(dataset_id=dataset.id, limit=1)}
    rows = (workbench.rows.get(case.run_id) for case in cases[:1] if case.run_id)
    made = {row.agent.id for row in rows if row is not None}
    told = f"{dataset.name}\n{dataset.description}".casefold()
    named = [agent for agent in agents if agent.name.casefold() in told]
    found = [agent for known in (tried, made) for agent in agents if agent.id in known]
    return next(iter((*found, *named, *agents)), None)
