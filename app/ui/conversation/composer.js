// The text box of a conversation. It keeps its text in the browser and tells the server only what it has to know:
// the text once typing has stopped, and the message when it is sent.
const SAVE_MS = 1000;

export default {
  template: `
    <div class="composer-text">
      <textarea ref="box" rows="1" :data-testid="testid" :placeholder="placeholder" :aria-label="label"
        autocomplete="off" :data-eager="eager || null" @input="typed" @keydown="key"></textarea>
    </div>`,
  props: { text: String, placeholder: String, label: String, limit: Number, storage: String, focused: Boolean, testid: String },
  emits: ["send", "typed"],
  computed: {
    // On a touch screen the focus would bring up the keyboard before anybody asked for it.
    eager: () => matchMedia("(hover: hover)").matches,
  },
  mounted() {
    window.addEventListener("pagehide", this.keep);
    const kept = sessionStorage.getItem(this.storage);
    this.$refs.box.value = kept ?? this.text ?? "";
    this.edition = Date.now(); // of what stands in the box: the server takes each once, however often Enter is pressed
    this.touched = 0; // when somebody typed last
    this.drafted = "";
    this.stored = true; // the server has what stands in the box
    this.fit();
    if (kept !== null) this.saveLater();
    if (this.focused) this.focus();
  },
  beforeUnmount() {
    this.keep();
    clearTimeout(this.timer);
    window.removeEventListener("pagehide", this.keep);
  },
  methods: {
    focus() {
      if (this.eager) this.$refs.box.focus({ preventScroll: true });
    },
    typed() {
      this.touched = Date.now();
      this.changed();
    },
    changed() {
      this.edition += 1;
      this.fit();
      this.saveLater();
    },
    saveLater() {
      this.stored = false;
      clearTimeout(this.timer);
      this.timer = setTimeout(this.save, SAVE_MS);
    },
    save() {
      const text = this.$refs.box.value;
      // A text that the server would refuse to take is kept in this tab instead.
      if (text.length > this.limit) sessionStorage.setItem(this.storage, text);
      else this.$emit("typed", { text, edition: this.edition });
    },
    // The server has the text of that edition.
    saved(edition) {
      if (edition !== this.edition) return;
      this.stored = true;
      sessionStorage.removeItem(this.storage);
    },
    // The page is left, perhaps before the server has the text.
    keep() {
      if (!this.stored) sessionStorage.setItem(this.storage, this.$refs.box.value);
    },
    key(event) {
      const commands = event.ctrlKey || event.metaKey;
      if (event.key !== "Enter" || event.isComposing || (event.shiftKey && !commands)) return;
      event.preventDefault();
      this.send(!commands ? "next" : event.shiftKey ? "background" : "steer");
    },
    send(how) {
      clearTimeout(this.timer);
      const text = this.$refs.box.value;
      const { edition } = this;
      this.$emit("send", { length: text.length, text: text.length > this.limit ? "" : text, how, edition });
    },
    // The message of that edition was taken, and the server forgot what was typed: what was typed since then stays.
    sent(edition) {
      if (edition !== this.edition) {
        this.saveLater();
        return;
      }
      this.edition += 1;
      this.touched = 0; // who has sent it writes no more
      this.$refs.box.value = "";
      clearTimeout(this.timer);
      this.saved(this.edition);
      this.fit();
      this.$refs.box.focus({ preventScroll: true });
    },
    // What an app wrote for the person goes behind what they typed, and nobody else sends it. Why it was not taken.
    draft(text) {
      const box = this.$refs.box;
      if (Date.now() - this.touched < SAVE_MS) return "Somebody is writing.";
      if (this.drafted && box.value.includes(this.drafted)) return "Its last message still waits to be sent.";
      this.drafted = text;
      box.value = box.value.trim() ? `${box.value}\n\n${text}` : text;
      this.changed();
      return "";
    },
    fit() {
      const box = this.$refs.box;
      box.style.height = "auto";
      box.style.height = `${Math.min(box.scrollHeight, 220)}px`;
    },
  },
};
