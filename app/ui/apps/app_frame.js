// The view of an MCP App: our page, a page of the second origin, and in that a frame of no origin with the view itself.
//
// The frame is made by hand and stays where it is: one that is moved, or drawn anew, loads again and loses what it
// knew. So inline, full screen and beside the conversation are classes of one element. What a view says is data: it is
// checked here and on the server, and never becomes markup or code. It comes when its call has ended, however that did,
// so it is told whole arguments and never partial ones. See https://modelcontextprotocol.io/extensions/apps
import { h } from "vue";

const PROTOCOL = "2026-01-26";
const MOST_LIVE = 3;
const LEAST = 80; // pixels of height inline
const MOST = 600;
const START_MS = 15_000; // for its first word
const TEARDOWN_MS = 2_000;
const PING_MS = 5_000;
const SILENT_MS = 10_000;
const PROGRESS_MS = 15_000; // views give up after 60 s unless they hear of it
const TAB_MS = 1_000;
const MOST_GRABS = 3;
const WRITING_MS = 1_500;
const LOOK_MS = 20;
const SLOW_LOOK_MS = 100;
const MOST_ASKED = 32;
const LARGEST = 400_000; // characters of a request: what is much more never arrives at the server
const LOG_MS = 1_000;
const MOST_LOGS = 50;
const LONGEST_LOG = 2_000;
const LARGEST_FILE = 10_000_000;
const ASKED = new Set(["tools/call", "tools/list", "resources/read", "resources/list", "resources/templates/list",
  "prompts/list", "ui/message", "ui/update-model-context", "ui/open-link"]);
const RATIO = "app-beside-ratio";
// Where the browser can, it keeps the keyboard from a frame that nobody pointed at; else a key may go there before we
// take it back.
const NO_GRAB = "focus-without-user-activation";
const TAKES_NO_KEYS = document.featurePolicy?.features().includes(NO_GRAB) && `${NO_GRAB} 'none'`;
const OVER = ":is(.q-menu, .q-dialog__inner):not([class*=leave-active])";

const apps = new Set(); // all of this page, in the order they came
const icon = (name) => h("i", { class: "q-icon notranslate material-icons", "aria-hidden": "true", "data-icon": name });
// What a person's hands did last: a frame can take the keyboard without being asked, and would read what is typed.
const hands = { key: "", at: 0, place: document.activeElement, away: false };
window.addEventListener("blur", () => { hands.away = true; });
window.addEventListener("focus", () => { hands.away = false; });
document.addEventListener("keydown", ({ key, target }) => Object.assign(hands, { key, at: Date.now(), place: target }), true);
document.addEventListener("pointerdown", () => Object.assign(hands, { key: "", at: Date.now() }), true);
document.addEventListener("focusin", ({ target }) => { if (target.tagName !== "IFRAME") hands.place = target; }, true);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const ratio = (value) => {
  const kept = clamp(value ?? Number(localStorage.getItem(RATIO) ?? 0.5), 0.2, 0.8) || 0.5;
  if (value !== undefined) localStorage.setItem(RATIO, kept);
  document.documentElement.style.setProperty("--app-beside", kept);
  return kept;
};

export default {
  props: { call: String, tool: String, name: String, definition: String, document: String, given: String,
    args: Object, sandbox: String, clipboard: Boolean, bordered: Boolean, stopped: String, version: String,
    fresh: Boolean, looks: Object },
  emits: ["ask", "state", "log"],
  data: () => ({ state: "card", mode: "inline", others: [], ratio: 0.5 }),
  render() {
    const live = this.state === "loading" || this.state === "live";
    return h("section", {
      class: ["mcp-app", `is-${this.mode}`, { "is-plain": !this.bordered, "is-shown": live }],
      "data-testid": "mcp-app", "data-state": this.state, "data-mode": this.mode, "data-tool": this.tool,
      "aria-label": this.label,
    }, [
      this.mode === "beside" ? this.divider() : null,
      h("div", { class: "mcp-app-head" }, [
        icon("widgets"), h("strong", { class: "truncate" }, this.name),
        this.mode === "fullscreen" && this.others.length > 1 ? this.tabs() : h("span", { class: "grow" }),
        ...(live ? this.buttons() : [h("button", { type: "button", class: "text-button text-button-plain",
          "data-testid": "mcp-app-open", disabled: !this.document, onClick: () => this.open() }, "Open the app")]),
      ]),
      h("div", { key: "notes", class: "mcp-app-notes" }, this.$slots.default?.()),
      h("div", { key: "place", ref: "place", class: "mcp-app-place" }),
    ]);
  },
  computed: {
    label() { return `App of ${this.name}`; },
    origin() { return new URL(this.sandbox).origin; },
  },
  created() {
    this.reset();
    this.logs = [];
    this.unlogged = 0;
    this.serial = 0;
  },
  mounted() {
    apps.add(this);
    this.ratio = ratio();
    window.addEventListener("message", this.receive);
    document.addEventListener("keydown", this.key, true);
    document.addEventListener("focusin", this.keep_focus);
    document.addEventListener("pointermove", this.moved, true);
    document.addEventListener("keydown", this.leave, true);
    window.addEventListener("blur", this.blurred);
    this.sizes = new ResizeObserver(() => this.tell_context());
    this.sizes.observe(this.$refs.place);
    this.watching = new MutationObserver(() => this.tell_context());
    this.watching.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    this.height = Number(sessionStorage.getItem(`app-height:${this.call}`)) || 240;
    if (!this.document) this.say("failed");
    else if (this.fresh || showing().length < MOST_LIVE) this.open();
  },
  beforeUnmount() {
    apps.delete(this);
    window.removeEventListener("message", this.receive);
    document.removeEventListener("keydown", this.key, true);
    document.removeEventListener("focusin", this.keep_focus);
    document.removeEventListener("pointermove", this.moved, true);
    document.removeEventListener("keydown", this.leave, true);
    window.removeEventListener("blur", this.blurred);
    this.sizes.disconnect();
    this.watching.disconnect();
    if (this.mode === "beside") document.body.classList.remove("app-beside");
    this.notify("ui/resource-teardown", { reason: "closed" });
    this.remove();
  },
  methods: {
    reset() {
      this.pending = new Map(); // our key of a request to the server -> what the view calls it
      this.awaited = new Map(); // our requests to the view
      this.declared = null; // the modes that the view says it has
      this.greeted = false;
      this.grabs = 0; // how often it took the keyboard by itself
      this.entered = false; // a person's pointer came over it, and no key went to our page since
      this.last = ""; // the context that it was told last
    },
    say(state, why = "") {
      this.state = state;
      this.$emit("state", { state, why });
    },

    // The head
    buttons() {
      const one = (testid, symbol, label, act, keys) => h("button", { type: "button", class: "icon-action", key: testid,
        "data-testid": testid, "aria-label": label, title: label, "aria-keyshortcuts": keys, onClick: act }, [icon(symbol)]);
      const found = [];
      if (this.mode !== "inline") found.push(one("mcp-app-inline", "close_fullscreen", "Back to its place",
        () => this.set_mode("inline"), this.mode === "fullscreen" ? "Escape" : undefined));
      if (this.mode !== "beside") found.push(one("mcp-app-beside", "vertical_split", "Beside the page", () => this.set_mode("beside")));
      if (this.mode !== "fullscreen") found.push(one("mcp-app-fullscreen", "open_in_full", "Full screen", () => this.set_mode("fullscreen")));
      found.push(one("mcp-app-close", "close", "Close the app", () => this.close("closed")));
      return found;
    },
    tabs() {
      const named = (one, place) => (this.others.some((other) => other !== one && other.name === one.name) ? `${one.name} ${place + 1}` : one.name);
      return h("div", { class: "mcp-app-tabs grow", role: "tablist", "aria-label": "Open apps" }, this.others.map((other, place) =>
        h("button", { type: "button", role: "tab", key: other.call, "data-testid": "mcp-app-tab", "aria-selected": String(other === this),
          onClick: () => other.set_mode("fullscreen") }, named(other, place))));
    },
    divider() {
      return h("div", { class: "mcp-app-divider", role: "separator", tabindex: "0", "aria-orientation": "vertical",
        "data-testid": "mcp-app-divider", "aria-label": "Width of the app", "aria-valuemin": "20", "aria-valuemax": "80",
        "aria-valuenow": String(Math.round(this.ratio * 100)), onPointerdown: this.grasp, onKeydown: this.nudge });
    },
    grasp(event) {
      const bar = event.currentTarget;
      bar.setPointerCapture(event.pointerId);
      document.body.classList.add("app-dragging"); // else the frame would swallow the pointer
      const move = (moved) => { this.ratio = ratio(1 - moved.clientX / innerWidth); };
      const stop = () => {
        document.body.classList.remove("app-dragging");
        bar.removeEventListener("pointermove", move);
      };
      bar.addEventListener("pointermove", move);
      bar.addEventListener("lostpointercapture", stop, { once: true });
    },
    nudge(event) {
      const step = { ArrowLeft: 0.02, ArrowRight: -0.02 }[event.key];
      if (!step) return;
      event.preventDefault();
      this.ratio = ratio(this.ratio + step);
    },

    // Where it stands
    set_mode(mode) {
      if (this.mode === mode) return;
      const before = this.mode;
      for (const other of apps) if (other !== this && other.mode !== "inline" && mode !== "inline") other.set_mode("inline");
      this.mode = mode;
      this.others = showing();
      document.body.classList.toggle("app-beside", [...apps].some((one) => one.mode === "beside"));
      this.fit();
      this.$nextTick(() => {
        this.tell_context();
        const focused = { inline: `mcp-app-${before}`, beside: "mcp-app-inline", fullscreen: "mcp-app-inline" }[mode];
        this.$el.querySelector(`[data-testid=${focused}]`)?.focus({ preventScroll: mode !== "inline" });
      });
    },
    key(event) {
      if (event.key !== "Escape" || this.mode !== "fullscreen" || event.isComposing || document.querySelector(OVER)) return;
      event.preventDefault();
      event.stopPropagation();
      this.set_mode("inline");
    },
    // Escape was pressed in the view: whatever it does with its keys, the keyboard comes back to us.
    escape() {
      if (document.activeElement !== this.frame) return; // it says so by itself
      if (this.mode !== "inline") return this.set_mode("inline");
      this.$el.querySelector("[data-testid=mcp-app-fullscreen]").focus({ preventScroll: true });
    },
    keep_focus(event) {
      if (this.mode !== "fullscreen" || this.$el.contains(event.target) || event.target.closest(".q-dialog, .q-menu, .q-notifications")) return;
      this.$el.querySelector("[data-testid=mcp-app-inline]")?.focus();
    },
    // Our page hears nothing of a pointer over the frame, which is another process's. So a pane of ours lies above it
    // until a pointer moves there, and again as soon as one moves elsewhere or somebody types.
    enter(event) {
      if (event.type === "pointermove" && !event.movementX && !event.movementY) return; // the page moved, not the hand
      this.entered = true;
      this.pane.style.pointerEvents = "none";
    },
    moved(event) {
      if (event.target !== this.pane) this.leave();
    },
    leave() {
      if (!this.entered) return;
      this.entered = false;
      if (this.pane) this.pane.style.pointerEvents = "";
    },
    // The frame has the keyboard: unless a person pointed at it, or came there by Tab, it took it by itself.
    blurred() {
      if (!this.frame || document.activeElement !== this.frame || !matchMedia("(hover: hover)").matches) return;
      const tabbed = hands.key === "Tab" && Date.now() - hands.at < TAB_MS;
      if (!this.entered && !tabbed) this.give_back();
    },
    // A frame that takes it back at once is not heard: our window then does not get the focus that it was given. While
    // somebody writes it goes for that, since nothing else keeps their words from it; it can be opened again.
    give_back() {
      const { place } = hands, writing = Date.now() - hands.at < WRITING_MS;
      const take = () => { if (place?.isConnected) place.focus({ preventScroll: true }); };
      const close = () => {
        this.fail("It took the keyboard by itself, so it was closed.");
        window.focus(); // the keyboard went with the frame
        place?.blur();
        take();
      };
      this.grabs += writing ? MOST_GRABS / 2 : 1;
      if (this.grabs >= MOST_GRABS) return close();
      this.frame.blur();
      take();
      setTimeout(() => { if (this.frame && hands.away && document.hasFocus()) close(); }, writing ? LOOK_MS : SLOW_LOOK_MS);
    },
    // A card of ours waits above the view.
    attend() {
      this.$el.querySelector(".mcp-app-notes").scrollIntoView({ block: "nearest" });
    },
    fit() {
      if (this.frame) this.frame.style.height = this.mode === "inline" ? `${this.height}px` : "100%";
    },

    // Its life
    async open() {
      const over = showing().filter((one) => one !== this && one.mode === "inline").sort((a, b) => b.distance() - a.distance());
      while (showing().length >= MOST_LIVE && over.length) over.shift().close("card");
      this.remove(); // one that still says its goodbye
      this.say("loading");
      this.starting = setTimeout(() => this.say("failed", "It did not start within 15 seconds."), START_MS);
      const round = (this.round = {});
      try {
        const given = this.given ? fetched(this.given).then((got) => got.json()) : {};
        [this.html, this.known] = await Promise.all([fetched(this.document).then((got) => got.text()), given]);
      } catch (problem) {
        if (this.round === round) this.fail(String(problem.message));
        return;
      }
      if (this.round !== round) return;
      const frame = (this.frame = document.createElement("iframe"));
      frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms"); // of the page between, not of the view
      frame.allow = [this.clipboard && "clipboard-write *", TAKES_NO_KEYS].filter(Boolean).join("; ");
      frame.referrerPolicy = "no-referrer";
      frame.title = `${this.label} (${[...apps].indexOf(this) + 1})`;
      frame.src = this.sandbox;
      this.fit();
      const pane = (this.pane = document.createElement("div"));
      pane.className = "mcp-app-pane";
      for (const kind of ["pointermove", "pointerdown"]) pane.addEventListener(kind, this.enter);
      this.$refs.place.append(frame, pane);
      this.beating = setInterval(this.beat, PING_MS);
    },
    fail(why) {
      this.remove();
      this.say("failed", why);
    },
    close(state) {
      this.set_mode("inline");
      const held = this.$el.contains(document.activeElement);
      this.round = null;
      this.say(state);
      if (held) this.$nextTick(() => this.$el.querySelector("[data-testid=mcp-app-open]")?.focus({ preventScroll: true }));
      if (!this.frame) return this.remove();
      const { frame } = this;
      const gone = () => { if (this.frame === frame) this.remove(); };
      this.ask("ui/resource-teardown", { reason: state === "card" ? "too many apps are open" : "closed" }, gone);
      setTimeout(gone, this.greeted ? TEARDOWN_MS : 0);
    },
    remove() {
      clearTimeout(this.starting);
      clearInterval(this.beating);
      for (const { telling } of this.pending?.values() ?? []) clearInterval(telling);
      this.frame?.remove();
      this.pane?.remove();
      this.frame = this.pane = null;
      this.reset();
    },
    distance() {
      const { top, bottom } = this.$el.getBoundingClientRect();
      return Math.abs((top + bottom) / 2 - innerHeight / 2);
    },
    beat() {
      const now = Date.now();
      const silent = [...this.awaited.values()].some((one) => one.ping && now - one.at > SILENT_MS);
      if (silent && this.answers && this.state === "live" && !this.hangs) {
        this.hangs = true;
        this.say("live", "It does not answer. Close it, or wait.");
      }
      if (this.greeted && !this.hangs) this.ask("ping", {}, () => { this.answers = true; }, true);
    },

    // What is said to it
    post(message) {
      this.frame?.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, this.origin);
    },
    notify(method, params) {
      this.post({ method, params });
    },
    ask(method, params, then, ping = false) {
      const id = `host-${(this.serial += 1)}`;
      this.awaited.set(id, { then, ping, at: Date.now() });
      this.post({ id, method, params });
    },
    refuse(id, message, code = -32000) {
      this.post({ id, error: { code, message } });
    },
    context() {
      const { clientWidth: width, clientHeight: height } = this.$refs.place;
      const wide = this.mode !== "inline" && this.has_mode("fullscreen");
      return {
        theme: document.body.classList.contains("body--dark") ? "dark" : "light",
        styles: { variables: this.variables() },
        displayMode: wide ? "fullscreen" : "inline",
        availableDisplayModes: ["inline", "fullscreen"],
        containerDimensions: this.mode === "inline" ? { width, maxHeight: MOST } : { width, height },
        locale: navigator.language,
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        userAgent: `agent-playground/${this.version}`,
        platform: matchMedia("(pointer: coarse)").matches ? "mobile" : "web",
        deviceCapabilities: { touch: navigator.maxTouchPoints > 0, hover: matchMedia("(hover: hover)").matches },
        safeAreaInsets: { top: 0, right: 0, bottom: 0, left: 0 },
      };
    },
    variables() {
      const style = getComputedStyle(document.body);
      const resolved = ([name, ours]) => [name, ours.startsWith("--") ? style.getPropertyValue(ours).trim() : ours];
      return Object.fromEntries(Object.entries(this.looks).map(resolved));
    },
    tell_context() {
      if (!this.greeted || this.telling) return;
      this.telling = requestAnimationFrame(() => {
        this.telling = 0;
        if (!this.greeted || !this.frame) return;
        const now = this.context(), told = JSON.stringify(now);
        if (told !== this.last) this.notify("ui/notifications/host-context-changed", now);
        this.last = told;
      });
    },
    has_mode(mode) {
      return this.declared === null || this.declared.includes(mode);
    },

    // What it says
    receive(event) {
      if (!this.frame || event.source !== this.frame.contentWindow || event.origin !== this.origin) return;
      const said = event.data;
      if (said === null || typeof said !== "object" || said.jsonrpc !== "2.0") return;
      const { id, method } = said;
      const params = said.params !== null && typeof said.params === "object" ? said.params : {};
      if (typeof method !== "string") return this.answered(id);
      if (id === undefined) return this.noticed(method, params);
      if (typeof id === "number" || (typeof id === "string" && id.length < 200)) this.requested(id, method, params);
    },
    answered(id) {
      const one = this.awaited.get(id);
      if (!one) return;
      this.awaited.delete(id);
      if (this.hangs) {
        this.hangs = false;
        this.say(this.state);
      }
      one.then?.();
    },
    noticed(method, params) {
      switch (method) {
        case "ui/notifications/sandbox-proxy-ready":
          if (this.html !== null) this.notify("ui/notifications/sandbox-resource-ready", { html: this.html });
          this.html = null; // once: a second one would load the view again
          break;
        case "ui/notifications/initialized":
          clearTimeout(this.starting);
          this.greeted = true;
          if (this.state !== "closed" && this.state !== "card") this.say("live");
          this.notify("ui/notifications/tool-input", { arguments: JSON.parse(JSON.stringify(this.args)) });
          if (this.known.result) this.notify("ui/notifications/tool-result", this.known.result);
          else this.notify("ui/notifications/tool-cancelled", { reason: this.stopped });
          this.beat(); // who answers now will be missed later
          break;
        case "ui/notifications/sandbox-escape":
          this.escape();
          break;
        case "ui/notifications/size-changed":
        case "ui/notifications/size-change":
          this.resize(Number(params.height));
          break;
        case "notifications/message":
          this.log(params);
          break;
        case "ui/notifications/request-teardown":
          this.close("closed");
          break;
        default:
      }
    },
    // What it reports is told to its server's page once a second; of a flood how much there was.
    log({ level, data }) {
      if (this.logs.length >= MOST_LOGS) this.unlogged += 1;
      else this.logs.push(`${level}: ${typeof data === "string" ? data : written(data)}`.slice(0, LONGEST_LOG));
      this.logging ||= setTimeout(() => {
        this.$emit("log", { lines: this.logs.splice(0), more: this.unlogged });
        this.logging = this.unlogged = 0;
      }, LOG_MS);
    },
    resize(height) {
      const wanted = clamp(Math.ceil(height) || 0, LEAST, MOST);
      if (this.mode !== "inline" || !height || Math.abs(wanted - this.height) < 2) return;
      this.height = wanted;
      sessionStorage.setItem(`app-height:${this.call}`, wanted);
      this.fit();
    },
    requested(id, method, params) {
      switch (method) {
        case "ui/initialize":
          return this.greet(id, params);
        case "ping":
          return this.post({ id, result: {} });
        case "ui/request-display-mode":
          return this.post({ id, result: { mode: this.wish(params.mode) } });
        case "ui/download-file":
          return this.download(id, params);
        default:
          return ASKED.has(method) ? this.pass_on(id, method, params) : this.refuse(id, `There is no ${method.slice(0, 100)} here.`, -32601);
      }
    },
    greet(id, params) {
      const modes = params.appCapabilities?.availableDisplayModes;
      this.declared = Array.isArray(modes) ? modes.slice(0, 10) : null;
      const { tool } = this.known;
      this.post({ id, result: {
        protocolVersion: PROTOCOL,
        hostInfo: { name: "Agent Playground", version: this.version },
        hostCapabilities: {
          openLinks: {}, downloadFile: {}, serverTools: {}, serverResources: {}, logging: {}, message: { text: {} },
          updateModelContext: { text: {}, structuredContent: {} },
          sandbox: { permissions: this.clipboard ? { clipboardWrite: {} } : {} },
        },
        hostContext: { ...(tool && { toolInfo: { id: this.call, tool } }), ...this.context() },
      } });
    },
    // A view takes the screen only while somebody works in it.
    wish(mode) {
      const focused = document.activeElement === this.frame;
      if (focused && this.has_mode(mode) && (mode === "inline" || mode === "fullscreen")) this.set_mode(mode);
      return this.mode === "inline" ? "inline" : "fullscreen";
    },
    pass_on(id, method, params) {
      if (this.pending.size >= MOST_ASKED) return this.refuse(id, `${MOST_ASKED} requests wait already.`);
      const text = written(params);
      if (text === null || text.length > LARGEST) return this.refuse(id, `The request has more than ${LARGEST} characters.`);
      const key = `${(this.serial += 1)}`;
      const token = params._meta?.progressToken;
      let done = 0;
      const telling = token === undefined ? 0
        : setInterval(() => this.notify("notifications/progress", { progressToken: token, progress: (done += 1) }), PROGRESS_MS);
      this.pending.set(key, { id, telling });
      this.$emit("ask", { key, method, params: text });
    },
    // From the server: the answer to what was passed on.
    answer(key, reply) {
      const one = this.pending.get(key);
      if (!one) return;
      this.pending.delete(key);
      clearInterval(one.telling);
      this.post({ id: one.id, ...reply });
    },
    // From the server: what the view wants to be saved is brought there, now that somebody lets it.
    async put(key, session, name) {
      const named = new URLSearchParams({ name, saved: true }), body = this.pending.get(key)?.blob;
      const said = await (await fetch(`/uploads/${session}?${named}`, { method: "POST", body })).json();
      return { artifact: said.data?.artifact ?? "", problem: said.error ?? "" };
    },
    // What it wants to be saved is made out of what it sent here, or its server gives, and nothing else.
    download(id, params) {
      const [one] = Array.isArray(params.contents) ? params.contents : [];
      const resource = one?.type === "resource" ? one.resource : one;
      const uri = typeof resource?.uri === "string" ? resource.uri : "";
      const name = String(one?.name ?? uri.split("/").pop() ?? "").slice(-100) || "file";
      const blob = one?.type === "resource_link" ? null : made(resource);
      if (params.contents?.length !== 1 || (!blob && one?.type !== "resource_link")) return this.refuse(id, "One resource at a time can be saved.");
      if (blob && blob.size > LARGEST_FILE) return this.refuse(id, "The file has more than 10 MB.");
      if (this.pending.size >= MOST_ASKED) return this.refuse(id, `${MOST_ASKED} requests wait already.`);
      const key = `${(this.serial += 1)}`;
      this.pending.set(key, { id, telling: 0, blob });
      this.$emit("ask", { key, method: "ui/download-file", params: JSON.stringify({ name, size: blob?.size ?? null, uri: blob ? "" : uri.slice(0, 2000) }) });
    },
  },
};

const showing = () => [...apps].filter((one) => one.state === "loading" || one.state === "live");

async function fetched(digest) {
  const answer = await fetch(`/api/v1/artifacts/${digest}`);
  if (!answer.ok) throw new Error("Its document is not stored any more.");
  return answer;
}

function written(value) {
  try {
    return JSON.stringify(value) ?? "{}";
  } catch {
    return null;
  }
}

// A content as something that is saved, never shown: no type of its own.
function made(resource) {
  if (typeof resource?.text === "string") return new Blob([resource.text], { type: "application/octet-stream" });
  if (typeof resource?.blob !== "string") return null;
  try {
    return new Blob([Uint8Array.from(atob(resource.blob), (one) => one.charCodeAt(0))], { type: "application/octet-stream" });
  } catch {
    return null;
  }
}

