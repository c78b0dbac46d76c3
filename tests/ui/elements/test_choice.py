"""Boxes to choose from."""

import asyncio
from collections.abc import Callable

from nicegui import ui
from nicegui.testing.user_simulation import user_simulation

from app.ui.elements.choice import MANY, choice_box
from tests.processor import at_work

NAMES = {f"a{number}": f"Agent {number}" for number in range(300)}


def box(names: dict[str, str], chosen: str = "a3") -> ui.select:
    return choice_box(names, chosen, label="Agent", testid="agent-select")


def seconds(made: Callable[[], object]) -> float:
    """Of the processor, of the quickest of five."""

    def once() -> float:
        with at_work() as work:
            made()
        return work.seconds

    return min(once() for _ in range(5))


async def shown(page: Callable[[], None]) -> None:
    async with user_simulation(page) as user:
        await user.open("/")
        await asyncio.sleep(0)


async def test_a_box_of_many_names_takes_hardly_longer_than_the_names_alone() -> None:
    ratios: list[float] = []

    def page() -> None:
        ratios.append(seconds(lambda: box(NAMES)) / seconds(lambda: ui.select(NAMES)))

    await shown(page)
    assert ratios[0] < 5


async def test_a_box_shows_what_is_chosen_and_is_searched_where_there_are_many() -> None:
    def page() -> None:
        many, few = box(NAMES), box(dict(list(NAMES.items())[:MANY]))
        assert (many.value, len(many.props["options"]), many.props["use-input"]) == ("a3", 300, True)
        assert (few.value, "use-input" in few.props) == ("a3", False)

    await shown(page)
