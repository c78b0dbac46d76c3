"""The browsers that are signed in, in Settings: how many, and a way to sign all of them out."""

from nicegui import ui

from app.store.keys.sign_ins import LIFETIME_DAYS, SIGN_OUT
from app.ui.elements.buttons import button
from app.ui.elements.format import plural
from app.ui.elements.markup import tag
from app.ui.elements.questions import agreed
from app.workbench import Workbench

_WORDS = (
    "Every other browser has to be opened anew, by the address that the app prints when it starts. This one goes on "
    "with a sign-in of its own. API keys stay as they are: revoke them in Integrations."
)
_SIGN_OUT = f"""(async () => {{
  const answer = await fetch('{SIGN_OUT}', {{method: 'POST'}});
  if (answer.ok) location.reload();
  else Quasar.Notify.create({{message: await answer.text(), type: 'negative', timeout: 0, closeBtn: 'Close'}});
}})()"""


class BrowsersSection:
    def __init__(self, workbench: Workbench) -> None:
        number = plural(workbench.sign_ins.number, "browser")
        words = f"{number} signed in. One that is not used for {LIFETIME_DAYS} days is signed out."
        ui.html(tag("p", words, cls="set-note", data_testid="signed-in-browsers"), sanitize=False)
        button("Sign everyone out…", self._ask, icon="logout", testid="sign-everyone-out")

    async def _ask(self) -> None:
        if await agreed("Sign everyone out?", _WORDS, confirm="Sign everyone out"):
            ui.run_javascript(_SIGN_OUT)
