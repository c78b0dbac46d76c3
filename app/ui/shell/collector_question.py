"""Asks once whether spans may go to the address that the environment names, before anything is sent there."""

from nicegui import ui

from app.ui.elements.buttons import button
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.notices import problems_shown
from app.workbench import Workbench


def collector_question(workbench: Workbench, main: ui.element) -> None:
    """A bar over the page in `main`, where somebody has to be asked."""
    to = workbench.collector.destination
    if to is None or to.agreed is not None or workbench.data.read_only:
        return
    address = to.address

    async def answer(*, agreed: bool) -> None:
        with problems_shown():
            await workbench.collector.answer(address, agreed=agreed)
            bar.delete()
            main.classes(remove="has-banner")

    main.classes("has-banner")
    with ui.element("section").classes("asking-banner") as bar:
        bar.props('aria-label="Where spans are sent" data-testid=collector-question')
        words = (
            f"The environment asks for the spans of each run to be sent to {to.place}: which agent, model and tools "
            "ran, when, and what it cost. What was said is left out unless Settings say otherwise."
        )
        ui.html(joined(icon("outbound"), tag("span", words)), sanitize=False).classes("asking-words")
        button("Send them there", lambda: answer(agreed=True), testid="collector-agree")
        button("Send nothing", lambda: answer(agreed=False), look="quiet", testid="collector-refuse")
