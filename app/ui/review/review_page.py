"""Quick review: one answer at a time, by keyboard, blind until the thumb, which is on disk before the next one."""

import asyncio
from collections.abc import Awaitable, Callable

from nicegui import PageArguments, background_tasks, events, ui

from app.domain.errors import WorkbenchError
from app.domain.evals.scores import LONGEST_NOTE, NOTE
from app.engine.experiments.review_rounds import MOST_CRITERIA, QUEUES, QueueName, ReviewItem, Round
from app.engine.experiments.reviewing import ReviewAnswer
from app.ui.conversation.save_case import SaveCase
from app.ui.elements.addresses import JUDGES, REVIEW, fork_with_note_address
from app.ui.elements.buttons import button
from app.ui.elements.choice import Choice
from app.ui.elements.clicks import on_click_of
from app.ui.elements.format import plural
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.markup import joined, tag
from app.ui.elements.notices import empty_state, notify, problems_shown
from app.ui.elements.pager import address_with, say_address
from app.ui.elements.questions import answer_to, keep_typed, named_dialog
from app.ui.review.review_item import criteria_view, revealed, show_item
from app.workbench import Workbench

QUEUE_WORDS: dict[QueueName, str] = {
    "unreviewed": "Not reviewed",
    "random": "Random 20",
    "failures": "Failures",
    "flaky": "Flaky",
    "judge": "Judge against you",
}
NEWEST = 50
"""Experiments to choose from."""
ALL_RUNS = ""
LONGEST_CRITERION = 200  # characters
EMPTY: dict[QueueName, str] = {
    "unreviewed": "Every answer was rated, or nobody has asked an agent yet.",
    "random": "Every answer was rated, or nobody has asked an agent yet.",
    "failures": "No answer of this experiment failed that you have not rated.",
    "flaky": "No case of this experiment came out differently from one try to the next.",
    "judge": "No judge said something else than you did.",
}
CRITERIA_WORDS = "Up to five positive sentences, each answered with yes or no: “It names the price.”"
KEY_WORDS = "1 not good · 2 good · J next · K previous · E note · C case · F fork · U undo · ? all keys"
JUDGES_LINK = tag("a", "How far judges agree with you", href=JUDGES)
HEADING = joined(
    tag("h1", "Quick review", cls="page-title"),
    tag("p", "One answer at a time. Whose it was is told after your thumb. ", JUDGES_LINK, cls="page-lead"),
)


class ReviewPage:
    """`/review`; `?queue=` and `?experiment=` say which answers."""

    def __init__(self, workbench: Workbench, arguments: PageArguments) -> None:
        self._workbench = workbench
        self._frame = arguments.frame
        self._queue: QueueName = next((q for q in QUEUES if q == arguments.query_parameters.get("queue")), "unreviewed")
        self._experiment = arguments.query_parameters.get("experiment", ALL_RUNS)
        self._round: Round | None = None
        self._answer: ReviewAnswer | None = None
        self._turn = asyncio.Lock()
        ui.page_title("Quick review · Agent Playground")
        with ui.element("div").classes("page review-page"):
            ui.html(HEADING, sanitize=False)
            self._build_queues()
            self._count = ui.html("Looking for answers…", sanitize=False).classes("muted")
            self._count.props("role=status data-testid=review-count")
            self._place = ui.element("article").classes("panel review-item").props("data-testid=review-item")
            self._nothing = ui.element("div").classes("fill")
            with ui.element("div").classes("stack fill") as self._desk:
                self._build_desk()
        self._place.visible = self._desk.visible = False
        background_tasks.create(self._begin(), name="begin a review", context=self._place)

    def _build_queues(self) -> None:
        with ui.element("div").classes("toolbar"):
            choice = Choice(list(QUEUE_WORDS.items()), self._choose, label="Which answers", testid="review-queue-{}")
            self._choice = choice
            found = {one.id: one.title or one.id for one in self._workbench.experiments.recent(limit=NEWEST)}
            names = {ALL_RUNS: "Conversations"} | found
            chosen = self._experiment if self._experiment in names else ALL_RUNS
            self._box = ui.select(names, value=chosen, label="Experiment").props("outlined dense options-dense")
            self._box.props("data-testid=review-experiment").classes("review-experiment")
            self._box.on_value_change(self._choose_experiment)
            self._box.visible = bool(found)

    def _build_desk(self) -> None:
        self._criteria = LiveHtml().classes("stack")
        on_click_of(self._criteria, "criterion", self._in_order(self._say))
        with ui.element("div").classes("toolbar"):
            rate = self._in_order(self._rate)
            self._thumbs = {
                False: button("Not good", lambda: rate(False), icon="thumb_down", testid="thumb-down"),
                True: button("Good", lambda: rate(True), icon="thumb_up", testid="thumb-up"),
            }
            ui.element("span").classes("grow")
            move = self._in_order(self._move)
            button("Previous", lambda: move(-1), look="quiet", testid="review-previous")
            button("Next", lambda: move(1), look="primary", testid="review-next")
        self._told = LiveHtml().classes("review-told").props("role=status data-testid=review-told")
        self._note = ui.textarea("Note").classes("fill").props("outlined dense autogrow debounce=400")
        self._note.props(f"maxlength={LONGEST_NOTE} data-testid=review-note")
        self._note.on_value_change(self._in_order(self._keep_note))
        with ui.element("div").classes("toolbar"):
            button("Save as case", self._in_order(self._save_case), testid="save-as-case-button")
            button("Fork with the note", self._in_order(self._fork), testid="review-fork")
            button("Undo", self._in_order(self._undo), testid="review-undo")
            ui.element("span").classes("grow")
            button("Criteria…", self._ask_criteria, look="quiet", testid="review-criteria")
        ui.html(KEY_WORDS, sanitize=False).classes("faint review-keys")

    def _in_order(self, do: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
        """Whatever is pressed waits for what was pressed before: no answer is shown before a thumb is stored."""

        async def done(*said: object) -> None:
            async with self._turn:
                with problems_shown():
                    await do(*(one for one in said if not isinstance(one, events.EventArguments)))

        return done

    # The queue.

    async def _begin(self) -> None:
        asked = self._queue, self._experiment
        self._choice.show(self._queue)
        found, problem = await self._found(*asked)
        async with self._turn:  # what was pressed before is said of the answer that was shown then
            if asked != (self._queue, self._experiment):
                return  # others were asked for meanwhile, and may be there already
            self._round = found
            if self._round is None:
                self._say_nothing("rate_review", "Nothing to review here", problem)
                return
            if self._round.experiment is not None and self._round.experiment.id in (self._box.options or ()):
                self._experiment = self._round.experiment.id
                self._box.value = self._experiment
            await self._show()

    async def _found(self, queue: QueueName, experiment_id: str) -> tuple[Round | None, str]:
        """The answers, or why there are none."""
        try:
            return await self._workbench.reviewing.begin(queue, experiment_id), ""
        except WorkbenchError as problem:
            return None, str(problem)

    def _choose(self, queue: QueueName) -> None:
        self._ask(queue, self._experiment)

    def _choose_experiment(self) -> None:
        self._ask(self._queue, str(self._box.value or ALL_RUNS))

    def _ask(self, queue: QueueName, experiment_id: str) -> None:
        if (queue, experiment_id) == (self._queue, self._experiment):
            return
        self._queue, self._experiment = queue, experiment_id
        said = {"queue": "" if queue == "unreviewed" else queue, "experiment": experiment_id}
        say_address(self._frame, address_with(REVIEW, said))
        background_tasks.create(self._begin(), name="begin a review", context=self._place)

    # The answer that is looked at.

    async def _show(self) -> None:
        """Show where the round stands: an answer, or that there is none left."""
        item, self._answer = (self._round.item if self._round else None), None
        self._count_up()
        if item is None:
            self._say_nothing("task_alt", *self._end_words())
            return
        try:
            self._answer = await self._workbench.reviewing.look(item)
        except WorkbenchError as problem:
            self._say_nothing("error", "This answer cannot be shown", f"{problem} J goes on to the next one.")
            self._desk.visible = True
        else:
            self._show_answer(item, self._answer)

    def _show_answer(self, item: ReviewItem, answer: ReviewAnswer) -> None:
        self._nothing.clear()
        self._place.visible = self._desk.visible = True
        self._place.clear()
        with self._place:
            show_item(answer)
        self._note.value = self._workbench.reviewing.note(item)
        self._show_said(item)

    def _show_said(self, item: ReviewItem) -> None:
        """What was said of it so far, and once it was rated also what was kept back."""
        reviewing, criteria = self._workbench.reviewing, self._asked()
        self._criteria.show(criteria_view(criteria, reviewing.answers(item, criteria)))
        said = self._round.said.get(item) if self._round else None
        good = None if said is None else bool(said.value)
        for value, thumb in self._thumbs.items():
            thumb.props(f"aria-pressed={'true' if good is value else 'false'}")
        blind = tag("p", "Whose answer it is, and what judges said, is told after your thumb.", cls="faint")
        before = reviewing.rating(item.run_id) if item.is_again else None
        told = None
        if good is not None and self._answer is not None:
            told = revealed(item, self._answer, good=good, before=before)
        self._told.show(told or blind)

    def _asked(self) -> tuple[str, ...]:
        """The criteria."""
        own = self._round.criteria if self._round else ()
        return own or self._workbench.preferences.get().review_criteria

    def _count_up(self) -> None:
        if self._round is None:
            return
        place, total = self._round.at + 1, len(self._round.items)
        told = [f"{place:,} of {total:,}" if place <= total else plural(total, "answer"), f"{self._round.done:,} rated"]
        own = self._round.own
        if own.of:
            told.append(f"you agreed with yourself on {own.right} of {own.of} that came twice")
        self._count.set_content(tag("span", " · ".join(told)))

    def _end_words(self) -> tuple[str, str]:
        if self._round is None or not self._round.items:
            return "Nothing to review here", f"{EMPTY[self._queue]} Choose other answers above."
        return "All looked at", f"{plural(self._round.done, 'answer')} rated. K goes back; others are above."

    def _say_nothing(self, symbol: str, title: str, words: str) -> None:
        self._place.visible = False
        self._desk.visible = bool(self._round and self._round.items)
        self._nothing.clear()
        with self._nothing:
            empty_state(symbol, title, words)

    # What is pressed.

    async def _rate(self, good: bool) -> None:
        if self._round is not None and (item := self._round.item) is not None and self._answer is not None:
            await self._workbench.reviewing.rate(self._round, item, good=good)
            self._show_said(item)
            self._count_up()

    async def _move(self, step: int) -> None:
        if self._round is not None:
            self._round.move(step)
            await self._show()

    async def _undo(self) -> None:
        if self._round is None or not await self._workbench.reviewing.undo(self._round):
            notify("There is no thumb to take back.")
            return
        await self._show()

    async def _say(self, pressed: str) -> None:
        item = self._round.item if self._round else None
        place, _, word = pressed.partition(".")
        if item is None or int(place) >= len(self._asked()):  # another tab took criteria away
            return
        criterion, value = self._asked()[int(place)], word == "yes"
        before = self._workbench.reviewing.answers(item, [criterion]).get(criterion)
        await self._workbench.reviewing.say(item, criterion, value=None if before is value else float(value))
        self._show_said(item)

    async def _keep_note(self) -> None:
        """Of the answer that it was typed for: whatever shows another one waits for this."""
        item, note = (self._round.item if self._round else None), str(self._note.value or "").strip()
        if item is not None and note != self._workbench.reviewing.note(item):
            await self._workbench.reviewing.say(item, NOTE, note=note)

    async def _save_case(self) -> None:
        if self._round is not None and (item := self._round.item) is not None:
            SaveCase(self._workbench, item.run_id, note=self._workbench.reviewing.note(item))

    async def _fork(self) -> None:
        if self._round is not None and (item := self._round.item) is not None:
            ui.navigate.to(fork_with_note_address(item.run_id))

    async def _ask_criteria(self) -> None:
        """Let the person write what is answered with yes or no where no judge is asked something."""
        preferences = self._workbench.preferences
        with named_dialog("Criteria") as dialog, ui.card().classes("dialog-card dialog-small") as card:
            ui.label("Criteria").classes("section-title")
            ui.label(CRITERIA_WORDS).classes("faint")
            box = ui.textarea("One a line", value="\n".join(preferences.get().review_criteria)).classes("fill")
            box.props("outlined dense autogrow autofocus data-testid=criteria-input")
            with ui.element("div").classes("row-line at-end"):
                button("Cancel", lambda: dialog.submit(None), look="quiet")
                button("Save", lambda: dialog.submit(box.value or ""), look="primary", testid="criteria-save")
        keep_typed(dialog, card)
        if (text := await answer_to(dialog, str)) is None:
            return
        lines = dict.fromkeys(line.strip()[:LONGEST_CRITERION] for line in text.splitlines() if line.strip())
        with problems_shown():
            wanted = {"review_criteria": tuple(lines)[:MOST_CRITERIA]}
            await preferences.save(preferences.get().model_copy(update=wanted))
            if self._round is not None and (item := self._round.item) is not None:
                self._show_said(item)
