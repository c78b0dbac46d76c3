"""Numbers as tables hold them: JSON's own, and those that people write as text.

Read as numbers are 1500, "1,500", "1.500,50", "1 200.50", "1'200", "$1,200.50", "1200 EUR", "12%" (0.12), "(300)"
(-300) and "1.5e3". A single comma before three digits groups thousands, but for that in "0,125": any other single comma
is a decimal sign; a single point always is one. Texts with leading zeros such as "007" are codes, no numbers.
"""

import re
from decimal import Decimal

from pydantic import JsonValue

LONGEST_NUMBER = 60
"""Characters."""
_CURRENCY = r"(?:[A-Z]{1,3}\$|[$€£¥₹]|(?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|ZAR)\b)"
_WRITTEN = re.compile(
    rf"(?P<open>\()?\s*+(?P<sign>[-+−]?)\s*+(?:{_CURRENCY})?\s*+(?P<after>[-+−]?)(?P<digits>\d[\d.,'’\s]*+|[.,]\d+)"
    rf"(?P<power>e[-+]?\d{{1,2}})?\s*+(?:{_CURRENCY}|(?P<percent>%))?\s*+(?P<close>\))?",
    re.IGNORECASE,
)
_SPACES = re.compile(r"(?<=\d)['’\s](?=\d{3}(?!\d))")
_GROUPED = {",": re.compile(r"[1-9]\d{0,2}(?:,\d{3})+"), ".": re.compile(r"\d{1,3}(?:\.\d{3}){2,}")}


def number_in(value: JsonValue) -> Decimal | None:
    """The number that a cell holds or spells, `None` where it is something else."""
    if isinstance(value, str):
        return written_number(value)
    if value is None or isinstance(value, bool | list | dict):
        return None
    number = Decimal(value) if isinstance(value, int) else Decimal(repr(value))
    return number if number.is_finite() else None


def written_number(text: str) -> Decimal | None:
    """The number that the text spells in one of the ways above."""
    found = _WRITTEN.fullmatch(text.strip()) if len(text) <= LONGEST_NUMBER else None
    if found is None or bool(found["open"]) != bool(found["close"]) or (found["sign"] and found["after"]):
        return None
    digits = _plain_digits(_SPACES.sub("", found["digits"].strip()))
    if digits is None:
        return None
    number = Decimal(digits + (found["power"] or ""))
    if found["percent"]:
        number = number.scaleb(-2)
    minus = (found["sign"] or found["after"]) in ("-", "−")
    return -number if minus != bool(found["open"]) else number


def plain(number: Decimal) -> int | float:
    """The number as JSON says it: whole ones without a point."""
    if number.is_zero():
        return 0
    if number.adjusted() < 34 and number == number.to_integral_value():
        return int(number)
    return float(number)


def _plain_digits(text: str) -> str | None:
    """The digits with a point as the decimal sign and without groups; `None` where commas and points make no sense."""
    decimal = _decimal_sign(text)
    whole, _, fraction = text.rpartition(decimal) if decimal else (text, "", "")
    grouping = next((sign for sign in ",." if sign in whole), "")
    if grouping and not re.fullmatch(rf"\d{{1,3}}(?:{re.escape(grouping)}\d{{3}})+", whole):
        return None
    digits = whole.replace(grouping, "") if grouping else whole
    if not (digits + fraction).isdecimal() or (len(digits) > 1 and digits.startswith("0")):
        return None
    return f"{digits or 0}.{fraction}" if fraction else digits


def _decimal_sign(text: str) -> str:
    """Which of comma and point stands before the fraction; empty where there is none."""
    if "," in text and "." in text:
        return max(",.", key=text.rindex)
    sign = "," if "," in text else "." if "." in text else ""
    return "" if sign and _GROUPED[sign].fullmatch(text) else sign
