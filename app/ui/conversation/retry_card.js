// A failed model call that waits for its next attempt, with the seconds left counted in the browser.
export default {
  template: `
    <div class="notice notice-warn" role="status" data-testid="retry-card">
      <strong><i class="q-icon notranslate material-icons" aria-hidden="true" data-icon="hourglass_top"></i>{{ title }}</strong>
      <div>{{ text }}</div>
      <div class="what-to-do">Attempt {{ attempt }} failed.
        <span data-testid="retry-countdown" aria-hidden="true">{{ left }}</span></div>
      <div class="notice-buttons">
        <button type="button" class="text-button text-button-plain" data-action="retry-now"
                data-testid="retry-now-button">Retry now</button>
        <button type="button" class="text-button text-button-plain" data-action="give-up"
                data-testid="give-up-button">Give up</button>
      </div>
    </div>`,
  props: { title: String, text: String, attempt: Number, ms: Number },
  data: () => ({ left: "" }),
  mounted() {
    this.due = performance.now() + this.ms;
    this.timer = setInterval(this.count, 200);
    this.count();
  },
  unmounted() {
    clearInterval(this.timer);
  },
  methods: {
    count() {
      const seconds = Math.ceil((this.due - performance.now()) / 1000);
      this.left = seconds > 0 ? `Trying again in ${seconds} s.` : "Trying again…";
    },
  },
};
