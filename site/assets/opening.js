// Opening takes what a person gives to the page: files and folders that are
// dropped, chosen or pasted, and addresses. It reads none of them.
import { Texts } from "./texts.js";

const mostFiles = 20000;

export class Opening {
  // files([{name, blob, found}, …]), address(text), error(text).
  constructor(take) {
    this.take = take;
  }

  listen() {
    const $ = (id) => document.getElementById(id);
    // A page has what it can read: the single file takes no folders and no addresses.
    for (const [button, id] of [["choose-files", "files"], ["choose-folder", "folder"]]) {
      if (!$(button)) continue;
      $(button).addEventListener("click", () => $(id).click());
      $(id).addEventListener("change", (e) => {
        const all = [...e.target.files].map(plain);
        e.target.value = ""; // the same choice again is one, too
        this.given(async () => all);
      });
    }
    if ($("open-address")) $("open-address").addEventListener("submit", (e) => {
      e.preventDefault();
      const text = $("address").value.trim();
      $("address").value = "";
      if (text) this.take.address(text);
    });
    document.addEventListener("paste", (e) => {
      if (e.target.closest && e.target.closest("input, textarea, select")) return;
      const all = [...e.clipboardData.files].map(plain);
      const text = e.clipboardData.getData("text/plain").trim();
      if (all.length) this.given(async () => all);
      else if (this.take.address && /^([a-z][a-z0-9+.-]*:|\.{0,2}\/)\S+$/i.test(text)) this.take.address(text);
    });
    this.drops();
  }

  drops() {
    const files = (e) => e.dataTransfer && [...e.dataTransfer.types].includes("Files");
    let over = 0; // elements that the pointer has entered and not left
    const mark = (n) => { over = Math.max(0, n); document.body.classList.toggle("dropping", over > 0); };
    document.addEventListener("dragenter", (e) => { if (files(e)) { e.preventDefault(); mark(over + 1); } });
    document.addEventListener("dragleave", (e) => { if (files(e)) mark(over - 1); });
    document.addEventListener("dragover", (e) => { if (files(e)) { e.preventDefault(); e.dataTransfer.dropEffect = "copy"; } });
    document.addEventListener("drop", (e) => {
      if (!files(e)) return;
      e.preventDefault();
      mark(0);
      // All of these are gone after the event.
      const items = [...e.dataTransfer.items].filter((i) => i.kind === "file").map((i) => ({ handle: attempt(() => i.getAsFileSystemHandle()), entry: attempt(() => i.webkitGetAsEntry()), file: i.getAsFile() }));
      this.given(async () => {
        const out = [];
        for (const item of items) await walk(item, out);
        return out;
      });
    });
  }

  async given(collect) {
    try {
      const all = await collect();
      if (all.length) this.take.files(all);
      else this.take.error(Texts.emptyFolder);
    } catch (e) {
      this.take.error(e.message);
    }
  }
}

// plain is a file as an input or the clipboard gives it. A chosen folder gives
// its files with their paths.
function plain(file) {
  return { name: file.webkitRelativePath || file.name, blob: file, found: Boolean(file.webkitRelativePath) };
}

function attempt(get) {
  try {
    return get();
  } catch {
    return null; // webkitGetAsEntry throws on file://
  }
}

function add(out, name, blob, found) {
  if (out.length === mostFiles) throw new Error(Texts.tooMany(mostFiles));
  out.push({ name, blob, found });
}

// walk collects the files of a dropped item, in one of the three ways that
// browsers know.
async function walk(item, out) {
  const handle = item.handle && await Promise.resolve(item.handle).catch(() => null);
  if (handle) return walkHandle(handle, handle.name, false, out);
  if (item.entry && item.entry.isDirectory) return walkEntry(item.entry, item.entry.name, out);
  if (item.file) add(out, item.file.name, item.file, false);
}

async function walkHandle(handle, path, found, out) {
  if (handle.kind === "file") return add(out, path, await handle.getFile(), found);
  for await (const child of handle.values()) await walkHandle(child, path + "/" + child.name, true, out);
}

async function walkEntry(entry, path, out) {
  if (entry.isFile) return add(out, path, await new Promise((resolve, reject) => entry.file(resolve, reject)), true);
  const reader = entry.createReader();
  for (;;) {
    // A hundred at a time, until there are none.
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const child of some) await walkEntry(child, path + "/" + child.name, out);
  }
}
