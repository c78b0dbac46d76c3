"""The card of a provider in Settings: what becomes of its key, and of what was typed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.errors import StorageError
from app.llm.providers.provider_desk import ProviderDesk
from tests.ui.runs.test_runs_pages import marked, sees, the, visitor, words
from tests.waiting import until

ADDRESS = "http://127.0.0.1:9/v1"
OLD, NEW = "sk-old-0123456789", "sk-new-0123456789"


def card_of(user: User, name: str) -> ui.element:
    [card] = [one for one in user.current_layout.descendants() if one.props.get("data-provider-card") == name]
    return card


async def press(user: User, testid: str) -> None:
    await until(lambda: marked(user, testid))
    UserInteraction(user, {the(user, testid)}, None).click()


async def remove_the_key(user: User) -> None:
    await press(user, "forget-key")
    await press(user, "question-confirm")


def send(user: User, name: str, **written: str) -> None:
    """Save what is written into the form of that provider."""
    [form] = [one for one in card_of(user, name).descendants() if "<form" in str(getattr(one, "content", ""))]
    UserInteraction(user, {form}, None).trigger("submit", {"address": ADDRESS, "key:key": "", **written})


def done_with_the_key(user: User) -> list[str]:
    """What the card says that was done."""
    return [said for said in ("The key is removed.", "The key from before is back.") if said in words(user)]


@asynccontextmanager
async def own_server(folder: Path) -> AsyncIterator[tuple[User, ProviderDesk]]:
    """Somebody in front of the open card of a server, which does not run and has a key."""
    async with visitor(folder) as (user, workbench):
        await workbench.provider_desk.add("Team", ADDRESS, OLD)
        await user.open("/settings?provider=team")
        await until(lambda: marked(user, "forget-key"))
        yield user, workbench.provider_desk


async def test_a_key_that_was_removed_is_offered_back_until_there_is_another_one(tmp_path: Path):
    async with own_server(tmp_path) as (user, desk):
        await remove_the_key(user)
        await until(lambda: marked(user, "undo-bar"))
        send(user, "team", address="http://127.0.0.1:9/v2")
        await until(lambda: desk.state("team").address.endswith("v2"))
        await press(user, "undo-button")
        await until(lambda: desk.saved_keys("team") == {"key": OLD})

        await remove_the_key(user)
        await until(lambda: marked(user, "undo-bar"))
        send(user, "team", **{"key:key": NEW})
        await until(lambda: desk.saved_keys("team") == {"key": NEW} and not marked(user, "undo-bar"))


async def test_what_a_slow_server_says_takes_the_place_of_nothing_newer(tmp_path: Path):
    asked, answers = asyncio.Event(), asyncio.Event()

    async def slow(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await answers.wait()
        writer.close()

    server = await asyncio.start_server(slow, "127.0.0.1", 0)
    async with server, own_server(tmp_path) as (user, _):
        send(user, "team", address=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
        await asyncio.wait_for(asked.wait(), 30)
        card, checking = card_of(user, "team"), [one for one in asyncio.all_tasks() if "._save" in one.get_name()]
        await remove_the_key(user)
        await until(lambda: done_with_the_key(user))
        answers.set()
        assert not (await asyncio.wait(checking, timeout=60))[1]
        assert not card.is_deleted and done_with_the_key(user) == ["The key is removed."]


@pytest.mark.parametrize("what", ["forget_key", "bring_back"])
async def test_what_is_not_done_with_a_key_is_not_said_to_be_done(tmp_path: Path, monkeypatch, what: str):
    async def locked(*_: object) -> None:
        raise StorageError("The keyring is locked.")

    async with own_server(tmp_path) as (user, desk):
        if what == "bring_back":
            await remove_the_key(user)
            await until(lambda: marked(user, "undo-bar"))
        before = done_with_the_key(user)
        monkeypatch.setattr(desk, what, locked)
        await (remove_the_key(user) if what == "forget_key" else press(user, "undo-button"))
        assert await until(lambda: user.notify.messages) == ["The keyring is locked."]
        assert done_with_the_key(user) == before


async def test_a_card_that_is_worked_in_stays_as_a_server_is_added_and_the_keyring_is_tried_again(tmp_path: Path):
    async with own_server(tmp_path) as (user, _):
        card = card_of(user, "team")
        [own] = [one for one in user.current_layout.descendants() if "own-title" in str(getattr(one, "content", ""))]
        UserInteraction(user, {own}, None).trigger("submit", {"title": "Mine", "address": ADDRESS, "key:key": ""})
        await sees(user, "Mine: Added.")
        assert card_of(user, "team") is card and card_of(user, "mine").parent_slot is card.parent_slot
        [again] = [one for one in user.current_layout.descendants() if one.props.get("data-testid") == "keyring-again"]
        UserInteraction(user, {again}, None).click()
        await until(lambda: not again.enabled)
        await until(lambda: again.enabled)
        assert card_of(user, "team") is card and len(marked(user, "list-models")) == 2
