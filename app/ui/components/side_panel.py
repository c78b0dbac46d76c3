"""What the agent of a session is made of: prompt, model, tools, and the files it keeps."""

from collections.abc import Awaitable, Callable, Mapping

from nicegui import events, ui

from app.domain.agents import Behaviour
from app.domain.errors import NotFound, StorageError
from app.domain.prompts import filled
from app.domain.tools import ToolSpec
from app.engine.ports import Artifacts
from app.ui.components.buttons import button, icon_button
from app.ui.components.format import plural, size
from app.ui.components.tool_body import cut
from app.ui.markup import Html, icon, joined, tag

_EMIT_FILE = "(event) => { const row = event.target.closest('[data-path]'); if (row) emit(row.dataset.path); }"


class SidePanel(ui.element):
    """Read-only; `show_files` takes the session's files as of now."""

    def __init__(
        self,
        behaviour: Behaviour,
        *,
        model: str,
        variables: Mapping[str, str],
        tools: tuple[ToolSpec, ...],
        artifacts: Artifacts,
        on_close: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__("aside")
        self.classes("session-side").props('aria-label="About this agent" data-testid=side-panel')
        self._artifacts = artifacts
        self._files: Mapping[str, str] = {}
        with self:
            with ui.element("div").classes("row-line"):
                ui.html("About this session", sanitize=False, tag="h2").classes("section-title grow")
                icon_button("close", "Close this panel", on_close)
            ui.html(_files({}, {}), sanitize=False).classes("side-section").props("data-testid=session-files")
            ui.html(_prompt(behaviour, variables), sanitize=False).classes("side-section")
            ui.html(_settings(behaviour, model), sanitize=False).classes("side-section")
            ui.html(_tools(tools), sanitize=False).classes("side-section")
        listed = self.default_slot.children[1]
        self._listed = listed if isinstance(listed, ui.html) else ui.html()
        self._listed.on("click", self._open_file, js_handler=_EMIT_FILE)

    async def show_files(self, files: Mapping[str, str]) -> None:
        """List the files: path to sha256."""
        self._files = files
        sizes = {path: await self._size(digest) for path, digest in files.items()}
        self._listed.set_content(_files(files, sizes))

    async def _size(self, digest: str) -> str:
        try:
            return size(len(await self._artifacts.get(digest)))
        except (NotFound, StorageError):
            return "missing"

    async def _open_file(self, event: events.GenericEventArguments) -> None:
        path = str(event.args)
        if path not in self._files:
            return
        content = await self._content(self._files[path])
        with ui.dialog() as dialog, ui.card().classes("dialog-card").props("data-testid=file-view"):
            with ui.element("div").classes("row-line fill"):
                ui.label(path).classes("section-title truncate grow")
                icon_button("close", "Close", dialog.close)
            ui.html(content, sanitize=False).classes("tool-body fill")
            button("Download", lambda: self._download(path), icon="download")
        dialog.on("hide", dialog.delete)
        dialog.open()

    async def _content(self, digest: str) -> Html:
        try:
            content = await self._artifacts.get(digest)
            return cut(content.decode())
        except (NotFound, StorageError) as problem:
            return tag("p", str(problem), cls="faint")
        except UnicodeDecodeError:
            return tag("p", "This file is not text. Download it to open it in another program.", cls="faint")

    async def _download(self, path: str) -> None:
        ui.download.content(await self._artifacts.get(self._files[path]), path.rsplit("/", 1)[-1])


def _files(files: Mapping[str, str], sizes: Mapping[str, str]) -> Html:
    if not files:
        rows = tag("p", "No files yet. What the agent writes appears here.", cls="faint")
    else:
        rows = joined(*(_file_row(path, sizes.get(path, "")) for path in sorted(files)))
    return joined(tag("h2", "Files"), rows)


def _file_row(path: str, octets: str) -> Html:
    return tag(
        "button",
        icon("description"),
        tag("span", path, cls="truncate"),
        tag("span", octets, cls="faint"),
        type="button",
        cls="file-row",
        data_path=path,
        data_testid="session-file",
        title=f"Show {path}",
    )


def _prompt(behaviour: Behaviour, variables: Mapping[str, str]) -> Html:
    text = filled(behaviour.system_prompt, variables).strip()
    box = tag("div", text, cls="code-box", tabindex="0") if text else tag("p", "No system prompt.", cls="faint")
    return joined(tag("h2", "System prompt"), box)


def _settings(behaviour: Behaviour, model: str) -> Html:
    parameters, limits = behaviour.parameters, behaviour.limits
    facts = {
        "Model": model,
        "Temperature": "provider's choice" if parameters.temperature is None else f"{parameters.temperature:g}",
        "Answer at most": plural(parameters.max_tokens, "token"),
        "Steps at most": f"{limits.max_steps}",
        "Time at most": f"{limits.total_time:g} s",
        "Money at most": f"${limits.run_cost:g} a run, ${limits.day_cost:g} a day",
    }
    rows = joined(*(joined(tag("dt", name), tag("dd", value)) for name, value in facts.items()))
    return joined(tag("h2", "Model and limits"), tag("dl", rows, cls="facts-list"))


def _tools(tools: tuple[ToolSpec, ...]) -> Html:
    if not tools:
        return joined(tag("h2", "Tools"), tag("p", "This agent has no tools.", cls="faint"))
    rows = (
        tag(
            "div",
            icon(spec.icon, "faint"),
            tag("span", spec.title or spec.name, title=spec.description),
            cls="row-line",
        )
        for spec in tools
    )
    return joined(tag("h2", "Tools"), *rows)
