"""The runs that ended and are still to be sent on to a collector."""

from app.domain.collectors import UnsentRun
from app.store.journal.database import JournalDB
from app.store.journal.documents import Documents, Removable


class UnsentRuns(Removable[UnsentRun]):
    def __init__(self, database: JournalDB) -> None:
        super().__init__(Documents(database, "unsent_runs", UnsentRun, noun="unsent run"), lambda one: one.run_id)

    def all(self) -> list[UnsentRun]:
        """Those that can be read, the first that ended first."""
        return list(self._documents.values())
