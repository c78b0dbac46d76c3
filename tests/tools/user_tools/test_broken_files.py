"""A file that does not work is told with its line, and keeps its last good tools; others are unharmed."""

from app.tools.user_tools.user_file import FileProblem
from tests.tools.user_tools.conftest import Folder, returning, until

SCRIPT_BLOCK = '# /// script\n# dependencies = ["no-such-package[extra]>=2", "pydantic"]\n# ///\n'
BROKEN = [
    ("def word() -> str:\n    return (", 2, "never closed"),
    ("x = '\0'\n", None, "null bytes"),
    ("# /// script\n# dependencies = [\n# ///\n", 1, "no TOML"),
    ("import sys\nsys.exit(3)\n", 2, "SystemExit"),
    ("def inner():\n    raise KeyError('gone')\n\ninner()\n", 2, "KeyError"),
    (f"{SCRIPT_BLOCK}import no_such_package\n", 4, "no_such_package"),
]


async def test_a_broken_file_says_where_and_keeps_its_last_good_tools(folder: Folder) -> None:
    path = (await folder.add("a.py", returning("good"))).path
    tool = folder.tools.tools()["word"]
    told = {}
    for text, line, words in BROKEN:
        folder.write("a.py", text)
        told[words] = await until(lambda words=words: problem_with(folder, words))
        assert told[words].line == line
        assert await folder.call("word") == "good"
    assert f'File "{path}", line 2, in inner' in told["KeyError"].traceback
    assert told["no_such_package"].missing == ("no-such-package",)
    assert told["no_such_package"].install.endswith('-m pip install "no-such-package[extra]>=2"')
    folder.write("a.py", returning("good"))
    await folder.seen("a.py", "ready")
    assert folder.tools.tools()["word"] == tool  # what worked needs no new process


async def test_a_file_that_failed_is_tried_again_when_it_is_saved_unchanged(folder: Folder) -> None:
    text = "import _late\n" + returning("x")
    path = (await folder.add("a.py", text)).path
    assert folder.file("a.py").status == "broken"
    folder.write("_late.py", "")
    path.write_text(text)
    await folder.seen("a.py", "ready")


async def test_a_file_that_loads_forever_keeps_nobody_waiting(folder: Folder) -> None:
    for name in ("a.py", "b.py"):
        folder.write(name, "import threading\nthreading.Event().wait()\n")
        await folder.seen(name, "untrusted")
        await folder.tools.trust(name)
    folder.write("good.py", returning("x"))
    await folder.seen("good.py", "untrusted")
    await folder.tools.trust("good.py")
    await folder.has("word")
    assert folder.file("a.py").status == "loading"
    folder.write("a.py", returning("y", name="mended"))
    await folder.has("word", "mended")


async def test_what_can_be_no_tool_is_told_with_its_line(folder: Folder) -> None:
    file = await folder.add("a.py", "def anything(**kwargs):\n    '''Take anything.'''\n")
    assert file.status == "empty" and file.tools == ()
    [sentence] = file.left_out
    assert "anything" in sentence and "line 1" in sentence


async def test_a_huge_file_and_one_in_another_encoding_are_refused(folder: Folder) -> None:
    folder.write("huge.py", "# " + "x" * 1_000_000)
    (folder.tools.folder / "latin.py").write_bytes("# -*- coding: latin-1 -*-\nname = 'Müller'\n".encode("latin-1"))
    huge, latin = await folder.seen("huge.py", "broken"), await folder.seen("latin.py", "broken")
    assert huge.problem and "1,000,000" in huge.problem.text
    assert latin.problem and "UTF-8" in latin.problem.text


async def test_an_untrusted_file_already_says_what_is_wrong_with_its_text(folder: Folder) -> None:
    folder.write("a.py", "def (:\n")
    file = await folder.seen("a.py", "untrusted")
    assert file.problem and file.problem.line == 1 and "a.py" in file.problem.traceback


async def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(folder: Folder) -> None:
    path = folder.tools.folder / "a.py"
    path.write_bytes(b"\xef\xbb\xbf" + returning("x").replace("\n", "\r\n").encode())
    await folder.promises("a.py", "word")
    assert folder.tools.source("a.py") == returning("x")


def problem_with(folder: Folder, words: str) -> FileProblem | None:
    """The problem of `a.py`, once it is one of these words."""
    file = folder.file("a.py")
    return file.problem if file and file.problem and words in file.problem.text else None
