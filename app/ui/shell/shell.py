"""The frame around every page: header, navigation, theme, command palette."""

import asyncio
from collections.abc import Sequence
from functools import partial

from nicegui import context, ui

from app.domain.settings import Theme
from app.ui.elements import addresses
from app.ui.elements.buttons import button, icon_button
from app.ui.elements.choice import Choice
from app.ui.elements.live_html import RESTING, LiveHtml
from app.ui.elements.markup import icon, joined, tag
from app.ui.elements.modes import MODES, choose_mode, show_all_button
from app.ui.elements.notices import problems_shown
from app.ui.elements.prompt_editor import PromptEditor
from app.ui.elements.sub_pages import Pages
from app.ui.markdown.code_editor import CodeEditor
from app.ui.markdown.colours import CodeColours, Colours
from app.ui.markdown.drawings import Drawings
from app.ui.markdown.live_markdown import LiveMarkdown
from app.ui.matrix.matrix_keys import MATRIX_KEYS
from app.ui.review.review_keys import REVIEW_KEYS
from app.ui.runs.job_news import JobNews, tell
from app.ui.runs.trace_keys import RUNS_KEYS
from app.ui.shell import theme
from app.ui.shell.collector_question import collector_question
from app.ui.shell.commands import commands, said
from app.ui.shell.navigation import POINTED, NavCounts, navigation
from app.ui.shell.pages import PagesOfTab, read_ahead
from app.ui.shell.palette import Command, Palette
from app.ui.shell.pause_sound import PauseSound
from app.ui.shell.quit_button import QuitButton
from app.ui.shell.reconnection import CUT_OFF, IN_ORDER, SIGNED_OUT, newest_wins, renew_pictures
from app.ui.shell.shortcuts import KEYS, show_shortcuts
from app.ui.shell.unforeseen import Unforeseen
from app.workbench import Workbench

EDITORS = (CodeEditor, PromptEditor)
"""Known before the first page is served: a page's import map names their modules, whichever sub page it begins with."""
THEMES: tuple[tuple[Theme, str, str], ...] = (
    ("light", "Light", "light_mode"),
    ("dark", "Dark", "dark_mode"),
    ("system", "System", "contrast"),
)
_WAITING = """<script>
  // The pages set the tab's title; how many runs wait for a decision stands before it.
  let waiting = 0;
  const showInTitle = () => {
    const title = document.title.replace(/^\\(\\d+\\) /, "");
    const wanted = waiting ? `(${waiting}) ${title}` : title;
    if (document.title !== wanted) document.title = wanted;
  };
  window.showWaiting = (count) => { waiting = count; showInTitle(); };
  new MutationObserver(showInTitle).observe(document.head, { subtree: true, childList: true, characterData: true });
</script>"""
_USER_MODE = "<script>document.documentElement.classList.add('mode-user')</script>"
LOOK_SECONDS = 1.0
"""How often it is looked what goes on behind the page: runs that wait for a decision, jobs that run or ended."""


async def root(workbench: Workbench, live_markdown: LiveMarkdown, colours: Colours) -> None:
    """Build a tab's frame and, inside it, the page of its address. All tabs share `live_markdown` and `colours`."""
    # Each timer of the page waits for the browser, and NiceGUI would take that for the end of building it.
    context.client._waiting_for_connection = asyncio.Event()
    await Shell(workbench, live_markdown, colours).pages.built()


class Shell:
    """One tab."""

    def __init__(self, workbench: Workbench, live_markdown: LiveMarkdown, colours: Colours) -> None:
        self._workbench = workbench
        self._theme: Theme = workbench.preferences.get().theme
        theme.apply(self._theme)
        if workbench.preferences.get().mode == "user":
            ui.add_head_html(_USER_MODE)
        self._counts: NavCounts | None = None
        self._waiting: frozenset[str] = frozenset()
        self._news: JobNews | None = None
        for script in (IN_ORDER, KEYS, RUNS_KEYS, MATRIX_KEYS, REVIEW_KEYS, RESTING, _WAITING, SIGNED_OUT, CUT_OFF):
            ui.add_body_html(script)
        renew_pictures(workbench)
        self._palette = Palette(self._commands, partial(said, self._workbench))
        ui.on("open_palette", self._palette.open)
        ui.on("show_shortcuts", show_shortcuts)
        self._drawer = self._build_drawer()
        self._build_header()
        main = ui.element("div").classes("skip-target")  # the frame's own element is the page's `main`
        ui.skip_link("Skip to content", target=main)
        with main:
            self._say_what_is_only_read(main)
            collector_question(workbench, main)
            at = PagesOfTab(workbench, live_markdown, set_theme=self._set_theme, turn_sound=self._sound.turn)
            self.pages = Pages(at.by_address())
        CodeColours(colours)
        Drawings()
        context.client.sub_pages_router.on_path_changed(self._show_nav)
        context.client.on_connect(newest_wins)
        context.client.on_exception(Unforeseen().tell)
        ui.timer(LOOK_SECONDS, self._look_around)

    def _say_what_is_only_read(self, main: ui.element) -> None:
        if why := self._workbench.data.read_only:
            main.classes("only-read has-banner")
            words = tag("span", tag("strong", "You can look at everything and change nothing."), f" {why}")
            ui.html(joined(icon("lock"), words), sanitize=False).classes("read-only-banner").props(
                "role=status data-testid=read-only"
            )

    def _build_header(self) -> None:
        with ui.header(add_scroll_padding=False).classes("app-header"):  # theme.css says it, before anything is drawn
            toggle = f"() => runMethod({self._drawer.id}, 'toggle', [])"
            icon_button("menu", "Show or hide the navigation").on("click", js_handler=toggle)
            brand = tag("span", icon("science"), cls="brand-mark")
            ui.html(joined(brand, "Agent Playground"), sanitize=False, tag="a").classes("brand").props(
                f"href={addresses.OVERVIEW}"
            )
            ui.element("div").classes("grow")
            search = button("Search or jump to…", self._palette.open, icon="search", testid="palette-button")
            with search.classes("palette-trigger").props('aria-label="Search or jump to… Ctrl K"'):
                ui.html("Ctrl K", sanitize=False, tag="kbd")

    def _build_drawer(self) -> ui.element:
        # The browser alone knows whether it is open: an answer of the server would come when the window may have become
        # narrow, and lay the drawer over the page. So this is Quasar's drawer and not NiceGUI's, which sends its state.
        layout = context.client.layout
        with layout, ui.element("q-drawer").classes("nicegui-drawer app-drawer") as drawer:
            drawer.props("side=left width=208 breakpoint=899 show-if-above")
            self._nav = LiveHtml(tag="nav").classes("nav").props("aria-label=Pages")
            close = f"() => {{ if (window.innerWidth < 900) runMethod({drawer.id}, 'hide', []); }}"
            self._nav.on("click", js_handler=close)
            for pointing in ("pointerover", "focusin"):
                self._nav.on(pointing, lambda pointed: read_ahead(str(pointed.args)), js_handler=POINTED)
            show_all_button(self._workbench.preferences, testid="show-all")
            self._sound = PauseSound(self._workbench.preferences)
            names = [(name, title) for name, title, _ in THEMES]
            self._themes = Choice(names, self._set_theme, label="Theme", testid="theme-{}", look="theme-switch")
            self._quit = QuitButton(self._workbench)
        layout.props('view="hHh Lpr fff"')
        drawer.move(target_index=layout.default_slot.children.index(context.client.page_container))
        self._show_nav(context.client.sub_pages_router.current_path)
        self._themes.show(self._theme)
        return drawer

    def _show_nav(self, path: str) -> None:
        self._nav.show(navigation(path, self._counts or NavCounts()))

    async def _look_around(self) -> None:
        """Tell of jobs that ended; say in the navigation what runs and what waits, and in the title what waits."""
        if self._news is None:  # no first page waits for the engine to be read
            self._news = JobNews(await asyncio.to_thread(lambda: self._workbench.jobs))
            await self._workbench.data.warm()
        tell(self._news.take())
        before, waited = self._counts, self._waiting
        self._waiting = await self._workbench.pauses.waiting()
        if before is not None and self._waiting - waited:
            self._sound.play()
        counts = NavCounts(waiting=len(self._waiting), jobs=self._workbench.jobs.running())
        if counts == before:
            return
        self._counts = counts
        self._show_nav(context.client.sub_pages_router.current_path)
        if before is None or counts.waiting != before.waiting:
            ui.run_javascript(f"showWaiting({counts.waiting})")

    async def _set_theme(self, name: Theme) -> None:
        self._theme = name
        theme.change(name)
        self._themes.show(self._theme)
        preferences = self._workbench.preferences
        with problems_shown():
            await preferences.save(preferences.get().model_copy(update={"theme": name}))

    def _commands(self) -> Sequence[Command]:
        return [
            *commands(self._workbench),
            *(
                Command(
                    "Actions", f"{title} mode", "visibility", partial(choose_mode, self._workbench.preferences, mode)
                )
                for mode, title in MODES
            ),
            Command("Actions", "Quit Agent Playground", "power_settings_new", self._quit.ask),
            Command("Actions", "Keyboard shortcuts", "keyboard", show_shortcuts, "?"),
            Command("Actions", "Pause sound: on or off", "notifications", self._sound.turn),
            *(
                Command("Actions", f"{title} theme", symbol, partial(self._set_theme, name))
                for name, title, symbol in THEMES
            ),
        ]
