"""One step of a run as a card."""

from nicegui import background_tasks, ui

from app.domain.messages import AppPart, FilePart, ImagePart
from app.domain.trace import CallView, Step, leave
from app.ui.conversation.artifact_buttons import hear_artifact_buttons
from app.ui.conversation.attached import attached, hear_attached
from app.ui.conversation.edited_mark import edited_mark
from app.ui.conversation.result_view import Order, next_order
from app.ui.conversation.task_line import TaskLine, is_task, task_words
from app.ui.conversation.tool_body import (
    STATUS_WORDS,
    attachments,
    cut,
    pretty,
    printed_view,
    returned_text,
    returned_view,
    traceback_view,
)
from app.ui.elements.addresses import run_address
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import duration, moment_text
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.visible import titled, visible
from app.ui.graph.node_plans import AGAIN, WAYS
from app.ui.markdown.markdown import Markdown
from app.ui.run.card_context import CardContext
from app.ui.run.node_card import NodeBody, node_note
from app.ui.run.trace_growth import RunSoFar
from app.ui.run.trace_words import since, step_icon, step_label

LONG = 100_000
"""Characters of a text above which only its beginning is shown."""
OPEN_THOUGHT = 600
"""Characters of a thought above which it is closed at first."""


class StepCard(ui.element):
    """`alive`: the run goes on, so a call without a result may still get one."""

    def __init__(self, step: Step, context: CardContext, *, alive: bool) -> None:
        super().__init__("article")
        self._step = step
        self._context = context
        self._call: ui.html | None = None
        self._files: ui.html | None = None
        self._order: Order | None = None
        self.classes(f"step step-{step.type}").props(f"data-testid=run-step data-step-type={step.type}")
        self.props(f"data-seq={step.seq}")
        with self:
            self._build(alive=alive)

    def show_call(self, *, alive: bool) -> None:
        """The card of a call, with where it stands now."""
        if self._call is not None and self._step.call is not None:
            self._call.set_content(_call(self._step, self._step.call, self._context, alive=alive))

    def show_sent(self) -> None:
        """The attachments of a message, with how they went along as far as that is known."""
        if self._files is not None and self._step.message is not None:
            sent, contents = self._context.run.sent.values(), self._context.contents
            self._files.set_content(attached(self._step.message.attachments, contents, sent, in_full=True))

    def _build(self, *, alive: bool) -> None:
        step, context = self._step, self._context
        match step.type:
            case "agent-thought":
                self._build_thought()
            case "tool-call":
                self._call = ui.html(sanitize=False)
                self.show_call(alive=alive)
                if step.call is not None and is_task(step.call):
                    TaskLine(step.call, context.task_of)
            case "tool-result":
                self._build_result()
            case "node":
                self._build_node(alive=alive)
            case "user-request" | "agent-response":
                ui.html(step_head(step, context), sanitize=False, tag="header").classes("step-head")
                self._build_message()

    def _build_message(self) -> None:
        parts = self._step.message.attachments if self._step.message else ()
        if self._step.text.strip() or not parts:
            show_text(self._step.text)
        self._show_edited()
        if parts:
            self._files = ui.html(sanitize=False)
            self.show_sent()
            hear_attached(self, self._context.contents)

    def _show_edited(self) -> None:
        if (edited := self._context.run.edited(self._step)) is not None:
            ui.html(edited_mark(edited), sanitize=False)

    def _build_thought(self) -> None:
        ui.html(step_head(self._step, self._context), sanitize=False, tag="header").classes("step-head")
        if len(self._step.text) <= OPEN_THOUGHT:
            show_text(self._step.text)
        else:
            with ui.element("details").classes("thought"):
                words = f"Show the whole thought ({len(self._step.text):,} characters)"
                ui.html(words, sanitize=False, tag="summary").classes("muted")
                show_text(self._step.text)
        self._show_edited()

    def _build_node(self, *, alive: bool) -> None:
        """Its head changes with it; what stands within a map or loop stands further in."""
        node = self._step.node
        if node is None:
            return
        self.style(f"--within: {min(len(node.rounds), 4)}").props(f"data-node={node.node}")
        head = ui.html(sanitize=False, tag="header").classes("step-head")

        def show_head() -> None:
            note = node_note(node, self._context.task_of, alive=alive)
            head.set_content(step_head(self._step, self._context, visible(node.label), note))
            self.props(f"data-state={node.state}")

        show_head()
        leave(node.calls.values(), alive=alive)
        NodeBody(node, self._context, alive=alive, on_change=show_head)

    def _build_result(self) -> None:
        call, result = self._step.call, self._step.result
        if call is None or result is None:
            return
        self.classes("is-failed" if result.failed else "is-ok")
        shown = LiveHtml()
        shown.show(_result(self._step, call, self._context))
        background_tasks.create(self._show_returned(shown, call), name="read a result", context=shown)
        on_click_of(self, "sort", lambda column: self._sort(shown, call, column))
        if call.name == "spawn_task" and call.task_run and self._context.child_run is not None:
            self._context.child_run(call.task_run)
        if (view := next((part for part in result.parts if isinstance(part, AppPart)), None)) is not None:
            self._show_view(call, view)
        if call.changes or any(isinstance(part, ImagePart | FilePart) for part in result.parts):
            place = ui.html(sanitize=False).classes("tool-body")
            hear_artifact_buttons(self, self._context.contents)
            hear_attached(self, self._context.contents)
            background_tasks.create(self._attach(place, call), name="read attachments", context=place)

    def _show_view(self, call: CallView, view: AppPart) -> None:
        """Show the view that the call brought along, as it was, and the runs that hold what it called."""
        context = self._context
        if context.show_view is not None:
            place = ui.element("div").classes("app-slot")
            shown = context.show_view(call, view, context.run.specs.get(call.name))
            background_tasks.create(shown, name="show a view", context=place)
        if context.child_run is not None:
            for run_id in context.apps_of(call.call_id):
                context.child_run(run_id)

    async def _show_returned(self, shown: LiveHtml, call: CallView) -> None:
        """The rows or the JSON in it, in place of its text."""
        returned = await returned_view(call, self._context.contents, self._order)
        shown.show(_result(self._step, call, self._context, returned))

    async def _sort(self, shown: LiveHtml, call: CallView, column: str) -> None:
        self._order = next_order(self._order, column)
        await self._show_returned(shown, call)

    async def _attach(self, place: ui.html, call: CallView) -> None:
        place.set_content(await attachments(call, self._context.contents))


def step_head(step: Step, context: CardContext, title: str = "", note: str = "") -> Html:
    """Who, when, and the link to exactly this step."""
    cut_off = step.message is not None and step.message.partial
    failed = (step.result is not None and step.result.failed) or (step.node is not None and step.node.state == "failed")
    return joined(
        icon("error" if failed else step_icon(step), "step-icon"),
        tag("strong", title or step_label(step)),
        tag("span", note, cls="faint") if note else "",
        tag("span", "Cut off here", cls="chip is-warn") if cut_off else "",
        tag(
            "time",
            since(context.run.began_for(step.seq), step.at),
            title=moment_text(step.at),
            datetime=step.at.isoformat(),
        ),
        _number(step, context.run),
        step_actions(step, context),
    )


def _number(step: Step, run: RunSoFar) -> Html:
    """`Step 2`, as the trajectory counts and links it; what a user says, and what was skipped, belongs to none."""
    if step.type == "user-request" or (step.node is not None and not step.node.attempt):
        return Html("")
    address = f"{run_address(run.run_id)}?step={step.seq}"
    return tag("a", f"Step {run.number(step.seq)}", href=address, cls="step-link", title="Link to this step")


def step_actions(step: Step, context: CardContext) -> Html:
    """What can be done from exactly this step; the run's page hears the buttons by their `data-step-action`."""
    if context.nested:
        return Html("")
    address = f"{run_address(context.run.run_id)}?step={step.seq}"
    buttons = [_action("link", "Copy link to this step", icon("link"), step, address=address)]
    if step.type in ("agent-thought", "agent-response"):
        buttons.append(_action("request", "What the model got before it said this", icon("forum"), step))
    if context.run.started is not None and context.run.started.workflow is not None:
        return tag("span", *buttons[:1], *_node_actions(step), cls="step-actions")  # nodes are no answers of a model
    if (number := context.run.number(step.seq)) and step.type != "user-request":
        title = f"Save the run up to step {number} as a case"
        buttons.append(_action("case", title, icon("playlist_add_check"), step, testid="save-as-case-button"))
    buttons.append(_action("fork", RUN_ON, joined(icon("fork_right"), " ", RUN_ON), step, testid="fork-button"))
    return tag("span", *buttons, cls="step-actions")


def _node_actions(step: Step) -> list[Html]:
    """What of the workflow can be run again from this node; those in a map or loop run with that."""
    if step.node is None or step.node.rounds:
        return []
    made = []
    for way in AGAIN:
        words, symbol, meaning = WAYS[way]
        shown = joined(icon(symbol), f" {words}") if way == "run-from" else icon(symbol)
        made.append(_action(way, f"{words}, in a run of its own: {meaning}", shown, step))
    return made


RUN_ON = "Run on from here"


def _action(name: str, title: str, content: Html, step: Step, *, address: str | None = None, testid: str = "") -> Html:
    return tag(
        "button",
        content,
        title=title,
        aria_label=title,
        data_step_action=name,
        data_seq=str(step.seq),
        data_address=address,
        data_testid=testid or f"step-{name}",
    )


def show_text(text: str) -> None:
    """The text as Markdown; of a very long one the beginning, and in words how much there is."""
    if not text.strip():
        ui.html(tag("p", "No text.", cls="faint"), sanitize=False)
        return
    Markdown(text[:LONG])
    if len(text) > LONG:
        ui.html(tag("p", f"The first {LONG:,} of {len(text):,} characters.", cls="faint"), sanitize=False)


def _call(step: Step, call: CallView, context: CardContext, *, alive: bool) -> Html:
    title = titled(context.run.specs.get(call.name), call.name, call.label)
    arguments = visible(cut(call.malformed or pretty(call.arguments)))
    return joined(
        tag("header", step_head(step, context, title, _standing(call, alive=alive)), cls="step-head"),
        edited_mark(call.edited_arguments),
        tag("div", arguments, data_testid="tool-arguments", cls="tool-body"),
    )


def _standing(call: CallView, *, alive: bool) -> str:
    if call.result is not None:
        return "called"
    return "running…" if alive else "never finished"


def _result(step: Step, call: CallView, context: CardContext, returned: Html | None = None) -> Html:
    result, edited = call.result, call.edited_result
    status = result.status if result is not None else "ok"
    tries = f", {call.attempts} attempts" if call.attempts > 1 else ""
    again = f", the last of {call.times} that were the same" if call.times > 1 else ""
    took = "" if edited else f"{STATUS_WORDS[status]} in {duration(call.ms)}{tries}{again}"
    title = titled(context.run.specs.get(call.name), call.name, call.label)
    if call.name == "spawn_task" and call.task_run and status == "ok" and edited is None:
        returned = task_words(call, context.task_of(call.task_run))  # and not only the id of its run
    text = returned_text(step.text, returned)
    failed = status != "ok"
    return joined(
        tag("header", step_head(step, context, title, took), cls="step-head"),
        edited_mark(edited),
        tag(
            "div",
            tag("div", text, cls="tool-error", data_testid="tool-error") if failed else text,
            printed_view(call),
            traceback_view(call),
            cls="tool-body",
            data_testid="tool-result",
        ),
    )
