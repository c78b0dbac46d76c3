// What goes along with a message: files that were chosen, dropped or pasted. Each is uploaded at once and keeps
// its place; the server hears which have arrived and which are still on their way.
const MOST = 20;

export default {
  template: `
    <div class="attachments">
      <ul v-if="files.length" ref="list" class="attached" aria-label="Attached to the message">
        <li v-for="file in files" :key="file.id" class="attached-file" :class="{ 'is-bad': file.error }"
          data-testid="attachment">
          <img v-if="file.part?.type === 'image'" :src="pictures[file.part.artifact]" alt="">
          <i v-else class="q-icon notranslate material-icons" aria-hidden="true"
            :data-icon="file.error ? 'error_outline' : 'description'"></i>
          <div class="attached-facts">
            <div class="attached-head">
              <span class="truncate" :title="file.name" data-testid="attachment-name">{{ file.name }}</span>
              <span v-if="file.size" class="faint">{{ size(file.size) }}</span>
            </div>
            <span v-if="file.error" role="alert" data-testid="attachment-error">{{ file.error }}</span>
            <span v-else-if="file.part" :class="file.words?.warns ? 'attached-warning' : 'faint'"
              data-testid="attachment-words">{{ file.words?.text ?? "" }}</span>
            <div v-else class="attached-head faint">
              <progress :value="file.sent" :max="file.size" :aria-label="'Uploading ' + file.name"></progress>
              {{ size(file.sent) }} of {{ size(file.size) }}
            </div>
            <div v-if="file.part && file.words" class="attached-ways">
              <select class="attached-way" :value="file.part.disposition" :aria-label="'How ' + file.name + ' goes along'"
                data-testid="disposition-select" @change="choose(file.id, $event.target.value)">
                <option v-for="way in file.words.choices" :key="way.value" :value="way.value">{{ way.label }}</option>
              </select>
              <label v-if="file.words.has_detail" class="attached-detail">
                <input type="checkbox" :checked="file.part.detail" data-testid="detail-toggle"
                  @change="change(file, { detail: $event.target.checked })"> More detail
              </label>
            </div>
            <button v-if="file.part && file.words?.tool" type="button" class="link-button"
              @click="$emit('give', file.words.tool)" data-testid="give-tool">Give it {{ file.words.title }}</button>
          </div>
          <button v-if="file.error && file.source" type="button" class="attached-button" @click="upload(file)"
            :aria-label="'Try ' + file.name + ' again'" title="Try again" data-testid="attachment-retry">
            <i class="q-icon notranslate material-icons" aria-hidden="true" data-icon="refresh"></i>
          </button>
          <button type="button" class="attached-button" @click="remove(file)" :title="file.part ? 'Remove' : 'Cancel'"
            :aria-label="(file.part || file.error ? 'Remove ' : 'Cancel ') + file.name"
            data-testid="attachment-remove">
            <i class="q-icon notranslate material-icons" aria-hidden="true" data-icon="close"></i>
          </button>
        </li>
      </ul>
      <button ref="opener" type="button" class="attached-button attach-button" :aria-label="'Attach files ' + most"
        :title="'Attach files ' + most + '; you can also drop or paste them'" data-testid="attach-button"
        @click="$refs.picker.click()">
        <i class="q-icon notranslate material-icons" aria-hidden="true" data-icon="attach_file"></i>
      </button>
      <input ref="picker" type="file" multiple hidden @change="picked">
      <span class="visually-hidden" role="status">{{ said }}</span>
      <Teleport v-if="dragging" :to="place">
        <div class="drop-zone" data-testid="drop-zone">
          <i class="q-icon notranslate material-icons" aria-hidden="true" data-icon="attach_file"></i>
          Drop files here to attach them, {{ most }}
        </div>
      </Teleport>
    </div>`,
  props: { holder: String, place: String, box: String, kept: Array, pictures: Object, limit: Number },
  emits: ["change", "give", "native"],
  data() {
    // What was attached before this page was loaded has its place in the list for an id, as the server numbers it too.
    const files = this.kept.map((part, id) => ({ id, part, name: part.alt || part.filename, size: part.size ?? 0 }));
    return { files, dragging: false, next: files.length };
  },
  computed: {
    most() {
      return `up to ${this.limit / 1024 ** 2} MiB each`;
    },
    said() {
      const arrived = this.files.filter((file) => file.part).length;
      return this.files.length ? `${arrived} of ${this.files.length} files attached` : "";
    },
  },
  mounted() {
    for (const [name, hear] of this.listeners()) window.addEventListener(name, hear);
  },
  beforeUnmount() {
    for (const [name, hear] of this.listeners()) window.removeEventListener(name, hear);
    for (const file of this.files) file.request?.abort();
  },
  methods: {
    listeners() {
      return [["dragover", this.over], ["dragleave", this.left], ["drop", this.dropped], ["paste", this.pasted]];
    },
    picked(event) {
      this.add([...event.target.files]);
      event.target.value = "";
    },
    over(event) {
      if (!event.dataTransfer?.types.includes("Files")) return;
      const here = this.isHere(event);
      if (!here && isEditable(event.target)) return;
      event.preventDefault(); // a file dropped beside the conversation must not open in place of the page
      event.dataTransfer.dropEffect = here ? "copy" : "none";
      this.dragging = here;
    },
    left(event) {
      if (!event.relatedTarget) this.dragging = false;
    },
    dropped(event) {
      if (!this.dragging && !this.isHere(event)) return;
      this.dragging = false;
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
      this.add(items.map((item) => (item.webkitGetAsEntry?.()?.isDirectory ? folder(item) : item.getAsFile())));
    },
    pasted(event) {
      const data = event.clipboardData;
      const target = event.target instanceof Element ? event.target : document.body;
      if (!data?.files.length || (target.closest(".q-dialog") && !this.isHere(event))) return;
      if (isEditable(target) && !target.closest(this.box)) return;
      // Text processors put a picture of what was copied beside its text.
      if (data.types.includes("text/html") && data.getData("text/plain").trim()) return;
      event.preventDefault();
      this.add([...data.files]);
    },
    isHere(event) {
      return event.target instanceof Element && event.target.closest(this.place) !== null;
    },
    add(sources) {
      for (const source of sources.filter(Boolean)) {
        this.files.push({ id: this.next++, name: source.name, size: source.size, sent: 0, error: this.refusal(source) });
        const file = this.files[this.files.length - 1];
        if (file.error) continue;
        file.source = source;
        this.upload(file);
      }
      this.tell();
      this.$nextTick(() => this.$refs.list?.scrollTo(0, this.$refs.list.scrollHeight));
    },
    // Why it is not even sent; the server has the same rules and the last word.
    refusal(source) {
      if (source.isFolder) return "This is a folder. Attach the files in it, or a .zip of them.";
      if (this.files.filter((file) => !file.error).length >= MOST) return `${MOST} files go with one message at most.`;
      if (source.size === 0) return "This file is empty: there is nothing to attach.";
      if (source.size <= this.limit) return "";
      return `This file is larger than ${this.limit / 1024 ** 2} MiB, the most that can be attached. Attach a part of it, or make it smaller.`;
    },
    upload(file) {
      Object.assign(file, { error: "", sent: 0 });
      const request = (file.request = new XMLHttpRequest());
      request.upload.onprogress = (event) => (file.sent = event.loaded);
      request.onload = () => this.answered(file, request);
      request.onerror = () => this.failed(file, "The upload was broken off. Is the app still running?");
      // URLSearchParams, because encodeURIComponent throws on names that are no proper Unicode.
      request.open("POST", `/uploads/${this.holder}?${new URLSearchParams({ name: file.name })}`);
      request.send(file.source);
      this.tell();
    },
    answered(file, request) {
      const isJson = request.getResponseHeader("content-type")?.startsWith("application/json");
      const reply = isJson ? JSON.parse(request.responseText) : { error: request.responseText };
      if (!reply.success) return this.failed(file, reply.error?.slice(0, 300) || `The app answered ${request.status}.`);
      Object.assign(file, { part: reply.data, name: reply.data.alt || reply.data.filename, source: undefined });
      this.tell();
    },
    failed(file, words) {
      file.error = words;
      this.tell();
    },
    remove(file) {
      file.request?.abort();
      const place = this.files.indexOf(file);
      this.files.splice(place, 1);
      this.tell();
      this.$nextTick(() => {
        const chips = this.$el.querySelectorAll("[data-testid=attachment-remove]");
        (chips[Math.min(place, chips.length - 1)] ?? this.$refs.opener).focus();
      });
    },
    tell() {
      this.$emit("change", {
        arrived: this.files.filter((file) => file.part).map(({ id, part }) => ({ id, part })),
        waiting: this.files.filter((file) => !file.part && !file.error).map((file) => file.name),
      });
    },
    // How it is to go along; the server asks before a provider gets to keep it, and takes it back where it may not.
    choose(id, disposition) {
      const file = this.files.find((one) => one.id === id);
      if (!file?.part) return;
      this.change(file, { disposition });
      if (disposition === "native") this.$emit("native", id);
    },
    change(file, changes) {
      file.part = { ...file.part, ...changes };
      this.tell();
    },
    // How each of them reaches the model, by id.
    describe(words) {
      for (const file of this.files) file.words = words[file.id] ?? file.words;
    },
    // The message was taken; what did not go along stays.
    sent(ids) {
      this.files = this.files.filter((file) => !ids.includes(file.id));
      this.tell();
    },
    size(octets) {
      if (octets < 1000) return octets === 1 ? "1 byte" : `${octets} bytes`;
      return octets < 1e6 ? `${(octets / 1e3).toFixed(1)} kB` : `${(octets / 1e6).toFixed(1)} MB`;
    },
  },
};

function isEditable(target) {
  return target instanceof Element && target.closest("input, textarea, [contenteditable=true]") !== null;
}

function folder(item) {
  return { isFolder: true, name: item.webkitGetAsEntry().name, size: 0 };
}
