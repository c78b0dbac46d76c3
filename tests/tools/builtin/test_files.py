"""The files of a session, as a model reads and writes them."""

import asyncio
import hashlib
import tracemalloc

import pytest

from app.domain.errors import ToolError
from app.domain.messages import ToolCall
from app.tools.apart import ToolApart
from app.tools.builtin.files import LARGEST_FILE, file_tools
from app.tools.builtin.pdf_text import pdf_text
from app.tools.registry import Registry
from tests.tools.context import Context, MemoryFiles
from tests.tools.hostile_paths import HOSTILE


async def use(name: str, files: MemoryFiles, **arguments: object) -> str:
    call = ToolCall.model_validate({"call_id": "1", "name": name, "arguments": arguments})
    output = await Registry(file_tools(ToolApart(pdf_text))).call(call, Context(files=files))
    return "\n".join(part.text for part in output.parts)


def facts(content: bytes) -> str:
    return f"{len(content):,} bytes, sha256 {hashlib.sha256(content).hexdigest()[:12]}"


async def test_reading_tells_what_the_file_is_and_holds() -> None:
    content = b"one\ntwo\n"
    told = await use("read_file", MemoryFiles(a_txt=content), path="/a.txt")
    assert told == f"/a.txt: 2 lines, {facts(content)}\n\none\ntwo\n"


async def test_reading_a_part_says_where_to_read_on() -> None:
    content = "".join(f"line {number}\n" for number in range(1, 11)).encode()
    told = await use("read_file", MemoryFiles(a_txt=content), path="a.txt", offset=4, limit=2)
    assert told == (
        f"/a.txt: 10 lines, {facts(content)}; these are lines 4 to 5, read on with offset=6\n\nline 4\nline 5\n"
    )


async def test_a_long_file_is_shown_in_whole_lines() -> None:
    content = (b"x" * 999 + b"\n") * 150
    told = await use("read_file", MemoryFiles(a_txt=content), path="/a.txt")
    assert told.splitlines()[0].endswith("; these are lines 1 to 100, read on with offset=101")
    assert len(told.splitlines()) == 102


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\x00", b"\x01\xff", b"text with \x00"])
async def test_a_binary_file_is_told_in_words(content: bytes) -> None:
    with pytest.raises(ToolError, match=r"/a.png is no text file \(.* bytes, sha256"):
        await use("read_file", MemoryFiles(a_png=content), path="/a.png")


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "Имя;Город\nИван;Москва\n"), ("cp1250", "Příliš žluťoučký kůň\núpěl ďábelské ódy\n"),
        ("cp932", "名前,都市\n田中,東京\n"), ("mac_roman", "Name;Straße\nMüller;Königsallee\nÉlodie;Rue Français\n"),
        ("cp1252", "Der Übergang ist schön, weißt du. „Ja“ – sagte er…\n"),
        ("gb18030", "姓名,城市\n王伟,北京\n李娜,上海\n"),
        ("cp1253", "Όνομα;Πόλη\nΓιώργος;Αθήνα\n"), ("koi8_r", "Имя;Город\nИван;Москва\n"),
    ],
)  # fmt: skip
async def test_what_an_old_file_is_written_in_is_found_and_told(encoding: str, text: str) -> None:
    content = text.encode(encoding)
    heading, note, _, *lines = (await use("read_file", MemoryFiles(a_csv=content), path="/a.csv")).split("\n")
    assert heading == f"/a.csv: {text.count(chr(10))} line{'s' * (text.count(chr(10)) > 1)}, {facts(content)}"
    assert note.startswith(f"/a.csv is no UTF-8; it was read as {encoding} (") and "\n".join(lines) == text


async def test_what_a_file_is_written_in_can_be_said() -> None:
    files = MemoryFiles(a_txt="Łódź".encode("iso8859-2"), u_txt="añb".encode("utf-16"))
    assert (await use("read_file", files, path="/a.txt", encoding="ISO-8859-2")).endswith("\n\nŁódź")
    assert (await use("read_file", files, path="/u.txt")).endswith("\n\nañb")
    for encoding, complaint in (("utf-8", "is not written in utf-8: "), ("punycode", "no encoding"), ("x", "cp1251")):
        with pytest.raises(ToolError, match=complaint):
            await use("read_file", files, path="/a.txt", encoding=encoding)
    with pytest.raises(ToolError, match=r"no text in UTF-8 .* write_file"):
        await use("edit_file", files, path="/a.txt", old="a", new="b")


async def test_an_empty_file_can_be_read() -> None:
    assert await use("read_file", MemoryFiles(a_txt=b""), path="/a.txt") == f"/a.txt: 0 lines, {facts(b'')}\n\n"


@pytest.mark.parametrize("where", [{"offset": 0}, {"offset": 9}, {"limit": 0}])
async def test_lines_that_are_not_there_are_told(where: dict[str, int]) -> None:
    with pytest.raises(ToolError, match="line"):
        await use("read_file", MemoryFiles(a_txt=b"one"), path="/a.txt", **where)


async def test_writing_a_new_file_tells_what_was_written() -> None:
    files = MemoryFiles()
    told = await use("write_file", files, path="notes/a.txt", content="one\ntwo")
    assert told == "Created /notes/a.txt: 2 lines, " + facts(b"one\ntwo")
    assert files.contents == {"/notes/a.txt": b"one\ntwo"}


async def test_one_line_is_one() -> None:
    assert (await use("write_file", MemoryFiles(), path="/a.txt", content="one")).startswith("Created /a.txt: 1 line, ")


async def test_writing_over_a_file_shows_the_change() -> None:
    files = MemoryFiles(a_txt=b"one\ntwo\nthree\n")
    told = await use("write_file", files, path="/a.txt", content="one\n2\nthree\n")
    assert told.splitlines() == [
        "Changed /a.txt: " + facts(b"one\n2\nthree\n"),
        "@@ -1,3 +1,3 @@",
        " one",
        "-two",
        "+2",
        " three",
    ]


async def test_writing_the_same_again_changes_nothing() -> None:
    told = await use("write_file", MemoryFiles(a_txt=b"one"), path="/a.txt", content="one")
    assert told == f"/a.txt is unchanged: {facts(b'one')}"


async def test_a_binary_file_may_be_replaced() -> None:
    told = await use("write_file", MemoryFiles(a_txt=b"\xff\xfe"), path="/a.txt", content="one")
    assert "what was there before was no text" in told


async def test_a_file_that_is_too_large_is_refused() -> None:
    files = MemoryFiles()
    await use("write_file", files, path="/a.txt", content="x" * LARGEST_FILE)
    with pytest.raises(ToolError, match="4,194,304 is the most"):
        await use("write_file", files, path="/b.txt", content="ü" * (LARGEST_FILE // 2) + "x")
    assert list(files.contents) == ["/a.txt"]


async def test_half_a_character_is_refused() -> None:
    with pytest.raises(ToolError, match="half a character at 1"):
        await use("write_file", MemoryFiles(), path="/a.txt", content="a\ud800")


async def test_an_edit_replaces_the_one_place() -> None:
    files = MemoryFiles(a_txt=b"one two three")
    told = await use("edit_file", files, path="/a.txt", old="two", new="2")
    assert told.startswith("Changed /a.txt: replaced 1 time, ")
    assert files.contents["/a.txt"] == b"one 2 three"
    assert told.splitlines()[1:] == ["@@ -1 +1 @@", "-one two three", "+one 2 three"]


async def test_an_edit_everywhere() -> None:
    files = MemoryFiles(a_txt=b"a b a b")
    told = await use("edit_file", files, path="/a.txt", old="a", new="c", all=True)
    assert told.startswith("Changed /a.txt: replaced 2 times, ")
    assert files.contents["/a.txt"] == b"c b c b"


async def test_an_edit_everywhere_that_makes_a_file_too_large_is_refused_before_it_takes_memory() -> None:
    files = MemoryFiles(a_txt=b"a" * (LARGEST_FILE // 2))
    tracemalloc.start()
    try:
        with pytest.raises(ToolError, match="has 104,857,600 bytes; 4,194,304 is the most for one file"):
            await use("edit_file", files, path="/a.txt", old="a", new="ü" * 25, all=True)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 4 * LARGEST_FILE
    assert files.contents["/a.txt"] == b"a" * (LARGEST_FILE // 2)

    await use("edit_file", files, path="/a.txt", old="a", new="ü", all=True)
    assert len(files.contents["/a.txt"]) == LARGEST_FILE


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("a", "c", "holds the text in 'old' 2 times"),
        ("x", "c", "does not hold the text"),
        ("", "c", "'old' is empty"),
        ("b", "b", "nothing would change"),
    ],
)
async def test_an_edit_that_is_not_clear_is_refused(old: str, new: str, words: str) -> None:
    files = MemoryFiles(a_txt=b"a b a")
    with pytest.raises(ToolError, match=words):
        await use("edit_file", files, path="/a.txt", old=old, new=new)
    assert files.contents["/a.txt"] == b"a b a"


async def test_the_ends_of_lines_are_named_when_they_are_the_reason() -> None:
    with pytest.raises(ToolError, match=r"end in \\r\\n"):
        await use("edit_file", MemoryFiles(a_txt=b"a\r\nb"), path="/a.txt", old="a\nb", new="c")


async def test_an_edit_of_a_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(ToolError, match=r"/a\.txt"):
        await use("edit_file", MemoryFiles(), path="/a.txt", old="a", new="b")


async def test_of_many_edits_at_the_same_time_none_is_lost() -> None:
    class SlowFiles(MemoryFiles):
        async def read(self, path: str) -> bytes:
            content = await super().read(path)
            await asyncio.sleep(0)
            return content

    files = SlowFiles(a_txt=b"0 1 2 3 4 5 6 7 8 9")
    registry = Registry(file_tools(ToolApart(pdf_text)))

    async def edit(number: int) -> None:
        arguments = {"path": "/a.txt", "old": str(number), "new": chr(ord("a") + number)}
        await registry.call(ToolCall(call_id="1", name="edit_file", arguments=arguments), Context(files=files))

    await asyncio.gather(*map(edit, range(10)))
    assert files.contents["/a.txt"] == b"a b c d e f g h i j"


async def test_listing_shows_sizes_below_a_folder() -> None:
    files = MemoryFiles()
    assert await use("list_files", files) == "There are no files."
    files.contents = {"/b.txt": b"12", "/a/c.txt": b"1", "/ab.txt": b""}
    assert await use("list_files", files) == "/a/c.txt (1 bytes)\n/ab.txt (0 bytes)\n/b.txt (2 bytes)"
    assert await use("list_files", files, folder="a") == "/a/c.txt (1 bytes)"
    assert await use("list_files", files, path="/a") == "/a/c.txt (1 bytes)"
    with pytest.raises(ToolError, match="'folder' and 'path' are the same argument"):
        await use("list_files", files, folder="/a", path="/b")
    assert await use("list_files", files, folder="/c") == "There are no files below /c/."


async def test_a_long_list_is_cut_in_words() -> None:
    files = MemoryFiles()
    files.contents = {f"/{number:04}.txt": b"" for number in range(250)}
    listed = (await use("list_files", files)).splitlines()
    assert len(listed) == 201 and listed[-1] == "[… and 50 more; name a folder to see them]"


@pytest.mark.parametrize("path", HOSTILE)
async def test_no_tool_touches_a_file_by_a_hostile_path(path: str) -> None:
    files = MemoryFiles(a_txt=b"a")
    for name, arguments in {
        "read_file": {},
        "write_file": {"content": "x"},
        "edit_file": {"old": "a", "new": "b"},
    }.items():
        with pytest.raises(ToolError):
            await use(name, files, path=path, **arguments)
    assert files.contents == {"/a.txt": b"a"}


def test_the_model_may_not_pass_the_context() -> None:
    tools = file_tools(ToolApart(pdf_text))
    for tool in tools:
        assert "context" not in tool.spec.parameters["properties"]
    assert [tool.spec.name for tool in tools if tool.spec.side_effects] == [
        "write_file",
        "edit_file",
    ]
