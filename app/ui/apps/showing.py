"""How a conversation shows the views that calls brought along."""

from nicegui import ui

from app.domain.events import Entry, RunStarted
from app.domain.messages import AppPart
from app.domain.tools import ToolSpec
from app.domain.trace import CallView
from app.late import late
from app.ui.conversation.call_cards import ShowView
from app.workbench import Workbench

with late():  # few conversations have one
    from app.ui.apps import app_view


def views_of(workbench: Workbench, draft: "app_view.Draft | None", begun: Entry, live: bool) -> ShowView:
    """For the run that begins with that entry; `live` where it is followed while it goes on."""
    imported = isinstance(begun.event, RunStarted) and begun.event.imported is not None

    def show(call: CallView, part: AppPart, spec: ToolSpec | None) -> ui.element:
        return app_view.AppView(workbench, begun.run_id, call, part, spec, draft=draft, fresh=live, imported=imported)

    return show
