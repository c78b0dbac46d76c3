"""The runs that go on now, as a list that says what each is doing."""

from collections.abc import Sequence
from datetime import datetime

from app.domain.events import ModelReturned
from app.domain.values import now
from app.engine.run.run import Run
from app.ui.conversation.phase import Phase
from app.ui.elements.addresses import run_address, session_address
from app.ui.elements.format import duration, plural, tokens
from app.ui.elements.markup import Html, icon, joined, tag
from app.ui.elements.visible import visible

MOST = 50
"""Runs that are listed; the others are counted."""


class FollowedRun:
    """Each look costs only what is new of it."""

    def __init__(self, live: Run) -> None:
        self.live = live
        self.tokens = 0
        """Of the answers that are there."""
        self._seen = 0
        self._phase = Phase(live.entries[0].at, {tool.spec.name: tool.spec.title for tool in live.started.tools})

    def doing(self) -> str:
        """In words: `Calling Calculator…`."""
        for entry in self.live.since(self._seen):
            self._seen = entry.seq + 1
            self._phase.take(entry)
            if isinstance(entry.event, ModelReturned):
                self.tokens += entry.event.usage.input_tokens + entry.event.usage.output_tokens
        return self._phase.words(self.live.draft, steered=self.live.control.steered)


class LiveRuns:
    """Follows all of them for one page."""

    def __init__(self) -> None:
        self._followed: dict[str, FollowedRun] = {}

    def view(self, live_runs: Sequence[Run]) -> Html:
        """The list, the newest first; words where nothing goes on."""
        begun = [live for live in live_runs if live.entries]
        newest = sorted(begun, key=lambda live: live.entries[0].at, reverse=True)
        before, moment = self._followed, now()
        self._followed = {live.run_id: before.get(live.run_id) or FollowedRun(live) for live in newest[:MOST]}
        if not newest:
            return tag("p", "Nothing is running. A run shows up here while it goes on.", cls="muted")
        rows = tag("ul", *(_row(one, moment) for one in self._followed.values()), cls="session-list live-runs")
        more = len(newest) - MOST
        return joined(rows, tag("p", f"And {plural(more, 'more run')}.", cls="muted") if more > 0 else "")


def _row(followed: FollowedRun, moment: datetime) -> Html:
    live = followed.live
    agent, doing = live.started.agent, followed.doing()
    name = visible(f"{agent.name} {agent.variant_mark}")
    took = duration((moment - live.entries[0].at).total_seconds() * 1000)
    stop = tag(
        "button",
        icon("stop"),
        "Stop",
        cls="text-button",
        data_stop=live.run_id,
        data_key=f"stop-{live.run_id}",
        data_testid="live-stop",
        aria_label=f"Stop the run of {name}",
    )
    return tag(
        "li",
        tag("a", name, href=run_address(live.run_id), data_key=f"run-{live.run_id}"),
        tag("span", doing, cls="live-doing"),
        tag("span", f"{tokens(followed.tokens)} · {took}", cls="live-numbers"),
        _decide(live, name) if live.control.awaited else "",
        stop,
        cls="live-run",
        data_testid="live-run",
    )


def _decide(live: Run, name: str) -> Html:
    said = {"cls": "text-button text-button-primary", "data_key": f"decide-{live.run_id}"}
    return tag("a", "Decide", href=session_address(live.started.session_id), aria_label=f"Decide for {name}", **said)
