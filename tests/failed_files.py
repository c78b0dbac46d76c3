"""The files of the tests that failed last, among what pytest was given: a file is tried again whole.

Its tests share what they made, and one of them alone may lack what it builds on. Exits with 1 where none is known.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

CACHE = Path(".pytest_cache/v/cache/lastfailed")


def failed_files(given: Sequence[str], cache: Path = CACHE) -> list[str]:
    """Those below a given path, and below none that is given to be ignored."""
    names = json.loads(cache.read_text(encoding="utf-8")) if cache.exists() else {}
    ignored = tuple(word.removeprefix("--ignore=") for word in given if word.startswith("--ignore="))
    within = tuple(word for word in given if not word.startswith("-"))
    files = dict.fromkeys(name.partition("::")[0] for name in names)
    return sorted(file for file in files if file.startswith(within) and not file.startswith(ignored))


if __name__ == "__main__":
    files = [file for file in failed_files(sys.argv[1:]) if Path(file).exists()]  # it is remembered past its end
    print(*files)
    sys.exit(not files)
