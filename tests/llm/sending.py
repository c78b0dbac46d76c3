"""Requests with attachments, sent to a fake server of each provider; and pictures as cameras make them."""

import hashlib
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from app.domain.errors import NotFound
from app.domain.messages import FilePart, ImagePart, Message, SentAttachment, user_message
from app.domain.streaming import ModelRequest, Reply
from app.domain.tools import ToolSpec
from app.llm.attachments.provider_files import ProviderFiles
from app.llm.directory import ModelDirectory
from app.llm.providers.providers import Keys
from app.store.journal.database import JournalDB
from app.store.records.provider_files import KeptProviderFiles
from tests.fakes.anthropic import FakeAnthropic
from tests.fakes.bedrock import FakeBedrock
from tests.fakes.files import FileStore
from tests.fakes.gemini import FakeGemini
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai import FakeOpenAI
from tests.fakes.server import FakeServer, Json
from tests.llm.calling import CATALOG, keys_for

FAKES: dict[str, type[FakeServer]] = {
    "openai": FakeOpenAI,
    "openrouter": FakeOpenAI,
    "anthropic": FakeAnthropic,
    "gemini": FakeGemini,
    "bedrock": FakeBedrock,
    "ollama": FakeOllama,
    "lmstudio": FakeOpenAI,
}
PDF = b"%PDF-1.4\n1 0 obj<<>>endobj\n%%EOF"
WAV = b"RIFF\x04\0\0\0WAVEfmt "
MP4 = b"\0\0\0\x18ftypmp42"


def picture(size: tuple[int, int] = (60, 40), kind: str = "PNG", *, mode: str = "RGB", turned: int = 0) -> bytes:
    """A noisy picture; `turned` is the EXIF orientation that its camera wrote, beside a place."""
    image = Image.effect_noise(size, 60).convert(mode)
    file = io.BytesIO()
    if turned:
        written = Image.Exif()
        written[0x0112], written[0x010F] = turned, "Camera at home"
        image.save(file, kind, exif=written)
    else:
        image.save(file, kind)
    return file.getvalue()


@dataclass
class Sender:
    """One provider at its fake, and what is attached."""

    fake: FakeServer
    models: ModelDirectory
    files: ProviderFiles
    kept: KeptProviderFiles
    contents: dict[str, bytes] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    sessions: set[str] = field(default_factory=lambda: {"s1"})

    @property
    def store(self) -> FileStore:
        store = getattr(self.fake, "store", None)
        assert isinstance(store, FileStore)
        return store

    @property
    def body(self) -> Json:
        return self.fake.seen.last

    def allow(self, provider: str) -> None:
        self.settings[f"{provider}:uploads"] = "allowed"

    def file(self, content: bytes, media_type: str, name: str, disposition: str = "auto") -> FilePart:
        digest = self._put(content)
        return FilePart(
            artifact=digest,
            media_type=media_type,
            filename=name,
            size=len(content),
            path=f"/{name}",
            disposition=disposition,
        )

    def image(self, content: bytes, disposition: str = "auto", *, detail: bool = False, **more: str) -> ImagePart:
        kind = more.get("media_type", "image/png")
        return ImagePart(
            artifact=self._put(content), media_type=kind, alt="cat.png", disposition=disposition, detail=detail
        )

    def _put(self, content: bytes) -> str:
        digest = hashlib.sha256(content).hexdigest()
        self.contents[digest] = content
        return digest

    async def send(
        self,
        name: str,
        *parts: FilePart | ImagePart,
        before: tuple[Message, ...] = (),
        tools: tuple[ToolSpec, ...] = (),
        dispositions: dict[str, str] | None = None,
        session: str = "s1",
    ) -> tuple[SentAttachment, ...]:
        """How each went along; `body` is what arrived then. Raises `ModelFailure`."""
        messages = (*before, user_message("look", *parts))
        asked = ModelRequest(
            name, messages, tools=tools, idle_timeout=60, dispositions=dispositions or {}, session_id=session
        )
        request = await self.models.prepared(asked)
        model = await self.models.open(name)
        items = [item async for item in model.stream(request)]
        assert isinstance(items[-1], Reply)
        return tuple((request.sent or {}).values())


@asynccontextmanager
async def sender(provider: str, folder: Path) -> AsyncIterator[Sender]:
    contents: dict[str, bytes] = {}
    settings: dict[str, str] = {}
    sessions = {"s1"}

    async def read(digest: str) -> bytes:
        if digest not in contents:
            raise NotFound(digest)
        return contents[digest]

    async with FAKES[provider]() as fake:
        keys = keys_for(fake.url)
        more = {
            "AWS_ACCESS_KEY_ID": "AKIAFAKE", "AWS_SECRET_ACCESS_KEY": "fake", "AWS_REGION": "eu-central-1",
            "bedrock:address": fake.url, "OPENROUTER_API_KEY": "sk-or-fake", "OPENROUTER_BASE_URL": f"{fake.url}/v1",
        }  # fmt: skip
        look: Keys = lambda name: keys(name) or more.get(name, "") or settings.get(name, "")  # noqa: E731
        database = JournalDB(folder / "app.tdb")
        kept = KeptProviderFiles(database)
        files = ProviderFiles(kept, look, lambda session: session in sessions)
        models = ModelDirectory(CATALOG, read, keys=look, files=files, pace=0)
        yield Sender(fake, models, files, kept, contents, settings, sessions)
        await files.close()
        database.close()
