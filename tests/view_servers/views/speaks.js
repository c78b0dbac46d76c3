// What the views here speak by: JSON-RPC over messages, as SEP-1865 has it.
const heard = [], waiting = new Map();
let lastId = 0, context = {};
const tell = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const note = (method, params = {}) => tell({ method, params });
const ask = (method, params = {}) => new Promise((done) => {
  waiting.set(++lastId, done);
  tell({ id: lastId, method, params });
});
const call = (name, given = {}) => ask("tools/call", { name, arguments: given });
const shown = (id, words) => { document.getElementById(id).textContent = words; };
const textOf = (reply) => reply.error?.message ?? (reply.result.isError ? "Refused: " : "") + reply.result.content.map((one) => one.text).join(" ");
const follow = (changed) => {
  Object.assign(context, changed);
  if (context.theme) document.documentElement.dataset.theme = document.documentElement.style.colorScheme = context.theme;
  for (const [name, value] of Object.entries(context.styles?.variables ?? {})) document.documentElement.style.setProperty(name, value);
  document.documentElement.lang = context.locale ?? "en";
  document.documentElement.dataset.mode = context.displayMode ?? "";
};
const begin = async (hear, modes) => {
  addEventListener("message", ({ data, source }) => {
    if (source !== parent || data?.jsonrpc !== "2.0") return;
    heard.push(data.method ?? `answer ${data.id}`);
    if (!data.method) return waiting.get(data.id)?.(data);
    if (data.method === "ui/notifications/host-context-changed") follow(data.params);
    if (data.method === "ping") tell({ id: data.id, result: {} });
    if (data.method === "ui/resource-teardown") setTimeout(() => tell({ id: data.id, result: {} }), window.slow ? 1000 : 0);
    hear(data.method, data.params);
  });
  const { result } = await ask("ui/initialize", { appInfo: { name: "Ours", version: "1.0" },
    appCapabilities: modes ? { availableDisplayModes: modes } : {}, protocolVersion: "2026-01-26" });
  window.capabilities = result.hostCapabilities;
  window.welcome = result;
  follow(result.hostContext);
  note("ui/notifications/initialized");
  new ResizeObserver(() => note("ui/notifications/size-changed", {
    width: Math.ceil(document.documentElement.getBoundingClientRect().width),
    height: Math.ceil(document.documentElement.getBoundingClientRect().height) })).observe(document.documentElement);
};
