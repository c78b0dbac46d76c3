"""A browser that looks for what became of hostile text: scripts, elements, attributes, requests, CSP refusals."""

from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, WebError

from tests.app_process import AppProcess

REMEMBER = """window.refused = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.refused.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));"""
SETTLED = """() => new Promise((done) => {
  let quiet = setTimeout(done, 250);
  const again = () => { clearTimeout(quiet); quiet = setTimeout(done, 250); };
  new MutationObserver(again).observe(document.body, { subtree: true, childList: true, attributes: true });
  setTimeout(done, 4000);
})"""
"""Until nothing has changed for a while; of a page that always changes, until it had its time."""
DANGERS = """(elsewhere) => {
  const found = window.refused.map((words) => `refused by the CSP: ${words}`);
  if (window.hacked || ({}).hacked) found.push("script ran");
  const tell = (element, words) => found.push(`<${element.tagName} ${words}>`);
  // Not its property: a link in a drawing has none.
  const scheme = (href) => (URL.canParse(href, document.baseURI) ? new URL(href, document.baseURI).protocol : ":");
  const sourced = /^[\\s\\x00-\\x20]*(javascript|vbscript|data:text|file|blob):/i;
  const never = ("SCRIPT IFRAME FRAME FRAMESET OBJECT EMBED BASE META LINK STYLE MATH MARQUEE FOREIGNOBJECT TEMPLATE " +
    "SLOT AUDIO VIDEO").split(" ");
  const loads = ["src", "srcset", "poster", "background", "data", "ping", "action", "formaction", "xlink:href"];
  const places = "main, header, .q-drawer, .q-dialog, .q-menu, .q-notifications, .exported";
  for (const element of document.querySelectorAll(places.split(", ").map((one) => `${one} *`).join(", "))) {
    for (const { name, value } of element.attributes) {
      if (/^(on|:|@|v-)/i.test(name)) tell(element, name);
      if (loads.includes(name) && value.includes(elsewhere)) tell(element, `${name}=${value}`);
      if (name === "style" && /url\\(|image-set|expression/i.test(value)) tell(element, `style=${value}`);
      if (["href", ...loads].includes(name) && sourced.test(value)) tell(element, `${name}=${value}`);
    }
    const drawn = element.matches(".math-shown .katex-mathml > math");  // by KaTeX, of what it lets through
    if (never.includes(element.tagName.toUpperCase()) && !drawn) tell(element, "");
    if (element.matches("form[action]")) tell(element, "action");
    const href = element.matches("a[href]:not([href^='#'])") ? element.getAttribute("href") : null;
    if (href !== null && !["http:", "https:", "mailto:", "data:"].includes(scheme(href))) tell(element, `href=${href}`);
    if (element.matches("a[href]:not([download])") && scheme(href) === "data:") tell(element, "href=data:");
    if (element.matches(".prose :is([id], [name], [data-action], [data-testid])")) tell(element, "posing");
  }
  return found;
}"""
NO_WAY_OUT = ("data:", "blob:", "about:", "file:", "chrome-extension:")
"""Requests that leave nothing."""


class Watch:
    """All that a browser context asks for and complains about, from now on."""

    def __init__(self, context: BrowserContext, app: AppProcess, elsewhere: str) -> None:
        """`elsewhere`: what is in every address of the payloads."""
        self._app = app
        self._elsewhere = elsewhere
        self.looks = 0
        self.found: list[str] = []
        """What became of payloads, in words, with the place."""
        self.left: list[str] = []
        """Requests to other origins."""
        self._place = ""
        context.add_init_script(REMEMBER)
        context.on("request", self._request)
        context.on("console", self._console)
        context.on("weberror", self._error)

    def look(self, page: Page, place: str) -> None:
        """Note what is wrong with the page as it is now."""
        self._place = place
        page.evaluate(SETTLED)
        self.looks += 1
        self.found += [f"{place}: {danger}" for danger in page.evaluate(DANGERS, self._elsewhere)]

    def _request(self, request: Request) -> None:
        if not request.url.startswith((f"{self._app.url}/", *NO_WAY_OUT)) and not self._is_second_origin(request):
            self.left.append(request.url)

    def _is_second_origin(self, request: Request) -> bool:
        """Whether it asks the app's own place for what it does not trust, and for a picture only."""
        asked = urlsplit(request.url)
        return (
            asked.hostname == "127.0.0.1"
            and request.resource_type == "image"
            and asked.port in self._app.listens_at() - {self._app.port}
        )

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and "Content Security Policy" in message.text:
            self.found.append(f"{self._place}: console: {message.text}")

    def _error(self, error: WebError) -> None:
        self.found.append(f"{self._place}: script error: {error.error}")
