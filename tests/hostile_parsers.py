"""What of the app reads text of others, each called as the app calls it, and texts made to take that long."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from app.api.openai import request as openai_request
from app.domain.messages import ToolCall
from app.domain.prompts import faults, filled
from app.domain.reading.numbers import written_number
from app.domain.secrets.pasted import cleaned_key
from app.domain.sessions import title_of
from app.engine.loop.output import check_output
from app.export import rich_text
from app.export.agent_file import read_agent_file
from app.export.markdown_text import fenced, plain
from app.export.redacting import Redactor
from app.llm.failures import classify
from app.llm.litellm.thinking import ThinkSplitter
from app.llm.tokens import text_tokens
from app.store.runs import search_words
from app.tools.builtin.date_utils.reading import readings
from app.tools.function.docstring import read_docstring
from app.tools.http.readable import readable
from app.tools.mcp.reading import read_json, read_servers
from app.tools.user_tools.preview import preview
from app.ui.markdown.live_markdown import LiveText, render
from tests.builtin_tools import builtin_registry
from tests.hostile_patterns import HostileText
from tests.tools.context import Context, MemoryFiles

Read = Callable[[str], Awaitable[object]]
MARKDOWN = (
    "[", "![", "[](", "*", "_", "**a ", "*a **b ", "`", "``` ", "```\n", "~~~a\n", ">", "> ", "- ", "  - ", "1. ",
    "\t", "<", "<a ", "<!--", "&", "&a", "\\", "|", "|a", "a|b\n-|-\n", "| ", "#", "# ", "\n", " \n", "[a]: b\n",
    "[a]\n", "<http://a", "http://a.", "a@b.", "![a](", "![](data:image/png;base64,", "~~", "~", "é", "\u202e",
    "\x00", "a\n=\n",
)  # fmt: skip
JSON_TEXTS = (
    '{"a":', "[", '["', '"', "{", "\\", '{"a":1,', "[1,", "1", "-", "\n", "e", '[{"a":[', "\\u0041", "'",
)  # fmt: skip
HTML = (
    "<", "<a ", "<a b=", "<a b='", "</", "<!", "<!--", "<![", "<?", "&", "&#", "<p>", "<pre>", "<a href=x>",
    "<table><td>",
)  # fmt: skip
TABLES = (
    ",", ";", "\t", "|", '"', '",', "a,", "\n", "a,b\n", "1,", "a / b", "\\n", '"a"b,', "2024-01-", "1 ",
)  # fmt: skip
WORDS = (
    "a", " ", "\n", "a ", "1", ".", "-", "/", "(", '"', "'", "`", "=", ":", "{{", "{{a}}", "}}", "<think>", "</",
    "ß", "ก",
)  # fmt: skip
FORMULAS = (
    "(", "SUM(", "-", "+1", '"', "A&", "[a]", "IF(1,", "1%", "^", ",", "=",
)  # fmt: skip
SCHEMAS = ("a", "aa!", "a-", "ab")


@dataclass(frozen=True)
class Parser:
    name: str
    read: Read
    repeated: tuple[str, ...]

    def texts(self) -> list[HostileText]:
        return [HostileText("", one, end) for one in self.repeated for end in ("", "x")]


def on_the_loop(read: Callable[[str], object]) -> Read:
    """For what the app calls where it stands."""

    async def called(text: str) -> None:
        with suppress(Exception):
            read(text)

    return called


def in_a_thread(read: Callable[[str], object]) -> Read:
    async def called(text: str) -> None:
        with suppress(Exception):
            await asyncio.to_thread(read, text)

    return called


TOOLS = builtin_registry()


def by_tool(name: str, argument: str, **others: object) -> Read:
    async def called(text: str) -> None:
        call = ToolCall.model_validate({"call_id": "1", "name": name, "arguments": {argument: text, **others}})
        with suppress(Exception):
            await TOOLS.call(call, Context(files=MemoryFiles(a_txt=text.swapcase().encode(errors="replace") * 2)))

    return called


async def streamed(text: str) -> None:
    live = LiveText()
    for end in range(0, len(text), max(1, len(text) // 20)):
        live._not_before = 0  # as if the page could always afford it
        await live.take(text[: end + 1])


def split_thoughts(text: str) -> None:
    """As much as comes in one piece, over and over."""
    splitter = ThinkSplitter()
    for start in range(0, len(text), 1_000):
        splitter.feed(text[start : start + 1_000])


def found_words(text: str) -> None:
    """As the first 1,000 characters of what a person looks for."""
    finder = search_words.Finder(text[:1_000])
    finder.place(text)
    finder.place_unaccented(text[:4_000])
    search_words.question(text[:1_000])


def cleaned_file(text: str) -> None:
    Redactor("run").content(text.encode("latin-1", "replace"))


def checked(text: str) -> None:
    word = "(a|a)*$"
    named = {"type": "object", "patternProperties": {word: {}}, "additionalProperties": False}
    for schema, document in (
        ({"pattern": word}, text),
        (named, {text: 1}),
        ({**named, "unevaluatedProperties": False}, {text: 1}),
    ):
        check_output(schema, json.dumps(document))


def said_by_a_provider(text: str) -> None:
    classify(ValueError(text), provider="P")


async def wild_cards(text: str) -> None:
    """In a criterion, and what it is compared with."""
    formula = f'=COUNTIF(a, "{text[:1_000]}!")'
    await by_tool("formula_engine__evaluate", "formula", rows=[{"a": "a" * 30_000}] * 5)(formula)


def a_servers_json(text: str) -> None:
    read_servers(json.dumps({"mcpServers": {"a": {"command": text, "args": [text], "env": {"A": text}}}}))


def keys_of_json(text: str) -> None:
    """As many keys in one object as the text has room for."""
    read_json("{" + ",".join(f'"{text[:2]}{number}":1' for number in range(len(text) // 12)) + "}")


def many_servers(text: str) -> None:
    read_servers("{" + ",".join(f'"s{number}":{{"command":"{number}"}}' for number in range(len(text) // 24)) + "}")


PARSERS = (
    Parser("Markdown on pages", render, MARKDOWN),
    Parser("Markdown that streams", streamed, MARKDOWN),
    Parser("JSON on pages", lambda text: render("[" + text, json=True), JSON_TEXTS),
    Parser("Markdown in exports", in_a_thread(rich_text.prose), MARKDOWN),
    Parser("text in exports", in_a_thread(lambda text: (plain(text), fenced(text))), MARKDOWN),
    Parser("titles", on_the_loop(title_of), WORDS),
    Parser("thoughts in answers", on_the_loop(split_thoughts), WORDS),
    Parser("prompts", on_the_loop(lambda text: (filled(text, {"a": "b"}), faults(text, ["a"]))), WORDS),
    Parser("JSON answers", in_a_thread(lambda text: check_output({"type": "object"}, text)), JSON_TEXTS),
    Parser("schemas' patterns", in_a_thread(checked), SCHEMAS),
    Parser("requests like OpenAI's", in_a_thread(lambda text: openai_request.read(text.encode())), JSON_TEXTS),
    Parser("pasted keys", on_the_loop(cleaned_key), WORDS),
    Parser("pasted JSON", on_the_loop(read_json), JSON_TEXTS),
    Parser("pasted JSON of servers", on_the_loop(a_servers_json), (*WORDS, "${", "-mcp", "@", "mcp_server_")),
    Parser("keys of pasted JSON", on_the_loop(keys_of_json), ("a",)),
    Parser("many servers", on_the_loop(many_servers), ("a",)),
    Parser("agent files", on_the_loop(lambda text: read_agent_file(text.encode(), ())), JSON_TEXTS),
    Parser("what providers say", on_the_loop(said_by_a_provider), (*JSON_TEXTS, "<", '"message":"')),
    Parser("tokens", lambda text: text_tokens(text, "openai/x"), WORDS),
    Parser("words of a search", in_a_thread(found_words), WORDS),
    Parser("texts of the search", in_a_thread(search_words.indexed), WORDS),
    Parser("files of exports", in_a_thread(cleaned_file), WORDS),
    Parser("web pages", in_a_thread(readable), HTML),
    Parser("docstrings", in_a_thread(lambda text: read_docstring(text, ["a"])), (*WORDS, "Args:\n", "a: b\n")),
    Parser("tool files", in_a_thread(lambda text: preview(text, "a")), (*WORDS, "# /// script\n", "[", "not ", "a.")),
    Parser("dates", on_the_loop(readings), (*TABLES, "Jan ", "1:")),
    Parser("numbers", on_the_loop(written_number), (*TABLES, "$", "EUR")),
    Parser("CSV", by_tool("data_transform__csv_to_json", "csv"), TABLES),
    Parser("CSV files", by_tool("data_transform__csv_to_json", "csv", header=False), TABLES),
    Parser("lists of dates", by_tool("date_utils__iso", "text"), TABLES),
    Parser("JSON of tools", by_tool("json_utils__flatten", "data"), JSON_TEXTS),
    Parser("questions to JSON", by_tool("json_utils__query", "expression", data={"a": [1]}), (*WORDS, "[", "a.", "@|")),
    Parser("formulas", by_tool("formula_engine__evaluate", "formula", rows=[{"a": 1}]), FORMULAS),
    Parser("wild cards", wild_cards, ("*a", "?", "a*", "*[")),
    Parser("changes of files", by_tool("write_file", "content", path="/a.txt"), ("a\n", "\n", "a b\n", "a")),
    Parser("edits", by_tool("edit_file", "old", path="/a.txt", new="b", all=True), ("a", "\n")),
    Parser("paths", by_tool("read_file", "path"), ("/", "a/", "../", "\\", ".", "\0")),
    Parser("names of tools", lambda text: by_tool(text, "x")(text), ("a", "calculator", "_-")),
    Parser("sums of the calculator", by_tool("calculator", "x", operation="power", y=10), ("9", "1e9", ".")),
)  # fmt: skip
