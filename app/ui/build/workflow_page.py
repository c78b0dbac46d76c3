"""One workflow: its nodes on a canvas, in a list or as code, a chat that tries it, and all the variants it has."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from nicegui import PageArguments, ui
from pydantic import JsonValue

from app.domain.agents import Agent, WorkflowBehaviour
from app.domain.errors import WorkbenchError
from app.domain.provenance import Trigger
from app.domain.workflows.checking import errors
from app.domain.workflows.document import Node, NoteNode, Workflow
from app.domain.workflows.giving import Giving
from app.domain.workflows.graph import Graph
from app.domain.workflows.world import World
from app.export.workflows.mermaid import mermaid
from app.export.workflows.workflow_file import WorkflowFile, workflow_file
from app.ui.agents.agent_page import AgentPage, Side, found
from app.ui.build.node_fields import Around
from app.ui.build.node_runs import NodeRunButtons, Pin, asked_for_pin
from app.ui.build.offers import offered, with_last
from app.ui.build.run_bar import RunBar
from app.ui.build.sheet import Offer
from app.ui.build.tour import Doings, Tour
from app.ui.build.workflow_editor import WorkflowEditor
from app.ui.elements.addresses import BUILD, agent_address
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.clicks import one_at_a_time
from app.ui.elements.focus import lead_to
from app.ui.elements.format import plural
from app.ui.elements.notices import copy_text, notify, problems_shown
from app.ui.elements.visible import visible
from app.ui.graph.node_plans import WAYS, Way, begun_words, pins_in, plan_of, why_not
from app.ui.graph.words import title_of
from app.ui.markdown.live_markdown import LiveMarkdown
from app.ui.schema_form.run_form import as_message, asked_for_input, takes_more
from app.workbench import Workbench

RECHECK_SECONDS = 2.0


async def workflow_page(workbench: Workbench, live_markdown: LiveMarkdown, slug: str, arguments: PageArguments) -> None:
    """Build `/build/{slug}`, or go where an agent without nodes has its page; raises `NotFound`."""
    agent = found(workbench, slug)
    match agent.active_variant.behaviour:
        case WorkflowBehaviour(workflow=workflow):
            # What reads formulas takes a while to be read itself.
            await workbench.workflow_checks.faults(workflow, slug)
            WorkflowPage(workbench, live_markdown, agent, arguments)
        case _:
            ui.navigate.history.replace(agent_address(slug))  # a step back would else come here, and be led on again
            ui.navigate.to(agent_address(slug))


class WorkflowPage(AgentPage):
    """The page of an agent, with nodes in place of a prompt."""

    sides: ClassVar[tuple[tuple[Side, str], ...]] = (("node", "Node"), ("try", "Try it"), ("variants", "Variants"))
    list_address: ClassVar[str] = BUILD

    def _build_columns(self, live_markdown: LiveMarkdown) -> None:
        self._build_bar()
        self._made_of: object = None
        self._given: dict[str, JsonValue] = {}
        self._history = self._workbench.working_copies.history(self._agent_id)
        self._editor = WorkflowEditor(
            self._workflow,
            self._history,
            world=self._world,
            around=self._around,
            on_change=self._workflow_changed,
            on_choose=lambda: self._show_side("node"),
            on_shown=self._show_ways,
            on_run=self._run_of_node,
            build_side=lambda: self._build_side(live_markdown),
        )
        with self._editor.main:
            self._runs = RunBar(self._workbench, self._agent_id, self._editor.show_states, on_run=self._ran)
        self._tour = Tour(self._workbench.preferences, self._doings)
        with self._editor.tools:
            self._build_ways_out()
        self._tour.move(target_index=1)
        self._show_side("node")
        ui.timer(RECHECK_SECONDS, self._recheck)

    def _build_side(self, live_markdown: LiveMarkdown) -> None:
        super()._build_side(live_markdown)
        self._node: Node | None = None
        self._ways_shown: object = None
        self._side: Side = "node"
        self._ways = NodeRunButtons(self._way_pressed, self._unpin)

    def _build_ways_out(self) -> None:
        icon_button("history", "Show a run on the canvas", self._runs.open, testid="show-run")
        icon_button("explore", "Tour of Build, two minutes", self._tour.open, testid="tour-open")
        icon_button("data_object", "Export the nodes to a file for git", self._export, testid="workflow-export")
        icon_button("schema", "Copy the nodes as a Mermaid drawing", self._draw, testid="workflow-mermaid")
        run = button("Run", self._run, look="primary", icon="play_arrow", testid="workflow-run-button")
        run.props('title="Run what is in the editor, saved or not"')

    def _ran(self) -> None:
        self._editor.show_values(self._runs.runs)
        self._show_ways(self._node)

    async def _run(self) -> None:
        """Go to where a message begins a run of what is in the editor; where it takes more, ask for that."""
        if self._refused("A workflow with faults does not run"):
            return
        self._show_side("try")
        takes, chat = takes_more(self._editor.workflow), self._chat_here()
        if takes is None:
            lead_to(self._try, "textarea")
            return
        if (given := await asked_for_input(takes, self._given)) is not None:
            self._given = given
            with problems_shown():
                await chat.run(*as_message(given))

    def _show_ways(self, node: Node | None) -> None:
        """Say what can be run from that node."""
        self._node = None if node is None or isinstance(node, NoteNode) else node
        self._ways.visible = self._node is not None and self._side == "node"
        if self._node is None:
            return
        pins, why = self._draft.pins, self._why_not(WAYS, self._node)
        pin = Pin(pins[self._node.id]) if self._node.id in pins else None
        if (self._node.id, why, pin) != self._ways_shown:
            self._ways_shown = (self._node.id, why, pin)
            self._ways.show(why, pin)

    def _why_not(self, ways: Iterable[Way], node: Node) -> dict[Way, str]:
        run_id, pinned = self._runs.run_id, node.id in self._draft.pins
        going_on, workflow = self._workbench.runs.live(run_id) is not None, self._editor.workflow
        return {way: why_not(way, node, workflow, run_id=run_id, going_on=going_on, pinned=pinned) for way in ways}

    async def _way_pressed(self, way: Way) -> None:
        with problems_shown():
            await self._run_of_node(way, self._node.id if self._node else "")

    @one_at_a_time
    async def _run_of_node(self, way: Way, id_: str) -> None:
        """Run what is in the editor to the node, from it on, or it alone; or ask for a value in its place.

        Raises `WorkbenchError` where that cannot be.
        """
        node = self._editor.workflow.by_id().get(id_)
        if node is None or isinstance(node, NoteNode):
            return
        if why := self._why_not((way,), node)[way]:
            raise WorkbenchError(why)
        if way == "pin":
            await self._pin(node)
        elif not self._refused("A workflow with faults does not run"):
            plan = plan_of(way, id_, pins_in(self._editor.workflow, self._draft.pins))
            start, tried = self._workbench.node_forks.start, self._draft.behaviour
            live, kept = await start(self._runs.run_id, plan, trigger=Trigger(kind="page"), tried=tried)
            self._runs.follow(live)
            self._editor.say(begun_words(kept))

    async def _pin(self, node: Node) -> None:
        run, pins = self._runs.runs.latest.get(node.id), self._draft.pins
        value = pins.get(node.id, run.value if run is not None else None)
        workflow = self._editor.workflow
        schema = Giving(Graph(workflow), self._world(workflow)).of(node.id)
        if (pin := await asked_for_pin(title_of(node), value, schema)) is not None:
            self._put_pins({**self._draft.pins, node.id: pin.value})

    def _unpin(self) -> None:
        if self._node is not None and self._node.id in (pins := self._draft.pins):
            taken = {self._node.id: pins[self._node.id]}
            self._put_pins({id_: value for id_, value in pins.items() if id_ not in taken})
            words = f"Took the pin off “{visible(title_of(self._node))}”"
            self._undo.show(words, lambda: self._put_pins({**taken, **self._draft.pins}))

    def _put_pins(self, pins: Mapping[str, JsonValue]) -> None:
        self._draft.pin(pins)
        self._bar.show(self._draft)
        self._show_pinned()

    def _doings(self) -> Doings:
        tried = self._workbench.sessions.tried(self._agent_id)
        return Doings(
            self._editor.workflow,
            chosen=self._editor.settings.node,
            faulty=bool(errors(self._editor.faults)),
            tries=len(tried.runs) if tried else 0,
            variants=len(self._agent.variants),
        )

    def _export(self) -> None:
        agent = self._agent
        content = WorkflowFile(name=agent.name, description=agent.description, workflow=self._editor.workflow)
        ui.download.content(workflow_file(content), f"{agent.slug}.workflow.json", "application/json")

    def _draw(self) -> None:
        with problems_shown():
            copy_text(mermaid(self._editor.workflow))

    @property
    def _workflow(self) -> Workflow:
        behaviour = self._draft.behaviour
        return behaviour.workflow if isinstance(behaviour, WorkflowBehaviour) else Workflow()

    def _show_form(self) -> None:
        """Take what does not come from the editor into it."""
        if self._workflow != self._editor.workflow:
            self._editor.show(self._workflow)
        self._show_pinned()

    def _show_pinned(self) -> None:
        self._editor.show_pinned(pins_in(self._workflow, self._draft.pins))

    def _look(self) -> None:
        pins = self._draft.pins
        super()._look()
        if self._draft.pins != pins:
            self._show_pinned()

    def _show_side(self, side: Side) -> None:
        super()._show_side(side)
        self._side = side
        self._show_ways(self._node)
        self._editor.node_side.visible = side == "node"

    def _world(self, workflow: Workflow) -> World:
        return self._workbench.workflow_checks.world(workflow, self._agent.slug)

    def _around(self, world: World) -> Around:
        def offers(node: Node) -> list[Offer]:
            return with_last(offered(self._editor.workflow, world, node), self._runs.runs)

        tools = {spec.name: spec for spec in self._workbench.tools.all()}
        return Around(self._workbench.agents.all(), tools, offers)

    def _workflow_changed(self, workflow: Workflow) -> None:
        self._workbench.working_copies.keep_history(self._agent_id, self._history)
        self._changed(self._draft.behaviour.model_copy(update={"workflow": workflow}))

    async def _save(self) -> None:
        if not self._refused("A variant has no faults"):
            await super()._save()

    def _refused(self, why: str) -> bool:
        """Whether it has errors; then the first is said and shown."""
        if wrong := errors(self._editor.faults):
            notify(f"{why}, and this has {plural(len(wrong), 'fault')}. The first: {wrong[0].text}")
            self._editor.jump_to_fault()
        return bool(wrong)

    def _recheck(self) -> None:
        """Check again once agents or tools are others."""
        made_of = (self._workbench.tools.revision, [(one.slug, len(one.variants), one.active) for one in self._all()])
        if self._made_of not in (None, made_of):
            self._editor.recheck()
        self._made_of = made_of

    def _all(self) -> list[Agent]:
        return list(self._workbench.agents.all())
