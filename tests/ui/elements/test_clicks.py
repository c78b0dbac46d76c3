"""What is pressed again while it goes on."""

import asyncio
from contextlib import suppress

import pytest

from app.ui.elements.clicks import one_at_a_time


class Kitchen:
    def __init__(self) -> None:
        self.begun, self.let_go = list[str](), asyncio.Event()

    @one_at_a_time
    async def cook(self, what: str) -> None:
        self.begun.append(what)
        await self.let_go.wait()
        if what == "stones":
            raise ValueError(what)


async def test_what_is_pressed_twice_is_begun_once_and_again_after_its_end():
    here, next_door = Kitchen(), Kitchen()
    cooking = asyncio.gather(here.cook("soup"), here.cook("soup"), next_door.cook("soup"))
    await asyncio.sleep(0)
    assert (here.begun, next_door.begun) == (["soup"], ["soup"])
    for kitchen in (here, next_door):
        kitchen.let_go.set()
    await cooking
    with pytest.raises(ValueError, match="stones"):
        await here.cook("stones")
    await here.cook("bread")
    assert here.begun == ["soup", "stones", "bread"]


async def test_what_was_given_up_can_be_begun_again():
    kitchen = Kitchen()
    cooking = asyncio.create_task(kitchen.cook("soup"))
    await asyncio.sleep(0)
    cooking.cancel()
    with suppress(asyncio.CancelledError):
        await cooking
    kitchen.let_go.set()
    await kitchen.cook("bread")
    assert kitchen.begun == ["soup", "bread"]
