"""The kind of content, told by its bytes."""

import pytest

from app.domain.media_types import media_type_of

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.mark.parametrize(
    ("content", "name", "kind"),
    [
        (PNG, "table.csv", "image/png"),
        (b"\xff\xd8\xff\xe0 rest", "", "image/jpeg"),
        (b"GIF89a rest", "x.png", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "x", "image/webp"),
        (b"%PDF-1.7 rest", "x.html", "application/pdf"),
        (b"<html><script>1</script>", "x.png", "text/plain"),
        (b"\0\1\2", "x.pdf", "application/octet-stream"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "x.svg", "image/svg+xml"),
        (b"<p>", "x.html", "text/html"),
        (b"a,b", "x.CSV", "text/csv"),
        (b"# Head", "notes.md", "text/markdown"),
        (b"plain \xc3\xa9", "README", "text/plain"),
        (b"\xff\xfe\x00", "README", "application/octet-stream"),
    ],
)
def test_pictures_are_known_by_their_bytes_and_all_else_by_name(content: bytes, name: str, kind: str) -> None:
    assert media_type_of(content, name) == kind
