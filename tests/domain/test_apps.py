"""What views may ask for, and the policy that comes of it."""

import pytest

from app.domain.apps import Domains, content_policy, domains_of, is_open_origin, refused_domains

OPEN = (
    "https://example.com",
    "https://*.example.com:8443",
    "wss://live.example.co.uk",
    "http://example.com",
    "https://8.8.8.8",
)
CLOSED = (
    "*", "https:", "https://", "https://*", "https://*.*.example.com", "https://example.com/path", "data:", "blob:",
    "'self'", "https://example.com; script-src *", "https://a.example, https://b.example", "https://a.example https:",
    "https://localhost", "https://app.localhost", "http://127.0.0.1:8765", "http://127.1", "http://0x7f.1",
    "http://2130706433", "http://10.0.0.1", "http://192.168.1.1", "http://169.254.169.254", "http://[::1]",
    "https://printer.local", "https://example", "https://user@example.com", "https://exa\nmple.com", "javascript://x.y",
    "https://-a.example.com", "https://example.com:123456", "ftp://example.com", "https://bücher.example",
)  # fmt: skip


@pytest.mark.parametrize("origin", OPEN)
def test_origins_of_the_open_internet_can_be_allowed(origin):
    assert is_open_origin(origin)


@pytest.mark.parametrize("origin", CLOSED)
def test_nothing_else_gets_into_a_policy(origin):
    assert not is_open_origin(origin)
    csp = {"connectDomains": [origin, "https://fine.example"], "resourceDomains": origin, "frameDomains": [7, None]}
    assert domains_of(csp) == Domains(connect=("https://fine.example",))
    assert refused_domains(csp) == 3


def test_a_view_that_was_allowed_nothing_reaches_nothing():
    policy = content_policy(Domains(), page="http://127.0.0.1:1", report="/app/x/reported")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["connect-src"] == rules["frame-src"] == rules["form-action"] == "'none'"
    assert rules["frame-ancestors"] == "http://127.0.0.1:1"
    assert "'self'" not in policy and "'unsafe-eval'" not in policy and "http:" not in rules["script-src"]


def test_it_reaches_what_was_allowed_for_what_it_asked():
    asked = domains_of({"connectDomains": ["https://api.example.com"], "resourceDomains": ["https://CDN.example.com"]})
    rules = content_policy(asked.only(["https://cdn.example.com"]), page="x", report="y", evaluates=True)
    assert "connect-src 'none'" in rules
    assert "script-src 'unsafe-inline' blob: data: 'unsafe-eval' https://cdn.example.com;" in rules
