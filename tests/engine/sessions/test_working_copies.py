"""Working copies are known at once, written once typing rests, and never lost."""

import pytest

from app.domain.agents import PromptBehaviour, WorkingCopy
from app.domain.errors import StorageError
from app.domain.values import now
from app.engine.sessions.working_copies import WorkingCopies
from tests.waiting import until


class Shelf:
    """A store in memory that counts what is written, and may be full."""

    def __init__(self) -> None:
        self.copies: dict[str, WorkingCopy] = {}
        self.writes = 0
        self.is_full = False

    def find(self, agent_id: str) -> WorkingCopy | None:
        return self.copies.get(agent_id)

    async def save(self, copy: WorkingCopy) -> None:
        if self.is_full:
            raise StorageError("The disk is full.")
        self.writes += 1
        self.copies[copy.agent_id] = copy

    async def delete(self, agent_id: str) -> None:
        self.copies.pop(agent_id, None)


def copy(prompt: str) -> WorkingCopy:
    return WorkingCopy(agent_id="a", origin=1, behaviour=PromptBehaviour(system_prompt=prompt), updated_at=now())


async def test_many_keystrokes_are_one_write():
    shelf = Shelf()
    copies = WorkingCopies(shelf, seconds=0.02)
    for length in range(1, 50):
        copies.typed(last := copy("x" * length))
        assert copies.get("a") is last
    assert not copies.is_written("a")
    await until(lambda: copies.is_written("a"))
    assert shelf.find("a") is last
    assert shelf.writes == 1


async def test_what_waits_is_written_at_the_end():
    shelf = Shelf()
    copies = WorkingCopies(shelf, seconds=3600)
    copies.typed(last := copy("almost lost"))
    await copies.close()
    assert shelf.find("a") is last


async def test_a_dropped_copy_is_not_written_later():
    shelf = Shelf()
    copies = WorkingCopies(shelf, seconds=3600)
    await copies.save(copy("one"))
    copies.typed(copy("two"))
    await copies.drop("a")
    await copies.close()
    assert copies.get("a") is None
    assert shelf.copies == {}


async def test_a_copy_that_cannot_be_written_is_told_and_stays():
    shelf = Shelf()
    shelf.is_full = True
    copies = WorkingCopies(shelf, seconds=0)
    copies.typed(typed := copy("precious"))
    await until(lambda: copies.trouble("a"))
    assert copies.trouble("a") == "The disk is full."
    assert copies.get("a") is typed
    with pytest.raises(StorageError):
        await copies.save(typed)
    shelf.is_full = False
    await copies.close()
    assert copies.trouble("a") == ""
    assert shelf.find("a") is typed
