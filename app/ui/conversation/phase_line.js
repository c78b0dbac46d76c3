// What a run is doing at the moment, with the seconds it has taken so far counted in the browser.
export default {
  template: `
    <div class="phase">
      <span class="spinner" aria-hidden="true"></span>
      <span role="status">{{ text }}</span>
      <span class="phase-elapsed" aria-hidden="true">{{ elapsed }}</span>
    </div>`,
  props: { text: String, ms: Number },
  data: () => ({ elapsed: "" }),
  mounted() {
    this.began = performance.now() - this.ms;
    this.timer = setInterval(this.count, 100);
    this.count();
  },
  unmounted() {
    clearInterval(this.timer);
  },
  watch: {
    text() {
      this.began = performance.now() - this.ms;
      this.count();
    },
  },
  methods: {
    count() {
      this.elapsed = `${((performance.now() - this.began) / 1000).toFixed(1)} s`;
    },
  },
};
