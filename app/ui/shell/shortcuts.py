"""The keys that mean something wherever one is, and the list of all there are."""

from nicegui import ui

from app.ui.elements.buttons import icon_button
from app.ui.elements.markup import Html, joined, tag

# Escape and P press, and Ctrl-S tells, the last thing on the page that names them as its `aria-keyshortcuts`: what lies
# over the page stands after it. Quasar closes its menus and dialogs itself.
KEYS = """<script>{
  const OVER = ":is(.q-menu, .q-dialog__inner):not([class*=leave-active]), .app-ended";
  const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable=true]";
  const narrow = matchMedia("(max-width: 899px)");
  const named = (key) => [...document.querySelectorAll(`[aria-keyshortcuts~="${key}"]`)]
    .filter((one) => one.checkVisibility()).pop();

  // Wide windows show the panel until somebody hides it, narrow ones hide it until somebody shows it, over the page.
  const covered = () => {
    const main = document.querySelector(".session-main");
    if (main) main.inert = narrow.matches && document.body.classList.contains("side-shown");
  };
  narrow.addEventListener("change", covered);
  window.showSide = (wanted) => {
    const side = document.querySelector(".session-side");
    const shown = getComputedStyle(side).display !== "none";
    document.body.classList.toggle("side-shown", wanted ?? !shown);
    document.body.classList.toggle("side-hidden", !(wanted ?? !shown));
    covered();
    if (!narrow.matches) return;
    document.querySelector(shown ? "[data-testid=side-panel-button]" : ".side-close")?.focus();
  };

  const escape = (event) => {
    if (event.isComposing || document.querySelector(OVER)) return;
    const drawer = document.querySelector(".q-drawer__backdrop");
    if (drawer?.checkVisibility({ visibilityProperty: true })) return drawer.click();
    const one = named("Escape");
    const elsewhere = event.target.closest(TYPING) && !event.target.closest(".composer");
    if (one && !(elsewhere && !one.matches(".side-scrim"))) one.click();
  };

  document.addEventListener("keydown", (event) => {
    const commands = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    const key = event.key.toLowerCase();
    if (commands && key === "k") {
      event.preventDefault();
      emitEvent("open_palette");
    } else if (commands && key === "s" && !event.defaultPrevented && named("Control+S")) {
      event.preventDefault(); // the browser would save the page
      named("Control+S").dispatchEvent(new Event("shortcut", { bubbles: true }));
    } else if (key === "?" && !event.ctrlKey && !event.metaKey && !event.target.closest(TYPING)) {
      if (!document.querySelector(OVER)) emitEvent("show_shortcuts");
    } else if (key === "p" && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest(TYPING)) {
      if (!document.querySelector(OVER)) named("P")?.click();
    } else if (key === "escape" && !event.defaultPrevented) escape(event);
  });
}</script>"""

SHORTCUTS: dict[str, tuple[tuple[str, str], ...]] = {
    "Everywhere": (
        ("Ctrl K", "Search, or jump to a page, an agent, a session"),
        ("?", "Show this list"),
        ("Esc", "Close what is open on top"),
    ),
    "On the Overview": (("p", "Open the Playground"),),
    "In a conversation": (
        ("Enter", "Send; while an answer goes on, queue the message"),
        ("Shift Enter", "Begin a new line"),
        ("Ctrl Enter", "Send; while an answer goes on, break into it"),
        ("Ctrl Shift Enter", "Run the message in the background"),
        ("Esc", "Stop the answer, when nothing is open"),
        ("Ctrl S", "Save the prompt beside the conversation as a variant"),
        ("← →", "On ‹ 2 / 3 ›: the answer before, the next one"),
        ("End", "In the conversation: go to the newest line"),
    ),
    "In the list of runs": (
        ("j k", "Next and previous run; the arrows do the same"),
        ("x", "Choose the run"),
        ("/", "Search"),
    ),
    "In the matrix": (
        ("← ↑ → ↓", "From cell to cell"),
        ("Enter", "Open both runs side by side"),
        ("n p", "Next and previous difference, also while both runs are open"),
        ("x", "Pin the case to the top, or let it go"),
        ("/", "Search"),
    ),
    "In a chart": (
        ("← →", "The figures before, the next ones"),
        ("Home End", "The first figures, the last"),
        ("Enter", "Open their runs, where they lead there"),
    ),
    "In Quick review": (
        ("1 2", "Not good, good"),
        ("j k", "Next and previous answer"),
        ("e", "Write a note; Esc leaves it"),
        ("c f", "Make a case of it; fork it with the note as the edit"),
        ("u", "Take the last thumb back"),
    ),
    "In a workflow": (
        ("← ↑ → ↓", "To a neighbour; with Alt the node is moved, with Shift further"),
        ("A", "Add a node after this one"),
        ("C", "Connect: arrows choose the target, C another port, Enter connects"),
        ("E", "Go through its edges"),
        ("Enter", "Open its settings"),
        ("H R N", "Run to this node, from it on, it alone"),
        ("P", "Pin a value in place of what it gives"),
        ("Ctrl Z", "Undo; with Shift, redo"),
        ("Ctrl C", "Copy as text; Ctrl X cuts, Ctrl V pastes, Ctrl D duplicates"),
        ("F + −", "Fit all, zoom in, zoom out"),
        ("/", "Find a node"),
    ),
    "In editors": (
        ("Ctrl S", "Save a tool file"),
        ("Ctrl Enter", "Send an edited message, call a tool"),
        ("Esc", "Leave a changed message as it was"),
    ),
}
"""By the place where they count: the keys, and what they do. On a Mac, ⌘ does what Ctrl does."""


def show_shortcuts() -> None:
    """A dialog with all of them."""
    with ui.dialog() as dialog, ui.card().classes("dialog-card").props("data-testid=shortcuts"):
        with ui.element("div").classes("row-line fill"):
            ui.html("Keyboard shortcuts", sanitize=False, tag="h2").classes("section-title grow")
            icon_button("close", "Close", dialog.close).props("autofocus")
        ui.html(shortcuts_view(), sanitize=False).classes("shortcuts").props("tabindex=0")
    dialog.props('aria-label="Keyboard shortcuts"').on("hide", dialog.delete)
    dialog.open()


def shortcuts_view() -> Html:
    """All of them as lists, and what is different on a Mac."""
    sections = (
        tag("section", tag("h3", place), tag("dl", *(_row(keys, words) for keys, words in rows)))
        for place, rows in SHORTCUTS.items()
    )
    return joined(*sections, tag("p", "On a Mac, ⌘ does what Ctrl does.", cls="faint"))


def _row(keys: str, words: str) -> Html:
    return tag("div", tag("dt", *(tag("kbd", key) for key in keys.split())), tag("dd", words))
