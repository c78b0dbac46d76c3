"""Whether a provider may keep files: without leave nothing stays there that was uploaded before."""

from nicegui import events, ui

from app.domain.values import size
from app.llm.attachments.file_stores import keeping
from app.ui.elements.format import plural
from app.ui.elements.markup import tag
from app.ui.elements.notices import problems_shown
from app.workbench import Workbench


class ProviderFilesSwitch(ui.element):
    """Counts at once, whatever else of the card is saved."""

    def __init__(self, workbench: Workbench, name: str, title: str) -> None:
        super().__init__("div")
        self.classes("set-field")
        self._workbench, self._name, self._title = workbench, name, title
        with self:
            allowed = workbench.provider_files.may_keep(name)
            ui.switch(f"{title} may keep files", value=allowed, on_change=self._turned).props(
                "dense data-testid=allow-uploads"
            )
            ui.label(keeping(name, title)).classes("set-note")
            self._note = ui.html(sanitize=False).classes("set-note").props("role=status data-testid=uploads-note")
        self._count()

    async def _turned(self, event: events.ValueChangeEventArguments[bool | None]) -> None:
        with problems_shown():
            await self._workbench.provider_desk.let_keep(self._name, allowed=bool(event.value))
            if not event.value:
                await self._workbench.provider_files.remove(self._name)
        if not self.is_deleted:
            self._count()

    def _count(self) -> None:
        """Say what is there now."""
        kept = self._workbench.provider_files.of(self._name)
        if kept:
            words = f"{plural(len(kept), 'file')} there now, {size(sum(one.size for one in kept))}."
        else:
            words = "No file of yours is there."
        self._note.set_content(tag("span", words))
