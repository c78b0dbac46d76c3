"""Addresses of the pages that shut views away."""

import pytest

from app.domain.apps import Domains
from app.domain.errors import NotFound
from app.store.contents.sandboxes import MOST_REPORTS, PLACE, REPORTED, Sandboxes


def test_an_address_leads_to_its_own_policy_and_no_other_one_does():
    sandboxes = Sandboxes(lambda: "http://127.0.0.1:2")
    one = sandboxes.address(Domains(connect=("https://a.example",)), page="http://127.0.0.1:1")
    two = sandboxes.address(Domains(), page="http://127.0.0.1:1", clipboard=True)
    path = one.removeprefix("http://127.0.0.1:2")
    assert path.startswith(PLACE) and one != two
    assert "connect-src https://a.example;" in sandboxes.get(path).policy
    assert f"report-uri {path}{REPORTED}" in sandboxes.get(path).policy
    for other in (path + "x", path[:-1], PLACE, path + REPORTED):
        with pytest.raises(NotFound):
            sandboxes.get(other)


def test_reports_are_few_short_and_each_is_kept_once():
    sandboxes = Sandboxes()
    address = sandboxes.address(Domains(), page="p")
    for number in range(2 * MOST_REPORTS):
        sandboxes.report(address + REPORTED, f"{number // 2} {'x' * 1000}")
    reports = sandboxes.reports("http://127.0.0.1:2" + address)
    assert len(reports) == len(set(reports)) == MOST_REPORTS
    assert max(map(len, reports)) == 200
    assert sandboxes.reports("http://127.0.0.1:2/app/unknown") == ()
