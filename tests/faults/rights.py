"""S4: everybody asks for everything: what may be seen, changed and approved, against the table of `tests.rights_table`.

A route of the API is asked for what is the caller's own, the owner's, another key's, and of an agent that is not there
for them. What they get must be what the table says; what they are told must hold no word and no id of anybody else's;
what they are refused must be as it was. All else that the app has is for its owner's browser alone.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import httpx

from app.api.door.refusals import METRICS
from tests.app_process import AppProcess
from tests.door import NOTHING_THERE, REFUSALS, Owner, Target, ask
from tests.faults.door_walk import PAGES, listing_app, owner_of, routes_of
from tests.figures import Figure
from tests.rights_table import TABLE, Row
from tests.rights_world import CALLERS, LIMITED, NOBODY, WHOSE, Thing, Who, Whose, World, opened_world
from tests.waiting import PATIENCE

SIGNED_IN_AT = "/oauth/callback"
"""Whoever comes there shows what only they were given: the state of a sign-in that was begun here. `oauth` tries it."""


async def run(*, brief: bool = False) -> list[Figure]:
    """`brief`: of the table only a key without rights and nobody ask, for what is their own and the owner's."""
    if not brief:
        print("\n".join(matrix()))
    callers, whose = ((LIMITED, NOBODY), WHOSE[:2]) if brief else (CALLERS, WHOSE)
    with tempfile.TemporaryDirectory() as folder:
        async with opened_world(Path(folder)) as world:
            cells, differing = await _asked(world, callers, whose)
        more, opened = await _others_keep_out(Path(folder) / "served")
    differing = [*differing, *opened]
    for words in differing:
        print(f"  not as the table says: {words}")
    value = f"{len(differing)} of {cells + more} cells differ, {len(TABLE)} rows"
    return [Figure("S4 who may what", value, "0 differ", not differing)]


def matrix() -> list[str]:
    """The table, a line for each row."""
    lines = [("", "key for all agents", "key for certain agents", "without a key")]
    lines += [(f"{row.route}: {row.does}", row.whole, _limited(row), row.guest or "no") for row in TABLE]
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    padded = [[words.ljust(width) for words, width in zip(line, widths, strict=True)] for line in lines]
    return ["  " + "  ".join(line).rstrip() for line in padded]


def _limited(row: Row) -> str:
    reach = "own" if row.shows and row.limited != "no" else row.limited
    return f"{reach}, with the right {row.right!r}" if row.right else reach


async def _asked(world: World, callers: Sequence[Who], whose: Sequence[Whose]) -> tuple[int, list[str]]:
    cells, differing = 0, list[str]()
    for row in TABLE:
        for who in callers:
            for one in whose if row.has_object or row.shows else whose[:1]:
                cells += 1
                if words := await _differs(world, row, who, one):
                    differing.append(f"{who.name}, {one}: {row.route} ({row.does}): {words}")
    return cells, differing


async def _differs(world: World, row: Row, who: Who, whose: Whose) -> str:
    """In what the answer is another than the table says; empty where it is that."""
    thing = await world.thing(who, whose, row.state)
    before = await world.state(thing)
    status, told = await world.ask(who, row, thing)
    wanted = expected(row, who, whose)
    if status not in wanted:
        return f"answered {status} {told[:200]}"
    if who.kind in ("limited", "guest") and (foreign := _foreign(world, who, told, thing)):
        return f"told of {', '.join(foreign)}"
    if row.shows and status == 200 and (who.kind in ("owner", "whole") or whose == "own") and thing.word not in told:
        return "told nothing of it"
    if wanted != row.answers and await world.state(thing) != before:
        return f"refused with {status}, and changed"
    if wanted == row.answers and row.spends:
        del world.things[who.name, whose, row.state]
    return ""


def expected(row: Row, who: Who, whose: Whose) -> tuple[int, ...]:
    """The statuses that the table means."""
    foreign = whose == "of another agent" and row.has_object
    match who.kind:
        case "owner":
            return row.answers
        case "whole":
            return row.answers if row.whole == "all" else (403,)
        case "guest":
            opened = {"": (401,), "public": row.answers, "no": (403,), "not there": (404,)}[row.guest]
            return (401,) if foreign else opened
        case "limited" if row.limited == "no":
            return (403, 404)
        case "limited" if foreign or (row.limited == "own" and whose != "own"):
            return row.not_there
        case "limited":
            return row.answers if not row.right or row.right in who.rights else (403,)


def _foreign(world: World, who: Who, told: str, asked_for: Thing) -> list[str]:
    """What of it is of somebody else, but for the ids that they named themselves."""
    named = (asked_for.run, asked_for.session)
    return [word for word, said_by in world.words.items() if said_by != who.name and word in told and word not in named]


async def _others_keep_out(folder: Path) -> tuple[int, list[str]]:
    """How often keys, and nobody, asked for what is no route of the API, and what was not refused."""
    app = listing_app(folder)
    try:
        app.start()
        owner = owner_of(app)
        routes = routes_of(app)
        pages = {Target("GET", page) for page in PAGES}
        elsewhere = ("/api/v1", "/v1/", METRICS, SIGNED_IN_AT)
        house = sorted(pages | {one for one in routes if not one.path.startswith(elsewhere)}, key=str)
        limited = _limited_key(app, owner)
        shown = {"nobody": (), "a key": (("X-API-Key", owner.guest),), "a limited key": (("X-API-Key", limited),)}
        opened = [
            f"{name}: {target.method} {target.path}"
            for target in house
            for name, headers in shown.items()
            if await ask(app.port, target, owner.host + headers) not in _refusals(target)
        ]
        return len(house) * len(shown), opened
    finally:
        app.stop()


def _limited_key(app: AppProcess, owner: Owner) -> str:
    made = httpx.post(
        f"{app.url}/api/v1/keys",
        json={"name": "limited", "agents": [owner.public], "may": ["approve", "variants"]},
        headers={"Authorization": f"Bearer {app.token}"},
        timeout=PATIENCE,
    )
    return str(made.raise_for_status().json()["data"]["key"])


def _refusals(target: Target) -> frozenset[int]:
    """Under the API's address a key for all agents is told that there is nothing."""
    return REFUSALS | NOTHING_THERE if target.path.startswith("/api/") else REFUSALS
