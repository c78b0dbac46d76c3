"""What NiceGUI repeats to a browser that was away for a moment, made fit for what has changed since."""

from nicegui import Client


def newest_wins(client: Client) -> None:
    """Take out of what is repeated whatever is on its way anew; to be called whenever the browser is back.

    NiceGUI sends what changed meanwhile first and repeats what got lost after it, so that of an element in both the
    older state would stay.
    """
    for _, kind, said in client.outbox.messages:
        if kind == "update":
            for element_id in client.outbox.updates:
                said.pop(element_id, None)
