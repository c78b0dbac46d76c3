"""Proxies of the environment and of the system, past which this computer asks itself."""

import os

import httpx
import pytest

from app.start.proxies import spare_loopback

PROXY = "http://proxy.example:3128"


def spared(environment: dict[str, str], system: dict[str, str] | None = None) -> dict[str, str]:
    spare_loopback(environment, lambda: system or {})
    return environment


def test_without_a_proxy_nothing_is_changed():
    assert spared({"PATH": "/bin", "NO_PROXY": "x.example"}) == {"PATH": "/bin", "NO_PROXY": "x.example"}


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "http_proxy"])
def test_a_proxy_of_the_environment_is_kept_and_never_asked_for_this_computer(name: str):
    found = spared({name: PROXY, "NO_PROXY": "intern.example, 10.0.0.1"})
    assert found[name] == PROXY
    assert found["no_proxy"] == found["NO_PROXY"] == "intern.example,10.0.0.1,localhost,127.0.0.1,::1"


def test_a_proxy_of_the_system_reaches_the_libraries_that_read_the_environment():
    found = spared({}, {"https": PROXY, "no": "intern.example"})
    assert found == {
        "https_proxy": PROXY,
        "no_proxy": "intern.example,localhost,127.0.0.1,::1",
        "NO_PROXY": "intern.example,localhost,127.0.0.1,::1",
    }


def test_httpx_goes_past_the_proxy_to_this_computer_only(monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    for name, value in spared({"HTTPS_PROXY": PROXY, "HTTP_PROXY": PROXY}).items():
        monkeypatch.setenv(name, value)
    with httpx.Client() as client:
        direct = [client._transport_for_url(httpx.URL(url)) is client._transport for url in (
            "http://127.0.0.1:11434/api", "http://localhost:1234/v1", "http://[::1]:8080/", "https://api.example/v1"
        )]  # fmt: skip
    assert direct == [True, True, True, False]
