"""Some of the requests of the tens of thousands that `make faults ARGS=api_fuzz` sends."""

from pathlib import Path

from tests.app_process import AppProcess
from tests.fuzzing import fuzz


def test_no_request_is_answered_by_a_server_error(tmp_path: Path):
    app = AppProcess(tmp_path / "data")
    app.start()
    try:
        fuzzed = fuzz(app, cases=55)
    finally:
        app.stop()
    assert not fuzzed.faults, "\n".join(fuzzed.faults[:10])
    assert fuzzed.asked >= 50
    assert {200, 404, 422} <= fuzzed.statuses.keys()
