"""What a form has to say before it can be a tool."""

import re
from urllib.parse import urlsplit

from app.domain.errors import WorkbenchError
from app.domain.tool_settings import HttpTool
from app.tools.http.request import PLACEHOLDER, header_problem

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HOST = re.compile(r"[\w.-]+|[0-9a-fA-F:.]+")
OWN_HEADERS = frozenset(
    ("host", "content-length", "transfer-encoding", "connection", "accept-encoding", "upgrade", "te")
)


def validate(form: HttpTool) -> None:
    """Raises `WorkbenchError` that says what to write instead, for the first mistake."""
    if not NAME.fullmatch(form.name):
        raise WorkbenchError(
            f"A tool cannot be called {form.name!r}. Use letters, digits and '_', a letter first, 64 at most."
        )
    if not form.description.strip():
        raise WorkbenchError(f"Say in a sentence what {form.name} does: models choose a tool by that.")
    _check_address(form)
    _check_fields(form)
    _check_headers(form)


def _check_address(form: HttpTool) -> None:
    try:
        parts = urlsplit(form.address.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise WorkbenchError(f"{form.address!r} is no address: {error}.") from error
    if "{" in parts.scheme + parts.netloc or form.address.startswith("{"):
        raise WorkbenchError("The host stands fast: a {field} may come behind it, in the path or the query.")
    if parts.scheme not in ("http", "https"):
        raise WorkbenchError("The address has to begin with https:// or http://.")
    if "@" in parts.netloc:
        raise WorkbenchError("The address holds a user name or password. Send it as a header, with $NAME as its value.")
    if not HOST.fullmatch(host) or port == 0 or form.address != form.address.strip():
        raise WorkbenchError(f"{form.address!r} is no address. Write one like 'https://example.org/items/{{id}}'.")


def _check_fields(form: HttpTool) -> None:
    names = [field.name for field in form.fields]
    for name in names:
        if not NAME.fullmatch(name):
            raise WorkbenchError(f"A field cannot be called {name!r}. Use letters, digits and '_', a letter first.")
        if names.count(name) > 1:
            raise WorkbenchError(f"There are two fields {name!r}. Rename one of them.")
    _check_places(form)


def _check_places(form: HttpTool) -> None:
    in_address = set(PLACEHOLDER.findall(form.address))
    placed = {field.name: field for field in form.fields if field.place == "address"}
    for name in sorted(in_address - placed.keys()):
        raise WorkbenchError(f"The address names {{{name}}}: add a field {name!r} with the place 'address'.")
    for name in sorted(placed.keys() - in_address):
        raise WorkbenchError(f"The field {name!r} belongs in the address, which does not name {{{name}}}.")
    for name, field in placed.items():
        if not field.required:
            raise WorkbenchError(f"The field {name!r} is part of the address, so it has to be required.")
    if form.method == "GET" and any(field.place == "body" for field in form.fields):
        raise WorkbenchError("A GET sends no body. Place the fields in the query, or choose POST.")


def _check_headers(form: HttpTool) -> None:
    fields = [field.name for field in form.fields if field.place == "header"]
    for name in (*form.headers, *fields):
        if not TOKEN.fullmatch(name):
            raise WorkbenchError(f"A header cannot be called {name!r}. Write it like 'X-Api-Key'.")
        if name.lower() in OWN_HEADERS:
            raise WorkbenchError(f"The header {name} is set by the app itself. Leave it out.")
    for name, text in form.headers.items():
        if problem := header_problem(name, text):
            raise WorkbenchError(problem)
        if name.lower() in {field.lower() for field in fields}:
            raise WorkbenchError(f"The header {name} is both fixed and a field. Keep one of them.")
