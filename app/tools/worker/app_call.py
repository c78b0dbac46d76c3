"""A call in a file's process as the app sees it: what the tool prints, wants and returns."""

import asyncio
from collections.abc import Callable

from app.domain.errors import InvalidArguments, ToolCrashed, ToolError, UnknownTool
from app.domain.messages import ResultPart, TextPart
from app.domain.tools import CallContext, ToolOutput
from app.domain.values import Value
from app.tools.worker.printing import PrintRoom
from app.tools.worker.protocol import (
    MOST_CONTENT,
    AskPerson,
    Contents,
    FromChild,
    KeptFile,
    ListFiles,
    Piece,
    Printed,
    Progressed,
    Raised,
    ReadFile,
    Reply,
    Request,
    Returned,
    WriteFile,
    pieces,
)

TOLD = {"invalid": InvalidArguments, "told": ToolError, "cancelled": ToolError, "unknown": UnknownTool}


Ending = asyncio.Future[Returned | ToolError]


class AppCall:
    """Waits for the end of a call, and meanwhile does for the tool what only the app can do."""

    def __init__(self, number: int, context: CallContext | None, send: Callable[[Value], None]) -> None:
        self.number = number
        self._context = context
        self._send = send
        self._room = PrintRoom()
        self._contents = Contents()
        self._last_content = 0
        self._requests: set[asyncio.Task[None]] = set()
        self.ended: Ending = asyncio.get_running_loop().create_future()

    @property
    def _given(self) -> CallContext:
        if self._context is None:
            raise ToolError("This call has no files, and there is nobody to ask.")
        return self._context

    async def output(self) -> ToolOutput:
        """What the tool returned, its files kept. Raises what it raised, as a `ToolError`."""
        await asyncio.wait({self.ended})
        ended = self.ended.result()
        if isinstance(ended, ToolError):
            raise ended
        return ToolOutput(parts=tuple([await self._kept(part) for part in ended.parts]))

    def end(self, ended: Returned | Raised | ToolError) -> None:
        """The first end counts."""
        self.stop_helping()
        if not self.ended.done():
            self.ended.set_result(_error(ended) if isinstance(ended, Raised) else ended)

    def heard(self, message: FromChild) -> None:
        """Take in what the process said of this call."""
        match message:
            case Printed(text=text):
                self.printed(text)
            case Progressed(progress=progress) if self._context and not self.ended.done():
                self._context.progressed(progress)
            case Piece():
                self._received(message)
            case ListFiles() | ReadFile() | WriteFile() | AskPerson():
                self._help(message)
            case Returned() | Raised():
                self.end(message)

    def printed(self, text: str) -> None:
        shown = self._room.take(text)
        if shown and self._context and not self.ended.done():
            self._context.printed(shown)

    def _received(self, piece: Piece) -> None:
        try:
            self._contents.add(piece)
        except ToolError as error:
            self.end(error)

    def _help(self, request: Request) -> None:
        """Do it in the background; the tool gets the answer."""
        task = asyncio.get_running_loop().create_task(self._answer(request))
        self._requests.add(task)
        task.add_done_callback(self._requests.discard)

    def stop_helping(self) -> None:
        for task in self._requests:
            task.cancel()

    async def _answer(self, request: Request) -> None:
        try:
            reply = await self._reply(request)
        except Exception as error:  # noqa: BLE001  the tool waits for a word, whatever went wrong
            reply = Reply(call=self.number, request=request.request, error=str(error) or type(error).__name__)
        except asyncio.CancelledError:
            self._send(Reply(call=self.number, request=request.request, error="The call was cancelled."))
            raise
        self._send(reply)

    async def _reply(self, request: Request) -> Reply:
        reply = Reply(call=self.number, request=request.request)
        match request:
            case ListFiles():
                return reply.model_copy(update={"names": tuple(sorted(self._given.files.digests()))})
            case ReadFile(path=path):
                return reply.model_copy(update={"content": await self._sent(await self._given.files.read(path))})
            case WriteFile(path=path, content=content):
                await self._given.files.write(path, self._contents.take(content))
                return reply
            case AskPerson(question=question):
                return reply.model_copy(update={"answer": await self._given.ask(question)})

    async def _sent(self, content: bytes) -> int:
        """The number under which the process has the bytes; others have their turn between the pieces."""
        if len(content) > MOST_CONTENT:
            raise ToolError(f"The file has {len(content):,} bytes; {MOST_CONTENT:,} is the most that is read at once.")
        self._last_content += 1
        number = self._last_content
        for piece in pieces(self.number, number, content):
            self._send(piece)
            await asyncio.sleep(0)
        return number

    async def _kept(self, part: TextPart | KeptFile) -> ResultPart:
        if isinstance(part, TextPart):
            return part
        content = self._contents.take(part.content)
        return await self._given.keep(content, media_type=part.media_type, filename=part.filename)


def _error(raised: Raised) -> ToolError:
    if raised.kind == "crashed":
        return ToolCrashed(raised.text, traceback=raised.traceback)
    return TOLD[raised.kind](raised.text)
