// Source code being written. The server hears of each edit after a short rest, and at once when somebody saves.
import * as CM from "nicegui-codemirror";

const REST = 200;

const LOOKS = CM.EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "transparent", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { overflow: "auto", fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { padding: "10px 0", caretColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--raised)", border: "0", color: "var(--faint)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--text) 4%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--warn-soft)" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)" },
  ".cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-tooltip": { background: "var(--surface)", border: "1px solid var(--line-strong)", color: "var(--text)" },
});

// The colours of the theme that the page has now.
const colours = () =>
  CM.syntaxHighlighting(
    document.body.classList.contains("body--dark") ? CM.oneDarkHighlightStyle : CM.defaultHighlightStyle,
  );

export default {
  template: `<div class="code-editor" data-testid="code-editor"></div>`,
  props: { text: String, label: String },
  emits: ["edited", "saved"],
  mounted() {
    const language = new CM.Compartment();
    const looks = new CM.Compartment();
    this.view = new CM.EditorView({
      parent: this.$el,
      doc: this.text ?? "",
      extensions: [
        CM.keymap.of([{ key: "Mod-s", preventDefault: true, run: this.save }]),
        looks.of(colours()),
        CM.basicSetup,
        CM.indentUnit.of("    "),
        CM.EditorView.contentAttributes.of({ "aria-label": this.label, tabindex: "0", spellcheck: "false" }),
        LOOKS,
        language.of([]),
        CM.EditorView.updateListener.of(this.updated),
      ],
    });
    const python = CM.languages.find((one) => one.name === "Python");
    python.load().then((support) => this.view.dispatch({ effects: language.reconfigure(support) }));
    this.themes = new MutationObserver(() => this.view.dispatch({ effects: looks.reconfigure(colours()) }));
    this.themes.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  },
  beforeUnmount() {
    this.flush();
    this.themes.disconnect();
    this.view.destroy();
  },
  methods: {
    updated(update) {
      if (!update.docChanged || this.putting) return;
      clearTimeout(this.timer);
      this.timer = setTimeout(this.flush, REST);
    },
    flush() {
      if (!this.timer) return;
      clearTimeout(this.timer);
      this.timer = null;
      this.$emit("edited", this.view.state.doc.toString());
    },
    save() {
      clearTimeout(this.timer);
      this.timer = null;
      this.$emit("saved", this.view.state.doc.toString());
      return true;
    },
    // Another text, without touching what is the same at both ends: cursor and scroll stay.
    put(text) {
      const old = this.view.state.doc.toString();
      let start = 0;
      const most = Math.min(old.length, text.length);
      while (start < most && old[start] === text[start]) start += 1;
      let end = 0;
      while (end < most - start && old[old.length - 1 - end] === text[text.length - 1 - end]) end += 1;
      clearTimeout(this.timer);
      this.timer = null;
      this.putting = true;
      this.view.dispatch({ changes: { from: start, to: old.length - end, insert: text.slice(start, text.length - end) } });
      this.putting = false;
    },
    goto(number) {
      const doc = this.view.state.doc;
      const line = doc.line(Math.max(1, Math.min(number, doc.lines)));
      this.view.dispatch({ selection: { anchor: line.from }, effects: CM.EditorView.scrollIntoView(line.from, { y: "center" }) });
      this.view.focus();
    },
  },
};
