"""The form that makes a tool of an HTTP request, and changes one; its first mistake is said at its box."""

from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

from nicegui import events, ui

from app.domain.errors import NotFound, WorkbenchError
from app.domain.tool_settings import HttpField, HttpTool
from app.domain.tools import canonical_name
from app.tools.http.request import PLACEHOLDER
from app.tools.http.tool_rules import validate
from app.ui.elements.addresses import TOOL_SOURCES, tool_address
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.markup import icon, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.undo_bar import UndoBar
from app.ui.schema_form.simple import select_box
from app.ui.tools.field_rows import FieldRows, PairRows
from app.workbench import Workbench

Box = Literal["name", "description", "address", "fields", "headers"]


@dataclass(frozen=True)
class Fault:
    box: Box
    words: str


def fault_of(form: HttpTool) -> Fault | None:
    """The first mistake and where it is; `None` for a form that can be a tool."""
    for box, part in _parts(form):
        try:
            validate(part)
        except WorkbenchError as problem:
            return Fault(box, str(problem))
    return None


def _parts(form: HttpTool) -> list[tuple[Box, HttpTool]]:
    """The form as it grows box by box: what is wrong for the first time is wrong in the box that was added."""
    blank = HttpTool(name="tool", description="Does it.", address="https://example.org")
    named = blank.model_copy(update={"name": form.name})
    described = named.model_copy(update={"description": form.description})
    in_address = tuple(
        HttpField(name=name, place="address") for name in dict.fromkeys(PLACEHOLDER.findall(form.address))
    )
    addressed = described.model_copy(update={"address": form.address, "fields": in_address})
    return [
        ("name", named),
        ("description", described),
        ("address", addressed),
        ("fields", form.model_copy(update={"headers": {}})),
        ("headers", form),
    ]


Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
METHODS: tuple[Method, ...] = get_args(Method)
HEADER_HINT = "$NAME as a value is read from the environment variable NAME when the request is sent, and never stored."


class HttpToolForm(ui.element):
    """Without `name` for a new tool, else for the one of that name. What is wrong is said at its box."""

    def __init__(self, workbench: Workbench, undo: UndoBar, *, name: str = "") -> None:
        super().__init__("div")
        self._workbench = workbench
        self._source = workbench.http_tools
        self._undo = undo
        self._before = self._stored(name) if name else None
        form = self._before or HttpTool(name="", description="", address="")
        self._method: Method = form.method
        self.classes("tool-detail http-form").props["data-request-shown"] = name or "new"
        self._notes: dict[Box, ui.html] = {}
        with self:
            self._build_head()
            with ui.element("section").classes("panel tool-section"):
                self._build_what(form)
                self._build_request(form)
                self._build_end()

    def _stored(self, name: str) -> HttpTool:
        found = next((one for one in self._source.forms() if one.name == name), None)
        if found is None:
            raise NotFound(f"There is no HTTP tool {name!r}. The list of sources shows all there are.")
        return found

    def _build_head(self) -> None:
        with ui.element("header").classes("tool-head-panel"):
            ui.html(tag("a", icon("arrow_back"), "All sources", href=TOOL_SOURCES, cls="source-back"), sanitize=False)
            with ui.element("div").classes("row-line"):
                title = f"Change {self._before.name}" if self._before else "New HTTP tool"
                ui.html(tag("span", title), sanitize=False, tag="h1").classes("page-title grow")
                if self._before:
                    icon_button("delete", "Delete", self._delete, testid="delete-request")
            words = "A tool without Python: what a model gives for its fields is put into one request."
            ui.label(words).classes("faint")
            if problem := self._source.problems.get(self._before.name if self._before else ""):
                ui.html(tag("p", icon("warning"), problem, cls="mark mark-warn", role="alert"), sanitize=False)

    def _build_what(self, form: HttpTool) -> None:
        self._name = self._input("Name", form.name, box="name", example="get_weather")
        self._name.set_enabled(self._before is None)
        self._description = ui.textarea("What it does and returns", value=form.description).classes("fill")
        self._description.props("outlined dense autogrow rows=2 data-testid=http-description")
        self._note("description")

    def _build_request(self, form: HttpTool) -> None:
        with ui.element("div").classes("http-address"):
            select_box("Method", METHODS, METHODS.index(form.method), self._choose_method)
            with ui.element("div"):
                example = "https://example.org/items/{id}"
                self._address = self._input("Address", form.address, box="address", example=example)
                self._address.on("blur", self._add_named_fields)
        self._private = ui.checkbox("It may be on this computer or in a private network", value=form.allow_private)
        self._private.props("dense data-testid=http-allow-private")
        ui.html("Fields", sanitize=False, tag="h2").classes("field-title")
        self._fields = FieldRows(form.fields)
        self._note("fields")
        ui.html("Headers sent with every request", sanitize=False, tag="h2").classes("field-title")
        self._headers = PairRows(form.headers, noun="header", hint=HEADER_HINT)
        self._note("headers")

    def _build_end(self) -> None:
        with ui.element("div").classes("row-line at-end"):
            button("Cancel", lambda: ui.navigate.to(TOOL_SOURCES), look="quiet")
            waits = self._before is not None and self._before.waits
            words = "Allow and save" if waits else "Save" if self._before else "Create tool"
            button(words, self._save, look="primary", testid="save-request")

    def _input(self, label: str, value: str, *, box: Box, example: str) -> ui.input:
        made = ui.input(label, value=value, placeholder=example).classes("fill")
        made.props(f"outlined dense spellcheck=false autocomplete=off data-testid=http-{box}")
        self._note(box)
        return made

    def _note(self, box: Box) -> None:
        self._notes[box] = ui.html(sanitize=False).classes("field-note").props(f"role=alert data-testid=fault-{box}")

    def _choose_method(self, event: events.GenericEventArguments) -> None:
        self._method = METHODS[int(event.args)]

    def _add_named_fields(self) -> None:
        """Every `{name}` in the address gets its row."""
        for name in dict.fromkeys(PLACEHOLDER.findall(self._written("address"))):
            self._fields.add_for_address(name)

    def _written(self, box: Literal["name", "address"]) -> str:
        return str((self._name if box == "name" else self._address).value or "").strip()

    async def _save(self) -> None:
        self._add_named_fields()
        form = HttpTool(
            name=self._written("name"),
            description=str(self._description.value or "").strip(),
            method=self._method,
            address=self._written("address"),
            fields=self._fields.value,
            headers=self._headers.value,
            allow_private=bool(self._private.value),
        )
        fault = fault_of(form) or self._taken(form)
        self._show_fault(fault)
        if fault is not None:
            return
        try:
            await (self._source.save(form, seen=self._before) if self._before else self._source.create(form))
        except WorkbenchError as problem:
            self._show_fault(Fault("name", str(problem)))
            return
        ui.navigate.to(tool_address(canonical_name(form.name)))

    def _taken(self, form: HttpTool) -> Fault | None:
        names = {canonical_name(one.spec.name) for one in self._workbench.tools.listed()}
        if self._before is None and canonical_name(form.name) in names:
            return Fault("name", f"There is a tool {form.name!r} already. Choose another name.")
        return None

    def _show_fault(self, fault: Fault | None) -> None:
        for box, note in self._notes.items():
            words = fault.words if fault and fault.box == box else ""
            note.set_content(tag("span", icon("error_outline"), words, cls="field-fault") if words else "")
        if fault is not None:
            place = self._notes[fault.box].html_id
            self.client.run_javascript(f"document.getElementById('{place}').scrollIntoView({{block: 'center'}})")

    async def _delete(self) -> None:
        if self._before is None:
            return
        with problems_shown():
            if deleted := await self._source.delete(self._before.name):
                self._undo.show(f"{deleted.name} was deleted", partial(self._bring_back, deleted))
            ui.navigate.to(TOOL_SOURCES)

    async def _bring_back(self, deleted: HttpTool) -> None:
        with problems_shown():
            await self._source.create(deleted)
