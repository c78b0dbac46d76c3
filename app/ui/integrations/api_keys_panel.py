"""The API keys: listed, made and revoked; a new one is shown the one time that it can be seen."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Literal

from nicegui import ui

from app.domain.agents import Agent
from app.domain.errors import WorkbenchError
from app.domain.keys import RIGHT_TITLES, ApiKey, Right
from app.domain.values import now
from app.engine.keys import Keys, MadeKey
from app.ui.elements.buttons import button
from app.ui.elements.clicks import on_click_of
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.notices import copy_text, problems_shown
from app.ui.elements.questions import agreed, answer_to, named_dialog
from app.ui.integrations.api_key_views import keys_list, revoked_list
from app.workbench import Workbench

_TERMINAL = joined("In a terminal: ", tag("code", "agent-playground key create NAME"))


class ApiKeysPanel(ui.element):
    """`on_made` gets each new key; what is made or revoked elsewhere shows with the next `refresh`."""

    def __init__(
        self, workbench: Workbench, on_made: Callable[[MadeKey], None], on_revoked: Callable[[], None]
    ) -> None:
        super().__init__("section")
        self.classes("panel keys-panel").props('aria-label="API keys" id=keys')
        self._workbench = workbench
        self._on_made = on_made
        self._on_revoked = on_revoked
        with self:
            with ui.element("div").classes("row-line"):
                ui.html("API keys", sanitize=False, tag="h2").classes("section-title grow")
                button("New key", self.create, look="primary", icon="add", testid="new-key-button")
            self._list = on_click_of(LiveHtml(), "revoke", self._revoke)
            on_click_of(self._list, "rights", self._change_rights)
            with ui.element("details").classes("keys-revoked") as self._folded:
                self._summary = ui.html(sanitize=False, tag="summary").props("data-testid=revoked-keys")
                self._revoked = LiveHtml()
            ui.html(_TERMINAL, sanitize=False, tag="p").classes("faint")
        self.refresh()

    def refresh(self) -> None:
        """Show the keys as they are now."""
        keys, agents, at = self._workbench.keys.all(), self._workbench.agents.all(), now()
        self._list.show(keys_list(keys, agents, at))
        how_many, revoked = revoked_list(keys, agents, at)
        self._folded.visible = bool(revoked)
        self._summary.set_content(how_many)
        self._revoked.show(revoked)

    async def create(self, agent: Agent | None = None) -> None:
        """Ask what the new key is to open, with that agent chosen, and make it."""
        with self:
            dialog = KeyDialog(self._workbench.keys, self._workbench.agents.all(), chosen=agent)
        made = await dialog.made()
        if made is not None and not self.is_deleted:
            self.refresh()
            self._on_made(made)

    async def _change_rights(self, key_id: str) -> None:
        if (key := self._key(key_id)) is None or (may := await asked_for_rights(key)) is None:
            return
        with problems_shown():
            await self._workbench.keys.change(key.id, may=may)
        if not self.is_deleted:
            self.refresh()

    def _key(self, key_id: str) -> ApiKey | None:
        return next((one for one in self._workbench.keys.all() if one.id == key_id), None)

    async def _revoke(self, key_id: str) -> None:
        if (key := self._key(key_id)) is None:
            return
        words = f"Whoever still sends the key that ends with {key.last_four} is refused from then on, for good."
        if not await agreed(f"Revoke “{key.name}”?", words, confirm="Revoke"):
            return
        with problems_shown():
            await self._workbench.keys.revoke(key.id)
        if not self.is_deleted:
            self.refresh()
            self._on_revoked()


Expiry = Literal["never", "30", "90", "365", "date"]
EXPIRIES: dict[Expiry, str] = {
    "never": "Never",
    "30": "In 30 days",
    "90": "In 90 days",
    "365": "In a year",
    "date": "On a date…",
}
LAST_MINUTE = time(23, 59)
"""Not the very end of a day: a key made a moment later would last into the next one."""
SCOPES = {"all": "All agents, also later ones", "some": "Only these"}


def days_until_end_of(day: date, at: datetime) -> float:
    """The days from that moment to the end of the local day. Raises `WorkbenchError` where that has passed."""
    try:
        left = datetime.combine(day, LAST_MINUTE).astimezone() - at
    except (OverflowError, ValueError, OSError):
        raise WorkbenchError(f"The app cannot count to the {day}. Choose a nearer date.") from None
    if left <= timedelta():
        raise WorkbenchError(f"The {day} has passed. Choose today or a later date.")
    return left / timedelta(days=1)


class KeyDialog:
    """Built for one key; `await made()` gives it, `None` when they thought better of it."""

    def __init__(self, keys: Keys, agents: Sequence[Agent], *, chosen: Agent | None = None) -> None:
        """`agents`: those there are; `chosen`: the one that the key is wanted for."""
        self._keys = keys
        self._agents = {agent.id: agent.name for agent in agents}
        self._made: MadeKey | None = None
        with named_dialog("New API key").props("no-route-dismiss") as self._dialog:
            self._card = ui.card().classes("dialog-card key-dialog").props("data-testid=key-dialog")
        with self._card:
            ui.html("New API key", sanitize=False, tag="h2").classes("section-title")
            self._build_form(chosen)
            self._build_buttons()

    async def made(self) -> MadeKey | None:
        await self._dialog
        if not self._dialog.is_deleted:  # with its page, while it was open
            self._dialog.delete()
        return self._made

    def _build_form(self, chosen: Agent | None) -> None:
        self._name = ui.input("Name", placeholder="the program that will use it, such as n8n").classes("fill")
        self._name.props("outlined dense autofocus maxlength=60 autocomplete=off data-testid=key-name-input")
        self._name.on("keydown.enter", self._create)
        scopes = dict(SCOPES) if self._agents else {"all": SCOPES["all"]}
        self._scope = ui.select(scopes, value="some" if chosen else "all", label="Opens").classes("fill")
        self._scope.props("outlined dense options-dense data-testid=key-scope")
        self._some = ui.select(self._agents, value=[chosen.id] if chosen else [], label="Agents", multiple=True)
        self._some.props("outlined dense options-dense use-chips data-testid=key-agents").classes("fill")
        self._rights = RightBoxes()
        self._expiry = ui.select(dict(EXPIRIES), value="never", label="Expires").classes("fill")
        self._expiry.props("outlined dense options-dense data-testid=key-expiry")
        self._day = ui.input("Last day").props("outlined dense type=date stack-label data-testid=key-day")
        self._day.classes("fill")
        for box in (self._scope, self._expiry):
            box.on_value_change(self._show_boxes)
        self._show_boxes()

    def _build_buttons(self) -> None:
        self._note = ui.html(sanitize=False).classes("field-note").props("role=alert data-testid=key-note")
        with ui.element("div").classes("row-line dialog-buttons"):
            button("Cancel", self._dialog.close, look="quiet")
            self._make = button("Make key", self._create, look="primary", testid="make-key-button")

    def _show_boxes(self) -> None:
        self._some.visible = self._rights.visible = self._scope.value == "some"
        self._day.visible = self._expiry.value == "date"

    async def _create(self) -> None:
        if not self._make.enabled:
            return  # one is being made
        self._make.disable()
        try:
            name, agents, days = str(self._name.value or ""), self._wanted(), self._days()
            may = () if agents is None else self._rights.ticked
            self._made = await self._keys.create(name, agents=agents, may=may, days=days)
        except WorkbenchError as problem:
            self._note.set_content(tag("span", icon("error_outline"), str(problem), cls="field-fault"))
            self._make.enable()
            return
        if not self._dialog.is_deleted:  # given up meanwhile; the list has it, to be revoked
            self._show_key(self._made)

    def _wanted(self) -> list[str] | None:
        """The agents' ids, `None` for all."""
        if self._scope.value == "all":
            return None
        if not self._some.value:
            raise WorkbenchError("Choose at least one agent, or let the key open all of them.")
        return [str(one) for one in self._some.value]

    def _days(self) -> float | None:
        match self._expiry.value:
            case "never":
                return None
            case "date":
                try:
                    day = date.fromisoformat(str(self._day.value or ""))
                except ValueError:
                    raise WorkbenchError("Choose the last day on which the key is valid.") from None
                return days_until_end_of(day, now())
            case days:
                return float(days)

    def _show_key(self, made: MadeKey) -> None:
        self._dialog.props("persistent")  # what is shown once is not to go by a slip
        self._card.clear()
        with self._card:
            ui.html(tag("span", f"The key “{made.key.name}”"), sanitize=False, tag="h2").classes("section-title")
            ui.html(tag("code", made.secret), sanitize=False).classes("new-key").props("data-testid=new-key")
            words = "Copy it now: it is never shown again. Only its fingerprint is kept, so nobody can look it up."
            ui.label(words).classes("key-once").props("role=status")
            ui.label("Lost it? Revoke it and make another one.").classes("faint")
            with ui.element("div").classes("row-line dialog-buttons"):
                button(
                    "Copy",
                    lambda: copy_text(made.secret, "The key is copied."),
                    icon="content_copy",
                    testid="copy-key-button",
                )
                button("Done", self._dialog.close, look="primary", testid="key-done-button").props("autofocus")


WORDS: dict[Right, str] = {
    "approve": "Allow or deny the calls of runs that it started, and answer their questions.",
    "variants": "Run other variants and models than the active one, and change things in forks.",
    "evals": "Over MCP: save its runs as cases of any dataset, try its agents on them, and propose variants.",
}


class RightBoxes(ui.element):
    """A box for each right."""

    def __init__(self, may: Sequence[Right] = ()) -> None:
        super().__init__()
        self.classes("key-rights").props('role=group aria-label="It may also"')
        self._boxes: dict[Right, ui.checkbox] = {}
        with self:
            for right, title in RIGHT_TITLES.items():
                self._boxes[right] = ui.checkbox(title, value=right in may).props(f"dense data-testid=key-may-{right}")
                ui.label(WORDS[right]).classes("field-note")

    @property
    def ticked(self) -> tuple[Right, ...]:
        return tuple(right for right, box in self._boxes.items() if box.value)


async def asked_for_rights(key: ApiKey) -> tuple[Right, ...] | None:
    """What the key may from now on, `None` when they thought better of it."""
    with (
        named_dialog(f"What may “{key.name}” do?") as dialog,
        ui.card().classes("dialog-card dialog-small").props("data-testid=key-rights-dialog"),
    ):
        ui.label(f"What may “{key.name}” do?").classes("section-title")
        ui.label("It runs its agents, and sees and continues what it started. It may also:").classes("faint")
        boxes = RightBoxes(key.may)
        with ui.element("div").classes("row-line at-end"):
            button("Cancel", lambda: dialog.submit(False), look="quiet")
            button("Save", lambda: dialog.submit(True), look="primary", testid="save-rights-button")
    return boxes.ticked if await answer_to(dialog, bool) else None
