// The single file: everything it needs stands in the page.
import { Analyzer } from "./analyzer.js";
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
const main = document.getElementById("main");
const view = new View(analyzer, main);
view.width = Number(main.dataset.width);
view.form("");

// A comparison shows all its runs where the address names none.
const page = main.dataset.page || "";
if (page) {
  const ask = analyzer.view.bind(analyzer);
  analyzer.view = (fragment, width) => {
    const p = new URLSearchParams(fragment), has = new Set(p.keys());
    if (!has.has("run") || has.has("view")) for (const [k, v] of new URLSearchParams(page)) if (!has.has(k)) p.append(k, v);
    return ask(p.toString(), width);
  };
}

try {
  const files = [...document.querySelectorAll('[id^="data-digest"]')].map((e) => ({ name: e.id, blob: new Blob([bytes(e.id)]) }));
  for (const run of (await analyzer.open([{ files }], "")).runs) if (run.error) throw new Error(run.error);
  main.dataset.ready = "true";
  // What was drawn beforehand stays, unless the address asks for another view
  // or the figures do not fit the screen.
  view.shown = main.dataset.view || "";
  if (View.address() || view.fit() < view.width * 0.85) await view.show(View.address());
} catch (e) {
  view.fail(e.message + ". The tables and figures below are as they were written.");
}
