"""Files from the app's pages, over a real workbench and behind the real door."""

import hashlib
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from app.api.door.security import Door, install
from app.api.routes.uploads import file_routes
from app.domain.agents import PromptBehaviour, new_agent
from app.domain.settings import Preferences
from app.workbench import Workbench
from tests.door import LARGEST_FILE, NoGuests
from tests.signed_in import BROWSER, one_browser

PORT = 8765
TOKEN = "A-token-of-tests-with-43-characters-_0123456"
HERE = f"http://127.0.0.1:{PORT}"
OWNER = {"Origin": HERE, "Cookie": f"agent_playground_{PORT}={BROWSER}"}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = Workbench.open(tmp_path / "data")
    await workbench.preferences.save(Preferences(attachment_mib=LARGEST_FILE // 1024**2))
    yield workbench
    await workbench.close()


@pytest.fixture
async def client(workbench: Workbench) -> AsyncIterator[httpx.AsyncClient]:
    server = FastAPI()
    server.include_router(file_routes(workbench))
    install(server, partial(Door, port=PORT, token=TOKEN, guests=NoGuests(), sign_ins=one_browser()))
    transport = httpx.ASGITransport(app=server)
    async with httpx.AsyncClient(transport=transport, base_url=HERE, headers=OWNER) as client:
        yield client


@pytest.fixture
async def uploads(workbench: Workbench) -> str:
    """Where a session takes its files."""
    agent = await workbench.agents.create(new_agent("Reader", PromptBehaviour(), taken_slugs=()))
    return f"/uploads/{(await workbench.chat.new_session(agent.id)).id}"


async def chunks(total: int, sent: list[int]) -> AsyncIterator[bytes]:
    """A body of no declared length; `sent` gets what was asked for of it."""
    for _ in range(total // 65536):
        sent.append(65536)
        yield bytes(65536)


async def test_a_picture_is_kept_and_shown_as_what_it_is(client: httpx.AsyncClient, uploads: str) -> None:
    reply = (await client.post(uploads, params={"name": "a/b/é <1>.html"}, content=PNG)).json()
    part = reply["data"]
    assert reply["success"] is True
    assert (part["type"], part["media_type"], part["alt"]) == ("image", "image/png", "é _1_.html")
    assert (await client.get(f"/artifacts/{part['artifact']}")).status_code == 404  # this origin gives no contents


async def test_a_file_keeps_its_kind_and_size(client: httpx.AsyncClient, uploads: str) -> None:
    part = (await client.post(uploads, params={"name": "table.csv"}, content=b"a,b\n1,2\n")).json()["data"]
    assert part | {"artifact": ""} == {
        "type": "file",
        "artifact": "",
        "media_type": "text/csv",
        "filename": "table.csv",
        "size": 8,
        "path": "",
        "disposition": "auto",
    }


@pytest.mark.parametrize(("content", "name"), [(SVG, "logo.png"), (b"<script>1</script>", "a.html")])
async def test_what_can_carry_script_is_a_file_to_take_along(
    client: httpx.AsyncClient, uploads: str, content: bytes, name: str
) -> None:
    headers = {"Content-Type": "image/png"}
    part = (await client.post(uploads, params={"name": name}, content=content, headers=headers)).json()["data"]
    assert part["type"] == "file"


async def test_what_is_only_saved_may_be_a_picture_that_no_model_takes(
    client: httpx.AsyncClient, uploads: str, workbench: Workbench
) -> None:
    name = {"name": "chart.svg"}
    assert (await client.post(uploads, params=name, content=SVG)).status_code == 422
    part = (await client.post(uploads, params={**name, "saved": "true"}, content=SVG)).json()["data"]
    assert await workbench.artifacts.get(part["artifact"]) == SVG


async def test_an_upload_is_counted_while_it_arrives(
    client: httpx.AsyncClient, uploads: str, workbench: Workbench
) -> None:
    taken: list[int] = []
    reply = await client.post(uploads, params={"name": "big.bin"}, content=chunks(10 * LARGEST_FILE, taken))
    assert reply.status_code == 413
    assert "“big.bin” is larger than 2 MiB" in reply.json()["error"]
    assert sum(taken) == LARGEST_FILE + 65536
    kept = (path for path in (workbench.data.path / "artifacts").rglob("*") if path.is_file())
    assert list(kept) == []


async def test_the_largest_file_is_taken(client: httpx.AsyncClient, uploads: str) -> None:
    content = bytes(LARGEST_FILE)
    reply = await client.post(uploads, params={"name": "most.bin"}, content=content)
    assert reply.json()["data"]["artifact"] == hashlib.sha256(content).hexdigest()
    declared = await client.post(uploads, params={"name": "more.bin"}, content=content + b"x")
    assert (declared.status_code, declared.json()["code"]) == (413, "too_large")
    far_more = await client.post(uploads, params={"name": "far more.bin"}, content=content * 2)
    assert far_more.status_code == 413
    assert "2 MiB" in far_more.text


async def test_a_dataset_takes_files_for_its_cases_until_it_is_deleted(client: httpx.AsyncClient, workbench: Workbench):
    dataset = await workbench.collecting.new_dataset("Sums")
    address, name = f"/uploads/{dataset.id}", {"name": "a.csv"}
    taken = await client.post(address, params=name, content=b"a,b\n")
    assert (taken.status_code, taken.json()["data"]["filename"]) == (200, "a.csv")
    await workbench.collecting.delete(dataset.id)
    assert (await client.post(address, params=name, content=b"a,b\n")).status_code == 404


async def test_what_does_not_fit_is_refused_in_words(
    client: httpx.AsyncClient, uploads: str, workbench: Workbench
) -> None:
    empty = await client.post(uploads, params={"name": "empty.txt"}, content=b"")
    assert (empty.status_code, empty.json()["code"]) == (422, "invalid")
    assert "“empty.txt” is empty" in empty.json()["error"]
    assert (await client.post("/uploads/none", content=b"x")).json()["code"] == "not_found"
    await workbench.sessions.delete(uploads.rpartition("/")[2])
    deleted = await client.post(uploads, content=b"x")
    assert deleted.status_code == 404
    assert "deleted" in deleted.json()["error"]


async def test_other_pages_and_strangers_send_no_files(client: httpx.AsyncClient, uploads: str) -> None:
    foreign = await client.post(uploads, content=b"x", headers={"Origin": "http://evil.example"})
    assert foreign.status_code == 403
    for headers in ({"Cookie": ""}, {"Cookie": "", "Authorization": f"Bearer {TOKEN}"}):
        assert (await client.post(uploads, content=b"x", headers=headers)).status_code == 401
