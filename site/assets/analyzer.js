// Analyzer owns the worker: one request at a time, cancel by terminating it.
export class Analyzer {
  // load returns {worker: URL or string, wasm: Blob}.
  constructor(load) {
    this.load = load;
    this.next = 1;
    this.waiting = new Map();
    this.files = null;
  }

  async start() {
    if (!this.started) this.started = this.begin();
    return this.started;
  }

  async begin() {
    if (!this.parts) this.parts = await this.load();
    const worker = new Worker(this.parts.worker);
    this.worker = worker;
    await new Promise((resolve, reject) => {
      const die = (error) => {
        if (this.worker !== worker) return;
        this.stop(error);
        reject(new Error(error));
      };
      worker.onerror = (e) => { e.preventDefault(); die("the analyzer's worker failed: " + (e.message || "it could not be loaded")); };
      worker.onmessage = ({ data: m }) => {
        switch (m.type) {
          case "started":
            this.module = m.module;
            return resolve();
          case "dead":
            return die(m.error);
          case "answer": {
            const w = this.waiting.get(m.id);
            this.waiting.delete(m.id);
            if (w) m.ok ? w.resolve(m) : w.reject(new Error(m.error));
          }
        }
      };
      worker.postMessage({ type: "start", wasm: this.parts.wasm, module: this.module });
    });
    if (this.files) await this.ask({ type: "open", files: this.files });
  }

  ask(m) {
    return new Promise((resolve, reject) => {
      // Stopped between the start and this request.
      if (!this.worker) return reject(cancelled("cancelled"));
      m.id = this.next++;
      this.waiting.set(m.id, { resolve, reject });
      this.worker.postMessage(m);
    });
  }

  // open reads files, [{name, blob}, …], each as a run, and says what they are:
  // [{name, from, error}, …]. They are kept for a restart. Each time a new
  // worker does it, since WebAssembly gives no memory back.
  async open(files) {
    this.files = null;
    if (this.used) this.stop("replaced");
    await this.start();
    this.used = true;
    const { runs } = await this.ask({ type: "open", files });
    this.files = files;
    return runs;
  }

  async view(fragment, width, part = "") {
    await this.start();
    return this.ask({ type: "view", fragment, width, part });
  }

  // stop ends the worker and what it was asked; the next request starts anew.
  stop(reason) {
    if (this.worker) this.worker.terminate();
    this.worker = null;
    this.started = null;
    for (const w of this.waiting.values()) w.reject(cancelled(reason));
    this.waiting.clear();
  }
}

// cancelled is an error that knows whether a person wanted it: cancel, or
// another thing to open in its place.
function cancelled(reason) {
  return Object.assign(new Error(reason), { cancelled: reason === "cancelled" || reason === "replaced" });
}
