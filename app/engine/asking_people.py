"""A run waits for a person: to allow a tool's call, or to answer what a tool asks in the middle of one."""

from dataclasses import dataclass

from app.domain.events import PauseRequested, PauseResolved
from app.domain.messages import ToolCall
from app.domain.tools import Answer, Question
from app.domain.values import new_id
from app.engine.run import Run


@dataclass(frozen=True)
class PersonOfRun:
    """Whoever watches the run of a call."""

    run: Run
    call: ToolCall

    async def ask(self, question: Question) -> Answer:
        """Their answer, which is in the trace by then; the run's time stands still until it comes."""
        pause = PauseRequested(
            pause_id=new_id(),
            reason="question",
            call_id=self.call.call_id,
            name=self.call.name,
            question=question.text,
            asked_by=question.asked_by,
            form=question.form,
        )
        resolved = await decision_on(self.run, pause)
        if resolved.decision == "deny":
            return Answer(decision="decline")
        return Answer(decision="accept", values=resolved.arguments or {})


async def decision_on(run: Run, pause: PauseRequested) -> PauseResolved:
    """What was decided; the pause and the decision are in the trace."""
    with run.control.expecting(pause.pause_id) as decision, run.stopwatch.standing_still():
        run.recorder.record(pause)
        await run.recorder.flush()
        resolved = await decision
    run.recorder.record(resolved)
    return resolved
