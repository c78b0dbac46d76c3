"""One workflow: its nodes on a canvas, in a list or as code, a chat that tries it, and all the variants it has."""

from typing import ClassVar

from nicegui import PageArguments, ui
from pydantic import JsonValue

from app.domain.agents import Agent, WorkflowBehaviour
from app.domain.errors import NotFound
from app.domain.workflows.checking import errors
from app.domain.workflows.document import Node, Workflow
from app.domain.workflows.world import World
from app.export.workflows.mermaid import mermaid
from app.export.workflows.workflow_file import WorkflowFile, workflow_file
from app.ui.agents.agent_page import AgentPage, Side, found
from app.ui.agents.try_chat import TryChat
from app.ui.build.node_fields import Around
from app.ui.build.offers import offered, with_last
from app.ui.build.run_bar import RunBar
from app.ui.build.run_form import as_message, asked_for_input, takes_more
from app.ui.build.sheet import Offer
from app.ui.build.tour import Doings, Tour
from app.ui.build.workflow_editor import WorkflowEditor
from app.ui.elements.addresses import BUILD, agent_address
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.focus import lead_to
from app.ui.elements.format import plural
from app.ui.elements.notices import copy_text, notify, problems_shown
from app.ui.markdown.live_markdown import LiveMarkdown
from app.workbench import Workbench

RECHECK_SECONDS = 2.0


async def workflow_page(workbench: Workbench, live_markdown: LiveMarkdown, slug: str, arguments: PageArguments) -> None:
    """Build `/build/{slug}`; raises `NotFound`."""
    agent = found(workbench, slug)
    match agent.active_variant.behaviour:
        case WorkflowBehaviour(workflow=workflow):
            # What reads formulas takes a while to be read itself.
            await workbench.workflow_checks.faults(workflow, slug)
            WorkflowPage(workbench, live_markdown, agent, arguments)
        case _:
            raise NotFound(f"{agent.name} answers by a prompt and has no nodes: see {agent_address(slug)}.")


class WorkflowPage(AgentPage):
    """The page of an agent, with nodes in place of a prompt."""

    sides: ClassVar[tuple[tuple[Side, str], ...]] = (("node", "Node"), ("try", "Try it"), ("variants", "Variants"))
    list_address: ClassVar[str] = BUILD

    def _build_columns(self, live_markdown: LiveMarkdown) -> None:
        self._build_bar()
        self._made_of: object = None
        self._given: dict[str, JsonValue] = {}
        copies = self._workbench.working_copies
        self._editor = WorkflowEditor(
            self._workflow,
            copies.history(self._agent_id),
            world=self._world,
            around=self._around,
            on_change=self._workflow_changed,
            on_choose=lambda: self._show_side("node"),
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

    def _build_ways_out(self) -> None:
        icon_button("history", "Show a run on the canvas", self._runs.open, testid="show-run")
        icon_button("explore", "Tour of Build, two minutes", self._tour.open, testid="tour-open")
        icon_button("data_object", "Export the nodes to a file for git", self._export, testid="workflow-export")
        icon_button("schema", "Copy the nodes as a Mermaid drawing", self._draw, testid="workflow-mermaid")
        run = button("Run", self._run, look="primary", icon="play_arrow", testid="workflow-run-button")
        run.props('title="Run what is in the editor, saved or not"')

    def _ran(self) -> None:
        self._editor.show_values(self._runs.runs)

    async def _run(self) -> None:
        """Go to where a message begins a run of what is in the editor; where it takes more, ask for that."""
        if self._refused("A workflow with faults does not run"):
            return
        self._show_side("try")
        takes, chat = takes_more(self._editor.workflow), next(iter(self._try.default_slot.children), None)
        if takes is None or not isinstance(chat, TryChat):
            lead_to(self._try, "textarea")
            return
        if (given := await asked_for_input(takes, self._given)) is not None:
            self._given = given
            with problems_shown():
                await chat.run(*as_message(given))

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

    def _show_side(self, side: Side) -> None:
        super()._show_side(side)
        self._editor.node_side.visible = side == "node"

    def _world(self, workflow: Workflow) -> World:
        return self._workbench.workflow_checks.world(workflow, self._agent.slug)

    def _around(self, world: World) -> Around:
        def offers(node: Node) -> list[Offer]:
            return with_last(offered(self._editor.workflow, world, node), self._runs.runs)

        tools = {spec.name: spec for spec in self._workbench.tools.all()}
        return Around(self._workbench.agents.all(), tools, offers)

    def _workflow_changed(self, workflow: Workflow) -> None:
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
