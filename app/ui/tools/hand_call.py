"""A tool called by hand: its arguments, the call while it goes on, and what came of it."""

from collections.abc import Mapping

from nicegui import background_tasks, ui
from pydantic import JsonValue

from app.domain.tools import JsonSchema, ToolSpec
from app.engine.by_hand import HandCall
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.hand_call_copy import KEY, as_curl, as_python
from app.ui.elements.markup import tag
from app.ui.elements.undo_bar import UndoBar
from app.ui.tools.hand_call_arguments import ArgumentsEditor
from app.ui.tools.hand_call_live import HandCallLive
from app.ui.tools.hand_call_result import HandCallResult
from app.ui.tools.saved_calls import SavedCallsBar
from app.workbench import Workbench

LOOK_SECONDS = 0.1


class HandCallPanel(ui.element):
    """Begins with what was typed and called last; a call goes on when its page is left."""

    def __init__(self, workbench: Workbench, spec: ToolSpec, undo: UndoBar) -> None:
        super().__init__("section")
        self.classes("panel tool-section hand-call").props('aria-label="Call by hand" id=call')
        self._last = workbench.last_calls
        self._spec = spec
        self._base = str(self.client.request.base_url).rstrip("/")
        self._call: HandCall | None = None
        with self:
            self._build_head()
            self._saved = SavedCallsBar(workbench, spec.name, undo, on_choose=self._put)
            self._arguments = ArgumentsEditor(
                spec.parameters, still_known(spec.parameters, self._last.arguments(spec.name)), on_change=self._keep
            )
            self._arguments.switch.move(self._switch_place)
            self._build_buttons()
            self._live = HandCallLive()
            self._result = HandCallResult(workbench.contents)
            self._timer = ui.timer(LOOK_SECONDS, self._look, active=False)
        self.on("keydown.ctrl.enter", self._run).on("keydown.meta.enter", self._run)
        if (last := self._last.of(spec.name)) is not None:
            self._follow(last)

    def _build_head(self) -> None:
        with ui.element("div").classes("section-head row-line"):
            ui.html("Call", sanitize=False, tag="h2").classes("section-title")
            self._switch_place = ui.element("div").classes("grow")
            icon_button("bookmark_add", "Save these arguments", self._save, testid="save-call-button")
            icon_button("restart_alt", "Start with the defaults", self._reset, testid="reset-arguments")

    def _build_buttons(self) -> None:
        with ui.element("div").classes("row-line call-buttons"):
            self._start = button("Run", self._run, look="primary", icon="play_arrow", testid="tool-run-button")
            self._cancel = button("Cancel", self._stop, icon="stop", testid="tool-cancel-button")
            self._cancel.visible = False
            ui.html(tag("kbd", "Ctrl ⏎"), sanitize=False).classes("call-hint grow")
            for name, copy in (("curl", self._copy_curl), ("Python", self._copy_python)):
                copying = button(name, copy, look="quiet", icon="content_copy", testid=f"copy-{name.lower()}")
                copying.props(f'aria-label="Copy as {name}" title="Copy as {name}"')

    def _run(self) -> None:
        if self._call is not None and self._call.outcome is None:
            return
        arguments = self._arguments.ready()
        if arguments is None:
            return
        self._result.clear_result()
        self._follow(self._last.start(self._spec.name, arguments))

    def _follow(self, call: HandCall) -> None:
        self._call = call
        self._timer.active = call.outcome is None
        self._show_running()
        self._live.show(call)
        if call.outcome is not None:
            background_tasks.create(self._result.show(call), name="show a result", context=self)

    async def _look(self) -> None:
        call = self._call
        if call is None:
            return
        self._live.show(call)
        if call.outcome is not None:
            self._timer.active = False
            self._show_running()
            await self._result.show(call)
            self._result.run_method("scrollIntoView", {"block": "nearest", "behavior": "smooth"})

    def _show_running(self) -> None:
        running = self._call is not None and self._call.outcome is None
        self._start.set_enabled(not running)
        self._cancel.visible = running

    def _stop(self) -> None:
        if self._call is not None:
            self._call.cancel()

    def _put(self, arguments: dict[str, JsonValue]) -> None:
        self._arguments.put(arguments)
        self._keep(arguments)

    def _keep(self, arguments: dict[str, JsonValue]) -> None:
        self._last.keep(self._spec.name, arguments)

    def _reset(self) -> None:
        self._last.forget(self._spec.name)
        self._arguments.put(None)

    async def _save(self) -> None:
        await self._saved.save(self._arguments.value)

    def _copy_curl(self) -> None:
        self._copy(as_curl(self._base, self._spec.name, self._arguments.value), "curl")

    def _copy_python(self) -> None:
        self._copy(as_python(self._base, self._spec.name, self._arguments.value), "Python")

    def _copy(self, text: str, name: str) -> None:
        ui.clipboard.write(text)
        ui.notify(f"Copied as {name}. It takes the key from the variable {KEY}.", timeout=3500)


def still_known(schema: JsonSchema, arguments: Mapping[str, JsonValue] | None) -> Mapping[str, JsonValue] | None:
    """The arguments without those that the tool no longer takes, as after its file was edited."""
    known = schema.get("properties")
    if arguments is None or schema.get("additionalProperties") is not False or not isinstance(known, dict):
        return arguments
    return {name: value for name, value in arguments.items() if name in known}
