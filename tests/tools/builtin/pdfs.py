"""PDF files for tests, written by hand or with pypdf."""

import io
import zlib
from collections.abc import Sequence

from pypdf import PdfWriter


def pdf_of(pages: Sequence[str], *, title: str = "") -> bytes:
    """A PDF with that text on its pages; an empty text makes a page without any."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        content = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET" if text else ""
        fonts = "/Resources << /Font << /F1 3 0 R >> >>"
        box = "/MediaBox [0 0 612 792]"
        objects.append(f"<< /Type /Page /Parent 2 0 R {box} {fonts} /Contents {5 + 2 * number} 0 R >>")
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    return _file(objects, info=len(objects))


def packed_pdf(content: bytes, *, pages: int = 1) -> bytes:
    """A PDF whose pages all have that content, packed: a few kilobytes may stand for many megabytes."""
    packed = zlib.compress(content, 9).decode("latin-1")
    page = (
        "<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 612 792] /Contents 4 0 R >>"
    )
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(f'{5 + number} 0 R' for number in range(pages))}] /Count {pages} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n{packed}\nendstream",
        *[page] * pages,
        "<< /Title () >>",
    ]
    return _file(objects, info=len(objects))


def locked(content: bytes, password: str, *, owner: str = "owner") -> bytes:
    """The same PDF, for whose reading a password is needed unless it is empty."""
    writer = PdfWriter(clone_from=io.BytesIO(content))
    writer.encrypt(user_password=password, owner_password=owner, algorithm="RC4-128")
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def _file(objects: Sequence[str], *, info: int) -> bytes:
    written = bytearray(b"%PDF-1.4\n")
    places = []
    for number, text in enumerate(objects, 1):
        places.append(len(written))
        written += f"{number} 0 obj\n{text}\nendobj\n".encode("latin-1")
    start = len(written)
    written += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    written += "".join(f"{place:010} 00000 n \n" for place in places).encode()
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {info} 0 R >>\nstartxref\n{start}\n%%EOF\n"
    return bytes(written + trailer.encode())
