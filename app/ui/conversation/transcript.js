// A conversation that stays at its newest line until the reader moves away from it, and leaves the reader alone elsewhere.
//
// Only what a person does takes it off the newest line: a wheel, a finger, a key, the scrollbar. A scroll event does not
// say who scrolled, and growth, its own following and a browser that clamps or anchors all cause some.
const NEAR = 48; // pixels from the end that count as the end for a reader who comes back
const GLIDES = 1000; // milliseconds that a movement may take to arrive
const UP = new Set(["ArrowUp", "PageUp", "Home"]);
const DOWN = new Set(["ArrowDown", "PageDown", " "]);
const LIFTS = ["pointerup", "pointercancel", "pointermove"];
const TYPING = "input, textarea, select, [contenteditable=true]";

export default {
  template: `
    <div class="transcript">
      <div class="transcript-scroll" ref="scroll" role="log" aria-live="polite" :aria-label="label" tabindex="0">
        <div class="transcript-content" ref="content"><slot></slot></div>
      </div>
      <button v-if="!pinned" type="button" class="transcript-jump" data-testid="jump-to-latest" @click="to_latest">
        <i class="q-icon notranslate material-icons" aria-hidden="true" data-icon="arrow_downward"></i>Jump to latest
      </button>
    </div>`,
  props: { label: String },
  data: () => ({ pinned: true }),
  mounted() {
    const { scroll, content } = this.$refs;
    this.top = 0;
    this.pressing = false; // a finger or a button of the mouse is down: nothing moves away from under it
    this.held = false; // a button of the mouse is
    this.upwards = false; // the last movement that a person asked for
    this.finger = 0;
    this.ends = []; // where the end was of late, and since when: what is written moves it
    this.end = Infinity; // where it was for the reader who last asked to go down
    this.asked = 0; // when that was
    this.observer = new ResizeObserver(this.grown);
    this.observer.observe(content);
    this.observer.observe(scroll);
    const passive = { passive: true };
    scroll.addEventListener("scroll", this.scrolled, passive);
    scroll.addEventListener("wheel", this.wheeled, passive);
    scroll.addEventListener("touchstart", this.touched, passive);
    scroll.addEventListener("touchmove", this.dragged, passive);
    scroll.addEventListener("keydown", this.pressed);
    scroll.addEventListener("pointerdown", this.grasped);
    scroll.addEventListener("focusin", this.focused);
    scroll.addEventListener("click", this.clicked);
    for (const kind of LIFTS) window.addEventListener(kind, this.let_go);
  },
  unmounted() {
    this.observer.disconnect();
    for (const kind of LIFTS) window.removeEventListener(kind, this.let_go);
  },
  methods: {
    grown() {
      const { scroll } = this.$refs;
      if (!scroll) return;
      this.ends.push({ since: performance.now(), top: scroll.scrollHeight - scroll.clientHeight });
      this.forget_ends();
      this.follow();
    },
    // What the reader saw may be a moment old, above all where the browser is slow; one end from before is left.
    forget_ends() {
      const then = performance.now() - GLIDES;
      while (this.ends.length > 1 && this.ends[1].since < then) this.ends.shift();
    },
    follow() {
      const { scroll } = this.$refs;
      if (!this.pinned || this.pressing || !scroll) return;
      scroll.scrollTop = scroll.scrollHeight;
      this.top = scroll.scrollTop;
    },
    from_end() {
      const { scrollHeight, scrollTop, clientHeight } = this.$refs.scroll;
      return scrollHeight - scrollTop - clientHeight;
    },
    leave() {
      this.upwards = true;
      this.asked = 0;
      if (this.$refs.scroll.scrollTop > 0) this.pinned = false;
    },
    come_back() {
      this.upwards = false;
      this.forget_ends();
      this.end = Math.min(...this.ends.map(({ top }) => top));
      this.asked = performance.now();
      this.arrive();
    },
    arrive() {
      const goal = performance.now() - this.asked < GLIDES ? this.end : Infinity;
      const { scrollTop } = this.$refs.scroll;
      if (Math.min(goal, scrollTop + this.from_end()) - scrollTop < NEAR) this.to_latest();
    },
    scrolled() {
      const { scroll } = this.$refs;
      if (!scroll) return; // a scroll that the browser still tells of while the page goes away
      const before = this.top;
      this.top = scroll.scrollTop;
      if (this.held && this.top < before && this.from_end() > 1) this.pinned = false;
      else if (this.pinned) this.follow(); // what an earlier key had set going
      else if (this.top > before && !this.upwards) this.arrive();
    },
    // Whether it is the conversation that moves, and not a box inside it that scrolls by itself.
    moves(event) {
      const { scroll } = this.$refs;
      for (let box = event.target; box !== scroll && box; box = box.parentElement) {
        if (box.scrollTop > 0 && box.scrollHeight > box.clientHeight) return false;
      }
      return true;
    },
    wheeled(event) {
      if (event.ctrlKey) return; // it zooms
      if (event.deltaY > 0) this.come_back();
      else if (event.deltaY < 0 && this.moves(event)) this.leave();
    },
    touched(event) {
      this.finger = event.touches[0].clientY;
    },
    dragged(event) {
      const now = event.touches[0].clientY;
      if (now < this.finger) this.upwards = false;
      else if (now > this.finger && this.moves(event)) this.leave();
      this.finger = now;
    },
    pressed(event) {
      if (event.defaultPrevented || event.target.closest(TYPING)) return;
      if (event.key === "End") {
        event.preventDefault();
        this.to_latest();
      } else if (UP.has(event.key) || (event.key === " " && event.shiftKey)) {
        if (this.moves(event)) this.leave();
      } else if (DOWN.has(event.key)) this.come_back();
    },
    // The scrollbar sends no events of its own but this one; a selection that is drawn beyond the edge scrolls too.
    grasped(event) {
      this.pressing = true;
      this.held = event.pointerType !== "touch";
      if (this.held) this.upwards = false;
    },
    let_go(event) {
      if (!this.pressing || event.buttons !== 0) return;
      this.pressing = this.held = false;
      setTimeout(this.follow); // after the click, which may be what leaves the newest line
    },
    // The browser brings what Tab reaches into view, before or after it tells of it: the newest line is left for it.
    focused(event) {
      const { scroll } = this.$refs;
      if (!event.target.matches(":focus-visible") || event.target === scroll) return;
      const above = event.target.getBoundingClientRect().top < scroll.getBoundingClientRect().top;
      if (above || (scroll.scrollTop < this.top && this.from_end() >= NEAR)) this.leave();
    },
    // A card that the reader opens stays under the pointer, also at the end of the conversation.
    clicked(event) {
      const details = event.target.closest("summary")?.parentElement;
      if (details && !details.open) this.pinned = false;
    },
    to_latest() {
      this.pinned = true;
      this.follow();
    },
    // What was searched for: it is shown from its beginning, also while what is above it still grows.
    bring(id) {
      const { content } = this.$refs;
      const found = document.getElementById(id);
      if (!found) return;
      this.pinned = false;
      this.upwards = true; // its end may be near the newest line, which nobody asked for
      found.classList.add("is-found");
      const show = () => found.scrollIntoView({ block: "start" });
      const observer = new ResizeObserver(show);
      observer.observe(content);
      setTimeout(() => observer.disconnect(), 600);
    },
    // What is below the reader's line is changed for something else.
    stay() {
      this.pinned = false;
    },
    // Older turns are put in above: what the reader was looking at stays where it is.
    keep_place() {
      const { scroll, content } = this.$refs;
      this.pinned = false;
      const below = scroll.scrollHeight - scroll.scrollTop;
      const observer = new ResizeObserver(() => {
        scroll.scrollTop = scroll.scrollHeight - below;
        this.top = scroll.scrollTop;
      });
      observer.observe(content);
      setTimeout(() => observer.disconnect(), 600);
    },
  },
};
