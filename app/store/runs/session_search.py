"""Sessions found by all that was said in them, on whichever branch, each with the words where they were found."""

from collections.abc import Container, Mapping

from app.domain.branches import Turn
from app.domain.sessions import FoundSession, Session, SessionPage
from app.domain.trace import Excerpt
from app.store.records.sessions import Sessions
from app.store.runs.rows import Rows
from app.store.runs.search import Search


class SessionSearch:
    def __init__(self, sessions: Sessions, rows: Rows, search: Search) -> None:
        self._sessions = sessions
        self._rows = rows
        self._search = search

    @property
    def state(self) -> tuple[int, int]:
        """Another one whenever a list or a search may give something else."""
        return self._sessions.changes, self._search.grown

    @property
    def behind(self) -> int:
        """How many runs are still to be read before all of them can be found."""
        return self._search.behind

    async def page(
        self, text: str = "", *, limit: int = 50, offset: int = 0, among: Container[str] | None = None
    ) -> SessionPage:
        """Sessions that say the words in one of their runs or in their title, pinned ones first, then the newest.

        Of all, or of those with the ids that are `among`. Deleted runs, and old ones that were replaced, say nothing.
        """
        said = await self._said(text) if text.strip() else {}
        page, total = self._sessions.page(search=text, limit=limit, offset=offset, among=among, saying=said)
        if not said:
            return SessionPage([FoundSession(session) for session in page], total)
        run_ids = [said[session.id] for session in page if session.id in said]
        excerpts = await self._search.excerpts(run_ids, text)
        return SessionPage([_found(session, said.get(session.id, ""), excerpts) for session in page], total)

    async def _said(self, text: str) -> dict[str, str]:
        """By session: the newest of its runs that says the words."""
        matching = self._rows.by_session(await self._search.matching(text))
        newest = (
            (session_id, next((turn.run_id for turn in turns if self._speaks(session_id, turn)), ""))
            for session_id, turns in matching.items()
        )
        return {session_id: run_id for session_id, run_id in newest if run_id}

    def _speaks(self, session_id: str, turn: Turn) -> bool:
        """Whether the run is a turn of the session; only of old ones that takes a look at the session."""
        return turn.follows is not None or self._sessions.holds(session_id, turn)


def _found(session: Session, run_id: str, excerpts: Mapping[str, Excerpt]) -> FoundSession:
    return FoundSession(session, run_id, excerpts.get(run_id))
