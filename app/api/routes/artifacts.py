"""REST for large content: pictures, files and long results, by the sha256 that traces name."""

from typing import Annotated
from urllib.parse import quote

from fastapi import Path, Query
from fastapi.responses import Response

from app.api.door.access import managers_only
from app.api.door.dependencies import Asking, Here, resource
from app.domain.values import Text

INERT = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}
"""Whatever the content is, it runs nothing and loads nothing."""
_CONTENT = {
    "description": "The bytes, to be saved.",
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}

router = resource("/artifacts", "Artifacts")


@router.get("/{sha256}", response_class=Response, responses={200: _CONTENT})
async def get_artifact(
    sha256: Annotated[str, Path(description="64 digits out of 0-9 and a-f.")],
    workbench: Here,
    caller: Asking,
    name: Annotated[Text, Query(max_length=200, description="What to save it as.")] = "",
) -> Response:
    """The content of that sha256, as a download. It says nothing of whose it is, so keys for certain agents get none.

    For those GET /runs/{run_id}/export gives the files of a run.
    """
    managers_only(caller, "read content by its sha256; GET /api/v1/runs/{run_id}/export gives the files of a run")
    content = await workbench.artifacts.get(sha256)
    saved_as = f"attachment; filename*=UTF-8''{quote(name or sha256, safe='')}"
    return Response(content, media_type="application/octet-stream", headers=INERT | {"Content-Disposition": saved_as})
