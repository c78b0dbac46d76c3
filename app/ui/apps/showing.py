"""How a conversation shows the views that calls brought along."""

from app.domain.apps import ViewOf
from app.domain.events import Entry
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

    async def show(call: CallView, part: AppPart, spec: ToolSpec | None) -> None:
        view = ViewOf(run_id=begun.run_id, call_id=call.call_id, server=part.server, tool=call.name)
        imported = not await workbench.views.is_of_here(view)
        app_view.AppView(workbench, view, call, part, spec, draft=draft, fresh=live, imported=imported)

    return show
