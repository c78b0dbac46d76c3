"""A page that is left while something that was begun on it goes on."""

import asyncio
import gc

import pytest
from nicegui import ui
from nicegui.testing import User
from nicegui.testing.user_notify import UserNotify

from tests.ui.shell.test_visited_pages import visit


def held(patch: pytest.MonkeyPatch, holder: object, name: str) -> asyncio.Event:
    """Let what is called by that name wait for the event."""
    go, act = asyncio.Event(), getattr(holder, name)

    async def wait(*given: object) -> object:
        await go.wait()
        return await act(*given)

    patch.setattr(holder, name, wait)
    return go


async def leave(user: User) -> list[str]:
    """Go to another page in the same tab; what it is told there from now on."""
    user.notify = Notices()
    await visit(user, "/runs")
    gc.collect()
    return user.notify.messages


class Notices(UserNotify):
    """As in a browser: where there is no place any more, nothing can be said."""

    def __call__(self, message: str, **kwargs: object) -> None:
        assert ui.context.client
        super().__call__(message, **kwargs)
