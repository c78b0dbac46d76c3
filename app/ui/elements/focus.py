"""Where keyboard and eye go on after something was drawn anew."""

import json

from nicegui import ui

MOST_FRAMES = 120
"""Of the screen, that something may take to be drawn."""


def refocus(place: ui.element, *selectors: str) -> None:
    """Focus the first of these CSS selectors that fits something in `place`, unless the focus is elsewhere by now.

    A button that goes takes the focus with it, and who works without a mouse would begin anew at the top.
    """
    with place:
        ui.run_javascript(f"""requestAnimationFrame(() => {{
          const place = getHtmlElement({place.id});
          const at = document.activeElement;
          if (!place || (at !== document.body && at.checkVisibility())) return;
          {json.dumps(selectors)}.map((one) => place.querySelector(one)).find((one) => one)?.focus();
        }})""")


def lead_to(place: ui.element, selector: str) -> None:
    """Scroll to what fits that CSS selector in `place`, and focus it, once it is drawn."""
    with place:
        ui.run_javascript(f"""let frames = {MOST_FRAMES};
          requestAnimationFrame(function look() {{
            const there = getHtmlElement({place.id})?.querySelector({json.dumps(selector)});
            if (!there) return frames-- && requestAnimationFrame(look);
            there.scrollIntoView({{ block: "start" }});
            there.focus({{ preventScroll: true }});
          }})""")


def point_at(listbox: ui.element, selector: str) -> None:
    """Say to who types into the box of that list which of its options is meant, and scroll there."""
    with listbox:
        ui.run_javascript(f"""requestAnimationFrame(() => {{
          const list = getHtmlElement({listbox.id});
          const box = document.querySelector(`[aria-controls="${{list?.id}}"]`);
          const meant = list?.querySelector({json.dumps(selector)});
          if (meant) box?.setAttribute("aria-activedescendant", meant.id);
          else box?.removeAttribute("aria-activedescendant");
          meant?.scrollIntoView({{ block: "nearest" }});
        }})""")


def keep_in_view(place: ui.element, selector: str) -> None:
    """Scroll no further than it takes to see what fits that CSS selector in `place`."""
    with place:
        ui.run_javascript(f"""requestAnimationFrame(() =>
          getHtmlElement({place.id})?.querySelector({json.dumps(selector)})?.scrollIntoView({{ block: "nearest" }}))""")
