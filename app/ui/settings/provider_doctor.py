"""Whether a provider works, found out step by step."""

import asyncio
from collections.abc import Sequence

from nicegui import background_tasks, events, ui

from app.domain.errors import WorkbenchError
from app.llm.providers.doctor import COST, Doctor, Finding, Step
from app.ui.elements.buttons import button
from app.ui.elements.doctor_view import DoctorStep, doctor_steps, steps_view
from app.ui.elements.focus import refocus
from app.ui.elements.live_html import LiveHtml
from app.ui.elements.notices import notify

TITLES: dict[Step, str] = {
    "resolves": "The name is known",
    "connects": "The server can be reached",
    "certificate": "The connection is secure",
    "key": "The key is accepted",
    "listed": "The model is listed",
    "call": "The model answers",
    "tool": "The model calls a tool",
}


class ProviderDoctor(ui.element):
    """What somebody wrote is tried, else what `suggest` was given."""

    def __init__(self, doctor: Doctor, provider: str, *, is_local: bool) -> None:
        super().__init__("div")
        self.classes("provider-doctor").props("data-testid=doctor")
        self._doctor = doctor
        self._provider = provider
        self._task: asyncio.Task[None] | None = None
        self._findings: list[Finding] = []
        self._suggested = ""
        cost = "costs nothing" if is_local else f"costs {COST}"
        with self:
            ui.label("Doctor").classes("set-title")
            ui.label(f"Tries the way to it step by step; asking the model twice {cost}.").classes("set-note")
            with ui.element("div").classes("row-line doctor-line"):
                self._model = ui.input("Model to try").props("outlined dense data-testid=doctor-model")
                self._start = button("Run the doctor", self._begin, icon="healing", testid="run-doctor")
                self._stop = button("Stop", self._stop_asked, look="quiet", testid="stop-doctor")
                self._stop.visible = False
            self._steps = LiveHtml().props("role=status aria-live=polite")
        self.on("keydown.enter", self._begin)

    def suggest(self, model: str) -> None:
        """Try that one, where nobody wrote another."""
        if not self._model.value:
            self._model.value = self._suggested = model

    def forget(self) -> None:
        """Show nothing that was found out, or suggested, where the provider was before."""
        self._cancel()
        self._findings.clear()
        self._steps.show(steps_view(()))
        if self._model.value == self._suggested:
            self._model.value = ""

    def _begin(self, _: events.GenericEventArguments | None = None) -> None:
        if self._task is None or self._task.done():
            self._start.set_enabled(False)
            self._stop.visible = True
            self._task = background_tasks.create(self._examine(), name=f"examine {self._provider}")

    async def _stop_asked(self) -> None:
        self._cancel()
        if self._task is not None:
            await asyncio.wait([self._task])
            refocus(self, "[data-testid=run-doctor]")

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _examine(self) -> None:
        findings = self._findings = []
        model = str(self._model.value or "").strip().removeprefix(f"{self._provider}/")
        self._show(findings, running=True)
        try:
            async for finding in self._doctor.examine(self._provider, model):
                if self.is_deleted:  # its page was left
                    return
                findings.append(finding)
                self._show(findings, running=True)
        except WorkbenchError as problem:
            with self:
                notify(str(problem))
        finally:
            if not self.is_deleted:
                self._settle(findings)

    def _settle(self, findings: list[Finding]) -> None:
        self._show(findings, running=False)
        self._start.set_enabled(True)
        self._stop.visible = False

    def _show(self, findings: list[Finding], *, running: bool) -> None:
        self._steps.show(steps_view(steps_of(findings, running=running)))


def steps_of(findings: Sequence[Finding], *, running: bool) -> list[DoctorStep]:
    """All steps of a doctor who has found out that much."""
    return doctor_steps(TITLES, [_found(one) for one in findings], running=running)


def _found(finding: Finding) -> DoctorStep:
    took = f"{finding.seconds:.1f} s" if finding.seconds >= 0.05 else ""
    return DoctorStep(finding.step, TITLES[finding.step], finding.outcome, finding.text, finding.fix, took)
