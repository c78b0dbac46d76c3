// Shows HTML that the server rendered and cleaned. Vue never touches our children: the template is static.
// What arrives is cleaned once more here, so that a mistake on the server alone cannot run a script.
import DOMPurify from "dompurify";

const OPTIONS = {
  FORBID_TAGS: ["style", "form", "input", "button", "textarea", "select", "iframe", "svg", "math"],
  FORBID_ATTR: ["id", "name"],
  ADD_ATTR: ["target"],
};

function put(element, html) {
  element.innerHTML = DOMPurify.sanitize(html, OPTIONS);
  element.querySelectorAll("pre").forEach(dress);
  element.querySelectorAll("table").forEach(wrapTable);
  element.querySelectorAll("sup.footnote-ref").forEach((sup) => link(sup, `Footnote ${sup.textContent}`));
  element.querySelectorAll(".footnote > sup").forEach((sup) => link(sup, `Back to where footnote ${sup.textContent} stands`));
}

// A note and where it stands lead to each other; there are no ids in what a model writes.
function link(sup, label) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = sup.textContent;
  button.setAttribute("aria-label", label);
  sup.replaceChildren(button);
}

function followFootnote(event) {
  const sup = event.target.closest("sup:is(.footnote-ref, .footnote > sup)");
  if (!sup || !event.target.closest("button")) return;
  const others = event.currentTarget.querySelectorAll(sup.matches(".footnote-ref") ? ".footnote > sup" : ".footnote-ref");
  const other = [...others].find((one) => one.textContent === sup.textContent);
  other?.firstElementChild.focus();
  other?.scrollIntoView({ block: "nearest" });
}

function wrapTable(table) {
  const wrapper = document.createElement("div");
  wrapper.className = "prose-table";
  wrapper.tabIndex = 0;
  table.replaceWith(wrapper);
  wrapper.append(table);
}

function dress(pre) {
  const language = /language-(\S+)/.exec(pre.firstElementChild?.className ?? "")?.[1] ?? "";
  const frame = document.createElement("div");
  frame.className = "prose-code";
  frame.append(codeBar(language));
  pre.replaceWith(frame);
  frame.append(pre);
  pre.tabIndex = 0;
}

function codeBar(language) {
  const bar = document.createElement("div");
  bar.className = "prose-code-bar";
  const label = document.createElement("span");
  label.textContent = language || "text";
  const wrap = barButton("Wrap", "Wrap long lines");
  wrap.setAttribute("aria-pressed", "false");
  bar.append(label, wrap, barButton("Copy", "Copy this code"));
  return bar;
}

function barButton(words, label) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = words;
  button.className = `prose-${words.toLowerCase()}`;
  button.setAttribute("aria-label", label);
  return button;
}

function wrapCode(event) {
  const button = event.target.closest(".prose-wrap");
  if (!button) return;
  const wraps = button.closest(".prose-code").classList.toggle("wraps");
  button.setAttribute("aria-pressed", wraps);
}

async function copyCode(event) {
  const button = event.target.closest(".prose-copy");
  if (!button) return;
  const code = button.closest(".prose-code").querySelector("pre").textContent;
  const copied = await navigator.clipboard.writeText(code).then(() => true, () => false);
  button.textContent = copied ? "Copied" : "Not copied";
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

export default {
  template: `<div class="prose"></div>`,
  props: { html: String },
  mounted() {
    this.tail = document.createElement("div");
    this.tail.className = "prose-tail"; // code_colours.js leaves it alone; in the page only while there is some
    this.shown = ""; // what the finished blocks were made of
    [copyCode, wrapCode, followFootnote].forEach((hears) => this.$el.addEventListener("click", hears));
    if (this.html) this.commit(this.html);
  },
  methods: {
    // One call for all that is new, so that a page that comes late shows the whole text at once.
    grow(blocks, tail, code) {
      blocks.forEach((html) => this.commit(html));
      if (code) this.grow_code(code.language, code.start, code.text);
      else if (tail) {
        put(this.tail, tail);
        if (!this.tail.isConnected) this.$el.append(this.tail);
        this.code = undefined;
      } else this.drop_tail();
    },
    commit(html) {
      const block = document.createElement("div");
      put(block, html);
      this.drop_tail();
      this.$el.append(block);
      this.shown += html;
    },
    drop_tail() {
      this.tail.remove();
      this.code = undefined;
    },
    grow_code(language, start, text) {
      if (start === 0 || !this.code) {
        this.tail.replaceChildren();
        const pre = document.createElement("pre");
        this.code = document.createElement("code");
        this.code.className = `language-${language}`;
        pre.append(this.code);
        this.tail.append(pre);
        this.$el.append(this.tail);
        dress(pre);
      }
      this.code.append(text);
    },
    // Finished blocks stay as they are where the whole text begins with them.
    replace(html) {
      if (!html.startsWith(this.shown)) {
        this.$el.replaceChildren();
        this.shown = "";
      }
      const rest = html.slice(this.shown.length);
      if (rest.trim()) this.commit(rest);
      else this.drop_tail();
    },
  },
};
