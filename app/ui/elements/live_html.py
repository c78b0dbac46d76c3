"""HTML that is drawn anew only when it is other than what is shown, keeps the keyboard's place and loses no click.

And the timers that look for what there is to draw: they rest while nobody does.
"""

from nicegui import events, ui

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

_PRESSED = "(event) => { event.currentTarget.pressed = event.button ? null : event.target.closest('[data-key]'); }"
_RELEASED = """(event) => {
  const before = event.currentTarget.pressed, here = event.target.closest('[data-key]');
  const alone = !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (before && !before.isConnected && here?.dataset.key === before.dataset.key && alone) here.click();
}"""
"""A browser tells of no click on what was drawn anew between press and release."""
# `focus` as well: what was said while the connection was gone may not have come.
RESTING = """<script>{
  const tell = () => document.querySelectorAll(".rests-hidden").forEach((one) =>
    one.dispatchEvent(new CustomEvent("looks", { detail: !document.hidden })));
  document.addEventListener("visibilitychange", tell);
  window.addEventListener("focus", tell);
}</script>"""


class LiveHtml(ui.html):
    """What has a `data-key` keeps the focus when it is drawn anew, and the click that was begun on it."""

    def __init__(self, *, tag: str = "div") -> None:
        super().__init__(sanitize=False, tag=tag)
        self._drawn = Html("")
        self.on("focusin", js_handler=_REMEMBER)
        self.on("focusout", js_handler=_FORGET)
        self.on("pointerdown", js_handler=_PRESSED)
        self.on("pointerup", js_handler=_RELEASED)

    def show(self, content: Html) -> None:
        """Show that content."""
        if content == self._drawn:
            return
        if self._drawn:  # else nothing in it can have the focus
            self.client.run_javascript(_RESTORE % self.html_id)
        self._drawn = content
        self.set_content(content)


def rests_hidden(page: ui.element, timer: ui.timer) -> None:
    """Let the timer rest as long as that page is in a tab that is hidden."""

    def look(event: events.GenericEventArguments) -> None:
        timer.active = bool(event.args)

    page.classes("rests-hidden").on("looks", look, js_handler="(event) => emit(event.detail)")
