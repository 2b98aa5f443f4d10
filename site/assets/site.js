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
    throw new Error(`${address} could not be reached. If it lies on another host, that host must allow this page by CORS. Natively: analyze report ADDRESS`);
  }
  if (!response.ok) throw new Error(`${address} could not be read: ${response.status} ${response.statusText}`);
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
let opened = null; // the address that is open

function logs() {
  const p = new URLSearchParams(View.address());
  return { all: p.getAll("log"), current: Math.max(0, Number(p.get("run") || 1) - 1) };
}

// several lists the logs that the address names, when there is more than one.
function several(all, current) {
  const ul = $("opened");
  ul.replaceChildren();
  ul.hidden = all.length < 2;
  if (ul.hidden) return;
  all.forEach((address, i) => {
    const li = document.createElement("li"), b = document.createElement("button");
    b.type = "button";
    b.textContent = decodeURIComponent(address.split("?")[0].split("/").pop().replace(/\.digest(\.gz)?$/, ""));
    b.title = address;
    b.setAttribute("aria-pressed", String(i === current));
    b.addEventListener("click", () => {
      const p = new URLSearchParams(View.address());
      p.set("run", String(i + 1));
      location.hash = p.toString();
    });
    li.append(b);
    ul.append(li);
  });
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

// route shows what the address names.
async function route() {
  if (location.hash && !View.address()) return;
  const { all, current } = logs();
  const address = all[Math.min(current, all.length - 1)];
  list.hidden = Boolean(address);
  $("all-runs").hidden = !address;
  several(all, current);
  error("");
  if (!address) {
    opened = null;
    clear();
    document.title = "Queuebench: runs";
    return;
  }
  try {
    if (opened !== address) {
      clear();
      opened = null;
      view.shown = null;
      const blob = await download(address, "Loading the run");
      progress("Starting the analyzer", NaN);
      await analyzer.open(blob);
      opened = address;
      if ($("controls")) $("controls-holder").hidden = false;
    }
    await view.show(View.address());
    progress("");
    main.dataset.ready = "true";
  } catch (e) {
    if (!e.cancelled) error(e.message.startsWith(address) ? e.message : address + ": " + e.message);
  }
}

view.follow = route;
view.listen();
await route();
main.dataset.routed = "true";
