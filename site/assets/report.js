// The single file: everything it needs stands in the page.
import { Analyzer } from "./analyzer.js";
import { View } from "./view.js";

// bytes decodes a data block of the page.
function bytes(id) {
  const text = atob(document.getElementById(id).textContent.trim());
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
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

try {
  const [run] = await analyzer.open([{ name: "the digest in this file", blob: new Blob([bytes("data-digest")]) }]);
  if (run.error) throw new Error(run.error);
  main.dataset.ready = "true";
  // What was drawn beforehand stays, unless the address asks for another view
  // or the figures do not fit the screen.
  view.shown = main.dataset.view || "";
  if (View.address() || view.fit() < view.width * 0.85) await view.show(View.address());
} catch (e) {
  view.fail(e.message + ". The tables and figures below are as they were written.");
}
