"""Markdown on a page: finished text, or an answer that is still being written."""

from nicegui import background_tasks, ui

from app.ui.elements.markup import Html
from app.ui.markdown.live_markdown import THREAD_SIZE, LiveText, render
from app.ui.markdown.render import rendered


class Markdown(ui.element, component="safe_markdown.js"):
    """Shows `text`, rendered and cleaned, or `html` that `render` made of it.

    A long text appears once a worker thread has rendered it.
    """

    def __init__(self, text: str = "", *, html: Html | None = None) -> None:
        super().__init__()
        self._sent_blocks = 0
        self._sent_version = 0
        self._sent_code = 0
        if html is not None:
            self._keep(html)
        elif len(text) < THREAD_SIZE:
            self._keep(rendered(text) if text else Html(""))
        else:
            background_tasks.create(self._show_later(text), name="render Markdown", context=self)

    def follow(self, live: LiveText) -> None:
        """Send what is new in the answer since the last call."""
        if live.version == self._sent_version:
            return
        blocks = live.blocks[self._sent_blocks :]
        self._sent_version, self._sent_blocks = live.version, len(live.blocks)
        start = 0 if blocks else self._sent_code
        self._sent_code = len(live.code.text) if live.code else 0
        code = {"language": live.code.language, "start": start, "text": live.code.text[start:]} if live.code else None
        self.run_method("grow", blocks, live.tail, code)

    def replace(self, html: Html) -> None:
        """Show this instead of all that was shown."""
        self._keep(html)
        self.run_method("replace", html)

    def _keep(self, html: Html) -> None:
        """For a browser that builds the page later: the property is only read when the element is mounted."""
        self._props["html"] = html

    async def _show_later(self, text: str) -> None:
        self.replace(await render(text))
