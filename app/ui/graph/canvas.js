// A workflow as boxes and curves. The server owns the document: each gesture is told as one operation, and what differs
// comes back by `put`. Vue draws the frame alone; boxes and curves are made here, and their words are set as text.
import { h } from "vue";

const [ID, KIND, TITLE, X, Y, SCOPE, PORTS, LINE, FAULTS, PINNED] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const NS = "http://www.w3.org/2000/svg";
const GRID = 10;
const NEAR = 4; // pixels a pointer may tremble before it drags
const FAR = 0.3; // the zoom below which words are too small to be read, and not drawn
const MANY = 30; // nodes from which on there is a map
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const ICONS = { running: "sync", done: "check_circle", failed: "error", skipped: "redo", waiting: "pan_tool", cancelled: "block" };
const KEYS =
  "Arrow keys go to a neighbour. Alt and arrow keys move a node, Shift with them further. A adds after, C connects, " +
  "E goes through its edges, Enter opens its settings, Delete removes, F fits all, slash finds. H runs to here, R from here, " +
  "N this node alone, P pins a value.";

const LOOKING = ["enter", "escape", "e", "f", "+", "=", "-", "/"]; // the keys of a canvas that is looked at only
const LOOKED_AT = "Arrow keys go to a neighbour, Enter shows what it gave, F fits all, slash finds.";

const snapped = (place) => Math.round(place / GRID) * GRID;
const curve = (x1, y1, x2, y2) => {
  const bend = Math.max(40, Math.abs(x2 - x1) / 2);
  return `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
};
const made = (parent, name, cls) => {
  const one = parent.appendChild(document.createElement(name));
  one.className = cls;
  return one;
};

export default {
  props: { nodes: Array, edges: Array, sizes: Object, icons: Object, fixed: Boolean },
  data: () => ({ active: null, sought: "", many: false }),
  render() {
    const button = (label, text, onClick) => h("button", { type: "button", class: "text-button", "aria-label": label, title: label, onClick }, text);
    return h("div", { class: "wf" }, [
      h("div", {
        class: "wf-view", ref: "view", tabindex: 0, role: "application", "aria-roledescription": "workflow canvas",
        "aria-label": "Workflow", "aria-describedby": `${this.uid()}-keys`, "aria-activedescendant": this.active,
        "data-testid": "workflow-canvas",
      }),
      h("div", { class: "wf-bar", role: "group", "aria-label": "View of the canvas" }, [
        button("Zoom out", "−", () => this.zoomBy(0.8)),
        button("Fit all", "Fit", this.fit),
        button("Zoom in", "+", () => this.zoomBy(1.25)),
        h("input", {
          type: "search", ref: "find", placeholder: "Find", "aria-label": "Find a node", "data-testid": "workflow-find", value: this.sought,
          onInput: (event) => this.seek(event.target.value, false),
          onKeydown: (event) => {
            if (event.key === "Enter") this.seek(this.sought, true);
            else if (event.key === "Escape") this.$refs.view.focus();
          },
        }),
      ]),
      h("canvas", { class: ["wf-map", { hidden: !this.many }], ref: "map", width: 320, height: 200, "aria-hidden": "true", onPointerdown: this.mapped }),
      h("div", { class: "visually-hidden", id: `${this.uid()}-keys` }, this.fixed ? LOOKED_AT : KEYS),
      h("div", { class: "visually-hidden", ref: "live", "aria-live": "polite", "data-testid": "workflow-said" }),
    ]);
  },
  mounted() {
    const view = this.$refs.view;
    this.layer = made(view, "div", "wf-layer");
    this.svg = this.layer.appendChild(document.createElementNS(NS, "svg"));
    this.svg.setAttribute("class", "wf-edges");
    this.band = made(view, "div", "wf-band hidden");
    this.pan = { x: 20, y: 20, zoom: 1 };
    this.boxes = new Map(); // id -> { node, box, lines, left, top, wide, tall }
    this.lines = new Map(); // id -> { edge, path }
    this.touches = new Map();
    this.chosen = new Set();
    this.touched = new Set(); // nodes of which edges came or went
    this.put(this.nodes, this.edges, []);
    for (const [name, hear] of Object.entries({ pointerdown: this.down, pointermove: this.move, pointerup: this.up, pointercancel: this.up, dblclick: this.open, keydown: this.key, paste: this.paste })) {
      view.addEventListener(name, hear);
    }
    view.addEventListener("wheel", this.wheel, { passive: false });
    this.watcher = new ResizeObserver(() => {
      const { clientWidth: wide, clientHeight: tall } = view;
      if (!wide) return;
      if (!this.size) this.fit();
      else this.pan.x += (wide - this.size.wide) / 2, this.pan.y += (tall - this.size.tall) / 2; // what is in the middle stays there
      this.turn(); // in the frame that is not painted yet
      this.size = { wide, tall };
      this.drawMap();
    });
    this.watcher.observe(view);
    if (window.innerWidth <= 600) this.tell("narrow");
  },
  unmounted() {
    this.watcher.disconnect();
  },
  methods: {
    uid() {
      return `wf${this.$.uid}`;
    },
    tell(name, ...args) {
      if (this.fixed && name !== "choose" && name !== "open") return; // it is looked at only
      if (this.telling && name !== "choose") this.tellChosen(); // what follows is about what is chosen now
      this.$emit("act", [name, args]);
    },
    tellChosen() {
      clearTimeout(this.telling);
      this.telling = 0;
      this.tell("choose", ...this.chosen);
    },
    say(text) {
      this.$refs.live.textContent = text;
    },

    // What is shown
    put(nodes, edges, gone) {
      const held = this.gesture?.drag;
      for (const id of gone) this.drop(id);
      for (const node of nodes) {
        const one = this.boxes.get(node[ID]);
        if (one && held?.has(one)) one.kept = node; // it is in somebody's hand
        else this.putNode(node);
      }
      this.arrange();
      for (const edge of edges) this.putEdge(edge);
      for (const id of this.touched) if (this.boxes.has(id)) this.label(this.boxes.get(id));
      this.touched.clear();
      for (const { lines } of this.boxes.values()) lines.forEach((id) => this.route(id));
      this.many = this.boxes.size >= MANY;
      this.mark();
      this.$nextTick(this.drawMap);
    },
    drop(id) {
      const one = this.boxes.get(id);
      if (one) one.box.remove(), this.boxes.delete(id), this.gesture?.drag?.delete(one);
      const line = this.lines.get(id);
      if (line) {
        line.path.remove();
        this.lines.delete(id);
        for (const end of [line.edge[1], line.edge[3]]) this.boxes.get(end)?.lines.delete(id), this.touched.add(end);
      }
      this.chosen.delete(id);
    },
    putNode(node) {
      let one = this.boxes.get(node[ID]);
      if (!one) {
        const box = made(this.layer, "div", "");
        box.id = `${this.uid()}-${node[ID]}`;
        box.dataset.id = node[ID];
        box.dataset.testid = "workflow-node";
        box.setAttribute("role", "img");
        one = { box, lines: new Set() };
        this.boxes.set(node[ID], one);
      }
      const before = one.node;
      one.node = node;
      if (!before || before.some((value, index) => index !== X && index !== Y && `${value}` !== `${node[index]}`)) this.fill(one);
    },
    fill(one) {
      const { node, box } = one;
      box.dataset.kind = node[KIND];
      box.replaceChildren();
      const icon = made(box, "i", "q-icon notranslate material-icons");
      icon.dataset.icon = this.icons[node[KIND]];
      made(box, "b", "").textContent = node[TITLE];
      one.line = made(box, "span", "wf-line");
      if (node[FAULTS]) made(box, "em", "wf-faults").textContent = node[FAULTS];
      if (node[PINNED]) made(box, "em", "wf-pinned").textContent = "Pinned";
      if (!["input", "note"].includes(node[KIND])) made(box, "i", "wf-port wf-in");
      node[PORTS].forEach((port, index) => {
        const dot = made(box, "i", "wf-port wf-out");
        dot.dataset.port = port;
        dot.style.top = `${this.portAt(node, index) - 8}px`;
        if (node[PORTS].length > 1) {
          const words = made(box, "span", "wf-port-name");
          words.textContent = port;
          words.style.top = `${this.portAt(node, index) - 18}px`;
        }
      });
      this.show(one);
    },
    show(one) {
      const { node, box } = one, [state, words] = one.state ?? ["", ""];
      const scope = this.isScope(node);
      box.className = `wf-node${scope ? " wf-scope" : ""}${state ? ` is-${state}` : ""}${node[FAULTS] ? " is-faulty" : ""}${this.chosen.has(node[ID]) ? " is-chosen" : ""}`;
      one.line.textContent = state ? words : node[LINE];
      one.line.dataset.icon = ICONS[state] ?? "";
      this.label(one);
    },
    label(one) {
      const { node, box } = one, [state, words] = one.state ?? ["", ""];
      const into = [...one.lines].filter((id) => this.lines.get(id)?.edge[3] === node[ID]).length;
      const faults = node[FAULTS] ? `, ${node[FAULTS]} ${node[FAULTS] === 1 ? "fault" : "faults"}` : "";
      box.setAttribute("aria-label", `${node[TITLE]}, ${node[KIND]}${node[PINNED] ? ", pinned" : ""}${state ? `, ${words}` : ""}, ${into} in, ${one.lines.size - into} out${faults}`);
    },
    states(nodes, edges) {
      for (const [id, state, words] of nodes) {
        const one = this.boxes.get(id);
        if (one) (one.state = state ? [state, words] : null), this.show(one);
      }
      for (const [id, state] of edges) {
        this.lines.get(id)?.path.classList.toggle("is-taken", state === "taken");
        this.lines.get(id)?.path.classList.toggle("is-dead", state === "dead");
      }
    },
    isScope: (node) => node[KIND] === "map" || node[KIND] === "loop",
    portAt(node, index) {
      const { tall, row } = this.sizes, ports = node[PORTS].length;
      return tall / 2 + (index - (ports - 1) / 2) * row + Math.max(0, ports * row - tall) / 2;
    },
    // Where each box stands and how large it is; a scope is as large as its body wants.
    arrange() {
      const bodies = new Map();
      for (const one of this.boxes.values()) {
        const scope = one.node[SCOPE];
        if (!bodies.has(scope)) bodies.set(scope, []);
        bodies.get(scope).push(one);
      }
      const { wide, tall, row, pad, scopeWide, scopeTall } = this.sizes;
      const measure = (one, depth) => {
        [one.wide, one.tall] = [wide, Math.max(tall, one.node[PORTS].length * row)];
        one.depth = depth;
        if (!this.isScope(one.node) || depth > 20) return;
        [one.wide, one.tall] = [scopeWide, Math.max(scopeTall, one.tall)];
        for (const inner of bodies.get(one.node[ID]) ?? []) {
          measure(inner, depth + 1);
          one.wide = Math.max(one.wide, inner.node[X] + inner.wide + pad);
          one.tall = Math.max(one.tall, inner.node[Y] + inner.tall + pad);
        }
      };
      const stand = (one, left, top) => {
        if (!this.gesture?.drag?.has(one)) this.place(one, left + one.node[X], top + one.node[Y]);
        one.box.style.zIndex = this.isScope(one.node) ? one.depth : 30;
        if (this.isScope(one.node)) [one.box.style.width, one.box.style.height] = [`${one.wide}px`, `${one.tall}px`];
        else one.box.style.height = `${one.tall}px`;
        if (one.depth <= 20) for (const inner of bodies.get(one.node[ID]) ?? []) stand(inner, one.left, one.top);
      };
      this.bodies = bodies;
      for (const one of this.boxes.values()) {
        if (one.node[SCOPE] && this.boxes.has(one.node[SCOPE])) continue;
        measure(one, 0);
        stand(one, 0, 0);
      }
    },
    place(one, left, top) {
      [one.left, one.top] = [left, top];
      one.box.style.transform = `translate(${left}px,${top}px)`;
    },
    putEdge(edge) {
      if (this.lines.has(edge[0]) || !this.boxes.has(edge[1]) || !this.boxes.has(edge[3])) return;
      const path = this.svg.appendChild(document.createElementNS(NS, "path"));
      path.id = `${this.uid()}-${edge[0]}`;
      path.dataset.edge = edge[0];
      path.dataset.testid = "workflow-edge";
      path.setAttribute("role", "img");
      path.setAttribute("aria-label", this.edgeWords(edge));
      this.lines.set(edge[0], { edge, path });
      for (const end of [edge[1], edge[3]]) this.boxes.get(end).lines.add(edge[0]), this.touched.add(end);
    },
    edgeWords([, source, port, target]) {
      const name = (id) => this.boxes.get(id).node[TITLE];
      return `Edge from ${name(source)}${port === "next" ? "" : ` at ${port}`} to ${name(target)}`;
    },
    route(id) {
      const { edge, path } = this.lines.get(id) ?? {};
      const [a, b] = [this.boxes.get(edge?.[1]), this.boxes.get(edge?.[3])];
      if (!a || !b) return;
      const index = Math.max(0, a.node[PORTS].indexOf(edge[2]));
      path.setAttribute("d", curve(a.left + a.wide, a.top + this.portAt(a.node, index), b.left, b.top + this.sizes.tall / 2));
    },
    // Once a frame, however many moves a hand makes meanwhile.
    look() {
      this.looking ??= requestAnimationFrame(this.turn);
    },
    turn() {
      const { x, y, zoom } = this.pan;
      this.looking = null;
      this.layer.style.transform = `translate(${x}px,${y}px) scale(${zoom})`;
      this.layer.classList.toggle("is-far", zoom < FAR);
      this.drawMap(true);
    },

    // Gestures
    at(event) {
      const r = this.$refs.view.getBoundingClientRect();
      return [(event.clientX - r.left - this.pan.x) / this.pan.zoom, (event.clientY - r.top - this.pan.y) / this.pan.zoom];
    },
    middle() {
      const { clientWidth, clientHeight } = this.$refs.view;
      return [(clientWidth / 2 - this.pan.x) / this.pan.zoom, (clientHeight / 2 - this.pan.y) / this.pan.zoom].map(snapped);
    },
    under(event) {
      const box = document.elementFromPoint(event.clientX, event.clientY)?.closest?.(".wf-node");
      return this.boxes.get(box?.dataset.id);
    },
    edgeNear({ clientX: x, clientY: y }) {
      const found = [[0, 0], [0, 6], [0, -6], [6, 0], [-6, 0]].map(([dx, dy]) => document.elementFromPoint(x + dx, y + dy)?.dataset?.edge);
      return found.find((id) => id);
    },
    down(event) {
      if (event.button) return;
      this.touches.set(event.pointerId, [event.clientX, event.clientY]);
      this.$refs.view.setPointerCapture(event.pointerId);
      if (this.touches.size === 2) {
        this.letGo();
        return (this.gesture = { kind: "pinch", apart: this.apart() });
      }
      const one = this.boxes.get(event.target.closest?.(".wf-node")?.dataset.id), port = event.target.dataset?.port;
      const [x, y] = this.at(event), from = { x, y, cx: event.clientX, cy: event.clientY };
      const several = event.shiftKey || event.ctrlKey || event.metaKey;
      if (this.fixed) this.gesture = { kind: "pan", one, edge: null, several, px: this.pan.x, py: this.pan.y, ...from };
      else if (port && one) {
        const path = this.svg.appendChild(document.createElementNS(NS, "path"));
        path.setAttribute("class", "wf-wire");
        this.gesture = { kind: "wire", one, port, path, ...from };
      } else if (one) this.gesture = { kind: "drag", one, several, ...from };
      else if (event.shiftKey) this.gesture = { kind: "band", ...from };
      else this.gesture = { kind: "pan", edge: this.edgeNear(event), several, px: this.pan.x, py: this.pan.y, ...from };
    },
    move(event) {
      const g = this.gesture;
      if (!g) return;
      if (this.touches.has(event.pointerId)) this.touches.set(event.pointerId, [event.clientX, event.clientY]);
      g.moved ||= g.kind === "pinch" || Math.hypot(event.clientX - g.cx, event.clientY - g.cy) > NEAR;
      if (!g.moved) return;
      const [x, y] = this.at(event);
      if (g.kind === "pinch") {
        const apart = this.apart();
        this.zoomBy(apart / g.apart, event);
        g.apart = apart;
      } else if (g.kind === "pan") {
        [this.pan.x, this.pan.y] = [g.px + event.clientX - g.cx, g.py + event.clientY - g.cy];
        this.look();
      } else if (g.kind === "drag") this.dragTo(x - g.x, y - g.y, event);
      else if (g.kind === "band") this.bandTo(event);
      else {
        const index = g.one.node[PORTS].indexOf(g.port);
        g.path.setAttribute("d", curve(g.one.left + g.one.wide, g.one.top + this.portAt(g.one.node, index), x, y));
      }
    },
    dragTo(dx, dy, event) {
      const g = this.gesture;
      if (!g.drag) {
        if (!this.chosen.has(g.one.node[ID])) this.choose([g.one.node[ID]]);
        g.heads = [...this.chosen].map((id) => this.boxes.get(id)).filter((one) => one && !this.inside(one, this.chosen));
        g.drag = new Map(); // what moves, with where it stood
        const take = (one) => {
          g.drag.set(one, [one.left, one.top]);
          for (const inner of this.bodies.get(one.node[ID]) ?? []) if (!g.drag.has(inner)) take(inner);
        };
        g.heads.forEach(take);
      }
      [g.dx, g.dy] = [snapped(dx), snapped(dy)];
      g.drawing ??= requestAnimationFrame(() => {
        g.drawing = null;
        if (this.gesture !== g) return;
        for (const [one, [left, top]] of g.drag) {
          this.place(one, left + g.dx, top + g.dy);
          one.lines.forEach((id) => this.route(id));
        }
      });
      const into = this.scopeAt(event, g.drag);
      if (into === g.into) return;
      g.into?.box.classList.remove("is-into");
      into?.box.classList.add("is-into");
      g.into = into;
    },
    inside(one, ids) {
      for (let scope = one.node[SCOPE], deep = 0; scope && deep < 20; scope = this.boxes.get(scope)?.node[SCOPE], deep += 1) if (ids.has(scope)) return true;
      return false;
    },
    scopeAt(event, without) {
      const [x, y] = this.at(event);
      const holds = (one) => x > one.left && x < one.left + one.wide && y > one.top && y < one.top + one.tall;
      return [...this.boxes.values()].filter((one) => this.isScope(one.node) && !without.has(one) && holds(one)).sort((a, b) => b.depth - a.depth)[0];
    },
    bandTo(event) {
      const g = this.gesture, r = this.$refs.view.getBoundingClientRect();
      const [left, right] = [g.cx, event.clientX].sort((a, b) => a - b), [top, bottom] = [g.cy, event.clientY].sort((a, b) => a - b);
      this.band.classList.remove("hidden");
      Object.assign(this.band.style, { left: `${left - r.left}px`, top: `${top - r.top}px`, width: `${right - left}px`, height: `${bottom - top}px` });
      const [x, y] = this.at(event), [x1, x2] = [g.x, x].sort((a, b) => a - b), [y1, y2] = [g.y, y].sort((a, b) => a - b);
      g.found = [...this.boxes.values()].filter((one) => one.left < x2 && one.left + one.wide > x1 && one.top < y2 && one.top + one.tall > y1);
    },
    up(event) {
      const g = this.gesture;
      this.touches.delete(event.pointerId);
      this.gesture = null;
      if (!g || g.kind === "pinch") return;
      g.path?.remove();
      g.into?.box.classList.remove("is-into");
      this.band.classList.add("hidden");
      if (event.type === "pointercancel") return this.back(g);
      if (g.kind === "band") this.choose((g.found ?? []).map((one) => one.node[ID]));
      else if (g.kind === "wire") this.wired(g, event);
      else if (g.moved && g.drag) this.dropped(g);
      else if (!g.moved) this.pick(g.one?.node[ID] ?? g.edge, g.several);
    },
    letGo() {
      this.gesture?.path?.remove();
      if (this.gesture) this.back(this.gesture);
    },
    back(g) {
      this.gesture = null;
      for (const one of g.drag?.keys() ?? []) if (one.kept) this.putNode(one.kept), (one.kept = null);
      if (g.drag) this.arrange(), this.lines.forEach((_, id) => this.route(id));
    },
    dropped(g) {
      const into = g.into?.node[ID] ?? "";
      const told = g.heads.filter((one) => g.drag.has(one)).map((one) => {
        const to = this.boxes.get(into), [left, top] = g.drag.get(one), node = (one.kept ?? one.node).slice();
        one.kept = null;
        [node[X], node[Y]] = [left + g.dx - (to?.left ?? 0), top + g.dy - (to?.top ?? 0)];
        node[SCOPE] = into;
        this.putNode(node);
        return [node[ID], node[X], node[Y], into];
      });
      for (const one of g.drag.keys()) if (one.kept) this.putNode(one.kept), (one.kept = null);
      this.arrange();
      this.lines.forEach((_, id) => this.route(id));
      if (told.length) this.tell("move", told);
    },
    wired(g, event) {
      const over = this.under(event);
      if (over === g.one) return this.pick(g.one.node[ID], false);
      if (over && !(this.isScope(over.node) && this.inside(g.one, new Set([over.node[ID]])))) this.tell("connect", g.one.node[ID], g.port, over.node[ID]);
      else if (g.moved) this.tell("add", g.one.node[ID], g.port);
    },
    apart() {
      const [a, b] = [...this.touches.values()];
      return Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
    },
    wheel(event) {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) return this.zoomBy(Math.exp(-event.deltaY / 300), event);
      [this.pan.x, this.pan.y] = [this.pan.x - event.deltaX, this.pan.y - event.deltaY];
      this.look();
    },
    zoomBy(factor, event) {
      const r = this.$refs.view.getBoundingClientRect(), zoom = Math.min(2, Math.max(0.1, this.pan.zoom * factor));
      const px = (event?.clientX ?? r.left + r.width / 2) - r.left, py = (event?.clientY ?? r.top + r.height / 2) - r.top;
      this.pan.x = px - ((px - this.pan.x) * zoom) / this.pan.zoom;
      this.pan.y = py - ((py - this.pan.y) * zoom) / this.pan.zoom;
      this.pan.zoom = zoom;
      this.look();
    },
    extent() {
      const all = [...this.boxes.values()];
      const left = Math.min(...all.map((one) => one.left)), top = Math.min(...all.map((one) => one.top));
      return { left, top, wide: Math.max(...all.map((one) => one.left + one.wide)) - left, tall: Math.max(...all.map((one) => one.top + one.tall)) - top };
    },
    fit() {
      const { clientWidth, clientHeight } = this.$refs.view;
      if (!this.boxes.size || !clientWidth) return;
      const { left, top, wide, tall } = this.extent();
      const zoom = Math.max(0.1, Math.min(1, (clientWidth - 48) / wide, (clientHeight - 48) / tall));
      this.pan = { x: Math.max(24, (clientWidth - wide * zoom) / 2) - left * zoom, y: Math.max(24, (clientHeight - tall * zoom) / 2) - top * zoom, zoom };
      this.look();
    },
    drawMap(moved) {
      if (moved !== true) this.boxesOfMap = null; // not only what is in view is another
      if (!this.many || this.mapping) return;
      this.mapping = requestAnimationFrame(() => {
        this.mapping = 0;
        const map = this.$refs.map, view = this.$refs.view;
        if (!map || !this.boxes.size) return;
        this.boxesOfMap ??= this.drawBoxes(map);
        const pen = map.getContext("2d"), { x, y, zoom } = this.pan, { left, top, scale, accent } = this.mapScale;
        pen.clearRect(0, 0, map.width, map.height);
        pen.drawImage(this.boxesOfMap, 0, 0);
        pen.strokeStyle = accent;
        pen.lineWidth = 2;
        pen.strokeRect((-x / zoom - left) * scale, (-y / zoom - top) * scale, (view.clientWidth / zoom) * scale, (view.clientHeight / zoom) * scale);
      });
    },
    drawBoxes(map) {
      const drawn = new OffscreenCanvas(map.width, map.height), pen = drawn.getContext("2d");
      const { left, top, wide, tall } = this.extent(), scale = Math.min(map.width / wide, map.height / tall);
      const [accent, scope, other] = ["--accent", "--hover", "--faint"].map((name) => getComputedStyle(this.$el).getPropertyValue(name));
      this.mapScale = { left, top, scale, accent };
      for (const one of this.boxes.values()) {
        pen.fillStyle = this.chosen.has(one.node[ID]) ? accent : this.isScope(one.node) ? scope : other;
        pen.fillRect((one.left - left) * scale, (one.top - top) * scale, Math.max(2, one.wide * scale), Math.max(2, one.tall * scale));
      }
      return drawn;
    },
    mapped(event) {
      const map = this.$refs.map, r = map.getBoundingClientRect(), { left, top, scale } = this.mapScale ?? {};
      if (!scale) return;
      const x = ((event.clientX - r.left) / r.width) * map.width / scale + left, y = ((event.clientY - r.top) / r.height) * map.height / scale + top;
      this.centre(x, y);
    },
    centre(x, y) {
      const { clientWidth, clientHeight } = this.$refs.view;
      [this.pan.x, this.pan.y] = [clientWidth / 2 - x * this.pan.zoom, clientHeight / 2 - y * this.pan.zoom];
      this.look();
    },

    // What is chosen
    pick(id, several) {
      if (!several) return this.choose(id ? [id] : []);
      const ids = new Set(this.chosen);
      if (id && !ids.delete(id)) ids.add(id);
      this.choose([...ids]);
    },
    choose(ids, silently) {
      this.chosen = new Set(ids.filter((id) => this.boxes.has(id) || this.lines.has(id)));
      this.mark();
      clearTimeout(this.telling);
      this.telling = 0;
      if (silently) return;
      this.telling = setTimeout(this.tellChosen, 60); // not for each node an arrow key passes by
    },
    mark() {
      for (const [id, { box }] of this.boxes) box.classList.toggle("is-chosen", this.chosen.has(id));
      for (const [id, { path }] of this.lines) path.classList.toggle("is-chosen", this.chosen.has(id));
      const last = [...this.chosen].pop();
      this.active = last ? `${this.uid()}-${last}` : null;
      this.drawMap();
    },
    // Choose it, and bring it into view: from the list of faults, by search, by keys.
    reveal(id, silently) {
      const one = this.boxes.get(id);
      if (!one) return;
      this.choose([id], silently);
      const { clientWidth, clientHeight } = this.$refs.view, { x, y, zoom } = this.pan;
      const [left, top] = [one.left * zoom + x, one.top * zoom + y];
      const seen = left > 0 && top > 0 && left + this.sizes.wide * zoom < clientWidth && top + this.sizes.tall * zoom < clientHeight;
      if (!seen && clientWidth) this.centre(one.left + this.sizes.wide / 2, one.top + this.sizes.tall / 2);
    },
    seek(text, next) {
      this.sought = text;
      const words = text.trim().toLowerCase();
      const fitting = [...this.boxes.values()].filter(({ node }) => `${node[TITLE]} ${node[ID]}`.toLowerCase().includes(words)).map(({ node }) => node[ID]);
      if (!words || !fitting.length) return this.say(words ? `No node is called ${text}` : "");
      const place = (next ? fitting.indexOf([...this.chosen][0]) + 1 : 0) % fitting.length;
      this.reveal(fitting[place]);
      this.say(`${this.boxes.get(fitting[place]).node[TITLE]}, ${place + 1} of ${fitting.length}`);
    },
    open(event) {
      if (this.under(event)) this.tell("open");
    },
    paste(event) {
      event.preventDefault();
      this.tell("paste", event.clipboardData.getData("text/plain").slice(0, 300_000), ...this.middle());
    },

    // Keys
    neighbour(from, key, fits) {
      const [ux, uy] = STEPS[key], here = this.boxes.get(from);
      let best = null, least = Infinity;
      for (const [id, one] of this.boxes) {
        if (id === from || !fits(id)) continue;
        const [dx, dy] = [one.left - here.left, one.top - here.top];
        const ahead = dx * ux + dy * uy, distance = ahead + 2 * Math.abs(dx * uy + dy * ux);
        if (ahead > 0 && distance < least) [least, best] = [distance, id];
      }
      return best;
    },
    takes(source, target) {
      const [a, b] = [this.boxes.get(source).node, this.boxes.get(target).node];
      if (source === target || a[SCOPE] !== b[SCOPE] || ["input", "note"].includes(b[KIND])) return false;
      const behind = new Set([target]); // no way may lead back
      for (const id of behind) for (const line of this.boxes.get(id)?.lines ?? []) if (this.lines.get(line).edge[1] === id) behind.add(this.lines.get(line).edge[3]);
      return !behind.has(source);
    },
    key(event) {
      const { key } = event, ctrl = event.ctrlKey || event.metaKey, low = key.toLowerCase();
      const id = [...this.chosen].pop(), one = this.boxes.get(id);
      const nodes = [...this.chosen].filter((each) => this.boxes.has(each));
      if (this.from) return this.connecting(event);
      const commands = {
        z: () => this.tell(event.shiftKey ? "redo" : "undo"),
        y: () => this.tell("redo"),
        a: () => this.choose([...this.boxes.keys()]),
        c: () => nodes.length && this.tell("copy", ...nodes),
        x: () => nodes.length && this.tell("cut", ...nodes),
        d: () => nodes.length && this.tell("duplicate", ...nodes),
      };
      const keys = {
        Delete: () => this.chosen.size && this.tell("remove", ...this.chosen),
        Enter: () => one && this.tell("open"),
        Escape: () => this.choose([]),
        a: () => this.tell("add", one ? id : "", ""),
        c: () => one && this.begin(id),
        e: () => this.nextEdge(id),
        h: () => one && !event.repeat && this.tell("run-to", id),
        r: () => one && !event.repeat && this.tell("run-from", id),
        n: () => one && !event.repeat && this.tell("run-only", id),
        p: () => one && this.tell("pin", id),
        f: this.fit,
        "+": () => this.zoomBy(1.25),
        "-": () => this.zoomBy(0.8),
        "/": () => this.$refs.find.focus(),
      };
      keys.Backspace = keys.Delete;
      keys["="] = keys["+"];
      const done = ctrl ? commands[low] : key in STEPS ? () => (event.altKey ? this.nudge(key, event.shiftKey, nodes) : this.step(key, id)) : (keys[key] ?? keys[low]);
      const looks = !ctrl && !event.altKey && (key in STEPS || LOOKING.includes(low));
      if (!done || (this.fixed && !looks)) return;
      event.preventDefault();
      event.stopPropagation();
      done();
    },
    step(key, id) {
      const line = this.lines.get(id);
      const from = line ? line.edge[key === "ArrowLeft" || key === "ArrowUp" ? 1 : 3] : null;
      if (line) return this.reveal(from);
      if (!this.boxes.has(id)) return this.boxes.size && this.reveal(this.boxes.keys().next().value);
      const next = this.neighbour(id, key, () => true);
      if (next) this.reveal(next);
    },
    nudge(key, far, ids) {
      const [ux, uy] = STEPS[key], by = GRID * (far ? 5 : 1);
      const heads = ids.map((id) => this.boxes.get(id)).filter((one) => !this.inside(one, this.chosen));
      for (const one of heads) {
        one.node = one.node.slice();
        [one.node[X], one.node[Y]] = [one.node[X] + ux * by, one.node[Y] + uy * by];
      }
      this.arrange();
      this.lines.forEach((_, id) => this.route(id));
      if (heads.length) this.tell("move", heads.map(({ node }) => [node[ID], node[X], node[Y], node[SCOPE]]));
    },
    nextEdge(id) {
      const at = this.lines.get(id);
      if (!at) this.edgesOf = id;
      const all = [...(this.boxes.get(this.edgesOf)?.lines ?? [])];
      const next = all[(all.indexOf(id) + 1) % all.length];
      if (!next) return;
      this.choose([next]);
      this.say(`${this.edgeWords(this.lines.get(next).edge)}, ${all.indexOf(next) + 1} of ${all.length}`);
    },
    begin(id) {
      const ports = this.boxes.get(id).node[PORTS];
      if (!ports.length) return this.say("Nothing comes after this one.");
      this.from = { id, port: 0 };
      this.sayFrom();
    },
    sayFrom() {
      const { node } = this.boxes.get(this.from.id), more = node[PORTS].length > 1;
      this.say(`Connect from ${node[TITLE]}${more ? ` at ${node[PORTS][this.from.port]}, C for the next port` : ""}. Arrow keys choose the target, Enter connects, Escape leaves.`);
    },
    connecting(event) {
      const { key } = event, from = this.from, here = [...this.chosen].pop() ?? from.id;
      if (!this.boxes.has(from.id) || !this.boxes.has(here)) return (this.from = null);
      event.preventDefault();
      event.stopPropagation();
      if (key === "Escape") (this.from = null), this.reveal(from.id), this.say("Not connected.");
      else if (key === "Enter" && here !== from.id) (this.from = null), this.tell("connect", from.id, this.boxes.get(from.id).node[PORTS][from.port], here);
      else if (key.toLowerCase() === "c") (from.port = (from.port + 1) % this.boxes.get(from.id).node[PORTS].length), this.sayFrom();
      else if (key in STEPS) {
        const next = this.neighbour(here, key, (id) => this.takes(from.id, id));
        if (!next) return this.say("No node there can come after it.");
        this.reveal(next);
        this.say(`${this.boxes.get(next).node[TITLE]}. Enter connects.`);
      }
    },
  },
};
