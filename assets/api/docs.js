// Draws openapi.json: kinds of operations, what each takes and answers, and a form to try it out.
// Text only ever becomes text nodes, so nothing in a description or an answer can be markup.
"use strict";

let api;

function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const anchor = (tag) => "kind-" + tag.toLowerCase().replace(/\W+/g, "-");
const followed = (schema) => (schema && schema.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema || {});
const json = (value) => JSON.stringify(value, null, 2);

/** `words` with what stands in backticks as code. */
function prose(words) {
  return (words || "").split(/\n\s*\n/).map((paragraph) => el("p", {}, ...line(paragraph)));
}

function line(words) {
  return (words || "").split(/(`[^`]*`)/).map((piece) =>
    piece.startsWith("`") && piece.length > 1 ? el("code", {}, piece.slice(1, -1)) : piece);
}

function typeOf(schema) {
  if (!schema) return "any";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.const !== undefined) return json(schema.const);
  if (schema.enum) return schema.enum.map((one) => json(one)).join(" | ");
  const choices = schema.anyOf || schema.oneOf;
  if (choices) return choices.map(typeOf).join(" | ");
  if (schema.type === "array") return `${typeOf(schema.items)}[]`;
  if (schema.type === "object" && schema.additionalProperties) return `{name: ${typeOf(schema.additionalProperties)}}`;
  return schema.format ? `${schema.type} (${schema.format})` : schema.type || "any";
}

function row(name, schema, required, description) {
  const left = schema.default === undefined || schema.default === null ? "" : ` = ${json(schema.default)}`;
  return el("tr", {},
    el("td", {}, name, required ? el("span", { class: "required", title: "required" }, " *") : ""),
    el("td", { class: "type" }, typeOf(schema) + left),
    el("td", {}, ...line(description)));
}

/** The fields of an object, or null for what is none. */
function fields(schema) {
  const properties = Object.entries(followed(schema).properties || {});
  if (!properties.length) return null;
  const required = new Set(followed(schema).required || []);
  return el("div", { class: "table" }, el("table", {}, el("tbody", {},
    ...properties.map(([name, one]) => row(name, one, required.has(name), one.description)))));
}

/** What an envelope wraps, with the schemas it is made of, each behind a click. */
function answerFields(schema) {
  const data = (followed(schema).properties || {}).data;
  const inner = data && data.type === "array" ? data.items : data;
  return inner && fields(inner);
}

function parameters(operation) {
  const found = operation.parameters || [];
  if (!found.length) return [];
  const rows = found.map((one) => row(`${one.name} (${one.in})`, one.schema || {}, one.required, one.description));
  return [el("h3", {}, "Parameters"), el("div", { class: "table" }, el("table", {}, el("tbody", {}, ...rows)))];
}

function body(operation) {
  const content = operation.requestBody && operation.requestBody.content["application/json"];
  if (!content) return [];
  return [el("h3", {}, "Body"), ...prose(followed(content.schema).description), fields(content.schema)];
}

function answers(operation) {
  return Object.entries(operation.responses).flatMap(([status, answer]) => {
    const content = answer.content && answer.content["application/json"];
    const good = status.startsWith("2");
    if (!good) return [];
    return [
      el("h3", {}, `Answer ${status}: `, ...line(answer.description)),
      content ? answerFields(content.schema) : null,
      content && content.example !== undefined ? el("details", {}, el("summary", {}, "Example"), el("pre", {}, json(content.example))) : null,
    ];
  });
}

function errors(operation) {
  const bad = Object.entries(operation.responses).filter(([status]) => !status.startsWith("2"));
  const rows = bad.map(([status, answer]) => el("tr", {}, el("td", {}, status), el("td", {}, answer.description)));
  return [el("details", {}, el("summary", {}, "Errors"), el("table", {}, el("tbody", {}, ...rows)))];
}

function tryOut(method, path, operation) {
  const asked = (operation.parameters || []).filter((one) => one.in !== "header");
  const inputs = asked.map((one) => [one, el("input", { "aria-label": one.name, placeholder: one.required ? "required" : "" })]);
  const content = operation.requestBody && operation.requestBody.content["application/json"];
  const text = content ? el("textarea", { "aria-label": "Body", spellcheck: "false" }) : null;
  if (text) text.value = json(content.example ?? {});
  const shown = el("div", { "data-testid": "answer" });
  const send = el("button", { type: "button", onclick: () => ask(method, path, inputs, text, shown) }, `Send ${method.toUpperCase()}`);
  const labels = inputs.map(([one, input]) => el("label", {}, one.name, input));
  return [el("h3", {}, "Try it"), el("div", { class: "fields" }, ...labels), text, send, shown];
}

async function ask(method, path, inputs, text, shown) {
  const query = new URLSearchParams();
  let address = path;
  for (const [one, input] of inputs) {
    if (one.in === "path") address = address.replace(`{${one.name}}`, encodeURIComponent(input.value));
    else if (input.value) query.set(one.name, input.value);
  }
  const key = document.getElementById("key").value;
  const headers = { ...(text ? { "Content-Type": "application/json" } : {}), ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  shown.replaceChildren(el("p", {}, "Waiting for the answer…"));
  try {
    const from = performance.now();
    const answer = await fetch(address + (query.size ? `?${query}` : ""), { method: method.toUpperCase(), headers, body: text ? text.value : undefined });
    const words = el("p", { class: answer.ok ? "good" : "bad" });
    const content = el("pre", {});
    shown.replaceChildren(words, content);
    await read(answer, content);
    words.textContent = `${answer.status} ${answer.statusText} · ${Math.round(performance.now() - from)} ms`;
  } catch (error) {
    shown.replaceChildren(el("p", { class: "bad" }, `No answer: ${error.message}`));
  }
}

/** Shows the answer as it arrives; JSON well laid out once it is whole. */
async function read(answer, shown) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let whole = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    whole += piece.value;
    shown.textContent = whole;
  }
  try { shown.textContent = json(JSON.parse(whole)); } catch { /* it is no JSON: shown as it came */ }
}

function operationCard(path, method, operation) {
  const card = el("details", { class: "operation", "data-words": `${method} ${path} ${operation.summary} ${operation.description}`.toLowerCase() },
    el("summary", {}, el("span", { class: `method ${method}` }, method.toUpperCase()), el("span", { class: "path" }, path), el("span", { class: "summary" }, operation.summary || "")));
  card.addEventListener("toggle", () => {
    if (!card.open || card.children.length > 1) return;
    const parts = [...prose(operation.description), ...parameters(operation), ...body(operation), ...answers(operation), ...errors(operation), ...tryOut(method, path, operation)];
    card.append(el("div", { class: "body" }, ...parts.filter(Boolean)));
  });
  return card;
}

/** A socket cannot be described by OpenAPI, nor tried from here. */
function socketCard(path, socket) {
  const card = operationCard(path, "socket", socket);
  card.open = true;
  card.append(el("div", { class: "body" }, ...prose(socket.description)));
  return card;
}

function draw() {
  document.getElementById("version").textContent = api.info.version;
  document.getElementById("about").replaceChildren(...prose(api.info.description));
  const kinds = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const kind = (operation.tags || ["Other"])[0];
      kinds.set(kind, [...(kinds.get(kind) || []), operationCard(path, method, operation)]);
    }
  }
  const sockets = Object.entries(api["x-websockets"] || {}).map(([path, socket]) => socketCard(path, socket));
  if (sockets.length) kinds.set("Sockets", sockets);
  document.getElementById("kinds").replaceChildren(...[...kinds.keys()].map((kind) => el("a", { href: `#${anchor(kind)}` }, kind)));
  document.getElementById("operations").replaceChildren(...[...kinds].map(([kind, cards]) => el("section", { id: anchor(kind) }, el("h2", {}, kind), ...cards)));
}

function find() {
  const words = document.getElementById("find").value.toLowerCase().split(/\s+/);
  for (const card of document.querySelectorAll(".operation")) card.hidden = !words.every((word) => card.dataset.words.includes(word));
  for (const section of document.querySelectorAll("section")) section.hidden = !section.querySelector(".operation:not([hidden])");
}

document.getElementById("find").addEventListener("input", find);
document.getElementById("tools").addEventListener("submit", (event) => event.preventDefault());
fetch("openapi.json").then((answer) => answer.json()).then((found) => { api = found; draw(); }).catch((error) => {
  document.getElementById("about").replaceChildren(el("p", { class: "bad" }, `openapi.json could not be read: ${error.message}`));
});
