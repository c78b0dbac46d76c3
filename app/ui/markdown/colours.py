"""Colours of code for all tabs, found out in a process of its own.

The patterns of lexers backtrack: some thousand characters that were made for one can take it minutes. Code is shown
without colours first, and gets them when they are there.
"""

import asyncio
import logging
from collections import OrderedDict
from pathlib import Path

from nicegui import events, ui
from pydantic import TypeAdapter

from app.domain.errors import ToolError
from app.domain.messages import TextPart
from app.late import late

with late():
    from app.tools.worker import file_worker
    from app.ui.markdown import colouring

_NAMES = (
    "bash c c# c++ cfg console cpp csharp css diff docker dockerfile go golang html http ini java javascript js json "
    "jsx kotlin lua make makefile markdown md php powershell ps1 py pycon python python3 r rb rs ruby rust scala scss "
    "sh shell sql swift toml ts tsx typescript xml yaml yml zsh"
)
LANGUAGES = frozenset(_NAMES.split())
"""As a code block may name them."""
LONGEST_CODE = 5_000
"""Characters."""
SECONDS = 5.0
"""After which the process is killed, and the code stays as it is; one that takes long is ended sooner by itself."""
TOOK_TOO_LONG = "killed by SIGPROF"
"""How such an end is told."""
REMEMBERED = 500
Pieces = list[tuple[str, int]]
"""The class of each piece's colour, and its length as browsers count."""
_PIECES: TypeAdapter[Pieces] = TypeAdapter(Pieces)
_log = logging.getLogger(__name__)


class Colours:
    """One process for one code after the other; it starts with the first of them, and ends when it is not needed."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._worker: file_worker.FileWorker | None = None
        self._turn = asyncio.Lock()
        self._known: OrderedDict[tuple[str, str], Pieces] = OrderedDict()

    async def of(self, text: str, language: str) -> Pieces:
        """Empty for what is too long, takes too long, or is in no language that is known here."""
        language, asked = language.lower(), (text, language.lower())
        if len(text) > LONGEST_CODE or language not in LANGUAGES:
            return []
        async with self._turn:
            if asked not in self._known:
                self._known[asked] = await self._found(text, language)
            self._known.move_to_end(asked)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
            return self._known[asked]

    async def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            await self._worker.close()

    async def _found(self, text: str, language: str) -> Pieces:
        self._worker = self._worker or file_worker.FileWorker(Path(colouring.__name__), None)
        try:
            await self._worker.load()
            async with asyncio.timeout(self._seconds):
                found = await self._worker.call("colouring", {"text": text, "language": language})
        except TimeoutError:
            return []
        except ToolError as error:
            if TOOK_TOO_LONG not in str(error):
                _log.warning("Code is shown without colours: %s", error)
            return []
        return _PIECES.validate_json("".join(part.text for part in found.parts if isinstance(part, TextPart)))


_WANTED: TypeAdapter[tuple[int, str, str]] = TypeAdapter(tuple[int, str, str])


class CodeColours(ui.element, component="code_colours.js"):
    """One in each tab; it looks after all code there, whoever shows it."""

    def __init__(self, colours: Colours) -> None:
        super().__init__()
        self._colours = colours
        self.on("wanted", self._answer)

    async def _answer(self, event: events.GenericEventArguments) -> None:
        number, text, language = _WANTED.validate_python(event.args)
        self.run_method("paint", number, await self._colours.of(text, language))
