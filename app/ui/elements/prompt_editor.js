// A system prompt being written, and what the model will read of it. Edits travel as what changed; the preview is made
// here, so that it follows each keystroke whatever the server does. `{{name}}` means what domain/prompts.py says.
//
// The editor is half a megabyte that no page waits for: until it is there the prompt stands in its place, to be read.
let CM, looks, declaredChanged, fromServer;

async function load() {
  if (CM) return;
  const editor = await import("nicegui-codemirror");
  if (CM) return;
  CM = editor;
  looks = CM.EditorView.theme(LOOKS);
  declaredChanged = CM.StateEffect.define();
  fromServer = CM.Annotation.define();
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const VARIABLE = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g;
const BRACES = /\{\{([^{}\n]*)\}\}|\{\{/g;
// Characters: what a browser sends beyond a million bytes never arrives.
const LONGEST_PIECE = 100_000;
const MOST_EDITS = 50;

const LOOKS = {
  ".cm-placeholder": { color: "var(--faint)" },
  "&": { height: "100%", color: "var(--text)", backgroundColor: "transparent", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { overflow: "auto", fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { padding: "10px 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 12px" },
  ".cm-gutters": { display: "none" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "var(--warn-soft)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "transparent" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)" },
  ".cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-button, .cm-textfield": {
    background: "var(--surface)",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
    color: "var(--text)",
  },
  ".cm-tooltip": {
    background: "var(--surface)",
    border: "1px solid var(--line-strong)",
    borderRadius: "8px",
    color: "var(--text)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "12.5px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 10px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--accent-soft)", color: "var(--text)" },
  ".cm-completionIcon": { display: "none" },
  ".cm-completionDetail": { color: "var(--faint)", fontFamily: "var(--font)", fontStyle: "normal", marginLeft: "10px" },
};

// Each `{{…}}` in the lines that are shown, coloured by what it is.
function variableMarks(kindOf) {
  const marks = new CM.MatchDecorator({
    regexp: BRACES,
    decoration: (match) => CM.Decoration.mark({ class: `cm-variable is-${kindOf(match[1])}` }),
  });
  return CM.ViewPlugin.fromClass(
    class {
      constructor(view) {
        this.decorations = marks.createDeco(view);
      }
      update(update) {
        const again = update.transactions.some((one) => one.effects.some((effect) => effect.is(declaredChanged)));
        this.decorations = again ? marks.createDeco(update.view) : marks.updateDeco(update, this.decorations);
      }
    },
    { decorations: (plugin) => plugin.decorations },
  );
}

// The changes as edits to do one after the other: [place, characters removed, text put in], in small pieces.
function editsOf(changes) {
  const edits = [];
  changes.iterChanges((fromOld, toOld, from, _to, inserted) => {
    edits.push(...pieces(from, toOld - fromOld, inserted.toString()));
  });
  return edits;
}

function pieces(place, removed, text) {
  const cut = [[place, removed, ""]];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + LONGEST_PIECE, text.length);
    // Not between the two halves of one character.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1])) end -= 1;
    cut.push([place + start, 0, text.slice(start, end)]);
    start = end;
  }
  if (cut.length === 1) return cut;
  cut[1][1] = removed;
  return cut.slice(1);
}

export default {
  template: `
    <div class="prompt-box" :data-mode="shown">
      <div ref="editor" class="prompt-editor" data-testid="prompt-editor" @pointerdown="wanted = true">
        <div class="prompt-text"></div></div>
      <div ref="preview" class="prompt-preview" data-testid="prompt-preview" tabindex="0" role="region"
        :aria-label="label + ', as the model reads it'"></div>
    </div>`,
  props: { text: String, label: String, mode: String, values: Array, declared: Array, hint: String },
  emits: ["edited"],
  data() {
    return { shown: this.mode, wanted: false }; // wanted: somebody pressed on the text, or asked for the cursor
  },
  mounted() {
    this.known = new Map((this.declared ?? []).map((one) => [one.name, one.description]));
    this.given = new Map(this.values ?? []);
    this.lines = [];
    this.first = this.text ?? "";
    this.$refs.editor.firstElementChild.textContent = this.first;
    this.preview();
    setTimeout(this.build);
  },
  beforeUnmount() {
    clearTimeout(this.timer);
    this.left = true;
    // When the page shows this element again it starts from its properties.
    const element = mounted_app.elements[this.$el.id.slice(1)];
    if (element) element.props.text = this.whole();
    this.view?.destroy();
  },
  methods: {
    async build() {
      await load();
      if (this.left) return;
      this.$refs.editor.replaceChildren();
      this.view = new CM.EditorView({
        parent: this.$refs.editor,
        doc: this.first,
        extensions: [
          CM.EditorState.languageData.of(() => [{ autocomplete: this.complete, closeBrackets: { brackets: ["{"] } }]),
          CM.basicSetup,
          CM.EditorView.lineWrapping,
          CM.EditorView.contentAttributes.of({ "aria-label": this.label, tabindex: "0", spellcheck: "true" }),
          CM.placeholder(this.hint ?? ""),
          looks,
          variableMarks(this.kindOf),
          CM.EditorView.updateListener.of(this.updated),
        ],
      });
      if (this.wanted) this.view.focus();
    },
    whole() {
      return this.view ? this.view.state.doc.toString() : this.first;
    },
    updated(update) {
      if (!update.docChanged) return;
      this.preview_soon();
      if (update.transactions.every((one) => one.annotation(fromServer))) return;
      const edits = editsOf(update.changes);
      if (edits.length > MOST_EDITS) this.resend(update.startState.doc.length);
      else this.send(edits);
    },
    send(edits) {
      const length = this.view.state.doc.length;
      edits.forEach((edit, place) => this.$emit("edited", { edit, length: place === edits.length - 1 ? length : null }));
    },
    // The whole text, in place of the `length` characters the server has.
    resend(length) {
      this.send(pieces(0, length, this.whole()));
    },
    put(text) {
      this.first = text;
      if (!this.view) {
        this.$refs.editor.firstElementChild.textContent = text;
        return this.preview();
      }
      const doc = this.view.state.doc;
      const changes = { from: 0, to: doc.length, insert: text };
      this.view.dispatch({ changes, annotations: fromServer.of(true) });
    },
    show(mode) {
      this.shown = mode;
      this.$nextTick(() => {
        this.view?.requestMeasure();
        this.preview();
      });
    },
    fill(values, declared) {
      this.given = new Map(values);
      this.known = new Map(declared.map((one) => [one.name, one.description]));
      this.lines = [];
      this.view?.dispatch({ effects: declaredChanged.of(null) });
      this.preview();
    },
    focus() {
      this.wanted = true;
      this.view?.focus();
    },
    kindOf(between) {
      const name = between?.trim() ?? "";
      if (!NAME.test(name)) return "wrong";
      return this.known.has(name) ? "known" : "new";
    },
    complete(context) {
      const before = context.matchBefore(/\{\{\s*\w*$/);
      if (!before) return null;
      const place = context.pos;
      const others = [...context.state.doc.toString().matchAll(VARIABLE)].filter(
        (match) => match.index + match[0].length < place || place < match.index,
      );
      const used = others.map((match) => match[1]);
      const names = [...new Set([...this.known.keys(), ...used])];
      const from = place - /\w*$/.exec(before.text)[0].length;
      const option = (name) => ({ label: name, detail: this.known.get(name) || undefined, apply: this.take });
      return names.length ? { from, options: names.map(option), validFor: /^\w*$/ } : null;
    },
    take(view, completion, from, to) {
      const closing = view.state.sliceDoc(to, to + 2) === "}}" ? 2 : 0;
      const changes = { from, to: to + closing, insert: `${completion.label}}}` };
      view.dispatch({
        changes,
        selection: { anchor: from + completion.label.length + 2 },
        userEvent: "input.complete",
      });
    },
    // At once while that is quick; in a very long prompt after as long a rest as the last time took.
    preview_soon() {
      clearTimeout(this.timer);
      if ((this.took ?? 0) < 12) this.preview();
      else this.timer = setTimeout(this.preview, Math.min(this.took * 2, 400));
    },
    preview() {
      if (this.shown === "edit") return;
      const began = performance.now();
      this.show_lines(this.whole().split("\n"));
      this.took = performance.now() - began;
    },
    // Only the lines between the first and the last that changed are made anew.
    show_lines(lines) {
      const pane = this.$refs.preview;
      const old = this.lines;
      if (!old.length) pane.replaceChildren();
      let start = 0;
      while (start < old.length && start < lines.length && old[start] === lines[start]) start += 1;
      let end = 0;
      const most = Math.min(old.length, lines.length) - start;
      while (end < most && old[old.length - 1 - end] === lines[lines.length - 1 - end]) end += 1;
      const behind = pane.children[old.length - end] ?? null;
      for (let gone = old.length - end - start; gone > 0; gone -= 1) pane.children[start].remove();
      const made = document.createDocumentFragment();
      for (const line of lines.slice(start, lines.length - end)) made.append(this.line(line));
      pane.insertBefore(made, behind);
      this.lines = lines;
    },
    // What was filled in is not looked at again: braces in a value stay as they are.
    line(text) {
      const row = document.createElement("div");
      let place = 0;
      for (const match of text.matchAll(VARIABLE)) {
        const value = this.given.get(match[1]) ?? null;
        const mark = document.createElement("mark");
        mark.textContent = value ?? match[0];
        if (value === null) mark.className = "is-missing";
        mark.title = value === null ? `${match[1]} has no value` : match[1];
        row.append(text.slice(place, match.index), mark);
        place = match.index + match[0].length;
      }
      row.append(text.slice(place) || (row.firstChild ? "" : "\n"));
      return row;
    },
  },
};
