"""How each attachment of a request goes to its model: decided by the table of what it takes, then made ready.

What cannot be done becomes a file of the session, which tools open, and it is said why.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from app.domain.errors import NotFound
from app.domain.messages import (
    TOOL,
    FilePart,
    ImagePart,
    Message,
    SentAttachment,
    SentKey,
    TextPart,
    ToolResult,
    disposition_of,
    sent_key,
)
from app.domain.streaming import ModelRequest
from app.domain.tools import canonical_name
from app.llm.attachments.file_stores import NotKept
from app.llm.attachments.pictures import DETAILED_EDGE, EDGE, NotShown, Picture, Pictures
from app.llm.attachments.provider_files import Content, ProviderFiles, ReadArtifact
from app.llm.attachments.routes import LONGEST_TEXT, Asked, Route, route, tokens_of
from app.llm.providers.accepted import MIB, accepted_by, kind_of
from app.llm.providers.catalog import Catalog

MOST_IMAGE_BYTES = 20 * MIB
"""Of all pictures of one call together: what the larger providers take."""
TOO_MANY = f"the pictures of one call may have {MOST_IMAGE_BYTES // MIB} MiB together"
GONE = "it is not available any more"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """An attachment as it is written into a call."""

    fact: SentAttachment
    content: bytes = b""
    file_id: str = ""
    tool: str = ""
    """The tool that it is meant for; empty for whichever opens it."""


@dataclass(slots=True)
class _Room:
    """What a call still takes; the newest take of it first."""

    pictures: int
    files: int
    documents: int


class _Falls(Exception):
    """It cannot go that way; the message says why."""


class Attachments:
    def __init__(
        self,
        catalog: Catalog,
        read: ReadArtifact,
        files: ProviderFiles | None = None,
        pictures: Pictures | None = None,
    ) -> None:
        self._catalog = catalog
        self._read = read
        self._files = files
        self._pictures = pictures or Pictures()

    async def prepared(self, request: ModelRequest, *, uploading: bool = True) -> ModelRequest:
        """The request with how each of its attachments goes along, and with the texts among them in its messages.

        Pictures are made smaller and files are uploaded for it, unless it is not `uploading`: then it tells only what
        would be. Raises nothing for an attachment: one that cannot go as it was meant to says why.
        """
        asked, found = self.asked(request), list(attachments_in(request.messages))
        if not found:
            return replace(request, sent={})
        accepted = accepted_by(asked.provider)
        room = _Room(MOST_IMAGE_BYTES, accepted.most, accepted.most_documents)
        facts: dict[SentKey, SentAttachment] = {}
        texts: dict[SentKey, str] = {}
        for part, is_new in reversed(found):
            if (key := sent_key(part)) in facts:
                continue
            way = route(part, asked, is_new=is_new)
            try:
                facts[key] = await self._fact(part, way, asked, room, texts, uploading=uploading)
            except _Falls as fallen:
                facts[key] = _fact(part, "reference", str(fallen))
        sent = dict(reversed(facts.items()))
        return replace(request, messages=_with_texts(request.messages, texts), sent=sent)

    async def outgoing(self, request: ModelRequest) -> Mapping[SentKey, Outgoing]:
        """What is written into a call of the prepared request."""
        found = (part for part, _ in attachments_in(request.messages))
        meant = {sent_key(part): disposition_of(part, request.dispositions) for part in found}
        tools = {key: canonical_name(one.removeprefix(TOOL)) for key, one in meant.items() if one.startswith(TOOL)}
        return {
            key: replace(await self._outgoing(fact, request), tool=tools.get(key, ""))
            for key, fact in (request.sent or {}).items()
        }

    async def forget(self, request: ModelRequest, file_ids: Collection[str]) -> None:
        """The provider of the request does not have these any more."""
        for file_id in file_ids:
            if self._files is not None:
                await self._files.forget(self.asked(request).provider, file_id)

    def weights(self, request: ModelRequest) -> Mapping[SentKey, int]:
        """About how many tokens each file that goes within a message takes; pictures are counted elsewhere."""
        asked = self.asked(request)
        found = ((part, route(part, asked, is_new=is_new)) for part, is_new in attachments_in(request.messages))
        return {
            sent_key(part): tokens_of(part)
            for part, way in found
            if isinstance(part, FilePart) and way.how != "reference"
        }

    def asked(self, request: ModelRequest) -> Asked:
        name = self._catalog.resolve(request.model)
        provider, _, model = name.partition("/")
        return Asked(
            provider=provider,
            model=model,
            card=self._catalog.card(name),
            tools=request.tools,
            dispositions=request.dispositions,
            session_id=request.session_id,
            may_keep=self._files is not None and self._files.may_keep(provider),
        )

    async def _fact(
        self,
        part: ImagePart | FilePart,
        way: Route,
        asked: Asked,
        room: _Room,
        texts: dict[SentKey, str],
        *,
        uploading: bool,
    ) -> SentAttachment:
        if way.how == "reference":
            return _fact(part, "reference", way.why)
        if way.how == "native":
            try:
                return await self._uploaded(part, asked, uploading=uploading)
            except NotKept as problem:
                if not way.inline_too:
                    raise _Falls(str(problem)) from problem
        if isinstance(part, ImagePart):
            picture = await self._picture(part.artifact, part.detail)
            room.pictures -= len(picture.content)
            if room.pictures < 0:
                room.pictures = 0  # no older one is shown beside it either
                raise _Falls(TOO_MANY)
            return _of_picture(part, "inline", picture)
        if kind_of(part.media_type) in ("text", "other"):
            texts[sent_key(part)] = f"{part.name}:\n{await self._text(part)}"
            return _fact(part, "inline", media_type="text/plain", size=part.size)
        if room.files < part.size or room.documents < 1:
            raise _Falls("it is too much for one call beside the other files")
        room.files -= part.size
        room.documents -= 1
        await self._content(part.artifact)
        return _fact(part, "inline", media_type=part.media_type, size=part.size)

    async def _uploaded(self, part: ImagePart | FilePart, asked: Asked, *, uploading: bool) -> SentAttachment:
        """A picture is kept there as it would be sent: without what a camera wrote into it."""
        if isinstance(part, ImagePart):
            fact = _of_picture(part, "native", await self._picture(part.artifact, part.detail))
        else:
            fact = _fact(part, "native", media_type=part.media_type, size=part.size)
        if uploading:
            await self._id_of(fact, asked)
        return fact

    async def _id_of(self, fact: SentAttachment, asked: Asked) -> str:
        if fact.width:
            content = (await self._picture(fact.artifact, fact.detail)).content
        else:
            content = await self._content(fact.artifact)
        if self._files is None:
            raise NotKept("nothing is kept with providers here")
        return await self._files.id_of(asked.provider, Content(content, fact.name, fact.media_type), asked.session_id)

    async def _outgoing(self, fact: SentAttachment, request: ModelRequest) -> Outgoing:
        try:
            if fact.how == "native":
                return Outgoing(fact, file_id=await self._id_of(fact, self.asked(request)))
            if fact.how == "inline" and fact.width:
                return Outgoing(fact, (await self._picture(fact.artifact, fact.detail)).content)
            if fact.how == "inline" and fact.media_type != "text/plain":
                return Outgoing(fact, await self._content(fact.artifact))
        except (NotKept, _Falls) as problem:  # since it was prepared
            return Outgoing(fact.model_copy(update={"how": "reference", "why": str(problem)}))
        return Outgoing(fact)

    async def _picture(self, artifact: str, detail: bool) -> Picture:
        edge = DETAILED_EDGE if detail else EDGE
        if (known := self._pictures.known(artifact, edge)) is not None:
            return known
        try:
            return await self._pictures.sent(artifact, await self._content(artifact), edge)
        except NotShown as problem:
            raise _Falls(str(problem)) from problem

    async def _text(self, part: FilePart) -> str:
        if part.size > LONGEST_TEXT:
            raise _Falls(f"only texts of up to {LONGEST_TEXT // 1024} KiB are copied into a message")
        try:
            text = (await self._content(part.artifact)).decode()
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            raise _Falls("it is no text, picture, PDF, sound or video that could be within a message")
        return text

    async def _content(self, artifact: str) -> bytes:
        try:
            return await self._read(artifact)
        except NotFound:
            raise _Falls(GONE) from None


def attachments_in(messages: tuple[Message, ...]) -> Iterator[tuple[ImagePart | FilePart, bool]]:
    """What people attached and the pictures that tools returned, oldest first; whether nothing was said since."""
    last = max((place for place, message in enumerate(messages) if message.role == "user"), default=-1)
    for place, message in enumerate(messages):
        for part in message.attachments if message.role == "user" else ():
            yield part, place >= last
        for result in message.parts:
            if isinstance(result, ToolResult):
                yield from ((part, place >= last) for part in result.parts if isinstance(part, ImagePart))


def _fact(
    part: ImagePart | FilePart, how: str, why: str = "", *, media_type: str = "", size: int = 0
) -> SentAttachment:
    return SentAttachment.model_validate(
        {
            "artifact": part.artifact,
            "name": part.name,
            "disposition": part.disposition,
            "detail": sent_key(part)[2],
            "how": how,
            "why": why,
            "media_type": media_type,
            "size": size,
        }
    )


def _of_picture(part: ImagePart, how: str, picture: Picture) -> SentAttachment:
    fact = _fact(part, how, media_type=picture.media_type, size=len(picture.content))
    return fact.model_copy(update={"width": picture.width, "height": picture.height})


def _with_texts(messages: tuple[Message, ...], texts: Mapping[SentKey, str]) -> tuple[Message, ...]:
    if not texts:
        return messages
    return tuple(
        message.model_copy(
            update={
                "parts": tuple(
                    TextPart(text=texts[sent_key(part)])
                    if isinstance(part, FilePart) and sent_key(part) in texts
                    else part
                    for part in message.parts
                )
            }
        )
        if message.role == "user"
        else message
        for message in messages
    )
