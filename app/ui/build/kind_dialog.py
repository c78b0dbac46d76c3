"""Which kind of node is added."""

from nicegui import ui

from app.domain.workflows.document import INPUT, Kind
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.questions import answer_to, named_dialog
from app.ui.graph.node_words import KINDS


async def asked_for_kind(*, has_input: bool) -> Kind | None:
    """The kind that somebody chose; `None` when they thought better of it. A workflow has one input."""
    offered = {kind: told for kind, told in KINDS.items() if not (has_input and kind == INPUT)}
    with named_dialog("Add a node") as dialog, ui.card().classes("dialog-card").props("data-testid=add-node-dialog"):
        ui.html("Add a node", sanitize=False, tag="h2").classes("section-title")
        options = ui.html(joined(*(_option(kind, told) for kind, told in offered.items())), sanitize=False)
        on_click_of(options.classes("kind-list"), "kind", dialog.submit)
        with ui.element("div").classes("row-line dialog-buttons"):
            button("Cancel", lambda: dialog.submit(None), look="quiet")
    answer = await answer_to(dialog, str)
    return next((kind for kind in KINDS if kind == answer), None)


def _option(kind: Kind, told: tuple[str, str, str]) -> Html:
    title, symbol, meaning = told
    return tag(
        "button",
        icon(symbol),
        tag("span", tag("strong", title), tag("small", meaning)),
        cls="template-option",
        data_kind=kind,
        data_testid=f"add-{kind}",
        autofocus=kind == "agent",
    )
