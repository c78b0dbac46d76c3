"""Formulas as MathML, which browsers show by themselves."""

import re
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LONGEST = 2_000
"""Characters of a formula that is translated: each takes 20 µs."""
DEEPEST = 150
"""Elements in one another."""
TAGS = (
    "math menclose mfrac mi mn mo mover mpadded mphantom mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable "
    "mtd mtext mtr munder munderover"
)
ATTRIBUTES = {
    "math": {"alttext", "display"},
    "menclose": {"notation"},
    "mfrac": {"linethickness"},
    "mi": {"mathvariant"},
    "mo": {"fence", "form", "largeop", "maxsize", "minsize", "movablelimits", "separator", "stretchy", "symmetric"},
    "mover": {"accent"},
    "mspace": {"width"},
    "mstyle": {"displaystyle", "mathvariant", "scriptlevel"},
    "mtable": {"columnalign", "rowspacing", "columnspacing"},
    "mtd": {"columnalign"},
    "munder": {"accentunder"},
}
_ALIGNED = re.compile(r"\\(begin|end)\{(?:aligned|gathered|split)\}")
"""What is lined up inside of a formula is lined up as what is one by itself."""


def mathml(source: str, *, display: bool) -> str | None:
    """The formula; `None` for what is too long, or none that can be translated."""
    from xml.etree.ElementTree import tostring  # noqa: PLC0415  with the next three megabytes, and few texts have any

    from latex2mathml.converter import convert_to_element  # noqa: PLC0415  see above

    if len(source) > LONGEST:
        return None
    try:
        formula = convert_to_element(_ALIGNED.sub(r"\\\1{align*}", source), display="block" if display else "inline")
    except Exception:  # noqa: BLE001  whatever it stumbles over, the source is shown instead
        return None
    level = [formula]
    for _ in range(DEEPEST):
        if not all(map(_is_whole, level)):
            return None
        level = [child for part in level for child in part]
    if level:
        return None
    formula.set("alttext", source)
    return tostring(formula, encoding="unicode", short_empty_elements=False)


def _is_whole(part: "Element") -> bool:
    """Makes text of the references that the translator writes; false where a command or `&` was left as it was."""
    part.text = unescape(part.text or "")
    return part.tag == "mtext" or not (part.text.startswith("\\") or part.text == "&")
