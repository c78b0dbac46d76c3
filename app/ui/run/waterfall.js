// Spans of time, one on each row: only the rows in view exist, and zooming asks nobody.
const TALL = 28; // pixels of a row, as in the style sheet
const HEAD = 28; // pixels of the scale above the rows
const BEHIND = 76; // pixels behind the last span, for its words
const WIDEST = 4_000_000; // pixels; browsers lay out no element much wider
const READABLE = 60; // spans side by side; a longer run begins zoomed in
const KINDS = ["model", "tool", "person", "retry", "node"];
const TITLES = ["Model", "Tool", "Waits for a person", "Waits to retry", "Node"];
const [KIND, NAME, START, END, FIRST, FAILED, ATTEMPT, SEQ, STEP, DEPTH, PART] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

const words = (ms) => {
  if (ms < 1) return "< 1 ms";
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
};

const moment = (ms, step) => {
  if (ms === 0) return "0";
  if (step < 1) return `${ms.toFixed(1)} ms`;
  if (step < 1000) return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(step < 10 ? 3 : step < 100 ? 2 : 1)} s`;
  return words(ms);
};

export default {
  template: `
    <div class="waterfall">
      <div class="waterfall-bar" role="group" aria-label="Scale">
        <button type="button" class="text-button" aria-label="Zoom out" title="Zoom out" @click="zoomBy(0.5)">−</button>
        <button type="button" class="text-button" @click="fit">Fit</button>
        <button type="button" class="text-button" aria-label="Zoom in" title="Zoom in" data-testid="waterfall-zoom-in"
                @click="zoomBy(2)">+</button>
        <span class="waterfall-legend" aria-hidden="true">
          <span v-for="(title, kind) in titles" v-show="kinds[kind] !== 'node' || nodes" :class="'kind-' + kinds[kind]">{{ title }}</span>
          <span class="waterfall-first-key">First word</span>
        </span>
      </div>
      <div class="waterfall-scroll" ref="scroll" role="listbox" tabindex="0" aria-label="Spans of this run"
           :aria-activedescendant="shown.some((row) => row.index === chosen) ? rowId(chosen) : null"
           @scroll.passive="look" @keydown="onKey" @wheel="onWheel" @mouseleave="hover(-1)">
        <div class="waterfall-space" role="presentation" :style="{ height: head + total * tall + 'px', width: wide + 'px' }">
          <div class="waterfall-axis" role="presentation">
            <span v-for="tick in ticks" :key="tick.ms" :style="{ left: tick.left + 'px' }">{{ tick.text }}</span>
          </div>
          <div v-for="row in shown" :key="row.index" :id="rowId(row.index)" role="option" data-testid="waterfall-row"
               :class="['waterfall-row', 'kind-' + row.kind, { 'is-failed': row.failed, 'is-chosen': row.index === chosen }]"
               :style="{ top: head + row.index * tall + 'px' }" :aria-selected="row.index === chosen"
               :aria-setsize="total" :aria-posinset="row.index + 1" :aria-label="row.told" :title="row.told"
               :data-seq="row.seq" :data-kind="row.kind" :data-depth="row.depth" @mouseenter="hover(row.index)" @click="pick(row.index)">
            <span class="waterfall-label" aria-hidden="true" :style="{ paddingLeft: 8 + row.depth * 12 + 'px' }">{{ row.name }}</span>
            <span :class="['waterfall-span', { 'is-open': row.open }]" :style="{ left: row.left + 'px', width: row.width + 'px' }">
              <span v-if="row.first !== null" class="waterfall-first" :style="{ left: row.first + 'px' }"></span>
            </span>
            <span class="waterfall-took" aria-hidden="true" :style="{ left: row.left + row.width + 6 + 'px' }">{{ row.took }}</span>
          </div>
        </div>
      </div>
    </div>`,
  props: { spans: Array, names: Array, end: Number, list: Number },
  data() {
    return { total: 0, shown: [], ticks: [], wide: 0, chosen: -1, zoom: 1, nodes: false, head: HEAD, tall: TALL, kinds: KINDS, titles: TITLES };
  },
  created() {
    // Thousands of rows that Vue need not watch.
    this.all = this.spans;
    this.called = this.names;
    this.last = this.end;
    this.total = this.all.length;
    this.untouched = true;
  },
  mounted() {
    this.watcher = new ResizeObserver(() => this.draw());
    this.watcher.observe(this.$refs.scroll);
  },
  activated() {
    if (!this.kept) return;
    [this.$refs.scroll.scrollLeft, this.$refs.scroll.scrollTop] = this.kept; // a hidden tab forgets where it was
  },
  unmounted() {
    this.watcher.disconnect();
  },
  methods: {
    rowId(index) {
      return `waterfall-${this.$.uid}-${index}`;
    },
    put(first, spans, total, names, end) {
      this.all.splice(first, spans.length, ...spans);
      this.all.length = Math.min(this.all.length, total); // a run below may be gone
      this.nodes ||= spans.some((span) => KINDS[span[KIND]] === "node");
      this.called = names;
      this.last = end;
      this.total = this.all.length;
      this.chosen = Math.min(this.chosen, this.total - 1);
      if (this.untouched) this.zoom = Math.max(1, this.total / READABLE);
      this.draw();
      // Not before the list has become as tall as it will be: the place to go to is not there yet.
      if (this.atEnd && this.chosen < this.total - 1) this.$nextTick(() => this.choose(this.total - 1));
    },
    labels() {
      return this.$refs.scroll.clientWidth < 480 ? 104 : 168;
    },
    scale() {
      const room = Math.max(120, this.$refs.scroll.clientWidth - this.labels() - BEHIND);
      const wanted = (room / Math.max(this.last, 1)) * this.zoom;
      return Math.min(wanted, WIDEST / Math.max(this.last, 1));
    },
    draw() {
      const scroll = this.$refs.scroll;
      if (!scroll?.clientWidth) return;
      const wide = this.labels() + this.last * this.scale() + BEHIND;
      this.wide = Math.max(scroll.clientWidth, Math.ceil(wide));
      this.$el.style.setProperty("--waterfall-labels", `${this.labels()}px`);
      this.look();
    },
    look() {
      const scroll = this.$refs.scroll;
      if (!scroll?.clientHeight) return;
      this.kept = [scroll.scrollLeft, scroll.scrollTop];
      const top = Math.max(0, Math.floor((scroll.scrollTop - HEAD) / TALL) - 5);
      const bottom = Math.min(this.total, top + Math.ceil(scroll.clientHeight / TALL) + 10);
      const scale = this.scale();
      this.shown = [];
      for (let index = top; index < bottom; index++) this.shown.push(this.row(index, scale));
      this.ticks = this.ticksInView(scale);
      if (scroll.scrollTop !== this.seenTop) this.bringAlong();
      this.seenTop = scroll.scrollTop;
    },
    row(index, scale) {
      const span = this.all[index];
      const open = span[END] === null;
      const took = (open ? this.last : span[END]) - span[START];
      const name = (this.called[span[NAME]] ?? "") + (span[ATTEMPT] > 1 ? ` (attempt ${span[ATTEMPT]})` : "");
      const state = open ? ", not finished" : span[FAILED] ? ", failed" : "";
      const first = span[FIRST] === null ? "" : `, first word after ${words(span[FIRST])}`;
      return {
        index,
        name,
        seq: span[SEQ],
        depth: span[DEPTH],
        kind: KINDS[span[KIND]],
        failed: Boolean(span[FAILED]),
        open,
        left: this.labels() + span[START] * scale,
        width: Math.max(2, took * scale),
        first: span[FIRST] === null || took * scale < 8 ? null : Math.min(span[FIRST], took) * scale,
        took: open ? "…" : words(took),
        told: `${span[PART] ? `In a run below, level ${span[DEPTH]}: ` : ""}${TITLES[span[KIND]]}: ${name}, ${words(took)}${first}${state}, from ${words(span[START])} on`,
      };
    },
    ticksInView(scale) {
      const scroll = this.$refs.scroll;
      const least = 90 / scale;
      const power = 10 ** Math.floor(Math.log10(least));
      const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= least);
      const from = Math.max(0, Math.floor(scroll.scrollLeft / scale / step)) * step;
      const until = Math.min(this.last, (scroll.scrollLeft + scroll.clientWidth) / scale);
      const ticks = [];
      for (let ms = from; ms <= until && ticks.length < 60; ms += step) {
        ticks.push({ ms, left: this.labels() + ms * scale, text: moment(ms, step) });
      }
      return ticks;
    },
    bringAlong() {
      // Whoever scrolls down a zoomed waterfall is taken along in time.
      const scroll = this.$refs.scroll;
      if (this.zoom === 1 || !this.shown.length) return;
      const [left, right] = [scroll.scrollLeft + this.labels(), scroll.scrollLeft + scroll.clientWidth];
      if (this.shown.some((row) => row.left < right && row.left + row.width > left)) return;
      scroll.scrollLeft = this.shown[Math.min(5, this.shown.length - 1)].left - this.labels() - 24;
    },
    zoomBy(factor) {
      this.untouched = false;
      const scroll = this.$refs.scroll;
      const half = (scroll.clientWidth - this.labels()) / 2;
      const middle = (scroll.scrollLeft + half) / this.scale();
      const most = WIDEST / Math.max(1, scroll.clientWidth);
      this.zoom = Math.max(1, Math.min(most, this.zoom * factor));
      this.draw();
      this.$nextTick(() => {
        scroll.scrollLeft = middle * this.scale() - half;
        this.look();
      });
    },
    fit() {
      this.untouched = false;
      this.zoom = 1;
      this.draw();
    },
    hover(index) {
      if (this.marked === index) return;
      this.marked = index;
      const list = getElement(this.list);
      list?.mark(index < 0 ? -1 : this.all[index][STEP]);
    },
    show(seq) {
      // The row of that entry, or the last that began before it.
      const exact = this.all.findIndex((span) => span[PART] === 0 && span[SEQ] === seq);
      this.chosen = exact >= 0 ? exact : this.all.findLastIndex((span) => span[PART] === 0 && span[SEQ] <= seq);
      this.toChosen();
    },
    pick(index) {
      this.atEnd = false;
      this.choose(index);
    },
    choose(index) {
      if (index < 0 || index >= this.total) return;
      this.chosen = index;
      this.toChosen();
      clearTimeout(this.choosing);
      this.choosing = setTimeout(() => this.$emit("choose", this.all[index][SEQ], this.all[index][PART]), 60);
    },
    toChosen() {
      const scroll = this.$refs.scroll;
      if (this.chosen < 0 || !scroll?.clientHeight) return;
      const top = this.chosen * TALL;
      if (top < scroll.scrollTop) scroll.scrollTop = top;
      else if (top + HEAD + TALL > scroll.scrollTop + scroll.clientHeight) {
        scroll.scrollTop = top + HEAD + TALL - scroll.clientHeight;
      }
      const row = this.row(this.chosen, this.scale());
      const [left, right] = [scroll.scrollLeft + this.labels(), scroll.scrollLeft + scroll.clientWidth];
      if (row.left > right - 20 || row.left + row.width < left) scroll.scrollLeft = row.left - this.labels() - 24;
      this.look();
    },
    onWheel(event) {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoomBy(event.deltaY < 0 ? 1.25 : 0.8);
    },
    onKey(event) {
      const page = Math.max(1, Math.floor(this.$refs.scroll.clientHeight / TALL) - 2);
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.total, End: this.total };
      if (event.key === "+" || event.key === "=") return this.zoomBy(2);
      if (event.key === "-") return this.zoomBy(0.5);
      if (!(event.key in steps)) return;
      event.preventDefault();
      this.atEnd = event.key === "End"; // also of what is still to come
      this.choose(Math.max(0, Math.min(this.total - 1, this.chosen + steps[event.key])));
    },
  },
};
