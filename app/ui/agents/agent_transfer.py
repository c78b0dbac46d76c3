"""Agents to and from a file."""

from collections.abc import Awaitable, Callable

from nicegui import events, ui

from app.domain.agents import Agent
from app.export.agent_file import agent_file
from app.ui.elements.buttons import button
from app.ui.elements.notices import notify

LARGEST_FILE = 4 * 1024**2
"""Bytes of a file that is offered for import."""


def download_agent(agent: Agent) -> None:
    """Hand the agent with all its variants to the browser as one file."""
    ui.download.content(agent_file(agent), f"{agent.slug}.agent.json", "application/json")


class _Upload(ui.upload):
    """Lets go of its page when that is left: FastAPI remembers the routes of thousands of uploads that are gone."""

    def _handle_delete(self) -> None:
        self._upload_handlers.clear()
        super()._handle_delete()


class ImportButton:
    """Lets a person pick a file, and gives its content to `on_file`."""

    def __init__(self, on_file: Callable[[bytes], Awaitable[None]]) -> None:
        self._on_file = on_file
        self._upload = _Upload(
            auto_upload=True,
            max_file_size=LARGEST_FILE,
            on_upload=self._uploaded,
            on_rejected=lambda: notify("This file is larger than 4 MiB. An agent's file never is."),
        )
        self._upload.classes("hidden").props('accept=".json,application/json" data-testid=agent-file-input')
        import_button = button("Import", icon="upload", testid="import-agent-button")
        import_button.on("click", js_handler=f"() => getElement({self._upload.id}).pickFiles()")

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        # What a browser was told of sizes binds no browser.
        too_large = event.file.size() > LARGEST_FILE
        content = b"" if too_large else await event.file.read()
        self._upload.reset()
        if too_large:
            notify("This file is larger than 4 MiB. An agent's file never is.")
        else:
            await self._on_file(content)
