// The site: a list of runs, and the run or runs that the address names.
import { Analyzer } from "./analyzer.js";
import { View } from "./view.js";

const $ = (id) => document.getElementById(id);
const main = $("main"), list = $("run-list"), loading = $("loading");

// download reads an address with progress, and turns failures into words.
async function download(address, what) {
  let response;
  try {
    response = await fetch(new URL(address, document.baseURI));
  } catch {
    throw new Error(`${shown(address)} could not be reached. If it lies on another host, that host must allow this page by CORS. Natively: analyze report ADDRESS`);
  }
  if (!response.ok) throw new Error(`${shown(address)} could not be read: ${response.status} ${response.statusText}`);
  const total = Number(response.headers.get("Content-Length")) || 0;
  const reader = response.body.getReader();
  const chunks = [];
  let n = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    n += value.length;
    progress(what, total ? n / total : NaN);
  }
  return new Blob(chunks);
}

function progress(what, part) {
  loading.hidden = !what;
  if (!what) return;
  $("loading-text").textContent = what;
  const bar = $("loading-bar");
  if (Number.isFinite(part)) bar.value = part; else bar.removeAttribute("value");
}

const analyzer = new Analyzer(async () => ({
  worker: new URL("worker.js", document.baseURI).href,
  wasm: await download("analyze.wasm.gz", "Loading the analyzer"),
}));
const view = new View(analyzer, main);
let opened = null; // {key, runs}: what is open, and for which addresses
let turns = 0;

function logs() {
  const p = new URLSearchParams(View.address());
  return { all: p.getAll("log"), run: Math.max(1, Number(p.get("run")) || 1), compare: p.get("view") === "compare" };
}

// go shows another of the open runs, or all of them.
function go(keys) {
  const p = new URLSearchParams(View.address());
  for (const k of ["run", "view", "step", "repeat"]) p.delete(k);
  for (const [k, v] of Object.entries(keys)) p.set(k, v);
  location.hash = p.toString();
}

// several lists what is open, when it is more than one.
function several(runs, { run, compare }) {
  const ul = $("opened");
  ul.replaceChildren();
  ul.hidden = runs.length < 2;
  if (ul.hidden) return;
  const add = (text, title, pressed, click) => {
    const li = document.createElement("li"), b = document.createElement("button");
    b.type = "button";
    b.textContent = text;
    b.title = title;
    b.setAttribute("aria-pressed", String(pressed));
    b.addEventListener("click", click);
    li.append(b);
    ul.append(li);
    return b;
  };
  runs.forEach((r, i) => {
    const b = add(r.name, r.error || r.from, !compare && i + 1 === run, () => go({ run: String(i + 1) }));
    if (r.error) b.classList.add("failed");
  });
  add("Compare", "All of them beside each other", compare, () => go({ view: "compare" }));
}

function clear() {
  for (const el of main.querySelectorAll(":scope > [data-region]")) el.remove();
  $("controls-holder").hidden = true;
}

function error(text) {
  progress("");
  $("page-error").hidden = !text;
  $("page-error").textContent = text;
}

// shown is an address without what it may keep secret: its query.
const shown = (address) => address.split(/[?#]/)[0];

// open reads all that the addresses name, unless it is open.
async function open(all, turn) {
  const key = JSON.stringify(all);
  if (opened && opened.key === key) return;
  clear();
  several([], {});
  opened = null;
  view.shown = null;
  const files = [];
  for (const address of all) {
    const name = shown(address);
    files.push({ name, blob: await download(address, all.length > 1 ? "Loading " + name : "Loading the run") });
    if (turn !== turns) return;
  }
  progress("Starting the analyzer", NaN);
  const runs = await analyzer.open(files);
  if (turn === turns) opened = { key, runs };
}

// route shows what the address names.
async function route() {
  if (location.hash && !View.address()) return;
  const turn = ++turns;
  const named = logs();
  const any = named.all.length > 0;
  list.hidden = any;
  $("all-runs").hidden = !any;
  error("");
  if (!any) {
    opened = null;
    several([], {});
    clear();
    document.title = "Queuebench: runs";
    return;
  }
  try {
    await open(named.all, turn);
    if (turn !== turns) return;
    several(opened.runs, named);
    if ($("controls")) $("controls-holder").hidden = false;
    const r = opened.runs[named.run - 1];
    if (r && r.error && !named.compare) {
      clear();
      view.shown = null;
      throw new Error(r.error.includes(r.from) ? r.error : r.from + ": " + r.error);
    }
    await view.show(View.address());
    progress("");
    main.dataset.ready = "true";
  } catch (e) {
    if (turn === turns && !e.cancelled) error(e.message);
  }
}

view.follow = route;
view.listen();
await route();
main.dataset.routed = "true";
