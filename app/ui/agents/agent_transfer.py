"""Agents to and from a file."""

import asyncio
from collections.abc import Awaitable, Callable

from nicegui import events, ui

from app.domain.agents import Agent
from app.export.agent_file import agent_file
from app.export.limits import LARGEST_AGENT
from app.ui.elements.buttons import button
from app.ui.elements.notices import notify

_TOO_LARGE = (
    f"This file is larger than {LARGEST_AGENT // 1024**2} MiB, the most that can be imported. "
    "Choose a file that was exported from an agent's page."
)


async def download_agent(agent: Agent) -> None:
    """Hand the agent with all its variants to the browser as one file."""
    content = await asyncio.to_thread(agent_file, agent)
    ui.download.content(content, f"{agent.slug}.agent.json", "application/json")


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
            max_file_size=LARGEST_AGENT,
            on_upload=self._uploaded,
            on_rejected=lambda: notify(_TOO_LARGE),
        )
        self._upload.classes("hidden").props('accept=".json,application/json" data-testid=agent-file-input')
        import_button = button("Import", icon="upload", testid="import-agent-button")
        import_button.on("click", js_handler=f"() => getElement({self._upload.id}).pickFiles()")

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        # What a browser was told of sizes binds no browser.
        too_large = event.file.size() > LARGEST_AGENT
        content = b"" if too_large else await event.file.read()
        self._upload.reset()
        if too_large:
            notify(_TOO_LARGE)
        else:
            await self._on_file(content)
