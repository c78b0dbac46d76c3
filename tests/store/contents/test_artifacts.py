import hashlib
import os
import stat
from pathlib import Path

import pytest

from app.domain.errors import NotFound, StorageError
from app.store.contents.artifacts import Artifacts
from tests.store.disks import CALLS, TroubledDisk, broken, full


async def test_a_content_is_found_under_its_sha256(tmp_path: Path):
    artifacts = Artifacts(tmp_path)
    content = b"\x00picture\xff" * 1000
    digest = await artifacts.put(content)
    assert digest == hashlib.sha256(content).hexdigest()
    assert await artifacts.get(digest) == content
    assert await artifacts.put(content) == digest
    assert (tmp_path / digest[:2] / digest).read_bytes() == content


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
async def test_files_and_folders_are_private(tmp_path: Path):
    digest = await Artifacts(tmp_path / "artifacts").put(b"secret")
    file = tmp_path / "artifacts" / digest[:2] / digest
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent, file.parent.parent)] == [
        0o600,
        0o700,
        0o700,
    ]


async def test_an_unknown_digest_is_named(tmp_path: Path):
    with pytest.raises(NotFound, match="a" * 64):
        await Artifacts(tmp_path).get("a" * 64)


@pytest.mark.parametrize(
    "digest", ["", "..", "../" * 10 + "etc/passwd", "A" * 64, "g" * 64, "a" * 63, "a" * 65, "a" * 64 + "\n", "/" * 64]
)
async def test_what_is_no_digest_reaches_no_file(tmp_path: Path, digest: str):
    with pytest.raises(NotFound, match="is no artifact"):
        await Artifacts(tmp_path).get(digest)


async def test_a_damaged_file_is_never_given_out_and_is_healed_by_storing_it_again(tmp_path: Path):
    artifacts = Artifacts(tmp_path)
    digest = await artifacts.put(b"the content")
    artifacts.path(digest).write_bytes(b"the c0ntent")
    with pytest.raises(StorageError, match="is damaged"):
        await artifacts.get(digest)
    await artifacts.put(b"the content")
    assert await artifacts.get(digest) == b"the content"


@pytest.mark.parametrize("error", [broken, full])
async def test_a_failure_at_any_call_leaves_all_or_nothing(tmp_path: Path, error):
    digest = hashlib.sha256(b"the content").hexdigest()
    for first in range(1, 30):
        folder = tmp_path / str(first)
        disk = TroubledDisk(*CALLS, first=first, error=error, half=True)
        artifacts = Artifacts(folder, disk)
        if disk_failed := await _fails(artifacts):
            assert not list(folder.rglob("*.tmp"))
        try:
            assert await Artifacts(folder).get(digest) == b"the content"
        except NotFound:
            assert disk_failed
        await artifacts.put(b"the content")
        assert await artifacts.get(digest) == b"the content"
        if disk.got_through:
            return
    pytest.fail("It never got through")


async def _fails(artifacts: Artifacts) -> bool:
    try:
        await artifacts.put(b"the content")
    except StorageError:
        return True
    return False
