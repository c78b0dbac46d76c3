"""The card of a pause: what it says, and when it lets a person allow the call."""

from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nicegui.testing import User
from nicegui.testing.user_interaction import UserInteraction

from app.domain.events import PauseRequested, PauseResolved
from app.domain.tools import ToolSpec
from app.ui.conversation.pause_card import AT_ONCE, LINES, MOST, PauseCard
from tests.ui.runs.test_runs_pages import marked, the, visitor, words
from tests.waiting import until

PARAMETERS = {"type": "object", "properties": {"path": {"type": "string"}}}
SPEC = ToolSpec(name="evil__run", description="", parameters=PARAMETERS, title="Calculator")
ALLOWING = ("approve-button", "edit-arguments-button", "always-button")


def asked(**changes: object) -> PauseRequested:
    pause = PauseRequested(pause_id="p1", reason="approval", call_id="c1", name="evil__run", label="evil › run")
    return pause.model_copy(update=changes)


@asynccontextmanager
async def carded(folder: Path, pause: PauseRequested):
    """Somebody in front of the card of that pause, and what its buttons did."""
    done: list[tuple[str, str]] = []

    async def act(action: str, value: str) -> None:
        done.append((action, value))

    async with visitor(folder) as (user, _):
        await user.open("/jobs")
        with user.current_layout:
            card = PauseCard(pause, SPEC, alive=True, act=act)
        yield user, card, done


def press(user: User, testid: str) -> None:
    UserInteraction(user, {the(user, testid)}, None).trigger("click")


def offered(user: User) -> list[bool]:
    return [the(user, one).enabled for one in ALLOWING]


async def test_whose_tool_it_is_stands_beside_any_title(tmp_path: Path) -> None:
    async with carded(tmp_path, asked()) as (user, card, _):
        assert "The agent wants to call Calculator (evil › run). Allow it?" in words(user)
        card.decided(PauseResolved(pause_id="p1", decision="deny", note="no\u202eon"))
        assert r"Denied: Calculator (evil › run) (no\u202eon)" in words(user)


async def test_nothing_hides_in_what_is_asked(tmp_path: Path) -> None:
    pause = asked(arguments={"file\u200b": "safe\u202egpj.exe", "text": "a\n\U000e0072"}, label="e\u200bvil › run")
    async with carded(tmp_path, pause) as (user, _, _):
        for hidden in "\u200b\u202e\U000e0072":
            assert hidden not in words(user)
        assert r"safe\u202egpj.exe" in words(user) and r"e\u200bvil" in words(user)


async def test_a_question_hides_nothing(tmp_path: Path) -> None:
    form = {"type": "object", "properties": {"co\u200bde": {"type": "string", "description": "yo\u202eur"}}}
    pause = asked(reason="question", question="Your \u202ecode?", asked_by="ba\u200bnk", form=form, arguments={})
    async with carded(tmp_path, pause) as (user, _, _):
        assert r"Your \u202ecode?" in words(user) and r"ba\u200bnk asks" in words(user)
        assert r"co\u200bde" in words(user) and r"yo\u202eur" in words(user)


@pytest.mark.parametrize(
    "arguments",
    [{"text": "x" * AT_ONCE}, {"text": "\n" * LINES + "rm"}, {str(number): number for number in range(LINES)}],
    ids=["long", "lines of a text", "many"],
)
async def test_the_call_can_be_allowed_once_all_of_its_arguments_were_shown(
    tmp_path: Path, arguments: dict[str, object]
) -> None:
    async with carded(tmp_path, asked(arguments=arguments)) as (user, _, done):
        assert offered(user) == [False] * 3
        press(user, "approve-button")
        assert done == []
        press(user, "show-arguments-button")
        assert offered(user) == [True] * 3
        assert not marked(user, "show-arguments-button")


async def test_short_arguments_are_shown_at_once(tmp_path: Path) -> None:
    async with carded(tmp_path, asked(arguments={"x": 1})) as (user, _, _):
        assert offered(user) == [True] * 3


async def test_a_call_that_may_happen_twice_is_looked_at_as_well(tmp_path: Path) -> None:
    async with carded(tmp_path, asked(arguments={"text": "x" * AT_ONCE}, begun=True)) as (user, _, _):
        assert not the(user, "approve-button").enabled


async def test_what_nobody_can_look_at_can_only_be_denied(tmp_path: Path) -> None:
    async with carded(tmp_path, asked(arguments={"text": "x" * MOST})) as (user, _, _):
        assert offered(user) == [False] * 3 and not marked(user, "show-arguments-button")
        assert the(user, "deny-button").enabled and "so deny it" in words(user)


async def test_changed_arguments_with_what_does_not_show_say_so(tmp_path: Path) -> None:
    async with carded(tmp_path, asked(arguments={"path": "a\u202eb"})) as (user, _, _):
        press(user, "edit-arguments-button")
        assert words(user).count(r"a\u202eb") == 2


SIGN_IN = {"server": "gu\u200barded", "host": "accounts.example.org", "scopes": ["read", "wr\u202eite"]}


async def test_where_one_signs_in_is_said_before_the_link_and_nothing_else_lets_the_call_go_on(tmp_path: Path) -> None:
    pause = asked(reason="oauth", question="It asks you to sign in.", asked_by="guarded", arguments=SIGN_IN)
    async with carded(tmp_path, pause) as (user, card, done):
        said = words(user)
        assert "accounts.example.org" in said and r"gu\u200barded" in said and r"wr\u202eite" in said
        for part in ("/sign-in/gu%E2%80%8Barded?host=accounts.example.org", 'rel="noopener noreferrer"', "_blank"):
            assert part in said
        assert not marked(user, "approve-button") and not marked(user, "answer-button")
        press(user, "deny-button")
        [(action, value)] = await until(lambda: done)
        assert action == "decide" and '"decision":"deny"' in value
        card.decided(PauseResolved(pause_id="p1", decision="answer", by="app"))
        assert "Signed in at accounts.example.org" in words(user)


async def test_a_sign_in_that_nobody_made_says_so(tmp_path: Path) -> None:
    async with carded(tmp_path, asked(reason="oauth", arguments=SIGN_IN)) as (user, card, _):
        card.decided(PauseResolved(pause_id="p1", decision="deny", note="access_denied", by="app"))
        assert "Not signed in at accounts.example.org (access_denied)" in words(user)
