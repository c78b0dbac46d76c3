"""The proxy that the system or the environment names is used by all libraries, and never for this computer itself."""

import os
import urllib.request
from collections.abc import Callable, MutableMapping

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def spare_loopback(
    environment: MutableMapping[str, str] = os.environ, system: Callable[[], dict[str, str]] = urllib.request.getproxies
) -> None:
    """Where a proxy is set, write it and what goes past it into the environment, which every library reads.

    Without that a model server on this computer would be asked through the proxy, which cannot reach it.
    """
    proxies = _named_in(environment)
    if not proxies.keys() - {"no"}:
        proxies = system() | proxies
    if not proxies.keys() - {"no"}:
        return
    for scheme in ("http", "https", "all"):
        if (proxy := proxies.get(scheme)) and not _is_set(f"{scheme}_proxy", environment):
            environment[f"{scheme}_proxy"] = proxy
    spared = [host.strip() for host in proxies.get("no", "").split(",") if host.strip()]
    past = ",".join(dict.fromkeys([*spared, *LOOPBACK]))
    for name in ("no_proxy", "NO_PROXY"):
        environment[name] = past


def _is_set(name: str, environment: MutableMapping[str, str]) -> bool:
    return bool(environment.get(name) or environment.get(name.upper()))


def _named_in(environment: MutableMapping[str, str]) -> dict[str, str]:
    """By scheme, as `urllib` reads them: the lower case name counts where there are both."""
    found = {name.lower().removesuffix("_proxy"): value for name, value in environment.items() if _names(name)}
    lower = {name.removesuffix("_proxy"): value for name, value in environment.items() if name.endswith("_proxy")}
    return {scheme: value for scheme, value in (found | lower).items() if value}


def _names(name: str) -> bool:
    return name.lower().endswith("_proxy")
