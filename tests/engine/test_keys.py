"""API keys are shown once, known again by what is kept of them, and end when they should."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from app.domain.agents import Agent, PromptBehaviour, new_agent
from app.domain.errors import Conflict, NotFound, WorkbenchError
from app.domain.keys import NO_KEY, RIGHTS
from app.domain.provenance import Trigger
from app.domain.values import now
from app.engine.keys import Keys
from app.store.folder.folder import DataFolder
from tests.engine.conftest import SetClock
from tests.store.giving_up import given_up


@pytest.fixture
async def data(tmp_path: Path) -> AsyncIterator[DataFolder]:
    data = DataFolder.open(tmp_path / "data")
    yield data
    await data.close()


@pytest.fixture
def clock() -> SetClock:
    return SetClock(now())


@pytest.fixture
def keys(data: DataFolder, clock: SetClock) -> Keys:
    return Keys(data.api_keys, data.agents, clock)


async def agent(data: DataFolder, name: str) -> Agent:
    return await data.agents.create(new_agent(name, PromptBehaviour(), taken_slugs=data.agents.slugs()))


async def test_a_key_is_known_again_and_nothing_stored_can_open_anything(keys: Keys, data: DataFolder):
    made = await keys.create(" n8n ")
    assert made.secret.startswith("ap_") and len(made.secret) >= 43
    assert (made.key.name, made.key.last_four) == ("n8n", made.secret[-4:])
    assert keys.check(made.secret) == made.key
    kept = (data.path / "app.tdb").read_bytes()
    assert made.key.secret_digest.encode() in kept
    assert made.secret.encode() not in kept and made.secret[3:].encode() not in kept


@pytest.mark.parametrize("secret", ["", "ap_", "x" * 43, "ü\ud800", "ap_" + "A" * 43])
async def test_what_was_never_made_is_no_key(keys: Keys, secret: str):
    await keys.create("n8n")
    assert keys.check(secret) is None


async def test_a_key_is_known_after_a_restart(keys: Keys, data: DataFolder, clock: SetClock):
    made = await keys.create("n8n")
    assert Keys(data.api_keys, data.agents, clock).check(made.secret) == made.key


async def test_a_key_expires(keys: Keys, clock: SetClock):
    made = await keys.create("for a week", days=7)
    assert made.key.standing(clock.now() + timedelta(days=6.9)) == "valid"
    assert made.key.standing(clock.now() + timedelta(days=7)) == "expired"
    assert (await keys.create("for good")).key.standing(clock.now() + timedelta(days=9999)) == "valid"


@pytest.mark.parametrize("days", [0, -1, 1e9, float("nan"), float("inf")])
async def test_a_lifetime_that_is_none_is_refused(keys: Keys, days: float):
    with pytest.raises(WorkbenchError, match="days"):
        await keys.create("n8n", days=days)


async def test_a_revoked_key_stays_known_as_revoked_and_frees_its_name(keys: Keys, clock: SetClock):
    made = await keys.create("n8n")
    await keys.revoke(made.key.id)
    found = keys.check(made.secret)
    assert found is not None and found.standing(clock.now()) == "revoked"
    clock.at += timedelta(minutes=5)
    assert (await keys.revoke(made.key.id)).revoked_at == found.revoked_at
    again = await keys.create("n8n")
    assert keys.named("n8n") == again.key
    assert [key.id for key in keys.all()] == [again.key.id, made.key.id]


async def test_names_are_unique(keys: Keys):
    one, other = await keys.create("one"), await keys.create("other")
    with pytest.raises(Conflict, match="'one' already"):
        await keys.create(" one ")
    with pytest.raises(Conflict, match="'one' already"):
        await keys.change(other.key.id, name="one")
    assert (await keys.change(one.key.id, name="one")).name == "one"
    assert (await keys.change(one.key.id, name="first")).name == "first"
    found = keys.check(one.secret)
    assert found is not None and found.name == "first"


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "two\nlines", "\u202etxt"])
async def test_a_name_that_cannot_be_read_is_refused(keys: Keys, name: str):
    with pytest.raises(WorkbenchError, match="name of 1 to 60"):
        await keys.create(name)


async def test_no_key_passes_for_none(keys: Keys):
    with pytest.raises(WorkbenchError, match="without a key"):
        await keys.create("no key")


async def test_a_key_for_certain_agents_is_for_no_other(keys: Keys, data: DataFolder):
    mine, other = await agent(data, "Mine"), await agent(data, "Other")
    key = (await keys.create("scoped", agents=[mine.slug, mine.id])).key
    assert key.agents == (mine.id,)
    assert key.may_use(mine) and not key.may_use(other)
    assert (await keys.create("all")).key.may_use(other)


async def test_agents_of_a_key_have_to_be_there(keys: Keys, data: DataFolder):
    await agent(data, "Mine")
    with pytest.raises(NotFound, match=r"no agent 'nobody'. Agents: mine\."):
        await keys.create("scoped", agents=["mine", "nobody"])
    with pytest.raises(WorkbenchError, match="for no agent"):
        await keys.create("scoped", agents=[])


async def test_an_unknown_key_is_named_with_those_there_are(keys: Keys):
    await keys.create("n8n")
    with pytest.raises(NotFound, match=r"no key 'x'. Keys: n8n\."):
        keys.named("x")
    with pytest.raises(NotFound):
        await keys.revoke("x")


async def test_use_is_kept_once_a_minute(keys: Keys, data: DataFolder, clock: SetClock):
    made = await keys.create("n8n")
    began = clock.now()
    for _ in range(120):
        keys.used(made.key)
        clock.at += timedelta(seconds=1)
    await keys.close()
    assert data.api_keys.get(made.key.id).last_used_at == began + timedelta(seconds=60)
    assert (data.path / "app.tdb").read_text("utf-8").count(made.key.secret_digest) == 3


async def test_a_run_reaches_the_agents_of_whoever_started_it(keys: Keys, data: DataFolder, clock: SetClock):
    one, other = await agent(data, "One"), await agent(data, "Other")
    public = other.model_copy(update={"is_public": True})
    made = await keys.create("nightly", agents=["one"])
    short = await keys.create("short", days=1)
    old = made.key.model_copy(update={"id": "old", "once_named": "once", "once_since": clock.now()})
    await data.api_keys.create(old)
    triggers = {
        "owner": [Trigger(kind="page"), Trigger(kind="terminal"), Trigger(kind="api_key")],
        "nightly": [
            Trigger(kind="api_key", name="as it was called then", key=made.key.id),
            Trigger(kind="agent", name="One", key=made.key.id),
            Trigger(kind="api_key", name="once"),
        ],
        "short": [Trigger(kind="api_key", name="short", key=short.key.id)],
        "anyone": [Trigger(kind="api_key", name=NO_KEY)],
        "nobody": [
            Trigger(kind="api_key", name="never made"),
            Trigger(kind="api_key", name="nightly"),
            Trigger(kind="agent", name="One"),
        ],
    }

    def reached(who: str) -> list[set[str]]:
        return [{found.name for found in (one, public) if keys.may_use(trigger, found)} for trigger in triggers[who]]

    assert [reached(who) for who in triggers] == [
        [{"One", "Other"}] * 3,
        [{"One"}] * 3,
        [{"One", "Other"}],
        [{"Other"}],
        [set()] * 3,
    ]
    await keys.revoke(made.key.id)
    await clock.sleep(2 * 86_400)
    assert reached("nightly") == [set(), set(), {"One"}] and reached("short") == [set()]


async def test_a_key_does_what_was_ticked_for_it_and_one_for_all_agents_does_all(keys: Keys, data: DataFolder):
    await agent(data, "One")
    made, whole = await keys.create("n8n", agents=["one"], may=["variants"]), await keys.create("whole")
    by_key = Trigger(kind="api_key", name="n8n", key=made.key.id)
    assert (made.key.rights, whole.key.rights) == (("variants",), RIGHTS)
    assert keys.may_vary(by_key) and keys.may_vary(Trigger(kind="api_key", name="whole", key=whole.key.id))
    assert all(keys.may_vary(Trigger(kind=kind)) for kind in ("page", "terminal", "api_key", "agent"))
    assert not keys.may_vary(Trigger(kind="api_key", name=NO_KEY))
    changed = await keys.change(made.key.id, may=["approve"])
    assert (changed.name, changed.may) == ("n8n", ("approve",)) and not keys.may_vary(by_key)
    assert keys.check(made.secret) == changed
    assert not keys.may_vary(Trigger(kind="agent", name="One", key=made.key.id))
    await keys.revoke(whole.key.id)
    assert not keys.may_vary(Trigger(kind="api_key", name="whole", key=whole.key.id))


async def test_a_key_that_was_revoked_opens_nothing_also_where_whoever_revoked_it_is_gone(keys: Keys, clock: SetClock):
    made = await keys.create("Mine")
    assert keys.check(made.secret).standing(clock.now()) == "valid"
    await given_up(keys.revoke(made.key.id))
    assert keys.check(made.secret).standing(clock.now()) == "revoked"
