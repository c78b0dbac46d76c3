"""Whether a page can be read and used by everybody, as far as axe-core tells."""

import json

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

AT_REST = """() => document.getAnimations().every((one) =>
  one.playState !== "running" || one.effect.getComputedTiming().iterations === Infinity)"""


def violations(page: Page) -> list[str]:
    """What axe-core finds wrong with the page once it is at rest: each rule, with the first element that breaks it.

    What fades in has too little contrast until it is there.
    """
    page.wait_for_function(AT_REST)
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [f"{one['id']}: {json.dumps(one['nodes'][0]['html'])[:300]}" for one in found]
