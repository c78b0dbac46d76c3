"""The packaged app, as one file and as a folder, where there is no Python and no source on the way."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.app_process import AppProcess
from tests.e2e.conftest import (
    browser,
    complaints,
    context,
    page,
    pytest_configure,
    pytest_runtest_makereport,
    screenshot,
)
from tests.packaged.built import FORMS, NOTHING_ELSE

__all__ = ["browser", "complaints", "context", "page", "pytest_configure", "pytest_runtest_makereport", "screenshot"]


@pytest.fixture(scope="module", params=list(FORMS))
def executable(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The executable; the single file copied alone into an empty folder."""
    built = FORMS[request.param]
    assert built.is_file(), f"{built} is not there: make bundle"
    if request.param == "folder":
        return built
    return Path(shutil.copy2(built, tmp_path_factory.mktemp("alone")))


@pytest.fixture(scope="module")
def start_app(executable: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., AppProcess]]:
    """Starts the packaged app on a new data folder, with more environment where it is given."""
    started: list[AppProcess] = []

    def start(**environment: str) -> AppProcess:
        home = tmp_path_factory.mktemp("home")
        app = AppProcess(
            home / "data",
            executable=executable,
            environment={**NOTHING_ELSE, "HOME": str(home), **environment},
            options=("--trust-tools",),
        )
        app.start()
        started.append(app)
        return app

    yield start
    for app in started:
        app.stop_if_running()


@pytest.fixture(scope="module")
def app_process(start_app: Callable[..., AppProcess]) -> AppProcess:
    return start_app()
