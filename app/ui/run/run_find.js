// Search inside a run, its errors, and the keys that lead through its steps. What matches is marked by the browser.
const TYPED = 200; // milliseconds after the last key until it is searched
const MOST = 2000; // marks at once
const NAME = "run-find";
const OPEN_DIALOG = ".q-dialog__inner:not([class*=leave-active])"; // one that fades away is not

export default {
  template: `
    <div class="run-find" role="search">
      <label class="run-find-box">
        <i class="q-icon notranslate material-icons" aria-hidden="true">search</i>
        <input ref="input" type="search" v-model="text" aria-label="Search in this run" placeholder="Search in this run"
               aria-keyshortcuts="/" data-testid="run-find" @input="typed" @keydown="onInputKey">
        <kbd v-if="!text">/</kbd>
        <span v-else class="run-find-count" role="status" data-testid="run-find-count">{{ told }}</span>
      </label>
      <template v-if="text">
        <button type="button" class="text-button" aria-label="Previous match" title="Previous match (Shift Enter)"
                data-testid="run-find-previous" @click="$emit('match', -1)">↑</button>
        <button type="button" class="text-button" aria-label="Next match" title="Next match (Enter)"
                data-testid="run-find-next" @click="$emit('match', 1)">↓</button>
      </template>
      <button v-if="troubles" type="button" class="text-button is-trouble" title="Next error (E)" aria-keyshortcuts="E"
              data-testid="next-error" @click="$emit('trouble')">Next error ({{ troubles }})</button>
      <button type="button" class="text-button" aria-label="Previous step" title="Previous step (K)"
              aria-keyshortcuts="K" @click="$emit('move', -1)">‹</button>
      <button type="button" class="text-button" aria-label="Next step" title="Next step (J)"
              aria-keyshortcuts="J" data-testid="next-step" @click="$emit('move', 1)">›</button>
    </div>`,
  props: { troubles: Number },
  data() {
    return { text: "", told: "" };
  },
  mounted() {
    document.addEventListener("keydown", this.onKey);
    this.watcher = new MutationObserver(() => this.markSoon());
  },
  unmounted() {
    document.removeEventListener("keydown", this.onKey);
    this.watcher.disconnect();
    CSS.highlights?.delete(NAME);
  },
  methods: {
    typed() {
      this.told = this.text.trim() ? "…" : "";
      clearTimeout(this.waiting);
      this.waiting = setTimeout(() => this.search(), TYPED);
    },
    search() {
      clearTimeout(this.waiting);
      this.watcher.disconnect();
      const place = document.querySelector(".run-panels");
      if (this.text.trim() && place) this.watcher.observe(place, { childList: true, subtree: true, characterData: true });
      this.sought = this.text;
      this.$emit("find", this.text);
      this.markSoon();
    },
    tell(words) {
      this.told = words;
    },
    onInputKey(event) {
      if (event.key === "Enter") {
        event.preventDefault();
        if (this.sought !== this.text) this.search();
        else this.$emit("match", event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape") {
        event.preventDefault();
        this.text = "";
        this.search();
        this.$refs.input.blur();
      }
    },
    onKey(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector(OPEN_DIALOG)) return;
      if (event.target.closest("input, textarea, select, [contenteditable=true], .cm-editor")) return;
      const emits = { j: ["move", 1], k: ["move", -1], e: ["trouble"] }[event.key];
      if (event.key === "/") this.$refs.input.focus();
      else if (emits) this.$emit(...emits);
      else return;
      event.preventDefault();
    },
    markSoon() {
      clearTimeout(this.marking);
      this.marking = setTimeout(() => this.mark(), 80);
    },
    mark() {
      if (!window.Highlight) return; // an older browser counts and jumps, but marks nothing
      const wanted = this.text.trim().toLowerCase();
      CSS.highlights.delete(NAME);
      const place = document.querySelector(".run-panels");
      if (!wanted || !place) return;
      const ranges = [];
      const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
      while (walker.nextNode() && ranges.length < MOST) this.rangesIn(walker.currentNode, wanted, ranges);
      CSS.highlights.set(NAME, new Highlight(...ranges));
    },
    rangesIn(node, wanted, ranges) {
      const said = node.data.toLowerCase();
      if (said.length !== node.data.length) return; // a few letters change their length: their places are not known
      for (let at = said.indexOf(wanted); at >= 0 && ranges.length < MOST; at = said.indexOf(wanted, at + wanted.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + wanted.length);
        ranges.push(range);
        this.unfold(node.parentElement);
      }
    },
    unfold(element) {
      if (!element.closest(".step.is-wanted, .trace-pane")) return;
      const folded = element.closest("details:not([open])");
      if (folded) folded.open = true;
    },
  },
};
