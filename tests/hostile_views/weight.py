"""Views that weigh too much, run too long, or do not want to go."""

from tests.hostile_views.hostile_view import HostileView

VIEWS = (
    HostileView("spins", "freeze our page by a loop", "for (;;);", hangs=True),
    HostileView(
        "spins_in_messages",
        "freeze our page between its messages",
        "for (;;) { note('notifications/message', { level: 'info', data: 'x' }); }",
        hangs=True,
    ),
    HostileView(
        "microtasks",
        "never come to rest",
        "const again = () => Promise.resolve().then(again); again();",
        hangs=True,
    ),
    HostileView(
        "memory",
        "fill the memory",
        "window.kept = []; for (let n = 0; n < 24; n++) { kept.push(new Uint8Array(1e7).fill(n)); await rest(5); }",
    ),
    HostileView(
        "crowd",
        "start a crowd of frames and workers",
        """
        for (let n = 0; n < 60; n++) add("iframe", { srcdoc: "<script>setInterval(() => {}, 1)<\\/script>" });
        const at = URL.createObjectURL(new Blob(["setInterval(() => {}, 1)"], { type: "text/javascript" }));
        for (let n = 0; n < 20; n++) try { new Worker(at); } catch { break; }
        for (let n = 0; n < 20000; n++) document.body.append(document.createElement("i"));
        """,
        settles=800,
    ),
    HostileView(
        "does_not_go",
        "stay when it is closed",
        """
        addEventListener("message", ({ data }) => { if (data?.method === "ui/resource-teardown") for (let n = 0;
          n < 50; n++) note("x", {}); });
        onbeforeunload = (event) => { event.preventDefault(); return "Stay"; };
        addEventListener("pagehide", () => { for (const end = Date.now() + 1500; Date.now() < end;); });
        """,
    ),
    HostileView(
        "wishes_teardown",
        "be closed and opened at its own will",
        # Not before a person saw it: what is closed at once leaves no one to look at.
        """
        await rest(700);
        for (let n = 0; n < 100; n++) { note('ui/notifications/request-teardown', {}); await rest(5); }
        """,
        leaves=True,
    ),
)
