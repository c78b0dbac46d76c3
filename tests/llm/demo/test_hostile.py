"""Messages made to take the demo model's patterns long: each is answered as soon as any other."""

import pytest

from app.llm.demo.model import LONGEST_ASK
from tests.llm.demo.conversation import converse, returned
from tests.processor import at_work

REPEATED = (
    *("`", '"', "'", "“", " ", "\n", "-", "!", "[", "(", "a", "a/", "/a", "in a ", "x ", "please ", "1.1", "a=", "a:"),
    *("replace ", "replace x with ", "replace x with y in ", "write ", "write x to ", "in /a.txt replace ", "read "),
    *("what ", "read it. ", "and then ", "by the agent ", "and don't wait ", "in parallel ", "add ", "take "),
    *("increase ", "``` "),
)  # fmt: skip
BEGUN = (
    "",
    "What is 5 ",
    "edit /a.txt: replace ",
    "spawn a task ",
    "Data:\n",
    "do x in parallel with",
    "hi",
    "fail with",
)
TEXTS = [begun + repeated * 40_000 for begun in BEGUN for repeated in REPEATED]


@pytest.mark.parametrize("length", [400, LONGEST_ASK, 32_000])
async def test_no_message_stops_it(length: int) -> None:
    took: list[tuple[float, str]] = []
    for text in TEXTS:
        with at_work() as work:
            await converse(text[:length], tool=lambda call: returned(call, "it did its work"))
        took.append((work.seconds, text[:60]))
    assert max(took)[0] < 0.3, sorted(took)[-5:]


async def test_a_long_message_is_told_to_be_too_long() -> None:
    [_, answer] = await converse("x" * 4_001)
    assert "This message has 4,001 characters" in answer.text


async def test_brackets_in_brackets_are_no_sum() -> None:
    [_, answer] = await converse("What is 1 + " + "(" * 380)
    assert not answer.tool_calls


async def test_a_file_full_of_backticks_is_shown() -> None:
    messages = await converse("read /notes.txt", tool=lambda call: returned(call, "`" * 100_000))
    assert messages[-1].text.count("`" * 100_001) == 2
