"""REST for runs that are taken along: one run in one of the documented formats."""

from typing import Literal

from fastapi import Query
from fastapi.responses import Response

from app.api.door.access import run_for
from app.api.door.dependencies import Asking, Here, resource
from app.late import late

with late():
    from app.export import exports

router = resource("/runs", "Runs")

_TYPES = ("text/markdown", "text/html", "application/x-ndjson", "application/json", "application/zip")
_ANSWER: dict[str, object] = {
    "description": "The file, as the header Content-Disposition names it.",
    "content": {media_type: {} for media_type in _TYPES},
}


@router.get(
    "/{run_id}/export",
    response_class=Response,
    responses={200: _ANSWER},
)
async def export_run(
    run_id: str,
    workbench: Here,
    caller: Asking,
    format: Literal["markdown", "html", "jsonl", "otel", "bundle"] = "markdown",
    attachments: bool = Query(True, description="With its images and files, where the format takes them."),
) -> Response:
    """The run as a file, without keys and passwords; one that goes on as far as it has come.

    `markdown` is a zip file where tool calls and images go with it; `otel` is OTLP JSON; `bundle` can be imported.
    """
    run_for(workbench, caller, run_id)
    exported = await workbench.exports.export(run_id, format, exports.Choice(attachments=attachments))
    headers = {
        "Content-Disposition": f'attachment; filename="{exported.filename}"',
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cache-Control": "no-store",
    }
    return Response(exported.content, media_type=exported.media_type, headers=headers)
