"""A browser that was away: what NiceGUI repeats to it, made fit for what has changed since, and being signed out."""

from nicegui import Client

SIGNED_OUT = """<script>window.addEventListener("load", () => window.socket.on("connect_error", async () => {
  const answer = await fetch("/favicon.ico", {cache: "no-store"}).catch(() => null);
  if (answer?.status === 401) location.reload();  // to be told, where it would try to connect for ever
}));</script>"""


def newest_wins(client: Client) -> None:
    """Take out of what is repeated whatever is on its way anew; to be called whenever the browser is back.

    NiceGUI sends what changed meanwhile first and repeats what got lost after it, so that of an element in both the
    older state would stay.
    """
    for _, kind, said in client.outbox.messages:
        if kind == "update":
            for element_id in client.outbox.updates:
                said.pop(element_id, None)
