"""One run, step by step, while it goes on and ever after."""

import asyncio

from nicegui import PageArguments, events, ui

from app.domain.events import Entry
from app.domain.provenance import WITHOUT_AGENT, Trigger
from app.domain.streaming import Draft
from app.domain.trace import NodeRun, RunStatus, Step, StoredTrace
from app.domain.values import now
from app.engine.run.run import Run
from app.ui.conversation.save_case import SaveCase
from app.ui.elements.addresses import run_address
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.clicks import ONE_CLICK, one_at_a_time
from app.ui.elements.format import head
from app.ui.elements.new_session import AS_NODES, NODES_SYMBOL, make_workflow
from app.ui.elements.notices import NOTHING_COPIED, notify, problems_shown
from app.ui.elements.pager import address_with
from app.ui.elements.sub_pages import worth_showing
from app.ui.graph.node_plans import AGAIN, Way, plan_of
from app.ui.run.child_run import Parts, card_context
from app.ui.run.findings_panel import Findings
from app.ui.run.fork_compare import open_beside, open_fork_compare
from app.ui.run.fork_dialog import open_fork, open_fork_with
from app.ui.run.replay_dialog import ReplayDialog
from app.ui.run.run_find import RunFind
from app.ui.run.run_frame import RunFrame
from app.ui.run.run_marks import RunMarks
from app.ui.run.run_tabs import RunTabs, View, view_of
from app.ui.run.timeline_cards import show_text
from app.ui.run.trace_growth import RunSoFar
from app.ui.run.trace_header import loading_heading, run_heading
from app.ui.run.trace_notices import cut_off_head, live_text, run_notices
from app.ui.runs.export_dialog import open_export
from app.ui.runs.run_actions import RunActions
from app.workbench import Workbench

REFRESH_SECONDS = 0.5
PIECE = 1000
"""Entries whose projections take about as long as the event loop may wait, 5 ms."""
_ACT = """async (event) => {
  const button = event.target.closest('[data-step-action]');
  if (!button) return;
  event.preventDefault();
  const { stepAction, seq, address } = button.dataset;
  let refused = false;
  if (address) await navigator.clipboard.writeText(new URL(address, location.href).href).catch(() => (refused = true));
  emit([refused ? "refused" : stepAction, seq]);
}"""


async def run_page(workbench: Workbench, run: str, arguments: PageArguments) -> None:
    """Build `/runs/{run}`; `?step=` opens a step, `?view=` a tab, `?beside=` another run.

    `?fork=note` edits its message by what was noted on it, to run on from there. Raises `NotFound`.
    """
    await RunPage(workbench, run, arguments).build()


class RunPage:
    def __init__(self, workbench: Workbench, run_id: str, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._run = RunSoFar(run_id)
        self._damaged: tuple[str, ...] = ()
        self._seen: tuple[object, ...] = ()
        self._alive = False
        self._step = _number(arguments.query_parameters.get("step", ""))
        self._beside = arguments.query_parameters.get("beside", "")
        self._forks = arguments.query_parameters.get("fork") == "note"
        self._view = view_of(arguments.query_parameters.get("view", ""))
        self._tabs: RunTabs | None = None
        ui.page_title("Run · Agent Playground")
        with RunFrame(self._run).classes("page page-wide run-page") as self._frame:
            with ui.element("div").classes("run-top"):
                self._heading = ui.html(loading_heading(), sanitize=False, tag="header").classes("run-heading")
                with ui.element("div").classes("run-buttons"):
                    self._actions = RunActions(workbench, run_id)
                    self._compare = button(
                        "Compare with original", self._compare_fork, icon="compare_arrows", testid="fork-compare"
                    )
                    self._compare.visible = False
                    button("Save as case", self._save_case, icon="playlist_add_check", testid="save-as-case-button")
                    nodes = icon_button(NODES_SYMBOL, AS_NODES, testid="make-workflow-button")
                    nodes.on("click", self._make_workflow, js_handler=ONE_CLICK)
                    button("Export", self._export, icon="ios_share", testid="run-export")
                    with icon_button("more_vert", "More", testid="run-more"), ui.menu():
                        self._again = ui.menu_item("Replay", self._replay).props("data-testid=run-replay")
                        self._delete = ui.menu_item("Delete…").props("data-testid=run-delete")
            self._marks = RunMarks(workbench, run_id)
            self._delete.on_click(self._marks.delete)
            self._notices = ui.html(sanitize=False).classes("stack")
            self._findings = Findings(workbench, self._run, self._open)
            self._find = RunFind(self._run, self._go)
            self._body = ui.element("div").classes("stack run-views").on("click", self._act, js_handler=_ACT)
            with ui.element("section").classes("live-draft").props("data-testid=run-draft") as self._draft:
                self._draft_words = ui.html(sanitize=False)
                self._draft_text = ui.element("div")
            self._draft.visible = False

    async def build(self) -> None:
        """Read the trace and show it; a live run is followed from then on."""
        trace = await self._workbench.runs.trace(self._run.run_id, opening=self._show_opening)
        self._damaged = trace.damaged
        self._run.note_edits(await self._workbench.forks.edits(trace.entries))
        if not await self._take(list(trace.entries)):
            return
        await self._show(trace)
        ui.page_title(f"{head(self._run.request, 60) or 'Run'} · Agent Playground")
        ui.timer(REFRESH_SECONDS, self._tick)
        if self._beside:
            await open_beside(self._workbench, self._beside, self._run.run_id)
        if self._forks:
            notes = self._workbench.scores.marks(self._run.run_id).notes
            open_fork_with(self._workbench, self._run.run_id, tuple(self._run.entries), notes[-1] if notes else "")
        await self._findings.show()

    def _show_opening(self, entries: list[Entry]) -> None:
        """Show the first entries of a long trace while the others are still read."""
        if self._step is not None or self._view != "timeline" or self._body.is_deleted or self._frame.is_empty:
            return
        self._run.take(entries)
        self._built_tabs().show_opening()
        worth_showing(self._body)

    async def _take(self, entries: list[Entry]) -> bool:
        """Take what was not taken yet, in pieces that leave the event loop its turns; `False` once its browser left."""
        for start in range(len(self._run.entries), len(entries), PIECE):
            if self._frame.is_empty:
                return False
            self._run.take(entries[start : start + PIECE])
            await asyncio.sleep(0)
        return not self._frame.is_empty

    def _built_tabs(self) -> RunTabs:
        if self._tabs is None:
            bench = self._workbench
            context = card_context(bench, self._run)
            wanted = self._run.place(self._step) if self._step is not None else None
            self._find.current = wanted
            with self._body:
                self._tabs = RunTabs(
                    self._run,
                    context,
                    Parts(bench),
                    view=self._view,
                    wanted=wanted,
                    on_turn=self._turned,
                    on_choose=self._chosen,
                )
        return self._tabs

    async def _tick(self) -> None:
        self._marks.show()
        live = self._workbench.runs.recent(self._run.run_id)
        if live is None or self._frame.is_empty:
            return
        seen = (len(live.entries), live.alive, live.unsaved, *_length(live.draft))
        if seen == self._seen:
            self._show_heading()
            await self._built_tabs().show(alive=self._alive)
        else:
            self._seen = seen
            if await self._take(live.entries):
                await self._show(StoredTrace(live.entries, live.draft), live)
        await self._findings.show()

    async def _show(self, trace: StoredTrace, live: Run | None = None) -> None:
        status = self._show_heading()
        started = self._run.started
        notices = run_notices(
            self._run.entries,
            status,
            attempts=self._run.attempts,
            session_id=started.session_id if started and started.purpose not in WITHOUT_AGENT else "",
            agent_slug=started.agent.slug if started else "",
            damaged=self._damaged,
            unsaved=live.unsaved if live else None,
        )
        self._notices.set_content(notices)
        self._show_draft(trace.draft, status)
        self._alive = status in ("running", "paused")
        self._find.show()
        await self._built_tabs().show(alive=self._alive)

    def _show_heading(self) -> RunStatus:
        status = self._workbench.runs.status(self._run.run_id, self._run.entries)
        row, started = self._run.row(status), self._run.started
        if row is None or not row.request:  # damaged where it begins; the list of runs still knows
            row = self._workbench.rows.get(self._run.run_id) or row
        self._heading.set_content(
            run_heading(row, now(), self._run, self._workbench.runs.lists.below(self._run.run_id))
        )
        self._actions.show(status)
        self._compare.visible = self._run.forked is not None
        self._again.visible = started is None or started.workflow is None
        return status

    def _show_draft(self, draft: Draft, status: RunStatus) -> None:
        self._draft.visible = not draft.empty
        self._draft_text.clear()
        if draft.empty:
            return
        if status == "running":
            self._draft_words.set_content(live_text(draft))
            return
        self._draft_words.set_content(cut_off_head(draft))
        with self._draft_text:
            show_text("\n\n".join(text for text in (draft.reasoning, draft.text) if text))

    async def _go(self, index: int) -> None:
        """Open the step with that index in the tab that is looked at."""
        self._chosen(self._run.steps[index])
        await self._built_tabs().go(index)

    async def _open(self, seq: int) -> None:
        index = self._run.nearest(seq)
        if index is not None:
            await self._go(index)

    async def _act(self, event: events.GenericEventArguments) -> None:
        """Do what a button of a step says."""
        action, seq = str(event.args[0]), int(event.args[1])
        index = self._run.place(seq)
        if action == "link":
            ui.notify("Link copied.")
        elif action == "refused":
            notify(NOTHING_COPIED)
        elif action == "fork":
            open_fork(self._workbench, self._run.run_id, tuple(self._run.entries), seq)
        elif (way := next((one for one in AGAIN if one == action), None)) and index is not None:
            await self._run_nodes(way, self._run.steps[index].node)
        elif action == "case":
            SaveCase(self._workbench, self._run.run_id, step=self._run.number(seq))
        elif action == "request" and index is not None:
            self._chosen(self._run.steps[index])
            self._built_tabs().open("messages", index)

    @one_at_a_time
    async def _run_nodes(self, way: Way, node: NodeRun | None) -> None:
        """Run that part of the workflow as it ran here, in a run that opens."""
        if node is None:
            return
        with problems_shown():
            plan, trigger = plan_of(way, node.node, {}), Trigger(kind="page")
            live, _ = await self._workbench.node_forks.start(self._run.run_id, plan, trigger=trigger)
            ui.navigate.to(run_address(live.run_id))

    def _turned(self, view: View) -> None:
        self._view = view
        self._say_address()

    def _chosen(self, step: Step) -> None:
        self._step = step.seq
        self._find.current = self._run.place(step.seq)
        self._say_address()

    def _export(self) -> None:
        open_export(self._workbench, [self._run.run_id])

    def _save_case(self) -> None:
        SaveCase(self._workbench, self._run.run_id)

    async def _make_workflow(self) -> None:
        await make_workflow(self._workbench, self._run.run_id)

    def _replay(self) -> None:
        ReplayDialog(self._workbench, self._run.run_id, self._open)

    async def _compare_fork(self) -> None:
        await open_fork_compare(self._workbench, self._run.run_id)

    def _say_address(self) -> None:
        said = {
            "step": "" if self._step is None else str(self._step),
            "view": "" if self._view == "timeline" else self._view,
        }
        ui.navigate.history.replace(address_with(run_address(self._run.run_id), said))


def _length(draft: Draft) -> tuple[int, ...]:
    """Grows with the draft."""
    calls = sum(len(call.arguments) for call in draft.calls.values())
    return len(draft.text), len(draft.reasoning), len(draft.calls), calls


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None
