"""Time zones by name: "Europe/Berlin", "berlin", "UTC", "+02:00"."""

import difflib
import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from app.domain.errors import ToolError

_OFFSET = re.compile(r"(?:UTC|GMT)?\s*([+-])(\d{1,2})(?::?([0-5]\d))?", re.IGNORECASE)


def zone(name: str) -> tzinfo:
    """Raises `ToolError` that names zones of a like name."""
    offset = _OFFSET.fullmatch(name.strip())
    if offset and int(offset[2]) < 24:
        east = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return timezone(east if offset[1] == "+" else -east)
    known = _by_name()
    wanted = _folded(name)
    if wanted not in known:
        near = [known[one] for one in difflib.get_close_matches(wanted, known, n=3)]
        guess = f" Did you mean {' or '.join(near)}?" if near else ""
        raise ToolError(f"There is no time zone {name[:60]!r}.{guess} Write it like Europe/Berlin or +02:00.")
    try:
        return ZoneInfo(known[wanted])
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ToolError(f"The time zone {known[wanted]} cannot be read on this computer: {error}.") from error


def placed(when: datetime, place: tzinfo, notes: list[str]) -> datetime:
    """A wall clock's time in its zone; notes tell when that time comes twice or never, as when clocks change."""
    there = when.replace(tzinfo=place)
    if _exists(there):
        if there.utcoffset() != there.replace(fold=1).utcoffset():
            notes.append(f"{when.isoformat()} comes twice there as the clocks go back; the first one was taken.")
        return there
    notes.append(f"{when.isoformat()} does not exist there: the clocks go forward over it.")
    return there


def _exists(there: datetime) -> bool:
    back = there.astimezone(UTC).astimezone(there.tzinfo)
    return back.replace(tzinfo=None) == there.replace(tzinfo=None)


@cache
def _by_name() -> dict[str, str]:
    """Each zone by its folded name, and by its city where only one zone has a city of that name."""
    names = sorted(available_timezones())
    cities: dict[str, list[str]] = {}
    for name in names:
        if "/" in name and not name.startswith(("Etc/", "posix/", "right/", "SystemV/", "US/", "Brazil/")):
            cities.setdefault(_folded(name.rpartition("/")[2]), []).append(name)
    return {city: zones[0] for city, zones in cities.items() if len(zones) == 1} | {
        _folded(name): name for name in names
    }


def _folded(name: str) -> str:
    return re.sub(r"[\s_]+", "_", name.strip()).casefold()
