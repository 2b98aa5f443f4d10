// The site: a list of runs, and the run or runs that the address names or that
// were dropped.
import { Analyzer } from "./analyzer.js";
import { Focus } from "./focus.js";
import { Opened } from "./opened.js";
import { Opening } from "./opening.js";
import { predrawn } from "./predrawn.js";
import { Texts } from "./texts.js";
import { View } from "./view.js";

const $ = (id) => document.getElementById(id);
const main = $("main"), list = $("run-list"), loading = $("loading");

// The focus follows what a person opens, once they have done something.
let acted = false;
for (const kind of ["keydown", "pointerdown"]) document.addEventListener(kind, () => { acted = true; }, { capture: true, once: true });

let spoken = 0; // when those who hear the page were told of progress, ms

function progress(text, part) {
  const begins = Boolean(text) && loading.hidden;
  loading.hidden = !text;
  if (!text || begins || Date.now() - spoken > 4000) {
    $("loading-said").textContent = text;
    spoken = Date.now();
  }
  if (!text) return;
  // Beside the button, not on it: the key that opened may still be down.
  if (begins && acted && Focus.lost()) loading.focus({ preventScroll: true });
  $("loading-text").textContent = text;
  const bar = $("loading-bar");
  if (Number.isFinite(part)) bar.value = part; else bar.removeAttribute("value");
}

const here = (file) => new URL(file, document.baseURI).href;

// program loads one of the page's programs, by the name that the page gives it.
const program = (file) => async () => {
  progress(Texts.loading, NaN);
  const response = await fetch(here(file)).catch(() => null);
  if (!response || !response.ok) throw new Error(Texts.notLoaded(file, response ? response.status : 0));
  return { worker: here(main.dataset.worker), wasm: await response.blob() };
};
const analyzer = new Analyzer(program(main.dataset.analyze), program(main.dataset.intake));
const view = new View(analyzer, main);
const held = new Opened($("opened"), $("notes"));
// Addresses keep the name of a run that is published here; what lies there is
// named after its content.
const published = new Map([...document.querySelectorAll(".listed")].map((li) => [here(li.dataset.log), li.dataset]));
const listed = (address) => {
  try { return published.get(here(address)) || {}; } catch { return {}; }
};
const place = (address) => listed(address).file || address;
let opened = null; // {key, runs}: what is open, and for what
let turns = 0;

function named() {
  const p = new URLSearchParams(View.address());
  const said = ["columns", "unit", "metric"].map((k) => p.getAll(k));
  return { logs: p.getAll("log"), run: Math.max(1, Number(p.get("run")) || 1), compare: p.get("view") === "compare", has: p.has("run") || p.has("view"), said };
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

// open reads all that is named, unless it is open.
async function open({ logs, said }, turn) {
  const key = JSON.stringify([logs, said, held.drops.length]);
  if (opened && opened.key === key) return;
  clear();
  held.show([], {});
  held.tell([]);
  opened = null;
  progress(Texts.starting, NaN);
  // An address that names a published run and nothing else shows its default view.
  const plain = [...new URLSearchParams(View.address()).keys()].join() === "log" && listed(logs[0]).page;
  if (plain) predrawn(here(plain), main, $("controls-holder"), () => turn === turns && view.shown === null);
  const inputs = [...logs.map((address) => ({ address: place(address) })), ...held.drops.map((files) => ({ files }))];
  const { runs, notes: said2 } = await analyzer.open(inputs, View.address(), (text, part) => { if (turn === turns) progress(text, part === null ? NaN : part); });
  main.dataset.memory = String(analyzer.draws.memory || 0);
  main.dataset.intakeMemory = String(analyzer.reads.memory || 0);
  if (turn !== turns) return;
  opened = { key, runs };
  held.tell(said2);
}

// route shows what the address names.
async function route() {
  if (location.hash && !View.address()) return;
  const turn = ++turns;
  const n = named();
  const any = n.logs.length > 0 || held.drops.length > 0 && n.has;
  list.hidden = any;
  $("all-runs").hidden = !any;
  $("opening").open = !any;
  error("");
  if (!any) {
    held.show([], {});
    clear();
    held.tell(n.has ? [Texts.gone] : []);
    document.title = Texts.runs;
    if (acted) Focus.arrive(list);
    return;
  }
  try {
    delete main.dataset.ready;
    await open(n, turn);
    if (turn !== turns) return;
    if (!opened.runs.length) throw new Error(Texts.nothingKnown);
    held.show(opened.runs, n);
    if ($("controls")) $("controls-holder").hidden = false;
    const r = opened.runs[n.run - 1];
    if (r && r.error && !n.compare) {
      clear();
      throw new Error(r.error.includes(r.from) || r.error.includes(r.name) ? r.error : r.from + ": " + r.error);
    }
    await view.show(View.address());
    progress("");
    if (acted) Focus.arrive(main);
    main.dataset.ready = "true";
  } catch (e) {
    if (turn !== turns) return;
    if (e.cancelled) return error("");
    error(e.message);
    if (!main.querySelector(":scope > [data-region]")) list.hidden = false; // what else there is
    if (acted) Focus.arrive(main);
  }
}

function cancel() {
  turns++;
  analyzer.stop("cancelled");
  progress("");
  clear();
  held.tell([Texts.nothingOpen]);
  $("opening").open = true;
  if (acted && Focus.lost()) $("opening").querySelector("summary").focus({ preventScroll: true });
}
$("loading-cancel").addEventListener("click", cancel);
document.addEventListener("keydown", (e) => { if (e.key === "Escape" && !loading.hidden) cancel(); });

new Opening({
  files(files) {
    const fresh = held.fresh(files);
    if (!fresh.length) return error(Texts.openAlready);
    const before = opened && (named().logs.length || named().has) ? opened.runs.length : 0;
    held.drops.push(fresh);
    held.go({ run: String(before + 1) });
  },
  address(text) {
    held.go({ log: text, run: String(named().logs.length + 1) });
  },
  error,
}).listen();
view.follow = held.follow = route;
view.listen();
await route();
main.dataset.routed = "true";
