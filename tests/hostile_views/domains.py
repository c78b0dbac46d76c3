"""Views of resources whose domains want to become more of a policy than domains; all that is offered is allowed."""

from tests.hostile_views.hostile_view import APP, ELSEWHERE, HostileView

REACHES = """
for (const [what, way] of [["fetch", () => fetch(`${ELSEWHERE}/domain`, { mode: "no-cors" })], ["app", () =>
  fetch(`${APP}/api/v1/health`, { mode: "no-cors" })]])
  await attempt(what, async () => (await way()).type);
add("img", { src: `${ELSEWHERE}/domain` }); add("script", { src: `${ELSEWHERE}/domain.js` }); add("iframe", {
  src: `${ELSEWHERE}/domain` });
add("iframe", { src: APP }); new Image().src = ELSEWHERE.replace("127.0.0.1", "localhost");
await attempt("localhost", async () => (await fetch(ELSEWHERE.replace("127.0.0.1", "localhost"), {
  mode: "no-cors" })).type);
"""
KEYS = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")


def _asking(name: str, tries: str, *domains: str) -> HostileView:
    return HostileView(f"domain_{name}", tries, REACHES, csp={key: list(domains) for key in KEYS})


VIEWS = (
    _asking(
        "semicolon",
        "end the directive by a semicolon",
        f"https://a.example; connect-src {ELSEWHERE}; img-src *",
        "https://a.example;script-src *",
        "https://a.example;frame-src *",
        f"https://a.example;report-uri {ELSEWHERE}",
    ),
    _asking(
        "comma",
        "begin a second policy, or a second value, by a comma or a line",
        f"https://a.example, default-src {ELSEWHERE}",
        "https://a.example,*",
        "https://a.example\r\nX-Hostile: 1",
        "https://a.example\nContent-Security-Policy: default-src *",
    ),
    _asking(
        "keywords",
        "be a keyword",
        "'unsafe-eval'",
        "'self' *",
        "'strict-dynamic'",
        '"*"',
        "'none' *",
        "*",
        "data:",
        "blob:",
        "filesystem:",
    ),
    _asking(
        "schemes",
        "be every address of a scheme",
        "http:",
        "https:",
        "ws:",
        "http://*",
        "https://*",
        "http://*:*",
        "https://*.",
        "https://*.*",
        "https://a.*.example",
        "//*",
    ),
    _asking(
        "spaces",
        "be two",
        f"https://a.example {ELSEWHERE}",
        f"https://a.example\t{ELSEWHERE}",
        f"https://a.example\u00a0{ELSEWHERE}",
        f" {ELSEWHERE}",
    ),
    _asking(
        "this_machine",
        "be this machine",
        ELSEWHERE,
        APP,
        "http://127.0.0.1:*",
        "http://127.0.0.1",
        "http://localhost:*",
        "ws://127.0.0.1:*",
        "http://[::1]:*",
        "http://*.localhost",
        "http://LOCALHOST:*",
        "http://localhost.:*",
    ),
    _asking(
        "this_machine_written_otherwise",
        "be this machine, written otherwise",
        "http://127.1:*",
        "http://2130706433:*",
        "http://0x7f.0.0.1:*",
        "http://0177.0.0.1:*",
        "http://0:*",
        "http://0.0.0.0:*",
        "http://127.0.0.1.:*",
        "http://[::ffff:127.0.0.1]:*",
        "http://①②⑦.⓪.⓪.①:*",
        "http://%31%32%37.0.0.1:*",
    ),
    _asking(
        "private",
        "be a private network",
        "http://10.0.0.1",
        "http://192.168.0.1:8080",
        "http://172.16.0.1",
        "http://169.254.169.254",
        "http://[fe80::1]",
        "http://[fd00::1]",
        "http://router.local",
        "http://100.64.0.1",
        "http://metadata.internal",
        "http://intranet",
    ),
    _asking(
        "accounts",
        "hide a host behind an account or a path",
        "https://a.example@127.0.0.1:*",
        f"{ELSEWHERE}/path",
        "https://a.example/../*",
        "https://a.example?*",
        "https://a.example#*",
        "https://user:pass@127.0.0.1:*",
    ),
    HostileView(
        "domain_not_a_list",
        "give domains that are none",
        REACHES,
        csp={
            "connectDomains": "*",
            "resourceDomains": {"0": "*"},
            "frameDomains": [None, 5, ["*"], {"a": "*"}],
            "__proto__": {"connectDomains": ["*"]},
        },
    ),
    HostileView(
        "domains_without_end",
        "make a policy without end",
        REACHES,
        csp={
            "connectDomains": [f"https://a{number}.example" for number in range(5000)],
            "resourceDomains": ["https://" + "a" * 5000 + ".example"],
        },
    ),
)
