// The analyzer's worker: starts the Go program, hands it bytes and addresses,
// and hands back what it answers. It decides nothing.
"use strict";
if (typeof Go === "undefined") importScripts("wasm_exec.js");

// start runs the program. m.module saves compiling it again after a cancel.
async function start(m) {
  const go = new Go();
  let instance, module = m.module;
  if (module) {
    instance = await WebAssembly.instantiate(module, go.importObject);
  } else {
    const stream = m.wasm.stream().pipeThrough(new DecompressionStream("gzip"));
    const response = new Response(stream, { headers: { "Content-Type": "application/wasm" } });
    ({ instance, module } = await WebAssembly.instantiateStreaming(response, go.importObject));
  }
  await new Promise((resolve, reject) => {
    self.queuebenchReady = resolve;
    go.run(instance).then(() => {
      const error = "the analyzer ended unexpectedly, most likely for want of memory; use `analyze report` on the command line";
      reject(new Error(error));
      postMessage({ type: "dead", error });
    });
  });
  postMessage({ type: "started", module });
}

// read takes a file's bytes into memory.
async function read({ name, blob }) {
  return { name, data: new Uint8Array(await blob.arrayBuffer()) };
}

self.onmessage = async ({ data: m }) => {
  try {
    switch (m.type) {
      case "start":
        return await start(m);
      case "open":
        return postMessage({ type: "answer", id: m.id, ...self.queuebench.open(await Promise.all(m.files.map(read))) });
      case "view":
        return postMessage({ type: "answer", id: m.id, ...self.queuebench.view(m.fragment, m.width, m.part) });
    }
  } catch (e) {
    const error = String(e && e.message || e);
    postMessage(m.type === "start" ? { type: "dead", error: "the analyzer could not be started: " + error } : { type: "answer", id: m.id, ok: false, error });
  }
};
