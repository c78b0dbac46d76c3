"""The tools of the kit `data_transform`."""

from app.tools.builtin.data_transform.choosing import (
    data_transform__deduplicate,
    data_transform__filter,
    data_transform__select,
    data_transform__sort,
)
from app.tools.builtin.data_transform.converting import data_transform__csv_to_json, data_transform__json_to_csv
from app.tools.builtin.data_transform.joining import data_transform__join
from app.tools.builtin.data_transform.summing import data_transform__aggregate, data_transform__group
from app.tools.function.tool import AnyTool


def data_transform_tools() -> tuple[AnyTool, ...]:
    return (
        data_transform__csv_to_json,
        data_transform__json_to_csv,
        data_transform__select,
        data_transform__filter,
        data_transform__sort,
        data_transform__deduplicate,
        data_transform__group,
        data_transform__aggregate,
        data_transform__join,
    )
