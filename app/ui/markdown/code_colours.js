// Gives code on the page its colours once the server knows them. It sends names of colours and lengths and no markup,
// so a text stays the text it was.
const LONGEST = 5000; // characters of code that get colours
const REMEMBERED = 300;
const CODE = ".prose pre > code[class*=language-]";
const GROWING = ".prose-tail"; // what is still being written changes with every look

export default {
  render: () => null,
  mounted() {
    this.codes = new Map(); // by language and text: the number it is asked for with, where it stands, its pieces
    this.watcher = new MutationObserver((changes) => {
      for (const change of changes) change.addedNodes.forEach((node) => this.look(node));
    });
    this.watcher.observe(document.body, { childList: true, subtree: true });
    this.look(document.body);
  },
  unmounted() {
    this.watcher.disconnect();
  },
  methods: {
    look(node) {
      if (!(node instanceof HTMLElement) || node.closest(GROWING)) return;
      if (node.matches(CODE)) this.colour(node);
      else node.querySelectorAll(CODE).forEach((code) => this.colour(code));
    },
    colour(element) {
      const text = element.textContent;
      const language = /language-(\S+)/.exec(element.className)[1];
      if (!text.trim() || text.length > LONGEST || element.closest(GROWING)) return;
      const key = `${language}\n${text}`;
      const known = this.codes.get(key);
      if (known?.pieces) paint(element, text, known.pieces);
      else if (known) known.elements.push(element);
      else this.ask(key, element, text, language);
    },
    ask(key, element, text, language) {
      this.last = (this.last ?? 0) + 1;
      this.codes.set(key, { number: this.last, elements: [element], text });
      if (this.codes.size > REMEMBERED) this.codes.delete(this.codes.keys().next().value);
      this.$emit("wanted", [this.last, text, language]);
    },
    paint(number, pieces) {
      const code = [...this.codes.values()].find((one) => one.number === number);
      if (!code) return;
      code.elements.forEach((element) => paint(element, code.text, pieces));
      Object.assign(code, { pieces, elements: [] });
    },
  },
};

function paint(element, text, pieces) {
  if (element.textContent !== text || pieces.reduce((sum, [, length]) => sum + length, 0) !== text.length) return;
  let at = 0;
  const spans = pieces.map(([kind, length]) => {
    const piece = text.slice(at, (at += length));
    if (!kind) return piece;
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = piece;
    return span;
  });
  element.replaceChildren(...spans);
}
