"""What an HTTP request brought back, as a result."""

import pytest

from app.domain.messages import FilePart, TextPart
from app.tools.http.answer import answered
from app.tools.http.message import Received
from tests.tools.context import Context


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/files/%E0%A4%B0%E0%A4%BF%E0%A4%AA%E0%A5%8B%E0%A4%B0%E0%A5%8D%E0%A4%9F.pdf", "रिपोर्ट.pdf"),
        ("/a/b%2F..%5Cplan%202.pdf?x=1", "plan 2.pdf"),
        ("/a/aux.pdf", "file-aux.pdf"),
        ("/export/", "export"),
        ("/", "example.org"),
    ],
)
async def test_a_file_that_came_has_the_name_of_its_address(path: str, name: str) -> None:
    came = Received("https://example.org" + path, 200, "OK", {"content-type": "application/pdf"}, b"%PDF-\0", cut=False)
    context = Context()
    told, file = (await answered(came, context)).parts
    assert isinstance(told, TextPart) and isinstance(file, FilePart)
    assert (file.filename, context.kept[file.artifact]) == (name, b"%PDF-\0")
