"""Numbers and times as a person reads them."""

from datetime import datetime, timedelta

UNPRICED = "unpriced"


def duration(ms: float | None) -> str:
    """`0.2 s`, `1.2 s`, `2 min 5 s`; under 100 milliseconds `12 ms` or `< 1 ms`; an en dash when it is not known."""
    if ms is None:
        return "–"
    if ms < 1:
        return "< 1 ms"
    if ms < 100:
        return f"{ms:.0f} ms"
    if ms < 59_950:
        return f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(round(ms / 1000), 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    return f"{minutes // 60} h {minutes % 60} min"


def count(number: int) -> str:
    """`950`, `1,234`, `12.3k`, `4.56M`."""
    if number < 10_000:
        return f"{number:,}"
    if number < 999_950:
        return f"{number / 1000:.1f}k"
    return f"{number / 1_000_000:.2f}M"


def tokens_about(number: int) -> str:
    """Of what is counted as another provider may count it: `about 1,465 tokens`."""
    return f"about {tokens(number)}"


def tokens(number: int) -> str:
    return f"{count(number)} token" if number == 1 else f"{count(number)} tokens"


def dollars(cost: float, *, unpriced: bool = False) -> str:
    """US dollars with as many digits as say something; `unpriced` when nobody named a price."""
    if unpriced:
        return f"{_amount(cost)} + {UNPRICED}" if cost else UNPRICED
    return _amount(cost)


def _amount(cost: float) -> str:
    if cost == 0:
        return "$0.00"
    if cost < 0.0001:
        return "< $0.0001"
    return f"${cost:.4f}" if cost < 0.1 else f"${cost:,.2f}"


def percent(share: float) -> str:
    """`0.35` as `35 %`."""
    return f"{share * 100:.0f} %"


def plural(number: int, noun: str) -> str:
    """`1 step`, `3 steps`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def ago(moment: datetime, now: datetime) -> str:
    """`just now`, `5 min ago`, `3 h ago`, `yesterday`, `4 days ago`, then the date."""
    passed = now - moment
    if passed < timedelta(minutes=1):
        return "just now"
    if passed < timedelta(hours=1):
        return f"{passed.seconds // 60} min ago"
    if passed < timedelta(days=1):
        return f"{passed.seconds // 3600} h ago"
    if passed < timedelta(days=2):
        return "yesterday"
    if passed < timedelta(days=7):
        return f"{passed.days} days ago"
    return day(moment)


def day(moment: datetime) -> str:
    """The local date, `21 Nov 2026`."""
    local = moment.astimezone()
    return f"{local.day} {local:%b %Y}"


def clock(moment: datetime) -> str:
    """The local time of day, `14:05`."""
    return f"{moment.astimezone():%H:%M}"


def moment_text(moment: datetime) -> str:
    """The local date and time, `21 Nov 2026, 14:05:09`."""
    return f"{day(moment)}, {moment.astimezone():%H:%M:%S}"


def short_moment(moment: datetime, now: datetime) -> str:
    """The local time of a moment of today, `14:05:09`; before that with its date, `21 Nov, 14:05` or `21 Nov 2025`."""
    local, today = moment.astimezone(), now.astimezone()
    if local.date() == today.date():
        return f"{local:%H:%M:%S}"
    if local.year == today.year:
        return f"{local.day} {local:%b}, {local:%H:%M}"
    return day(moment)


def head(text: str, limit: int = 120) -> str:
    """The text on one line, cut after `limit` characters."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
