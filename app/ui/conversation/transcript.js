// A conversation that stays at its newest line while the reader is there, and leaves the reader alone elsewhere.
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
    this.followed = () => {
      const { scroll } = this.$refs;
      if (this.pinned && scroll) scroll.scrollTop = scroll.scrollHeight;
    };
    this.observer = new ResizeObserver(this.followed);
    this.observer.observe(this.$refs.content);
    this.observer.observe(this.$refs.scroll);
    this.$refs.scroll.addEventListener("scroll", this.look, { passive: true });
    this.$refs.scroll.addEventListener("toggle", this.opened, { capture: true });
  },
  unmounted() {
    clearTimeout(this.looking);
    this.observer.disconnect();
    clearTimeout(this.looking);
  },
  methods: {
    look() {
      const { scroll } = this.$refs;
      if (!scroll) return; // a scroll that the browser still tells of while the page goes away
      const { scrollHeight, scrollTop, clientHeight } = scroll;
      this.pinned = scrollHeight - scrollTop - clientHeight < 48;
    },
    // A card that the reader opens stays under the pointer, also at the end of the conversation.
    opened() {
      this.pinned = false;
      clearTimeout(this.looking);
      this.looking = setTimeout(this.look, 500);
    },
    to_latest() {
      this.pinned = true;
      this.followed();
    },
    // Older turns are put in above: what the reader was looking at stays where it is.
    keep_place() {
      const { scroll, content } = this.$refs;
      const below = scroll.scrollHeight - scroll.scrollTop;
      const observer = new ResizeObserver(() => {
        scroll.scrollTop = scroll.scrollHeight - below;
      });
      observer.observe(content);
      setTimeout(() => observer.disconnect(), 600);
    },
  },
};
