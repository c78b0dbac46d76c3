"""Clicks on what markup shows, heard by the one element that it stands in, however often it is drawn; and Enter."""

import json
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from nicegui import events, ui

_EMIT = """(event) => {
  const names = %s, one = event.target.closest('[' + names[0] + ']');
  if (!one || (event.detail > 1 && one.closest('[data-once]'))) return;
  emit(names.map((name) => one.closest('[' + name + ']')?.getAttribute(name) ?? ''));
}"""
ONE_CLICK = "(event) => { if (event.detail < 2) emit(); }"
"""For what begins something anew each time: a double click is one click."""
_ENTERED = """(event) => {
  event.preventDefault();
  event.target.dispatchEvent(new Event("change"));  // a box that waits for the next letter sends what it has,
  setTimeout(emit);  // in a moment
}"""

Place = TypeVar("Place", bound=ui.element)
Page = TypeVar("Page")
P = ParamSpec("P")
Doing = Callable[Concatenate[Page, P], Coroutine[Any, Any, None]]


def on_click_of(
    place: Place, name: str, handler: Callable[..., object], *, along: tuple[str, ...] = (), once: bool = False
) -> Place:
    """Call the handler when something with `data-<name>` within the place is clicked; gives the place back.

    It gets the attribute's value, then those of `along`, each from there or from around it, "" where there is none.
    `once`: a double click is one click, as it is on a part of the markup that has `data-once`.
    """

    def hear(event: events.GenericEventArguments) -> object:
        return handler(*map(str, event.args))

    place.props("data-once" if once else "")
    return place.on("click", hear, js_handler=_EMIT % json.dumps([f"data-{one}" for one in (name, *along)]))


def one_at_a_time(do: Doing[Page, P]) -> Doing[Page, P]:
    """A method for what begins something anew each time: pressed once more while it goes on it does nothing."""
    at_it: set[int] = set()

    @wraps(do)
    async def done(page: Page, /, *args: P.args, **given: P.kwargs) -> None:
        if (own := id(page)) in at_it:
            return
        at_it.add(own)
        try:
            await do(page, *args, **given)
        finally:
            at_it.discard(own)

    return done


def on_enter(box: Place, handler: Callable[[], object]) -> Place:
    """Call the handler at Enter in the box, once all that was typed has arrived; gives the box back."""
    return box.on("keydown.enter", handler, js_handler=_ENTERED)
