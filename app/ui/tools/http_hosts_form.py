"""Which hosts `http_get` may ask."""

import re

from nicegui import ui

from app.domain.errors import WorkbenchError
from app.store.records.tables import PreferencesStore
from app.ui.elements.buttons import button
from app.ui.elements.markup import icon, tag

HOST = re.compile(r"\*|(\*\.)?[\w-]+(\.[\w-]+)*|\[?[0-9a-fA-F:.]+\]?")
SCHEME = re.compile(r"^[a-z]+://", re.IGNORECASE)


class HttpHostsForm(ui.element):
    """One host a line; saved with its button."""

    def __init__(self, preferences: PreferencesStore) -> None:
        super().__init__("section")
        self.classes("panel tool-section").props('aria-label="Allowed hosts"')
        self._preferences = preferences
        with self:
            ui.html("Allowed hosts", sanitize=False, tag="h2").classes("section-title")
            words = "One a line: example.org, *.example.org for all below it, or * for every public host."
            ui.label(words).classes("field-note")
            self._box = ui.textarea(value="\n".join(preferences.get().http_hosts), placeholder="example.org")
            self._box.props('outlined dense autogrow spellcheck=false aria-label="Allowed hosts"')
            self._box.props("data-testid=http-hosts").classes("fill")
            with ui.element("div").classes("row-line"):
                self._note = ui.html(sanitize=False).classes("field-note grow").props("role=status")
                button("Save", self._save, look="primary", testid="save-hosts")

    async def _save(self) -> None:
        try:
            hosts = read_hosts(str(self._box.value or ""))
            before = self._preferences.get()
            await self._preferences.save(before.model_copy(update={"http_hosts": hosts}))
        except WorkbenchError as problem:
            self._note.set_content(tag("span", icon("error_outline"), str(problem), cls="field-fault"))
            return
        self._box.value = "\n".join(hosts)
        self._note.set_content(tag("span", "Saved" if hosts else "Saved: no host may be asked", cls="mark"))


def read_hosts(text: str) -> tuple[str, ...]:
    """The hosts in that text, also where whole addresses were pasted. Raises `WorkbenchError` for what is no host."""
    hosts = [_host(word) for word in re.split(r"[\s,;]+", text) if word]
    return tuple(dict.fromkeys(hosts))


def _host(word: str) -> str:
    host = SCHEME.sub("", word).split("/")[0].lower()
    if host.count(":") == 1:
        host = host.split(":")[0]
    if not HOST.fullmatch(host):
        raise WorkbenchError(f"{word!r} is no host. Write one like example.org or *.example.org.")
    return host
