// The text box of a conversation. It keeps its text in the browser and tells the server only what it has to know:
// the text once typing has stopped, and the message when it is sent.
const SAVE_MS = 1000;
// For how long what was just told may still be on its way, and is lost if the page goes.
const ON_ITS_WAY_MS = 5000;

export default {
  template: `
    <div class="composer-text">
      <textarea ref="box" rows="1" data-testid="chat-input" :placeholder="placeholder" :aria-label="label"
        autocomplete="off" @input="typed" @keydown="key"></textarea>
    </div>`,
  props: { text: String, placeholder: String, label: String, limit: Number, storage: String },
  emits: ["send", "typed"],
  mounted() {
    window.addEventListener("pagehide", this.keep);
    const kept = sessionStorage.getItem(this.storage);
    this.$refs.box.value = kept ?? this.text ?? "";
    this.edition = Date.now(); // of what stands in the box: the server takes each once, however often Enter is pressed
    this.fit();
    if (kept !== null) this.timer = setTimeout(this.save, SAVE_MS);
    // On a touch screen the focus would bring up the keyboard before anybody asked for it.
    if (matchMedia("(hover: hover)").matches) this.$refs.box.focus({ preventScroll: true });
  },
  beforeUnmount() {
    this.keep();
    window.removeEventListener("pagehide", this.keep);
  },
  methods: {
    typed() {
      this.edition += 1;
      this.fit();
      clearTimeout(this.timer);
      this.timer = setTimeout(this.save, SAVE_MS);
    },
    save() {
      clearTimeout(this.timer);
      if (!this.timer) return;
      this.timer = undefined;
      const text = this.$refs.box?.value ?? "";
      // A text that the server would refuse to take is kept in this tab instead.
      if (text.length > this.limit) sessionStorage.setItem(this.storage, text);
      else {
        sessionStorage.removeItem(this.storage);
        this.toldAt = Date.now();
        this.$emit("typed", text);
      }
    },
    // The page is left before typing has stopped for long enough, or before the server has the text.
    keep() {
      const onItsWay = !window.socket?.connected || Date.now() - this.toldAt < ON_ITS_WAY_MS;
      if (this.timer || onItsWay) sessionStorage.setItem(this.storage, this.$refs.box.value);
      clearTimeout(this.timer);
    },
    key(event) {
      const commands = event.ctrlKey || event.metaKey;
      if (event.key !== "Enter" || event.isComposing || (event.shiftKey && !commands)) return;
      event.preventDefault();
      this.send(!commands ? "next" : event.shiftKey ? "background" : "steer");
    },
    send(how) {
      clearTimeout(this.timer);
      const text = (this.handed = this.$refs.box.value);
      const { edition } = this;
      this.$emit("send", { length: text.length, text: text.length > this.limit ? "" : text, how, edition });
    },
    focus() {
      this.$refs.box.focus({ preventScroll: true });
    },
    put(text) {
      this.edition += 1;
      this.$refs.box.value = text;
      sessionStorage.removeItem(this.storage);
      clearTimeout(this.timer);
      this.timer = this.toldAt = undefined;
      this.fit();
      this.$refs.box.focus({ preventScroll: true });
    },
    // The message of that length was taken: what was typed since then stays. Its words, which may hold a key that was
    // pasted, do not come back from the server.
    sent(length) {
      const text = this.$refs.box.value;
      if (text === this.handed && text.length === length) this.put("");
    },
    fit() {
      const box = this.$refs.box;
      box.style.height = "auto";
      box.style.height = `${Math.min(box.scrollHeight, 220)}px`;
    },
  },
};
