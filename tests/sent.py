"""A run whose files went along in every way that there is."""

from app.domain.events import Entry, MessageAdded
from app.domain.messages import Disposition, FilePart, Message, SentAttachment, TextPart
from tests.traces import called, finished, returned, said, started, trace_of

WAYS = {
    "a.txt": "Copied into the message: 12 bytes",
    "b.pdf": "Uploaded to the provider: 1.5 kB",
    "c.png": "Sent inline: 60 × 40 px, 1.5 kB",
    "d.csv": "A file of the session, for the tool csv",
    "e.zip": "A file of the session: The model takes no archives",
    "f.bin": "A file of the session",
}
"""By name: what is said of it."""


def run_with_files(run_id: str = "r1") -> list[Entry]:
    sent = (
        _fact("a.txt", how="inline", media_type="text/plain", size=12),
        _fact("b.pdf", how="native", media_type="application/pdf", size=1500),
        _fact("c.png", how="inline", media_type="image/png", size=1500, width=60, height=40),
        _fact("d.csv", how="reference", disposition="tool:csv"),
        _fact("e.zip", how="reference", why="The model takes no archives"),
        _fact("f.bin", how="reference"),
    )
    files = (_file(fact.name, fact.disposition) for fact in sent)
    message = Message(role="user", parts=(TextPart(text="Look at these"), *files))
    later = tuple(fact.model_copy(update={"how": "reference", "why": "Later"}) for fact in sent)
    events = (
        *(started(), MessageAdded(message=message, origin="user")),
        *(called().model_copy(update={"attachments": sent}), said("Seen."), returned()),
        *(called("m2").model_copy(update={"attachments": later}), said("Again."), returned("m2"), finished()),
    )
    return trace_of(*events, run_id=run_id)


def _file(name: str, disposition: Disposition) -> FilePart:
    return FilePart(artifact=name[0] * 64, media_type="x/y", filename=name, size=9, disposition=disposition)


def _fact(name: str, **facts: object) -> SentAttachment:
    return SentAttachment.model_validate({"artifact": name[0] * 64, "name": name, **facts})
