"""What the buttons of a turn do on every page that shows one."""

from app.ui.conversation.pause_card import DECIDE, STOP, decide_pause
from app.ui.conversation.save_case import SaveCase
from app.ui.conversation.turn import Turn
from app.ui.elements.new_session import make_workflow
from app.ui.elements.notices import copy_text
from app.workbench import Workbench


async def do_on_turn(workbench: Workbench, turn: Turn, action: str, value: str) -> None:
    """Copy its texts, save it as a case or a workflow, decide on its pauses and retries, let a run that was left go on.

    Raises `Conflict` for what waits no more.
    """
    match action:
        case "copy-request" if turn.message is not None:
            copy_text(turn.message.text)
        case "copy-answer" if turn.answer is not None:
            copy_text(turn.answer.text)
        case "save-case":
            SaveCase(workbench, turn.run_id)
        case "make-workflow":
            await make_workflow(workbench, turn.run_id)
        case "retry-now" | "give-up":
            if (live := workbench.runs.live(turn.run_id)) is not None:
                live.control.retrying.decide(again=action == "retry-now")
        case _ if action == DECIDE:
            await decide_pause(workbench, turn.run_id, value)
        case _ if action == STOP:
            await workbench.pauses.stop(turn.run_id)
        case "resume":
            await workbench.chat.resume(turn.run_id)
        case _:
            pass
