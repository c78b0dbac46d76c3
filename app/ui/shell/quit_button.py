"""Ends the app from its own pages, which then say so instead of waiting for it."""

import asyncio
import contextlib

from nicegui import Client
from nicegui import app as server

from app.ui.elements.buttons import button
from app.ui.elements.format import plural
from app.ui.elements.questions import agreed
from app.workbench import Workbench

GOODBYE_SECONDS = 1.0
"""How long the pages are given to say that the app has ended."""
_ENDED = """
  const ended = document.createElement("div");
  ended.className = "app-ended";
  ended.dataset.testid = "app-ended";
  ended.setAttribute("role", "alert");
  ended.innerHTML = "<h1>Agent Playground has ended.</h1><p>You can close this tab.</p>";
  document.getElementById("app")?.setAttribute("inert", "");
  document.body.append(ended);
  document.title = "Agent Playground has ended";
  window.socket.disconnect();
"""


class QuitButton:
    """In the drawer's foot."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        made = button("Quit", self.ask, look="quiet", icon="power_settings_new", testid="quit-button")
        made.classes("quit-button").props('title="End Agent Playground"')

    async def ask(self) -> None:
        """End the app; where something goes on, only when its owner says so again."""
        if (words := going_on(self._workbench)) and not await agreed("Quit all the same?", words, confirm="Quit"):
            return
        await end_app()


def going_on(workbench: Workbench) -> str:
    """What an end would interrupt; empty when nothing goes on."""
    live = len(workbench.runs.live_runs())
    if not live:
        return ""
    goes, they = ("goes", "It is") if live == 1 else ("go", "They are")
    return f"{plural(live, 'run')} {goes} on. {they} interrupted, and can be gone on with after the next start."


async def end_app() -> None:
    """Tell all open pages, then end the process in good order."""
    for client in list(Client.instances.values()):
        if client.has_socket_connection:
            client.run_javascript(_ENDED)
    with contextlib.suppress(TimeoutError):  # a tab that sleeps is not waited for
        async with asyncio.timeout(GOODBYE_SECONDS):
            while any(client.has_socket_connection for client in Client.instances.values()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)  # a page hangs up when it has said so, and nothing tells of the last one
    server.shutdown()
