import pytest

from app.domain.messages import TextPart, ToolCall, ToolResult, user_message
from tests.llm.demo.conversation import calls_in, converse, reply_to, returned


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('Run this Python code: print("hello")', 'print("hello")'),
        ("Run this Python code: 1/0", "1/0"),
        ("please run this python: print(1)", "print(1)"),
        ("Run this:\n```python\nfor i in range(3):\n    print(i)\n```", "for i in range(3):\n    print(i)"),
    ],
)
async def test_code_is_run_as_it_was_written(text: str, code: str):
    messages = await converse(text)

    assert calls_in(messages) == [("execute_python", {"code": code})]
    assert messages[1].reasoning


async def test_what_the_code_printed_is_shown_as_a_block():
    messages = await converse('Run this Python code: print("hello")', tool=lambda call: returned(call, "hello\n"))

    assert "```\nhello\n```" in messages[-1].text


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("write hello to /notes.txt", [("write_file", {"path": "/notes.txt", "content": "hello"})]),
        ("Write 'Hello, world!' to hello.txt", [("write_file", {"path": "/hello.txt", "content": "Hello, world!"})]),
        ("create a file /a.md with the text # Title", [("write_file", {"path": "/a.md", "content": "# Title"})]),
        ("write 2 + 2 to /sum.txt", [("write_file", {"path": "/sum.txt", "content": "2 + 2"})]),
        ("read /notes.txt", [("read_file", {"path": "/notes.txt"})]),
        ("what's in notes.txt?", [("read_file", {"path": "/notes.txt"})]),
        ("show me the file /docs/a.md please", [("read_file", {"path": "/docs/a.md"})]),
        ("list my files", [("list_files", {})]),
        ("which files are there?", [("list_files", {})]),
        ("replace a with b in /notes.txt", [("edit_file", {"path": "/notes.txt", "old": "a", "new": "b"})]),
        (
            'replace "old text" with "new text" in notes.txt',
            [("edit_file", {"path": "/notes.txt", "old": "old text", "new": "new text"})],
        ),
        (
            "write hello to /notes.txt, then replace hello with goodbye in it and then read it",
            [
                ("write_file", {"path": "/notes.txt", "content": "hello"}),
                ("edit_file", {"path": "/notes.txt", "old": "hello", "new": "goodbye"}),
                ("read_file", {"path": "/notes.txt"}),
            ],
        ),
        (
            'save "buy milk and eggs" in /todo.txt, then list my files',
            [("write_file", {"path": "/todo.txt", "content": "buy milk and eggs"}), ("list_files", {})],
        ),
    ],
)
async def test_files_are_handled_as_people_ask_for_it(text: str, calls: list[tuple[str, dict[str, object]]]):
    assert calls_in(await converse(text)) == calls


async def test_what_a_file_says_cannot_break_out_of_its_block():
    messages = await converse("read /notes.txt", tool=lambda call: returned(call, "```\n# not a heading"))

    assert "````\n```\n# not a heading\n````" in messages[-1].text


async def test_a_failed_tool_ends_the_plan_with_its_words():
    def fail(call: ToolCall) -> ToolResult:
        parts = (TextPart(text="There is no file /notes.txt."),)
        return ToolResult(call_id=call.call_id, name=call.name, status="error", parts=parts)

    messages = await converse("read /notes.txt, then list my files", tool=fail)

    assert [name for name, _ in calls_in(messages)] == ["read_file"]
    assert "There is no file /notes.txt." in messages[-1].text


async def test_a_tool_that_the_agent_lacks_is_named_before_anything_is_done():
    reply = await reply_to([user_message("write hello to /a.txt and then read it")], tools=("write_file",))

    assert not reply.message.tool_calls
    assert "`read_file`" in reply.message.text
