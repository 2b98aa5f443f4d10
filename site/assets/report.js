// The single file: everything it needs stands in the page.
import { Analyzer } from "./analyzer.js";
import { Opened } from "./opened.js";
import { Opening } from "./opening.js";
import { Texts } from "./texts.js";
import { View } from "./view.js";

// bytes decodes a data block of the page: base 85 as btoa writes it, five
// characters for four bytes and z for four zeros, with v in the place of <.
function bytes(id) {
  const text = document.getElementById(id).textContent.trim();
  const zeros = text.split("z").length - 1;
  const out = new Uint8Array(4 * zeros + Math.floor((text.length - zeros) * 4 / 5));
  let at = 0, n = 0, value = 0;
  for (let i = 0; i < text.length; i++) {
    let c = text.charCodeAt(i);
    if (c === 122) { at += 4; continue; }
    if (c === 118) c = 60;
    value = value * 85 + c - 33;
    if (++n < 5) continue;
    out[at++] = value >>> 24; out[at++] = value >>> 16; out[at++] = value >>> 8; out[at++] = value;
    n = value = 0;
  }
  for (let i = n; n && i < 5; i++) value = value * 85 + 84;
  for (let i = 0; i < n - 1; i++) out[at++] = value >>> (24 - 8 * i);
  return out;
}

const analyzer = new Analyzer(async () => ({
  worker: URL.createObjectURL(new Blob([bytes("data-worker")], { type: "text/javascript" })),
  wasm: new Blob([bytes("data-wasm")]),
}));
const at = (id) => document.getElementById(id);
const main = at("main");
const view = new View(analyzer, main);
view.width = Number(main.dataset.width);
view.form("");

// A comparison shows all its runs where the address names none.
const page = main.dataset.page || "";
if (page) {
  const ask = analyzer.view.bind(analyzer);
  analyzer.view = (fragment, width, part) => {
    const p = new URLSearchParams(fragment), has = new Set(p.keys());
    if (!has.has("run") || has.has("view")) for (const [k, v] of new URLSearchParams(page)) if (!has.has(k)) p.append(k, v);
    return ask(p.toString(), width, part);
  };
}

const inside = [...document.querySelectorAll('[id^="data-digest"]')].map((e) => ({ name: e.id, blob: new Blob([bytes(e.id)]) }));
const held = new Opened(at("opened"), at("notes"));
let runs = [];

// open reads what is in the file, and what was given to it.
async function open() {
  const inputs = [{ files: inside }, ...held.drops.map((files) => ({ files }))];
  runs = (await analyzer.open(inputs, "")).runs;
  for (const run of runs.slice(0, inside.length)) if (run.error) throw new Error(run.error);
  main.dataset.runs = String(runs.length);
}

// shows tells which of the runs the address names; missing: one that is not open.
function shows() {
  const p = new URLSearchParams(View.address()), one = p.has("run");
  const run = Number(p.get("run")) || 1, compare = p.get("view") === "compare" || Boolean(page) && !one;
  return { run, compare, missing: one && run > runs.length || compare && runs.length < 2 };
}

function error(text) {
  view.say("");
  at("page-error").hidden = !text;
  at("page-error").textContent = text;
  if (text) at("page-error").scrollIntoView({ block: "nearest" });
}

// route shows what the address names.
async function route() {
  if (location.hash && !View.address()) return; // an anchor
  error("");
  const s = shows();
  // What only one file of the page has cannot be chosen: the list is of what was
  // added to it.
  held.show(held.drops.length ? runs : [], s);
  if (s.missing) return held.tell([Texts.gone]);
  const r = runs[s.run - 1];
  if (!s.compare && r && r.error) return error(r.error);
  await view.show(View.address());
}

// beside opens files beside what is there. Where none of them can be read, all
// stays as it was.
async function beside(files) {
  const fresh = held.fresh(files), before = runs.length;
  if (!fresh.length) return error(Texts.openAlready);
  error("");
  held.tell([]);
  view.say(Texts.reading(fresh.length));
  held.drops.push(fresh);
  try {
    await open();
    const wrong = runs.slice(before).filter((r) => r.error).map((r) => r.error);
    if (wrong.length === runs.length - before) {
      held.drops.pop();
      await open();
      return error(wrong.join(" "));
    }
    held.tell(wrong);
    held.go({ run: String(before + 1 + runs.slice(before).findIndex((r) => !r.error)) });
  } catch (e) {
    held.drops.pop();
    await open().catch(() => {});
    error(e.cancelled ? Texts.cancelled : e.message);
  }
}

// given opens what was given after what was given before.
let last = Promise.resolve();
const given = (files) => { last = last.then(() => beside(files)); };

try {
  await open();
  main.dataset.ready = "true";
  // What was drawn beforehand stays, unless the address asks for another view
  // or the figures do not fit the screen.
  view.shown = main.dataset.view || "";
  if (View.address() || view.fit() < view.width * 0.85) await route();
  at("opening").hidden = false;
  view.follow = held.follow = route;
  new Opening({ files: given, error }).listen();
} catch (e) {
  view.still(Texts.asWritten(e.message));
}
