// The site: a list of runs, and the run or runs that the address names or that
// were dropped.
import { Analyzer } from "./analyzer.js";
import { Opening } from "./opening.js";
import { View } from "./view.js";

const $ = (id) => document.getElementById(id);
const main = $("main"), list = $("run-list"), loading = $("loading");

function progress(text, part) {
  loading.hidden = !text;
  if (!text) return;
  $("loading-text").textContent = text;
  const bar = $("loading-bar");
  if (Number.isFinite(part)) bar.value = part; else bar.removeAttribute("value");
}

// program loads one of the page's programs.
const program = (file) => async () => {
  progress("Loading the analyzer", NaN);
  const response = await fetch(new URL(file, document.baseURI)).catch(() => null);
  if (!response || !response.ok) throw new Error(`${file}, which belongs to this page, could not be loaded${response ? ": " + response.status : ""}; reload the page`);
  return { worker: new URL("worker.js", document.baseURI).href, wasm: await response.blob() };
};
const analyzer = new Analyzer(program("analyze.wasm.gz"), program("intake.wasm.gz"));
const view = new View(analyzer, main);
const drops = []; // lists of files; they live as long as the page does
let opened = null; // {key, runs}: what is open, and for what
let turns = 0;

function named() {
  const p = new URLSearchParams(View.address());
  const said = ["columns", "unit", "metric"].map((k) => p.getAll(k));
  return { logs: p.getAll("log"), run: Math.max(1, Number(p.get("run")) || 1), compare: p.get("view") === "compare", has: p.has("run") || p.has("view"), said };
}

// go shows another of the open runs, or all of them.
function go(keys) {
  const p = new URLSearchParams(View.address());
  for (const k of ["run", "view", "step", "repeat"]) p.delete(k);
  for (const [k, v] of Object.entries(keys)) p.append(k, v);
  const hash = "#" + p.toString();
  if (hash === location.hash) return route();
  location.hash = hash;
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
  view.shown = null;
}

function error(text) {
  progress("");
  $("page-error").hidden = !text;
  $("page-error").textContent = text;
}

function notes(all) {
  $("notes").hidden = !all.length;
  $("notes").replaceChildren(...all.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
}

// open reads all that is named, unless it is open.
async function open({ logs, said }, turn) {
  const key = JSON.stringify([logs, said, drops.length]);
  if (opened && opened.key === key) return;
  clear();
  several([], {});
  notes([]);
  opened = null;
  progress("Starting the analyzer", NaN);
  const inputs = [...logs.map((address) => ({ address })), ...drops.map((files) => ({ files }))];
  const { runs, notes: said2 } = await analyzer.open(inputs, View.address(), (text, part) => { if (turn === turns) progress(text, part === null ? NaN : part); });
  main.dataset.memory = String(analyzer.draws.memory || 0);
  main.dataset.intakeMemory = String(analyzer.reads.memory || 0);
  if (turn !== turns) return;
  opened = { key, runs };
  notes(said2);
}

// route shows what the address names.
async function route() {
  if (location.hash && !View.address()) return;
  const turn = ++turns;
  const n = named();
  const any = n.logs.length > 0 || drops.length > 0 && n.has;
  list.hidden = any;
  $("all-runs").hidden = !any;
  $("opening").open = !any;
  error("");
  if (!any) {
    several([], {});
    clear();
    notes(n.has ? ["Files that were dropped on the page are gone with a reload: drop them again, and this view shows them."] : []);
    document.title = "Queuebench: runs";
    return;
  }
  try {
    delete main.dataset.ready;
    await open(n, turn);
    if (turn !== turns) return;
    if (!opened.runs.length) throw new Error("Nothing that was given is a recording that is known. On the command line `analyze import --help` lists what is read");
    several(opened.runs, n);
    if ($("controls")) $("controls-holder").hidden = false;
    const r = opened.runs[n.run - 1];
    if (r && r.error && !n.compare) {
      clear();
      throw new Error(r.error.includes(r.from) || r.error.includes(r.name) ? r.error : r.from + ": " + r.error);
    }
    await view.show(View.address());
    progress("");
    main.dataset.ready = "true";
  } catch (e) {
    if (turn !== turns) return;
    if (e.cancelled) return error("");
    error(e.message);
  }
}

$("loading-cancel").addEventListener("click", () => {
  turns++;
  analyzer.stop("cancelled");
  progress("");
  notes(["Cancelled: nothing is open."]);
  $("opening").open = true;
});

new Opening({
  files(files) {
    const seen = new Set(drops.flat().map((f) => f.name + " " + f.blob.size + " " + f.blob.lastModified));
    const fresh = files.filter((f) => !seen.has(f.name + " " + f.blob.size + " " + f.blob.lastModified));
    if (!fresh.length) return error("These files are open already.");
    const before = opened && (named().logs.length || named().has) ? opened.runs.length : 0;
    drops.push(fresh);
    go({ run: String(before + 1) });
  },
  address(text) {
    go({ log: text, run: String(named().logs.length + 1) });
  },
  error,
}).listen();
view.follow = route;
view.listen();
await route();
main.dataset.routed = "true";
