"""The base of what the API answers with."""

from pydantic import ConfigDict

from app.domain.values import Value


class Reply(Value):
    """A value whose fields are described by the texts below them, also in the OpenAPI document."""

    model_config = ConfigDict(use_attribute_docstrings=True)
