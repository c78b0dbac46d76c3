"""Contents as pages show them."""

from pathlib import Path

import pytest

from app.domain.errors import NotFound
from app.store.contents.artifacts import Artifacts
from app.store.contents.contents import Contents


async def test_their_size_is_known_unread(tmp_path: Path):
    artifacts = Artifacts(tmp_path)
    contents = Contents(artifacts)
    assert await contents.size(await artifacts.put(b"five.")) == 5
    for digest in ("0" * 64, "../x"):
        with pytest.raises(NotFound):
            await contents.size(digest)


def test_addresses_are_of_the_origin_that_serves_them(tmp_path: Path):
    assert Contents(Artifacts(tmp_path)).picture("a" * 64).startswith("/")
    asked: list[str] = []

    def origin() -> str:
        asked.append("once more")
        return "http://127.0.0.1:9"

    contents = Contents(Artifacts(tmp_path), origin)
    assert not asked
    assert contents.download("a" * 64, "/x/y.txt").startswith("http://127.0.0.1:9/")
    assert contents.download("a" * 64, "").endswith("?" + "a" * 64)
    assert len(asked) == 2
