"""Reading the web."""

import json

import pytest

from app.domain.errors import ToolError
from app.domain.messages import FilePart, ImagePart
from app.domain.settings import Preferences
from app.tools.builtin.http_get import HttpGet
from app.tools.function.tool import AnyTool
from tests.tools.answering import Handler, answering, redirecting, saying
from tests.tools.builtin.using import output_of, told_by
from tests.tools.context import Context

PAGE = """<!doctype html><html><head><title>A page</title><style>p {color: red}</style></head>
<body><h1>News &amp; more</h1><script>alert("no")</script><p>First   <b>bold</b>
line.</p><ul><li>one<li><a href="/two">two</a></ul><table><tr><th>a<th>b<tr><td>1<td>2</table>
<pre>  kept
    as is</pre><img src=x alt="a cat"></body></html>"""


def http_get(*hosts: str) -> AnyTool:
    return HttpGet(lambda: Preferences(http_hosts=hosts), private_hosts=frozenset(["127.0.0.1"])).tool()


async def told(handler: Handler, path: str = "/a") -> str:
    async with answering({path: handler}) as server:
        return (await told_by(http_get("127.0.0.1"), url=server.url(path))).replace(server.url(), "http://here/")


async def test_text_is_told_with_a_line_about_it() -> None:
    assert await told(saying("hello")) == "200 OK · text/plain · 5 bytes · http://here/a\n\nhello"


async def test_a_web_page_is_told_as_readable_text() -> None:
    text = await told(saying(PAGE, "text/html; charset=utf-8"))
    assert text.partition("\n\n")[2] == (
        "A page\n\n# News & more\n\nFirst bold line.\n\n- one\n- [two](/two)\n\n| a | b\n| 1 | 2\n\n"
        "  kept\n    as is\n\n![a cat]"
    )


async def test_json_is_indented() -> None:
    text = await told(saying('{"a":[1,"ü"]}', "application/problem+json"))
    assert text.endswith('\n\n{\n  "a": [\n    1,\n    "ü"\n  ]\n}')


@pytest.mark.parametrize("body", ["{broken", "[" * 100_000, "[" * 900 + "1," * 50_000 + "1" + "]" * 900])
async def test_json_that_cannot_be_indented_is_told_as_it_is(body: str) -> None:
    assert (await told(saying(body, "application/json"))).endswith(body[-30:])


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        ("grün".encode("latin-1"), "text/plain; charset=iso-8859-1"),
        ("grün".encode("utf-16"), "text/plain"),
        ("grün".encode(), "text/plain; charset=bogus"),
        ("grün".encode(), "text/plain; charset=punycode"),
        (b"\xef\xbb\xbf" + "grün".encode(), "text/csv"),
        (b'<meta charset="windows-1252"><p>' + "grün".encode("cp1252"), "text/html"),
        ("grün".encode(), ""),
    ],
)
async def test_text_is_read_in_the_encoding_that_was_declared(content: bytes, media_type: str) -> None:
    assert (await told(saying(content, media_type))).endswith("\n\ngrün")


async def test_an_image_is_attached() -> None:
    context = Context()
    async with answering({"/a/cat%201.png": saying(b"\x89PNG\0", "image/png")}) as server:
        output = await output_of(http_get("127.0.0.1"), context, url=server.url("/a/cat%25201.png"))
    assert isinstance(output.parts[1], ImagePart)
    assert context.kept[output.parts[1].artifact] == b"\x89PNG\0"
    assert output.parts[1].alt == "cat_201.png"


async def test_a_file_of_another_kind_is_attached_under_its_name() -> None:
    async with answering({"/get/report.pdf": saying(b"%PDF\0", "application/pdf")}) as server:
        output = await output_of(http_get("127.0.0.1"), url=server.url("/get/report.pdf?x=1"))
    assert isinstance(output.parts[1], FilePart)
    assert (output.parts[1].filename, output.parts[1].size) == ("report.pdf", 5)


async def test_an_error_status_is_told_as_one_with_what_was_said() -> None:
    async with answering({}) as server:
        with pytest.raises(ToolError, match=r"^404 Not Found · text/plain · 12 bytes · http://.*\n\nnothing here$"):
            await told_by(http_get("*"), url=server.url("/missing"))


async def test_a_long_text_is_cut_visibly() -> None:
    text = await told(saying("x" * 3_000_000))
    assert "more than 2,097,152 bytes, cut there" in text.splitlines()[0]
    assert text.endswith("\n[… cut here: there is more at this address]")


async def test_a_page_that_was_cut_says_so_though_its_text_is_short() -> None:
    text = await told(saying("<p>short<script>" + "x" * 3_000_000, "text/html"))
    assert text.endswith("\n\nshort\n[… cut here: there is more at this address]")


async def test_a_big_file_that_is_no_text_is_refused() -> None:
    with pytest.raises(ToolError, match=r"more than 2,097,152 bytes, cut there .*: a file of this kind is of no use"):
        await told(saying(b"\0" * 3_000_000, "application/zip"))


@pytest.mark.parametrize("piece", ["<", "<!--", "<a <", "<p", "<![CDATA[", "&", "<div>", "</", "<script>", "<b a="])
async def test_a_broken_page_is_read_in_time(piece: str) -> None:
    text = await told(saying("<p>start</p>" + piece * (100_000 // len(piece)), "text/html"))
    assert "start" in text


async def test_without_allowed_hosts_nothing_is_read_and_the_way_out_is_told() -> None:
    with pytest.raises(ToolError, match=r"No host is allowed yet.* Add one under Tools → http_get → allowed hosts\."):
        await told_by(http_get(), url="https://example.org/")


async def test_a_host_that_is_not_allowed_is_named_with_the_way_out() -> None:
    with pytest.raises(ToolError, match=r"^example.org is not among the allowed hosts\. Add it under Tools → http_get"):
        await told_by(http_get("*.example.org"), url="https://example.org/")


async def test_a_redirect_to_another_host_needs_that_host_allowed() -> None:
    async with answering({"/": redirecting("https://other.example/")}) as server:
        with pytest.raises(ToolError, match=r"^other.example is not among the allowed hosts"):
            await told_by(http_get("127.0.0.1"), url=server.url())


def test_the_model_is_told_what_it_gets_and_may_call_it_again() -> None:
    spec = http_get().spec
    assert (spec.name, spec.idempotent, spec.side_effects) == ("http_get", True, False)
    assert json.dumps(spec.parameters["required"]) == '["url"]'
