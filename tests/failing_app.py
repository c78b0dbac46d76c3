"""The app with a search that can neither begin nor end: `python -m tests.failing_app` takes the app's own arguments."""

from app.domain.errors import StorageError
from app.store.runs.search import Search
from app.workbench import Workbench
from tests.driven_app import serve_driven
from tests.parts import having


class Failing(Search):
    def start(self) -> None:
        raise OSError("No index can be made here.")

    async def close(self) -> None:
        raise StorageError("There is no room for the index.")


def failing(workbench: Workbench) -> Workbench:
    return having(workbench, search=Failing(workbench.data.aside / "cache", workbench.rows, workbench.data.traces))


async def prepare(_workbench: Workbench) -> None:
    """Nothing has to be there."""


if __name__ == "__main__":
    serve_driven(failing, prepare)
