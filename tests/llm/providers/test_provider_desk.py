from pathlib import Path

import pytest

from app.domain.errors import Conflict, StorageError, WorkbenchError
from app.llm.providers.catalog import Catalog
from app.llm.providers.choices import Choices
from app.llm.providers.provider_desk import ProviderEntry
from app.llm.providers.providers import connection
from tests.fakes.openai import FakeOpenAI
from tests.llm.providers.test_choices import nowhere
from tests.llm.providing import opened_desk
from tests.store.disks import TroubledDisk, full

KEY = "sk-planted-0123456789-WXYZ"


async def test_a_saved_key_and_address_lead_to_the_model(tmp_path: Path):
    async with opened_desk(tmp_path) as it:
        entry = ProviderEntry({"key": f'"{KEY}"'}, {"address": "http://127.0.0.1:9/v1/", "organisation": "org-1"})
        assert await it.desk.save("openai", entry) == ("the quotes around it",)

        reached = connection("openai/gpt-4o", it.lookup)
        assert dict(reached.arguments) == {
            "api_key": KEY,
            "api_base": "http://127.0.0.1:9/v1",
            "organization": "org-1",
        }
        assert reached.secrets == (KEY,)
        (key,) = it.desk.state("openai").keys
        assert (key.ends, key.variable) == ("WXYZ", "")
        assert KEY not in repr(it.desk.state("openai")) + repr(entry)


async def test_the_environment_goes_before_what_was_saved(tmp_path: Path):
    variables = {"GOOGLE_API_KEY": "from-the-environment", "GEMINI_API_BASE": "http://127.0.0.1:7"}
    async with opened_desk(tmp_path, **variables) as it:
        await it.desk.save("gemini", ProviderEntry({"key": KEY}, {"address": "http://127.0.0.1:9"}))
        reached = connection("gemini/flash", it.lookup)
        state = it.desk.state("gemini")

    assert reached.arguments["api_key"] == "from-the-environment"
    assert reached.arguments["api_base"] == "http://127.0.0.1:7"
    assert reached.key_variable == "GOOGLE_API_KEY"
    assert (state.keys[0].variable, state.keys[0].ends) == ("GOOGLE_API_KEY", "ment")
    assert state.address_variable == "GEMINI_API_BASE"


async def test_a_key_that_was_replaced_is_brought_back(tmp_path: Path):
    async with opened_desk(tmp_path) as it:
        await it.desk.save("openai", ProviderEntry({"key": KEY}))
        before = it.desk.saved_keys("openai")
        await it.desk.save("openai", ProviderEntry({"key": KEY[::-1]}))
        assert it.lookup("openai:key") == KEY[::-1]
        await it.desk.bring_back("openai", before)
        assert it.lookup("openai:key") == KEY


async def test_amazon_takes_a_key_of_two_parts_or_one_of_its_own(tmp_path: Path):
    async with opened_desk(tmp_path) as it:
        parts = {"access_key": "AKIA0123456789AB", "secret_key": "hush-hush-hush"}
        await it.desk.save("bedrock", ProviderEntry(parts, {"region": "eu-central-1"}))
        arguments = connection("bedrock/m", it.lookup).arguments
        assert arguments["aws_secret_access_key"] == "hush-hush-hush"
        assert arguments["aws_region_name"] == "eu-central-1"
        assert "api_key" not in arguments
        await it.desk.save("bedrock", ProviderEntry({"key": "bedrock-api-key-0123"}))
        assert connection("bedrock/m", it.lookup).arguments["api_key"] == "bedrock-api-key-0123"
        await it.desk.forget_key("bedrock")
        assert not it.keys.values()


async def test_what_cannot_be_is_refused_and_nothing_of_it_stored(tmp_path: Path):
    async with opened_desk(tmp_path) as it:
        with pytest.raises(WorkbenchError, match="is no address"):
            await it.desk.save("openai", ProviderEntry({"key": KEY}, {"address": "no address"}))
        with pytest.raises(WorkbenchError, match="line break"):
            await it.desk.save("openai", ProviderEntry({"key": "two\nlines"}, {"organisation": "org-1"}))
        assert not it.desk.state("openai").is_set
        assert it.settings.get("openai").organisation == ""


async def test_a_server_of_ones_own_is_asked_by_its_name(tmp_path: Path):
    async with FakeOpenAI() as fake, opened_desk(tmp_path) as it:
        fake.key = KEY
        name = await it.desk.add("Team server", fake.base, KEY)
        assert name == "team-server"
        assert connection("team-server/llama", it.lookup).model == "openai/llama"
        assert "ok" in (await it.desk.list_models(name)).models
        with pytest.raises(WorkbenchError, match="already"):
            await it.desk.add("team server", fake.base)
        choices = await Choices(Catalog(), it.lookup, it.settings.all, it.keys.ready, it.seen).all()
        assert "team-server/ok" in [card.name for one in choices if one.title == "Team server" for card in one.models]

        await it.desk.remove(name)
        assert "team-server" not in [state.name for state in await it.desk.all()]
        assert not it.keys.values()


@pytest.mark.parametrize("failing", [1, 2], ids="write {}".format)
async def test_the_key_of_a_server_that_a_full_disk_did_not_take_is_sent_to_no_other(failing: int, tmp_path: Path):
    disk = TroubledDisk("write", first=failing, error=full)
    async with opened_desk(tmp_path, disk=disk) as it:
        with pytest.raises(StorageError):
            await it.desk.add("Mine", "http://127.0.0.1:9/v1", KEY)
        name = await it.desk.add("Mine", "https://example.org/v1")
        assert not it.desk.state(name).has_key and not it.keys.values()


async def test_a_refused_key_is_told_without_it(tmp_path: Path):
    async with FakeOpenAI() as fake, opened_desk(tmp_path) as it:
        fake.key = "another"
        await it.desk.save("openai", ProviderEntry({"key": KEY}, {"address": fake.base}))
        with pytest.raises(WorkbenchError) as caught:
            await it.desk.list_models("openai")
    assert "401" in str(caught.value)
    assert "[key]" in str(caught.value)
    assert KEY not in str(caught.value)


async def test_listed_models_are_offered_and_forgotten_with_their_address(tmp_path: Path):
    async with FakeOpenAI() as fake, opened_desk(tmp_path, **nowhere()) as it:
        await it.desk.save("openai", ProviderEntry({"key": KEY}, {"address": fake.base}))
        await it.desk.list_models("openai")
        choices = Choices(Catalog(), it.lookup, it.settings.all, it.keys.ready, it.seen)
        openai = next(one for one in await choices.all() if one.title == "OpenAI")
        assert "openai/length-thinking" in [card.name for card in openai.models]
        await it.desk.save("openai", ProviderEntry({}, {"address": ""}))
        assert it.settings.get("openai").models == ()


async def test_models_that_were_written_down_are_kept(tmp_path: Path):
    async with opened_desk(tmp_path) as it:
        assert not it.desk.state("azure").lists_models
        await it.desk.save("azure", ProviderEntry(models="my-gpt, other\nmy-gpt"))
        assert it.settings.get("azure").models == ("my-gpt", "other")
        await it.desk.save("azure", ProviderEntry(models=""))
        assert it.settings.get("azure").models == ()


async def test_an_unknown_provider_is_told(tmp_path: Path):
    async with opened_desk(tmp_path) as it:
        with pytest.raises(WorkbenchError, match="no provider 'nobody'"):
            it.desk.state("nobody")
        await it.desk.add("Mine", "http://127.0.0.1:9")
        with pytest.raises((Conflict, WorkbenchError)):
            await it.desk.add("Mine", "http://127.0.0.1:9")


async def test_a_key_of_another_provider_is_kept_back_except_at_an_address_of_ones_own(tmp_path: Path):
    async with opened_desk(tmp_path) as it:
        foreign = {"key": "sk-ant-0123456789"}
        with pytest.raises(WorkbenchError, match="a key of Anthropic"):
            await it.desk.save("openai", ProviderEntry(foreign, {"address": ""}))
        assert not it.desk.state("openai").has_key
        await it.desk.save("openai", ProviderEntry(foreign, {"address": "http://127.0.0.1:9/v1"}))
        assert it.desk.state("openai").has_key
