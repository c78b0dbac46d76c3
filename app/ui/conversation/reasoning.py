"""What the model thought, behind one line until somebody wants to read it."""

from nicegui import events, ui

from app.ui.elements.format import plural
from app.ui.markdown.live_markdown import LiveText, render
from app.ui.markdown.markdown import Markdown

SHOWN_STEPS = 40


class Reasoning(ui.element):
    """Its steps are shown when it is opened."""

    def __init__(self) -> None:
        super().__init__("details")
        self.classes("reasoning").props("data-testid=reasoning")
        self._steps: list[str] = []
        self._opened = False
        self._live: Markdown | None = None
        self._body: ui.element | None = None
        with self:
            self._summary = ui.html(sanitize=False, tag="summary")
        self.on("toggle", self._toggle, js_handler="(event) => emit(event.target.open)")

    def add(self, reasoning: str) -> None:
        """A step is finished."""
        self._steps.append(reasoning)
        if self._body is not None:
            if self._live is not None:
                self._live.delete()
                self._live = None
            with self._body:
                Markdown(reasoning)
        self._count(0)

    async def follow(self, reasoning: str, live: LiveText) -> None:
        """A step is being written."""
        self._count(1)
        if self._body is None or not self._opened:
            return
        if self._live is None:
            with self._body:
                self._live = Markdown()
        await live.take(reasoning)
        self._live.follow(live)

    def _count(self, unfinished: int) -> None:
        self._summary.set_content(f"Reasoning ({plural(len(self._steps) + unfinished, 'step')})")

    async def _toggle(self, event: events.GenericEventArguments) -> None:
        self._opened = bool(event.args)
        if self._opened and self._body is None:
            with self, ui.element("div").classes("reasoning-steps") as self._body:
                if len(self._steps) > SHOWN_STEPS:
                    hidden = len(self._steps) - SHOWN_STEPS
                    ui.label(f"{plural(hidden, 'earlier step')} not shown here.").classes("faint")
                places = [(Markdown(), step) for step in self._steps[-SHOWN_STEPS:]]
            for place, step in places:
                place.replace(await render(step))
