"""Hostile views of MCP Apps: what each tries as data, a server that brings them, and trials that see what they got.

A view only talks from inside of its frame; `trial.py` watches from outside, so that what a view does not know of itself
is seen too. `naive_host.py` is a host that holds nothing back: there each of them gets something.
"""

from tests.hostile_views import domains, looks, messages, reaching_in, reaching_out, tools, weight

VIEWS = (
    *reaching_in.VIEWS,
    *reaching_out.VIEWS,
    *messages.VIEWS,
    *tools.VIEWS,
    *looks.VIEWS,
    *weight.VIEWS,
    *domains.VIEWS,
)
