"""How a conversation, or a run's page, shows the views that calls brought along."""

from app.domain.apps import ViewOf
from app.domain.messages import AppPart
from app.domain.tools import ToolSpec
from app.domain.trace import CallView
from app.late import late
from app.ui.conversation.call_cards import ShowView
from app.workbench import Workbench

with late():  # few conversations have one
    from app.ui.apps import app_view


def views_of(workbench: Workbench, draft: "app_view.Draft | None", run_id: str, live: bool) -> ShowView:
    """For that run; `live` where it is followed while it goes on."""

    async def show(call: CallView, part: AppPart, spec: ToolSpec | None) -> None:
        view = ViewOf(run_id=run_id, call_id=call.call_id, server=part.server, tool=call.name)
        imported = not await workbench.views.is_of_here(view)
        app_view.AppView(workbench, view, call, part, spec, draft=draft, fresh=live, imported=imported)

    return show
