"""A run waits for a person: to allow a tool's call, or to answer what a tool or the run itself asks.

What stands asked in the trace already, of a run that its process left, is not asked a second time.
"""

import asyncio
from dataclasses import dataclass

from app.domain.events import Decision, PauseRequested, PauseResolved
from app.domain.messages import ToolCall
from app.domain.tools import Answer, Question
from app.domain.trace import open_pauses
from app.domain.values import new_id
from app.engine.run.run import Run

NOBODY = "This is an experiment: nobody is there to be asked."
WITHDRAWN = "Nobody waits for this decision any more."


@dataclass(frozen=True)
class PersonOfRun:
    """Whoever watches the run of a call."""

    run: Run
    call: ToolCall
    given: PauseResolved | None = None
    """The answer to a question of this call that was decided before it ran again."""

    async def ask(self, question: Question, until: "asyncio.Future[Answer] | None" = None) -> Answer:
        """Their answer, or what `until` came to, in the trace by then; the run's time stands still until it comes."""
        sign_in = question.sign_in
        pause = PauseRequested(
            pause_id=new_id(),
            reason="oauth" if sign_in else "question",
            call_id=self.call.call_id,
            name=self.call.name,
            arguments=sign_in.model_dump(mode="json") if sign_in else {},
            question=question.text,
            asked_by=question.asked_by,
            form=question.form,
        )
        if self.given is not None and self.given.subject == pause.subject:
            return _answer(self.given)
        return _answer(await decision_on(self.run, pause, until))


async def decision_on(run: Run, pause: PauseRequested, until: "asyncio.Future[Answer] | None" = None) -> PauseResolved:
    """What was decided, or what `until` came to; the pause and the decision are in the trace."""
    if run.started.purpose == "experiment":
        denied = PauseResolved(pause_id=pause.pause_id, decision="deny", note=NOBODY, by="app", subject=pause.subject)
        run.recorder.record(pause, denied)
        return denied
    standing = _standing(run, pause)
    asked = standing or pause
    with run.control.expecting(asked.pause_id) as decision, run.waiting(pause.call_id):
        if standing is None:
            run.recorder.record(pause)
        if until is not None:
            until.add_done_callback(lambda ended: _settle(decision, asked, ended))
        try:
            await run.recorder.flush()
            resolved = await decision
        finally:  # also where a steer has decided it and cancels the call that asked
            if decision.done() and not decision.cancelled():
                run.recorder.record(decision.result())
    return resolved


def withdraw(run: Run, pause: PauseRequested, note: str = WITHDRAWN) -> None:
    """Take back what the run asked before its process left it."""
    run.recorder.record(PauseResolved(pause_id=pause.pause_id, decision="deny", note=note, by="app"))


def _standing(run: Run, pause: PauseRequested) -> PauseRequested | None:
    """The same question where it was left open; other ones that were left open by this call are taken back."""
    found = None
    for left in open_pauses(run.recorder.entries):
        if left.call_id != pause.call_id or run.control.expects(left.pause_id):
            continue
        if left.subject == pause.subject and found is None:
            found = left
        else:
            withdraw(run, left)
    return found


def _settle(decision: "asyncio.Future[PauseResolved]", pause: PauseRequested, ended: "asyncio.Future[Answer]") -> None:
    """Nobody has to decide any more."""
    if decision.done() or ended.cancelled():
        return
    answer = ended.result()
    said: Decision = "answer" if answer.decision == "accept" else "deny"
    decision.set_result(
        PauseResolved(pause_id=pause.pause_id, decision=said, note=answer.note, by="app", subject=pause.subject)
    )


def _answer(resolved: PauseResolved) -> Answer:
    if resolved.decision == "deny":
        return Answer(decision="decline", note=resolved.note)
    return Answer(decision="accept", values=resolved.arguments or {})
