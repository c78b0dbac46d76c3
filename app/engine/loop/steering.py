"""A message that breaks into a run: it becomes a turn of its own, once nothing that was begun is left open."""

from app.domain.events import FileChanged, MessageAdded
from app.engine.loop.attachments import attach
from app.engine.run.control import Steer
from app.engine.run.run import Run


def take_in_steers(run: Run) -> bool:
    """Make the messages that wait turns of the run; true when there was one."""
    taken = False
    while (steer := run.control.next_steer()) is not None:
        _take_in(run, steer)
        taken = True
    return taken


def _take_in(run: Run, steer: Steer) -> None:
    attached = attach(steer.message, run.files)
    for path in attached.files.keys() - run.files.keys():
        digest = attached.files[path]
        run.files[path] = digest
        run.recorder.record(FileChanged(call_id="", path=path, before=None, after=digest))
    run.recorder.record(MessageAdded(message=attached.message, origin="steer"))
    steer.landed.set_result(True)
