"""The tools of the kit `date_utils`."""

from app.tools.builtin.date_utils.calculating import (
    date_utils__add,
    date_utils__business_days,
    date_utils__convert_time_zone,
    date_utils__difference,
    date_utils__iso,
)
from app.tools.builtin.date_utils.parsing import date_utils__parse_column, date_utils__parse_dates
from app.tools.function.tool import AnyTool


def date_utils_tools() -> tuple[AnyTool, ...]:
    return (
        date_utils__parse_dates,
        date_utils__parse_column,
        date_utils__iso,
        date_utils__difference,
        date_utils__add,
        date_utils__business_days,
        date_utils__convert_time_zone,
    )
