"""A folder of tool files that is followed, with real processes behind it and a real database of what is trusted."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

from app.domain.messages import TextPart
from app.store.journal.database import JournalDB
from app.store.records.tables import TrustedFiles
from app.tools.user_tools.folder import UserTools
from app.tools.user_tools.user_file import UserFile
from tests import waiting
from tests.tools.context import Context

T = TypeVar("T")


async def until(condition: Callable[[], T]) -> T:
    """What `condition` gives once it gives something true; leaves the processor to the processes meanwhile."""
    return await waiting.until(condition, seconds=20, pause=0.01)


@dataclass
class Folder:
    """The user's side: writes files with any editor, and looks at what became of them."""

    tools: UserTools

    def write(self, name: str, text: str) -> Path:
        path = self.tools.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def file(self, name: str) -> UserFile | None:
        return next((file for file in self.tools.files() if file.name == name), None)

    async def seen(self, name: str, status: str) -> UserFile:
        """The file once it has that status."""

        def found() -> UserFile | None:
            file = self.file(name)
            return file if file and file.status == status else None

        return await until(found)

    async def promises(self, name: str, *tools: str) -> None:
        """Return when the text of that file has these tools; it need not run for that."""
        await until(lambda: (file := self.file(name)) and [tool.name for tool in file.preview] == list(tools))

    async def has(self, *names: str) -> None:
        """Return when these are the tools there are."""
        await until(lambda: set(self.tools.tools()) == set(names))

    async def add(self, name: str, text: str) -> UserFile:
        """A file that may run and was loaded, or could not be."""
        self.write(name, text)
        await self.seen(name, "untrusted")
        await self.tools.trust(name)
        await self.tools.settled()
        file = self.file(name)
        assert file
        return file

    async def call(self, name: str, **arguments: object) -> str:
        output = await self.tools.tools()[name].run(arguments, Context())
        [part] = output.parts
        assert isinstance(part, TextPart)
        return part.text


def returning(text: str, *, name: str = "word") -> str:
    """A file with one tool that returns that text."""
    return f'def {name}() -> str:\n    """Say a word."""\n    return {text!r}\n'


@pytest.fixture
def trusted(tmp_path: Path) -> TrustedFiles:
    return TrustedFiles(JournalDB(tmp_path / "app.tdb"))


@pytest.fixture
async def folder(tmp_path: Path, trusted: TrustedFiles) -> AsyncIterator[Folder]:
    tools = UserTools(tmp_path / "tools", trusted)
    await tools.start()
    yield Folder(tools)
    await tools.close()
