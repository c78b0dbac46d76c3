"""Two files that claim one tool name."""

from tests.tools.user_tools.conftest import Folder, returning


async def test_the_file_trusted_first_keeps_a_name_while_it_has_it_and_both_are_told(folder: Folder) -> None:
    await folder.add("z.py", returning("of z"))
    await folder.add("a.py", returning("of a") + returning("more", name="more"))
    assert await folder.call("word") == "of z"
    assert set(folder.tools.tools()) == {"word", "more"}
    sentence = "Both z.py and a.py have a tool 'word': that of z.py is used. Rename one."
    assert [file.clashes for file in folder.tools.files()] == [(sentence,), (sentence,)]
    await folder.tools.distrust("z.py")
    assert await folder.call("word") == "of a"
    assert [file.clashes for file in folder.tools.files()] == [(), ()]
