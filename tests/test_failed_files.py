"""What is tried once more after a test failed."""

import json
from pathlib import Path

from tests.failed_files import failed_files


def test_the_whole_file_of_what_failed_is_tried_again_among_what_was_run(tmp_path: Path):
    cache = tmp_path / "lastfailed"
    assert failed_files(["tests"], cache) == []
    names = ("tests/e2e/test_a.py::test_one", "tests/llm/test_b.py::test_two[x]", "tests/llm/test_b.py::test_three")
    cache.write_text(json.dumps(dict.fromkeys(names, True)))
    assert failed_files(["tests/e2e"], cache) == ["tests/e2e/test_a.py"]
    assert failed_files(["tests", "--ignore=tests/e2e"], cache) == ["tests/llm/test_b.py"]
