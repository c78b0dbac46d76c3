"""A view that a call brought along, in the conversation: its frame, what there is to say about it, what it asks for."""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from functools import partial

from nicegui import background_tasks, context, events, ui
from pydantic import JsonValue
from pydantic_core import from_json

from app.domain.apps import LONGEST_CONTEXT, ViewOf
from app.domain.errors import ToolError, WorkbenchError
from app.domain.messages import AppPart
from app.domain.reading.file_names import plain_file_name
from app.domain.tools import ToolSpec
from app.domain.trace import CallView
from app.tools.mcp.states import ServerState
from app.ui.apps.asks import Asks
from app.ui.apps.looks import looks
from app.ui.conversation.artifact_buttons import save
from app.ui.conversation.pause_card import DECIDE, PauseCard, decide_pause
from app.ui.elements.addresses import mcp_server_address, run_address
from app.ui.elements.format import plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import joined, tag
from app.ui.elements.notices import problems_shown
from app.ui.elements.visible import title_of, visible
from app.workbench import Workbench

LOOK_SECONDS = 0.5
LONGEST_DRAFT = 10_000
"""Characters of a message that a view writes for the person."""
PUT_SECONDS = 60
LONGEST_REASON = 2_000
"""Characters of why its call did not come to its end."""
Draft = Callable[[str], Awaitable[str]]
"""Puts a text into the box where messages are written; why it was not put there, if it was not."""
Json = dict[str, JsonValue]


class AppView(ui.element, component="app_frame.js"):
    """`fresh`: the call came back while the page looked on, so the view is opened whatever else is open."""

    def __init__(
        self,
        workbench: Workbench,
        view: ViewOf,
        call: CallView,
        part: AppPart,
        spec: ToolSpec | None,
        *,
        draft: Draft | None = None,
        fresh: bool = False,
        imported: bool = False,
    ) -> None:
        """Of an `imported` run, nothing that anybody allowed here holds for it."""
        super().__init__()
        self._imported = imported
        self._workbench, self._part, self._spec, self._draft = workbench, part, spec, draft
        self._view = view
        self._name = title_of(spec) if spec else visible(call.name)
        self._asks = Asks(self, f"The app of {self._name} ({part.server})")
        self._page = f"http://{context.client.request.headers['host']}" if context.client.request else ""
        self._granted: object = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._cards: dict[str, PauseCard] = {}
        self._state, self._why = "card", ""
        shown = {"document": part.artifact, "given": part.given, "bordered": part.bordered, "args": call.arguments}
        self._props.update(shown, call=f"{view.run_id}:{view.call_id}", tool=call.name, name=self._name, fresh=fresh)
        stopped = call.result.text[:LONGEST_REASON] if call.result else ""
        self._props.update(version=workbench.version, looks=looks(), stopped=stopped)
        self._grant()
        with self:
            self._notes = LiveHtml().classes("mcp-app-note").props("role=status data-testid=mcp-app-note")
            self._pauses = ui.element("div").classes("app-pauses stack")
            self._timer = ui.timer(LOOK_SECONDS, self._look, active=False)
        self.on("ask", self._ask)
        self.on("state", self._moved)
        self.on("log", self._log)
        self._look()

    def _handle_delete(self) -> None:
        self._end()
        super()._handle_delete()

    def _moved(self, event: events.GenericEventArguments) -> None:
        """The frame was opened, closed, or could not be."""
        self._state, self._why = str(event.args["state"]), str(event.args["why"])[:500]
        self._timer.active = self._state in ("loading", "live")
        if not self._timer.active:
            self._end()
        self._look()

    def _end(self) -> None:
        """Nothing that the view asked for is waited for any more."""
        for task in self._tasks:
            task.cancel()

    # What there is to say

    def _look(self) -> None:
        if self._grant():
            self.update()
        self._notes.show(joined(*(tag("p", *words) for words in self._said())))
        self._show_pauses()

    def _said(self) -> list[tuple[str, ...]]:
        part, state = self._part, self._server()
        said: list[tuple[str, ...]] = []
        if part.problem:
            said.append((f"Its app is not shown. {part.problem}",))
        if self._why:
            said.append((f"The app is not as it should be. {self._why}" if self._state == "live" else self._why,))
        if self._imported:
            said.append(("It came with an imported run: it is shown as it was, and can call nothing here.",))
        elif (words := off_words(part.server, state)) and not part.problem:
            said.append((words,))
        if state is not None and not self._imported and (lacking := self._lacking(state)):
            way = tag("a", "Look at what it asks for", href=mcp_server_address(part.server))
            said.append((f"It may not reach {', '.join(lacking)}. ", way))
        if part.refused_domains:
            said.append((f"It asks for {plural(part.refused_domains, 'origin')} that no app is given.",))
        if kept_from := self._kept_from():
            way = tag("a", "Look at what it may do", href=mcp_server_address(part.server))
            said.append((f"It was kept from {visible(', '.join(kept_from))}. ", way))
        made, run_id = self._workbench.views.made(self._view)
        if made:
            way = tag("a", "See what it called", href=run_address(run_id))
            said.append((f"It has called its server {plural(made, 'time')}. ", way))
        return said

    def _kept_from(self) -> list[str]:
        """What its policy refused; of an app that works not that it tried `eval`, which libraries do to know."""
        reports = self._workbench.contents.sandboxes.reports(str(self._props["sandbox"]))
        return [one for one in reports if self._state != "live" or not one.startswith("eval ")][:5]

    def _lacking(self, state: ServerState) -> list[str]:
        allowed = state.server.apps.allowed
        return [name for name in self._part.domains.names if name not in allowed]

    def _server(self) -> ServerState | None:
        return next((one for one in self._workbench.mcp.states() if one.server.name == self._part.server), None)

    def _grant(self) -> bool:
        """Give its next frame an address with what its server's owner allows now; whether that is new."""
        state = None if self._imported else self._server()
        consent = state.server.apps if state else None
        domains = self._part.domains.only(consent.allowed if consent else ())
        clipboard = bool(consent and consent.clipboard and self._part.clipboard)
        evaluates = bool(consent and consent.evaluates)
        if self._granted == (domains, clipboard, evaluates):
            return False
        self._granted = (domains, clipboard, evaluates)
        address = self._workbench.contents.sandboxes.address
        self._props["sandbox"] = address(domains, page=self._page, clipboard=clipboard, evaluates=evaluates)
        self._props["clipboard"] = clipboard
        return True

    def _show_pauses(self) -> None:
        """A card for each decision that its calls wait for."""
        pauses, (_, run_id) = self._workbench.views.asked(self._view), self._workbench.views.made(self._view)
        open_now = {pause.pause_id for pause in pauses}
        for gone in self._cards.keys() - open_now:
            self._cards.pop(gone).delete()
        for pause in pauses:
            if pause.pause_id not in self._cards:
                with self._pauses:
                    act = partial(self._act, run_id)
                    spec = self._spec_of(pause.name)
                    self._cards[pause.pause_id] = PauseCard(pause, spec, alive=True, act=act)
                self.run_method("attend")

    def _spec_of(self, name: str) -> ToolSpec | None:
        state = self._server()
        return next((spec for spec in state.tools if spec.name == name), None) if state else None

    async def _act(self, run_id: str, action: str, value: str) -> None:
        with problems_shown():
            if action == DECIDE:
                await decide_pause(self._workbench, run_id, value)
        self._look()

    def _log(self, event: events.GenericEventArguments) -> None:
        """What it reports is for who works on it: on its server's page, and not of a run from elsewhere."""
        server = self._workbench.mcp.app_server(self._part.server)
        if server is not None and not self._imported:
            server.reported(self._name, [str(line) for line in event.args["lines"]], more=int(event.args["more"]))

    # What it asks for

    def _ask(self, event: events.GenericEventArguments) -> None:
        key, method, params = (str(event.args[name]) for name in ("key", "method", "params"))
        task = background_tasks.create(self._reply(key, method, params), name=f"app asks {method}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reply(self, key: str, method: str, written: str) -> None:
        try:
            answered: Json = {"result": await self._answer(key, method, _params(written))}
        except (ToolError, WorkbenchError, ValueError, RecursionError) as problem:
            answered = {"error": {"code": -32000, "message": str(problem)[:2_000]}}
        if not self.is_deleted:
            self.run_method("answer", key, answered)

    async def _answer(self, key: str, method: str, params: Json) -> Json:
        match method:
            case "tools/call":
                name, arguments = params.get("name"), params.get("arguments") or {}
                if not isinstance(name, str) or not isinstance(arguments, dict):
                    raise ToolError("A call needs a name, and arguments that are an object.")
                return await self._workbench.views.call(self._view, name, arguments)
            case "ui/open-link":
                return _done(await self._asks.opened(params.get("url")))
            case "ui/download-file":
                return await self._download(key, params)
            case "ui/message":
                return await self._write(params)
            case "ui/update-model-context":
                await self._workbench.views.tell(self._view, _context(params))
                return {}
            case _:
                return await self._workbench.views.ask(self._view, method, params)

    async def _download(self, key: str, params: Json) -> Json:
        """Keep the file with the run that holds what the view called, and let the browser save it."""
        if self._imported:
            raise ToolError("This app came with an imported run: nothing of it is saved here.")
        name = plain_file_name(str(params.get("name", "")))
        octets, uri = params.get("size"), params.get("uri")
        if not await self._asks.saved(name, octets if isinstance(octets, int) else None):
            return _done(False)
        content = await (self._linked(uri) if isinstance(uri, str) and uri else self._sent(key, name))
        part = await self._workbench.views.save(self._view, name, content)
        with self:
            await save(self._workbench.contents, part.artifact, name)
        return {}

    async def _linked(self, uri: str) -> bytes:
        """What the view's server gives for the link."""
        found = (await self._workbench.views.ask(self._view, "resources/read", {"uri": uri})).get("contents")
        resource = found[0] if isinstance(found, list) and found else None
        text, blob = (resource.get("text"), resource.get("blob")) if isinstance(resource, dict) else (None, None)
        if isinstance(text, str):
            return text.encode(errors="replace")
        if not isinstance(blob, str):
            raise ToolError("The server gave nothing that can be saved.")
        return await asyncio.to_thread(base64.b64decode, blob)

    async def _sent(self, key: str, name: str) -> bytes:
        """What the page has of the view, which it brings to us now."""
        row = self._workbench.rows.get(self._view.run_id)
        try:
            sent = await self.run_method("put", key, row.session_id if row else "", name, timeout=PUT_SECONDS)
        except TimeoutError:
            raise ToolError("The file did not arrive. Save it again.") from None
        if sent["problem"]:
            raise ToolError(str(sent["problem"]))
        return await self._workbench.artifacts.get(str(sent["artifact"]))

    async def _write(self, params: Json) -> Json:
        text = _text(params.get("content"))
        if self._draft is None or not text.strip() or params.get("role", "user") != "user":
            raise ToolError("A message is text of the user, in a session.")
        if len(text) > LONGEST_DRAFT:
            raise ToolError(f"The message has more than {LONGEST_DRAFT:,} characters.")
        if problem := await self._draft(text):
            raise ToolError(problem)
        return {}


def off_words(server: str, state: ServerState | None) -> str:
    """That a view is shown as it was, where its server cannot be asked; empty where it can."""
    if state is not None and state.status == "ready":
        return ""
    why = "is not there any more" if state is None else "is off" if state.status == "off" else "is not connected"
    return f"Its server {server} {why}: the app is shown as it was, and can call nothing."


def _done(done: bool) -> Json:
    return {} if done else {"isError": True}


def _params(written: str) -> Json:
    """Raises `ValueError`, also for half a surrogate, which no server, file or socket takes."""
    params: JsonValue = from_json(written, allow_inf_nan=False)
    return params if isinstance(params, dict) else {}


def _text(content: JsonValue) -> str:
    """The text of content blocks, or of the one that old views send."""
    blocks = content if isinstance(content, list) else [content]
    texts = (block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text")
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _context(params: Json) -> str:
    structured = params.get("structuredContent")
    parts = [_text(params.get("content")), json.dumps(structured, ensure_ascii=False) if structured else ""]
    text = "\n\n".join(filter(None, parts))
    if len(text) > LONGEST_CONTEXT:
        raise ToolError(f"The context has more than {LONGEST_CONTEXT:,} characters.")
    return text
