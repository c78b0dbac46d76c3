"""The stores for files of three providers, as far as they are used: what was uploaded, asked for and deleted."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import web

from tests.fakes.server import Json

Dialect = Literal["openai", "anthropic", "gemini"]
URI = "https://generativelanguage.googleapis.com/v1beta/files/"


@dataclass
class Kept:
    """A file as it arrived."""

    id: str
    name: str
    media_type: str
    content: bytes
    fields: dict[str, str]
    headers: dict[str, str]


@dataclass
class FileStore:
    dialect: Dialect
    files: dict[str, Kept] = field(default_factory=dict)
    """By the last part of its id; what is deleted is not there any more."""
    uploads: list[Kept] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    holds: asyncio.Event | None = None
    """Until it is set, nobody is told that a file was kept."""
    asked_to_delete: int = 0
    broken: bool = False
    """Whether it deletes nothing."""
    refuses: bool = False
    """Whether it takes nothing."""
    forgets: bool = False
    """Whether it has nothing any more of what it took."""
    processing: int = 0
    """How often a file that was uploaded says that it is not ready."""
    expires: str = ""
    """What Google says of when a file is gone; empty for nothing."""
    waiting: Json = field(default_factory=dict)

    def routes(self) -> list[web.RouteDef]:
        if self.dialect == "gemini":
            return [
                web.post("/upload/v1beta/files", self._begin),
                web.post("/upload/here", self._finish),
                web.get("/v1beta/files/{id}", self._look),
                web.delete("/v1beta/files/{id}", self._delete),
            ]
        return [web.post("/v1/files", self._form), web.delete("/v1/files/{id}", self._delete)]

    def missing(self, body: Json) -> str:
        """The first file that a call names and that is not here; empty where all are."""
        names = ("file_id", "file_uri", "fileUri")
        found = [one for name in names for one in _values(body, name)]
        return next((one for one in found if self.forgets or one.rpartition("/")[2] not in self.files), "")

    def _keep(self, name: str, media_type: str, content: bytes, fields: dict[str, str], request: web.Request) -> Kept:
        number = len(self.uploads) + 1
        short = f"abcdefgh{number:04}" if self.dialect == "gemini" else f"file-Kept{number:08}"
        kept = Kept(short, name, media_type, content, fields, dict(request.headers))
        self.files[short] = kept
        self.uploads.append(kept)
        return kept

    def _refusal(self) -> web.Response:
        return web.json_response({"error": {"message": "The store is full."}}, status=507)

    async def _form(self, request: web.Request) -> web.Response:
        if self.refuses:
            return self._refusal()
        form = await request.post()
        file = form["file"]
        assert isinstance(file, web.FileField)
        fields = {name: str(value) for name, value in form.items() if name != "file"}
        kept = self._keep(file.filename, file.content_type, file.file.read(), fields, request)
        if self.holds is not None:
            await self.holds.wait()
        return web.json_response({"id": kept.id, "type": "file", "filename": kept.name})

    async def _begin(self, request: web.Request) -> web.Response:
        if self.refuses:
            return self._refusal()
        self.waiting = {"name": (await request.json())["file"]["display_name"], **dict(request.headers)}
        return web.json_response({}, headers={"x-goog-upload-url": f"http://{request.host}/upload/here"})

    async def _finish(self, request: web.Request) -> web.Response:
        media_type = self.waiting["X-Goog-Upload-Header-Content-Type"]
        kept = self._keep(self.waiting["name"], media_type, await request.read(), {}, request)
        return web.json_response({"file": self._described(kept)})

    async def _look(self, request: web.Request) -> web.Response:
        self.processing -= 1
        return web.json_response(self._described(self.files[request.match_info["id"]]))

    def _described(self, kept: Kept) -> Json:
        told = {"name": f"files/{kept.id}", "uri": URI + kept.id, "mimeType": kept.media_type}
        state = {"state": "PROCESSING" if self.processing > 0 else "ACTIVE"}
        return told | state | ({"expirationTime": self.expires} if self.expires else {})

    async def _delete(self, request: web.Request) -> web.Response:
        self.asked_to_delete += 1
        if self.broken:
            return self._refusal()
        if self.files.pop(request.match_info["id"], None) is None:
            return web.json_response({"error": {"message": "No such file."}}, status=404)
        self.deleted.append(request.match_info["id"])
        return web.json_response({})


def _values(body: object, name: str) -> list[str]:
    """What stands under that name anywhere in it."""
    text = json.dumps(body)
    marker = f'"{name}": "'
    return [piece.partition('"')[0] for piece in text.split(marker)[1:]]
