"""Files that go with a message over the API, behind the real door with real keys."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.api.door.guests import WorkbenchGuests
from app.api.door.security import BODY_OF_OTHERS, ENVELOPE, Door
from app.domain.agents import PromptBehaviour, new_agent
from app.domain.events import ModelCalled
from app.domain.messages import FilePart, ImagePart
from app.domain.settings import Preferences
from app.workbench import Workbench
from tests.api.over import api_over, opened

PORT = 8765
TOKEN = "A-token-of-tests-with-43-characters-_0123456"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
CSV = b"a,b\n1,2\n"
MIB = 1024**2


@pytest.fixture
async def workbench(tmp_path: Path) -> AsyncIterator[Workbench]:
    workbench = opened(tmp_path)
    reader = new_agent("Reader", PromptBehaviour(), taken_slugs=())
    await workbench.agents.create(reader.model_copy(update={"is_public": True}))
    yield workbench
    await workbench.close()


def client_of(workbench: Workbench, key: str = "") -> httpx.AsyncClient:
    door = Door(api_over(workbench), port=PORT, token=TOKEN, guests=WorkbenchGuests(workbench))
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app=door),
        base_url=f"http://127.0.0.1:{PORT}/api/v1",
        headers={"X-API-Key": key} if key else {},
        timeout=30,
    )


@pytest.fixture
async def owner(workbench: Workbench) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(workbench, TOKEN) as client:
        yield client


@pytest.fixture
async def program(workbench: Workbench, owner: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody with a key for one agent."""
    made = (await owner.post("/keys", json={"name": "program", "agents": ["reader"]})).json()["data"]
    async with client_of(workbench, made["key"]) as client:
        yield client


async def uploaded(client: httpx.AsyncClient, content: bytes, filename: str) -> str:
    """Its sha256, once it is there."""
    reply = await client.post("/uploads", params={"filename": filename}, content=content)
    assert reply.status_code == 201, reply.text
    return str(reply.json()["data"]["sha256"])


async def attached(workbench: Workbench, run_id: str) -> tuple[ImagePart | FilePart, ...]:
    trace = await workbench.runs.trace(run_id)
    return trace.entries[1].event.message.attachments  # type: ignore[union-attr]  # the message that began it


async def test_a_file_is_told_by_its_bytes_and_name(program: httpx.AsyncClient):
    raw = await program.post("/uploads", params={"filename": "a/b/é <1>.csv"}, content=CSV)
    told = {"sha256": hashlib.sha256(CSV).hexdigest(), "mime": "text/csv", "size": 8, "filename": "é _1_.csv"}
    assert (raw.status_code, raw.json()["data"]) == (201, told)
    form = await program.post("/uploads", files={"file": ("é <1>.csv", CSV, "image/png")})
    assert (form.status_code, form.json()["data"]) == (201, told)


async def test_run_chat_queue_and_job_carry_what_was_uploaded(program: httpx.AsyncClient, workbench: Workbench):
    files = [{"sha256": await uploaded(program, CSV, "table.csv")}, {"sha256": await uploaded(program, PNG, "cat.png")}]
    run = (await program.post("/agents/reader/run", json={"input": "", "attachments": files})).json()["data"]
    job = {"input": "Look", "background": True, "attachments": files}
    background = (await program.post("/agents/reader/run", json=job)).json()["data"]
    chat = {"message": "Look", "agent": "reader", "session": run["session_id"], "attachments": files}
    said = (await program.post("/chat", json=chat)).json()["data"]
    for run_id in (run["run_id"], background["run_id"], said["run_id"]):
        parts = await attached(workbench, run_id)
        assert [(part.type, part.path) for part in parts] == [("file", "/table.csv"), ("image", "/cat.png")]
        assert await workbench.artifacts.get(parts[0].artifact) == CSV
    queue = f"/sessions/{run['session_id']}/queue"
    sent = await program.post(queue, json={"message": "More", "attachments": files[:1]})
    assert sent.json()["data"]["state"] == "sent"
    live = workbench.runs.of_session(run["session_id"]) or workbench.runs.recent(
        workbench.sessions.get(run["session_id"]).runs[-1]
    )
    assert live and [part.path for part in await attached(workbench, live.run_id)] == ["/table.csv"]


async def test_a_disposition_says_how_it_goes_to_the_model(program: httpx.AsyncClient, workbench: Workbench):
    csv, png = await uploaded(program, CSV, "table.csv"), await uploaded(program, PNG, "cat.png")
    pdf = await uploaded(program, b"%PDF-1.4\xff", "a.pdf")
    wanted = {csv: "inline", png: "reference", pdf: "native"}
    files = [{"sha256": sha256, "disposition": how} for sha256, how in wanted.items()]
    files[1]["detail"] = True
    run = (await program.post("/agents/reader/run", json={"input": "Look", "attachments": files})).json()["data"]
    file, image, report = await attached(workbench, run["run_id"])
    assert [part.disposition for part in (file, image, report)] == ["inline", "reference", "native"]
    assert isinstance(image, ImagePart) and image.detail
    assert run["warnings"] == ["“a.pdf” went as a file of the session: The demo model keeps no files."]
    trace = await workbench.runs.trace(run["run_id"])
    [called] = [entry.event for entry in trace.entries if isinstance(entry.event, ModelCalled)]
    assert [(one.name, one.how, one.size) for one in called.attachments] == [
        *[("table.csv", "inline", 8), ("cat.png", "reference", 0), ("a.pdf", "reference", 0)],
    ]
    meant = {"input": "Look", "attachments": [{"sha256": png, "disposition": "tool:pdf_text"}]}
    assert (await program.post("/agents/reader/run", json=meant)).json()["data"]["warnings"] == [
        "“cat.png” went as a file of the session: this agent has no tool 'pdf_text'."
    ]
    unknown = {"input": "Look", "attachments": [{"sha256": png, "disposition": "somehow"}]}
    assert (await program.post("/agents/reader/run", json=unknown)).status_code == 422


async def test_an_agent_says_by_type_how_attachments_go(owner: httpx.AsyncClient, program: httpx.AsyncClient):
    rules = {"text/*": "inline", "application/pdf": "tool:pdf_text"}
    changed = await owner.put("/agents/reader", json={"attachments": rules})
    assert changed.json()["data"]["attachments"] == rules and changed.json()["data"]["variant"] == 2
    sent = [{"sha256": await uploaded(program, b"%PDF-1.4", "a.pdf")}]
    run = (await program.post("/agents/reader/run", json={"input": "Look", "attachments": sent})).json()["data"]
    assert "this agent has no tool 'pdf_text'" in run["warnings"][0]
    for wrong in ({"text/*": "somehow"}, {"Text": "inline"}):
        assert (await owner.put("/agents/reader", json={"attachments": wrong})).status_code == 422


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\0\0\0\x18ftypheic", "a HEIC picture"),
        (b"\0\0\0\x18ftypavif", "an AVIF picture"),
        (b"II*\0\x08", "a TIFF picture"),
        (b"BM\x3a\0\0\0\0\0\0\0", "a BMP picture"),
    ],
)
async def test_a_picture_that_no_model_takes_is_refused_in_words(
    program: httpx.AsyncClient, content: bytes, words: str
):
    refused = await program.post("/uploads", params={"filename": "photo.jpg"}, content=content)
    assert refused.status_code == 422
    assert refused.json()["error"] == (
        f"“photo.jpg” is {words}, which models do not take. Save it as PNG or JPEG, and attach that."
    )


async def test_what_one_key_uploads_is_there_for_no_other(program: httpx.AsyncClient, owner: httpx.AsyncClient):
    body = {"input": "Look", "attachments": [{"sha256": await uploaded(program, CSV, "table.csv")}]}
    refused = await owner.post("/agents/reader/run", json=body)
    assert refused.status_code == 404 and "POST /api/v1/uploads" in refused.json()["error"]


async def test_who_has_no_key_attaches_nothing_and_sends_little(program: httpx.AsyncClient, workbench: Workbench):
    sha256 = await uploaded(program, CSV, "table.csv")
    async with client_of(workbench) as guest:
        assert (await guest.post("/uploads", content=CSV)).status_code == 401
        run = {"input": "Look", "attachments": [{"sha256": sha256}]}
        assert (await guest.post("/agents/reader/run", json=run)).status_code == 404
        much = await guest.post("/agents/reader/run", json={"input": "x" * BODY_OF_OTHERS})
        assert much.status_code == 413 and "1 MiB" in much.json()["error"]


async def test_the_bound_is_the_owners_setting(program: httpx.AsyncClient, workbench: Workbench):
    assert len(await uploaded(program, bytes(20 * MIB), "most.bin")) == 64
    await workbench.preferences.save(Preferences(attachment_mib=1))
    one_more = await program.post("/uploads", params={"filename": "more.bin"}, content=bytes(MIB + 1))
    in_form = await program.post("/uploads", files={"file": ("more.bin", bytes(MIB + 1))})
    for refused in (one_more, in_form):
        assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
        assert "“more.bin” is larger than 1 MiB" in refused.json()["error"]
    at_the_door = await program.post("/uploads", content=bytes(MIB + ENVELOPE + 1))
    assert at_the_door.status_code == 413 and at_the_door.json()["error"] == "At most 1 MiB can be sent at once."


async def test_what_is_no_file_is_refused_in_words(program: httpx.AsyncClient):
    empty = await program.post("/uploads", params={"filename": "empty.txt"}, content=b"")
    assert empty.status_code == 422 and "“empty.txt” is empty" in empty.json()["error"]
    form = await program.post("/uploads", files={"file": (None, b"words")})
    assert form.status_code == 422 and "no file in the form" in form.json()["error"]
    two = await program.post("/uploads", files=[("a", ("a", CSV)), ("b", ("b", CSV))])
    assert two.status_code == 422 and "Too many files" in two.json()["error"]
    broken = await program.post("/uploads", content=b"xx", headers={"Content-Type": "multipart/form-data"})
    assert broken.status_code == 422 and "form cannot be read" in broken.json()["error"]
