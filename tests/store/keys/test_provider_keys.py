"""Where keys are kept, with backends of the keyring library in the place of the system's."""

import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null

from app.domain.errors import StorageError, WorkbenchError
from app.store.journal.database import JournalDB
from app.store.keys.key_places import FILE, SERVICE, Keyring
from app.store.keys.provider_keys import KeptKeys, ProviderKeys
from tests.app_process import ROOT

KEY = "sk-planted-0123456789-WXYZ"


class Kept(KeyringBackend):
    """A keyring like the system's, kept in a dictionary."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.passwords: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.passwords.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.passwords[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.passwords[service, username]


class Locked(Kept):
    """A keyring that waits for somebody to unlock it."""

    def __init__(self) -> None:
        super().__init__()
        self.unlocked = threading.Event()

    def set_password(self, service: str, username: str, password: str) -> None:
        self.unlocked.wait(30)
        super().set_password(service, username, password)

    def get_password(self, service: str, username: str) -> str | None:
        self.unlocked.wait(30)
        return super().get_password(service, username)


Open = Callable[[Keyring], ProviderKeys]


@pytest.fixture
def open_keys(tmp_path: Path) -> Iterator[Open]:
    """The keys of one data folder, opened again and again over that keyring."""
    database = JournalDB(tmp_path / "app.tdb")

    def opened(keyring: Keyring) -> ProviderKeys:
        seconds = 1.5 if isinstance(keyring, Locked) else 20.0
        return ProviderKeys(KeptKeys(database), tmp_path, keyring=lambda: keyring, seconds=seconds)

    yield opened
    database.close()


def stored(folder: Path) -> str:
    return "".join(path.read_text("utf-8", "replace") for path in folder.rglob("*") if path.is_file())


async def test_a_key_is_kept_in_the_keyring_and_found_there_by_the_next_start(open_keys: Open, tmp_path: Path):
    keyring = Kept()
    keys = open_keys(keyring)
    assert (await keys.where()).place == "keyring"
    assert keyring.passwords == {}, "the probe takes away what it wrote"
    await keys.save("openai:key", f" {KEY}\n")

    assert list(keyring.passwords.values()) == [KEY]
    assert {service for service, _ in keyring.passwords} == {SERVICE}
    again = open_keys(keyring)
    assert again.get("openai:key") == ""
    await again.ready()
    assert again.get("openai:key") == KEY
    described = again.describe("openai:key")
    assert described is not None
    assert (described.where, described.ends, described.trouble) == ("in the system's keyring", "WXYZ", "")
    assert KEY not in stored(tmp_path)


class Windows(Kept):
    """A keyring that takes no more bytes than that of Windows."""

    def set_password(self, service: str, username: str, password: str) -> None:
        assert len(password.encode("utf-16-le")) <= 2560
        super().set_password(service, username, password)


async def test_a_long_key_is_kept_in_parts_and_nothing_of_it_is_left(open_keys: Open):
    keyring = Windows()
    keys, token = open_keys(keyring), "".join(map(str, range(2_000)))
    for value in ("short", token, token[:3_000], "short", token[::-1]):
        await keys.keep("mcp:far/access_token", value)
        again = open_keys(keyring)
        await again.ready()
        assert again.get("mcp:far/access_token") == value
        assert len(keyring.passwords) == (1 if len(value) <= 1_000 else 2 + (len(value) - 1) // 1_000)
    lost = next(name for name in keyring.passwords if name[1].endswith(" 3"))
    del keyring.passwords[lost]
    again = open_keys(keyring)
    await again.ready()
    assert again.get("mcp:far/access_token") == ""
    assert "not in the system's keyring any more" in getattr(again.describe("mcp:far/access_token"), "trouble", "")
    await keys.forget("mcp:far/access_token")
    assert keyring.passwords == {}


@pytest.mark.parametrize("keyring", [fail.Keyring(), null.Keyring()])
async def test_without_a_keyring_a_file_is_used_that_only_its_owner_may_read(
    keyring: Keyring, open_keys: Open, tmp_path: Path
):
    keys = open_keys(keyring)
    where = await keys.where()
    assert (where.place, where.why) == ("file", "This system has no keyring.")
    await keys.save("openai:key", KEY)

    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    (tmp_path / FILE).chmod(0o644)
    again = open_keys(keyring)
    await again.ready()
    assert again.get("openai:key") == KEY
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600, "a copy that others could read is closed again"


FOUND = """
import sys
from app.store.keys.key_places import system_keyring
print(type(system_keyring()).__module__, "cryptography" in sys.modules)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have theirs built in")
def test_keyrings_are_looked_for_only_where_one_may_be(tmp_path: Path):
    """Their libraries take 7 MB."""
    nowhere = {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    assert _found(nowhere) == "keyring.backends.fail False"
    assert _found(nowhere | {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={tmp_path}/none"}) == "keyring.backends.fail True"
    chosen = "keyring.backends.null"
    assert _found(nowhere | {"PYTHON_KEYRING_BACKEND": f"{chosen}.Keyring"}).startswith(chosen)
    (tmp_path / "python_keyring").mkdir()
    (tmp_path / "python_keyring" / "keyringrc.cfg").write_text(f"[backend]\ndefault-keyring={chosen}.Keyring\n")
    assert _found(nowhere | {"XDG_CONFIG_HOME": str(tmp_path)}).startswith(chosen)
    (tmp_path / "bus").touch()
    assert _found(nowhere) == "keyring.backends.fail True"


def _found(environment: dict[str, str]) -> str:
    command = [sys.executable, "-c", FOUND]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout.strip()


async def test_a_keyring_that_hangs_is_given_up_and_a_file_used(open_keys: Open, tmp_path: Path):
    keyring = Locked()
    began = time.monotonic()
    keys = open_keys(keyring)
    await keys.save("openai:key", KEY)
    await keys.save("mistral:key", "another-key-0123")

    assert time.monotonic() - began < 5
    where = await keys.where()
    assert where.place == "file"
    assert "did not answer within 1.5 seconds" in where.why
    assert keys.get("openai:key") == KEY
    keyring.unlocked.set()


async def test_a_key_in_a_keyring_that_hangs_now_is_told(open_keys: Open):
    await open_keys(Kept()).save("openai:key", KEY)
    locked = Locked()
    again = open_keys(locked)
    await again.ready()
    described = again.describe("openai:key")
    assert again.get("openai:key") == ""
    assert described is not None
    assert "did not answer" in described.trouble
    with pytest.raises(StorageError, match="did not answer"):
        await again.forget("openai:key")


async def test_a_keyring_that_was_unlocked_meanwhile_is_read_when_it_is_tried_again(open_keys: Open):
    locked = Locked()
    locked.unlocked.set()
    await open_keys(locked).save("openai:key", KEY)
    locked.unlocked.clear()
    keys = open_keys(locked)
    await keys.ready()
    assert keys.get("openai:key") == ""
    locked.unlocked.set()
    await keys.look_again()
    described = keys.describe("openai:key")
    assert keys.get("openai:key") == KEY
    assert described is not None
    assert described.trouble == ""
    assert (await keys.where()).place == "keyring"


async def test_a_key_that_somebody_took_out_of_the_keyring_is_told(open_keys: Open):
    await open_keys(Kept()).save("openai:key", KEY)
    again = open_keys(Kept())
    await again.ready()
    described = again.describe("openai:key")
    assert described is not None
    assert "not in the system's keyring any more" in described.trouble


async def test_a_start_without_saved_keys_does_not_touch_the_keyring(tmp_path: Path):
    def never() -> Keyring:
        raise AssertionError("nobody saved a key")

    database = JournalDB(tmp_path / "app.tdb")
    keys = ProviderKeys(KeptKeys(database), tmp_path, keyring=never)
    await keys.ready()
    assert keys.values() == {}
    database.close()


async def test_a_key_that_is_removed_is_nowhere(open_keys: Open, tmp_path: Path):
    keyring = Kept()
    for backend in (keyring, fail.Keyring()):
        keys = open_keys(backend)
        await keys.save("openai:key", KEY)
        await keys.forget("openai:key")
        assert keys.describe("openai:key") is None
        assert (keys.get("openai:key"), keys.values()) == ("", {})
    assert keyring.passwords == {}
    assert KEY not in stored(tmp_path)
    assert not (tmp_path / FILE).exists()


async def test_a_key_moves_out_of_the_file_where_there_is_a_keyring_now(open_keys: Open, tmp_path: Path):
    await open_keys(fail.Keyring()).save("openai:key", KEY)
    keyring = Kept()
    await open_keys(keyring).save("openai:key", KEY)
    assert list(keyring.passwords.values()) == [KEY]
    assert KEY not in stored(tmp_path)


async def test_where_nothing_can_be_written_a_key_lives_until_the_app_ends(open_keys: Open, tmp_path: Path):
    (tmp_path / FILE).mkdir()
    keys = open_keys(fail.Keyring())
    await keys.save("openai:key", KEY)
    described = keys.describe("openai:key")
    assert keys.get("openai:key") == KEY
    assert described is not None
    assert described.where == "in memory, until the app ends"
    assert FILE in described.trouble
    again = open_keys(fail.Keyring())
    await again.ready()
    assert again.describe("openai:key") is None


async def test_a_damaged_file_is_told_and_hides_nothing_else(open_keys: Open, tmp_path: Path):
    await open_keys(fail.Keyring()).save("openai:key", KEY)
    (tmp_path / FILE).write_text("{not json")
    again = open_keys(fail.Keyring())
    await again.ready()
    described = again.describe("openai:key")
    assert described is not None
    assert "Remove the file" in described.trouble


async def test_what_is_no_key_changes_nothing(open_keys: Open):
    keys = open_keys(Kept())
    await keys.save("openai:key", KEY)
    with pytest.raises(WorkbenchError):
        await keys.save("openai:key", "two words")
    assert keys.get("openai:key") == KEY
