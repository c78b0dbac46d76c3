"""Which box of the form of an HTTP tool holds its first mistake."""

from dataclasses import dataclass
from typing import Literal

from app.domain.errors import WorkbenchError
from app.domain.tool_settings import HttpField, HttpTool
from app.tools.http.request import PLACEHOLDER
from app.tools.http.tool_rules import validate

Box = Literal["name", "description", "address", "fields", "headers"]


@dataclass(frozen=True)
class Fault:
    box: Box
    words: str


def fault_of(form: HttpTool) -> Fault | None:
    """The first mistake and where it is; `None` for a form that can be a tool."""
    for box, part in _parts(form):
        try:
            validate(part)
        except WorkbenchError as problem:
            return Fault(box, str(problem))
    return None


def _parts(form: HttpTool) -> list[tuple[Box, HttpTool]]:
    """The form as it grows box by box: what is wrong for the first time is wrong in the box that was added."""
    blank = HttpTool(name="tool", description="Does it.", address="https://example.org")
    named = blank.model_copy(update={"name": form.name})
    described = named.model_copy(update={"description": form.description})
    in_address = tuple(
        HttpField(name=name, place="address") for name in dict.fromkeys(PLACEHOLDER.findall(form.address))
    )
    addressed = described.model_copy(update={"address": form.address, "fields": in_address})
    return [
        ("name", named),
        ("description", described),
        ("address", addressed),
        ("fields", form.model_copy(update={"headers": {}})),
        ("headers", form),
    ]
