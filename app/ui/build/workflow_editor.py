"""The editor of a workflow: canvas, list and code over one document, settings of the chosen node, and its faults."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Literal

from nicegui import ui

from app.domain.errors import WorkbenchError
from app.domain.trace import NodeRuns
from app.domain.workflows.checking import faults
from app.domain.workflows.document import Node, Workflow, ports
from app.domain.workflows.operations import Changed, added
from app.domain.workflows.pasting import copied
from app.domain.workflows.world import World
from app.engine.sessions.edit_history import EditHistory
from app.ui.build.code_view import CodeView
from app.ui.build.fault_list import fault_lines, node_count
from app.ui.build.gestures import done, edited
from app.ui.build.kind_dialog import asked_for_kind
from app.ui.build.node_fields import Around
from app.ui.build.node_list import NodeList
from app.ui.build.node_settings import NodeSettings
from app.ui.build.run_values import RunValues
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.choice import Choice
from app.ui.elements.clicks import on_click_of
from app.ui.elements.focus import refocus
from app.ui.elements.format import plural
from app.ui.elements.notices import notify
from app.ui.graph.canvas import Canvas, NodeState
from app.ui.graph.node_plans import Way

View = Literal["canvas", "list", "code"]
VIEWS: tuple[tuple[View, str], ...] = (("canvas", "Canvas"), ("list", "List"), ("code", "Code"))


class WorkflowEditor(ui.element):
    """`on_change` gets each other document; `world` says what it is checked against, `around` what settings offer."""

    def __init__(
        self,
        workflow: Workflow,
        history: EditHistory,
        *,
        world: Callable[[Workflow], World],
        around: Callable[[World], Around],
        on_change: Callable[[Workflow], None],
        on_choose: Callable[[], None],
        on_shown: Callable[[Node | None], None],
        on_run: Callable[[Way, str], Awaitable[None]],
        build_side: Callable[[], None],
    ) -> None:
        """`on_choose` is told when a node is chosen, `on_shown` which one stands beside whenever that is drawn.

        `on_run` gets what is to be run from which node; `build_side` builds what stands beside besides its settings.
        """
        super().__init__("div")
        self.classes("workflow-editor")
        self.workflow = workflow
        self._history, self._world, self._around = history, world, around
        self._on_change, self._on_choose = on_change, on_choose
        self._on_shown, self._on_run = on_shown, on_run
        self._pinned: frozenset[str] = frozenset()
        self._view: View = "canvas"
        self._chosen: tuple[str, ...] = ()
        self._words: dict[str, str] = {}
        self._known = world(workflow)
        self.faults = faults(workflow, self._known)
        with self:
            self._build_toolbar()
            with ui.element("div").classes("workflow-columns"):
                self._build_main()
                self._build_side(build_side)
            self._faults = ui.html(sanitize=False).classes("workflow-faults").props("role=status")
            on_click_of(self._faults, "node", self._jump)
        self._show()

    def _build_main(self) -> None:
        with ui.element("div").classes("workflow-main") as self.main:
            self._canvas = Canvas(self.workflow, self.faults, self._act)
            self._list = NodeList(self._act)
            self._code_place = ui.element("div")
            self._code: CodeView | None = None

    def _build_side(self, besides: Callable[[], None]) -> None:
        label = 'aria-label="The chosen node, a chat to try it, variants"'
        with ui.element("aside").classes("workflow-side panel").props(label):
            besides()
            with ui.element("div") as self.node_side:
                self.settings = NodeSettings(self._edit, self._act)
                self._values = RunValues()

    def show(self, workflow: Workflow) -> None:
        """Show another document that comes from elsewhere; undo goes back to what was here."""
        self._history.keep(self.workflow)
        self._take(workflow)

    def show_states(self, states: list[NodeState], edges: list[tuple[str, str]]) -> None:
        """Show how the nodes of a run stand; those that are not named stay as they were."""
        self._words |= {id_: words if state else "" for id_, state, words in states}
        self._canvas.show_states(states, edges)
        if self._view == "list" and states:
            self._show_list()

    def show_values(self, runs: NodeRuns) -> None:
        """Show what the chosen node was given and gave in a run, and offer it where values are inserted."""
        self._values.show(self._node(), runs)

    def show_pinned(self, nodes: Iterable[str]) -> None:
        """Mark the nodes in place of which a value stands."""
        self._pinned = frozenset(nodes)
        self._show()

    def say(self, words: str) -> None:
        """Tell it to who does not see it."""
        self._canvas.say(words)

    def recheck(self) -> None:
        """Look again what is wrong: agents or tools may be others now."""
        self._known = self._world(self.workflow)
        found = faults(self.workflow, self._known)
        if found != self.faults:
            self.faults = found
            self._show()

    def jump_to_fault(self) -> None:
        """To the node of the first fault."""
        if self.faults:
            self._jump(self.faults[0].node)

    def _build_toolbar(self) -> None:
        with ui.element("div").classes("toolbar workflow-tools") as self.tools:
            self._views = Choice(VIEWS, self._turn, label="View", testid="view-{}", look="mode-switch")
            self._views.show(self._view)
            self._undo = icon_button("undo", "Undo", self._step_back, testid="undo-button")
            self._redo = icon_button("redo", "Redo", self._step_on, testid="redo-button")
            button("Add", lambda: self._act("add", [*self._chosen[-1:], ""]), icon="add", testid="add-node-button")
            icon_button(
                "auto_fix_normal", "Tidy: lay all nodes out", lambda: self._act("tidy", []), testid="tidy-button"
            )
            self._count = ui.html(sanitize=False).classes("muted grow").props("role=status data-testid=node-count")
            on_click_of(self._count, "node", self._jump)

    async def _act(self, name: str, told: list[object]) -> None:
        """Do what somebody did on the canvas, in the list or in the settings."""
        try:
            match name:
                case "choose":
                    self._choose(tuple(str(one) for one in told))
                case "narrow":
                    self._turn("list")
                case "open":
                    self._open(told)
                case "undo":
                    self._step_back()
                case "redo":
                    self._step_on()
                case "copy":
                    self._copy(told)
                case "run-to" | "run-from" | "run-only" | "pin" as way:
                    await self._on_run(way, str(told[0]))
                case "add":
                    await self._add(*(str(one) for one in told))
                case "tidy":
                    self._do(name, told)
                    self._canvas.fit()  # nothing is where it was
                case _:
                    self._do(name, told)
        except WorkbenchError as problem:
            self._canvas.say(str(problem))
            self._canvas.refuse(self.workflow, self.faults, self._pinned)
            notify(str(problem))

    def _do(self, name: str, told: list[object]) -> None:
        if name == "cut":
            self._copy(told)
        change = done(self.workflow, name, told)
        moved = told[0] if name == "move" else None
        self._taken(change, burst=f"move {[one[0] for one in moved]}" if isinstance(moved, list) else "")
        if name in ("paste", "duplicate"):
            self._choose(change.ids)
            self._canvas.choose(change.ids)

    async def _add(self, after: str, port: str = "") -> None:
        """Ask for a kind, and add that after the node, or beside it where nothing comes after it."""
        node = self.workflow.by_id().get(after)
        kind = await asked_for_kind(has_input=any(one.kind == "input" for one in self.workflow.nodes))
        if kind is None:
            return
        after = after if node and ports(node) and kind not in ("note", "input") else ""
        change = added(self.workflow, kind, after=after, port=port, scope=node.scope if node else "")
        self._taken(change)
        self._choose(change.ids)
        self._canvas.reveal(change.ids[0])
        self.settings.focus()

    def _edit(self, node: Node, field: str, anew: bool) -> None:
        try:
            change = edited(self.workflow, node, field)
        except WorkbenchError as problem:
            notify(str(problem))
            return
        self.settings.wrote(change.workflow.by_id()[node.id])
        self._taken(change, burst=f"{node.id}.{field}", silent=True)
        if anew:
            self.settings.draw(self._node(), self.workflow, self._offers())
            self._show_settings()
            refocus(self.settings, f'[data-testid="node-{field}"]', "input")

    def _taken(self, change: Changed, *, burst: str = "", silent: bool = False) -> None:
        """Go on with the document that came of a change."""
        if change.workflow != self.workflow:
            self._history.keep(self.workflow, burst)
            self._take(change.workflow)
        if not silent:
            self._canvas.say(change.said)

    def _take(self, workflow: Workflow) -> None:
        self.workflow = workflow
        self._known = self._world(workflow)
        self.faults = faults(workflow, self._known)
        ids = {node.id for node in workflow.nodes}
        self._chosen = tuple(id_ for id_ in self._chosen if id_ in ids)
        self._on_change(workflow)
        self._show()

    def _step_back(self) -> None:
        self._go(self._history.undo(self.workflow), "Undone.", "There is nothing to undo.")

    def _step_on(self) -> None:
        self._go(self._history.redo(self.workflow), "Done again.", "There is nothing to do again.")

    def _go(self, workflow: Workflow, said: str, nothing: str) -> None:
        if workflow != self.workflow:
            self._take(workflow)
            self._canvas.say(said)
        else:
            self._canvas.say(nothing)
            self._show_steps()

    def _choose(self, ids: tuple[str, ...]) -> None:
        self._chosen = ids
        if ids:
            self._on_choose()
        self._show_settings()
        if self._view == "list":
            self._show_list()

    def _open(self, told: list[object]) -> None:
        if told:
            self._choose((str(told[0]),))
            self._canvas.choose(self._chosen)
        self.settings.focus()

    def _copy(self, told: list[object]) -> None:
        nodes = self.workflow.by_id()
        ids = [str(one) for one in told if one in nodes]
        ui.clipboard.write(copied(self.workflow, ids))
        self._canvas.say(f"Copied {plural(len(ids), 'node')}.")

    def _jump(self, node: str) -> None:
        if not node:
            return
        self._choose((node,))
        self._canvas.reveal(node)
        self.settings.focus()

    def _turn(self, view: View) -> None:
        self._view = view
        self._views.show(view)
        self._canvas.visible = view == "canvas"
        self._list.visible = view == "list"
        self._code_place.visible = view == "code"
        if view == "code" and self._code is None:
            with self._code_place:
                self._code = CodeView(
                    self.workflow, lambda workflow: self._taken(Changed(workflow, "Changed the code."), burst="code")
                )
        self._show()

    def _show(self) -> None:
        """Show the document in whichever view is there, with its faults."""
        self._canvas.show(self.workflow, self.faults, self._pinned)
        self._show_list()
        if self._code is not None and self._view == "code":
            self._code.show(self.workflow)
        self._show_settings()
        self._show_steps()
        self._count.set_content(node_count(self.workflow, self.faults))
        self._faults.set_content(fault_lines(self.faults))

    def _show_steps(self) -> None:
        self._undo.set_enabled(self._history.can_undo)
        self._redo.set_enabled(self._history.can_redo)

    def _show_list(self) -> None:
        if self._view == "list":
            self._list.show(self.workflow, self.faults, self._chosen, self._words, self._pinned)
        else:
            self._list.hide()

    def _show_settings(self) -> None:
        self._on_shown(self._node())
        self._values.show(self._node())
        self.settings.show(self._node(), self.workflow, self._offers(), self.faults)

    def _offers(self) -> Around:
        return self._around(self._known)

    def _node(self) -> Node | None:
        """The one node that is chosen, if it is one."""
        return self.workflow.by_id().get(self._chosen[0]) if len(self._chosen) == 1 else None
