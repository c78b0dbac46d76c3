"""HTML that is drawn anew only when it is other than what is shown, and keeps the keyboard's place."""

from nicegui import ui

from app.ui.elements.markup import Html

_REMEMBER = """(event) => {
  const here = event.target.closest('[data-key]');
  event.currentTarget.dataset.focused = here ? here.dataset.key : '';
}"""
_FORGET = """(event) => {
  const place = event.currentTarget, left = event.target;
  setTimeout(() => {
    if (left.isConnected && !place.contains(document.activeElement)) place.dataset.focused = '';
  });
}"""
"""Only when somebody went elsewhere: what is drawn anew loses the focus as well, and is not in the page then."""
_RESTORE = """setTimeout(() => {
  const place = document.getElementById('%s');
  const key = place?.dataset.focused;
  if (!key || document.activeElement !== document.body) return;
  [...place.querySelectorAll('[data-key]')].find((one) => one.dataset.key === key)?.focus({preventScroll: true});
})"""


class LiveHtml(ui.html):
    """What has a `data-key` keeps the focus when it is drawn anew."""

    def __init__(self) -> None:
        super().__init__(sanitize=False)
        self._drawn = Html("")
        self.on("focusin", js_handler=_REMEMBER)
        self.on("focusout", js_handler=_FORGET)

    def show(self, content: Html) -> None:
        """Show that content."""
        if content != self._drawn:
            self._drawn = content
            self.set_content(content)
            self.client.run_javascript(_RESTORE % self.html_id)
