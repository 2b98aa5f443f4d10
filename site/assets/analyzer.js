import { Texts } from "./texts.js";

// Program is one of the page's programs in a worker of its own: it answers what
// it is asked, and is cancelled by ending it.
class Program {
  // load returns {worker: URL or string, wasm: Blob}.
  constructor(load) {
    this.load = load;
    this.next = 1;
    this.waiting = new Map();
  }

  async start() {
    if (!this.started) this.started = this.begin();
    return this.started;
  }

  async begin() {
    const run = this.run = {};
    if (!this.parts) this.parts = await this.load();
    if (this.run !== run) throw cancelled("cancelled"); // stopped while it was loaded
    const worker = new Worker(this.parts.worker);
    this.worker = worker;
    await new Promise((resolve, reject) => {
      this.fail = reject;
      const die = (error) => {
        if (this.worker !== worker) return;
        this.stop(error);
        reject(new Error(error));
      };
      worker.onerror = (e) => { e.preventDefault(); die(Texts.workerFailed(e.message)); };
      worker.onmessage = ({ data: m }) => {
        const w = this.waiting.get(m.id);
        switch (m.type) {
          case "started":
            this.module = m.module;
            return resolve();
          case "dead":
            return die(m.error);
          case "progress":
            return w && w.tell && w.tell(m.text, m.part);
          case "answer":
            this.waiting.delete(m.id);
            this.memory = m.memory;
            if (w) m.ok ? w.resolve(m) : w.reject(new Error(m.error));
        }
      };
      worker.postMessage({ type: "start", wasm: this.parts.wasm, module: this.module });
    });
    if (this.again) await this.ask(this.again);
  }

  ask(m, tell) {
    return new Promise((resolve, reject) => {
      // Stopped between the start and this request.
      if (!this.worker) return reject(cancelled("cancelled"));
      m = { ...m, id: this.next++ };
      this.waiting.set(m.id, { resolve, reject, tell });
      this.worker.postMessage(m);
    });
  }

  // stop ends the worker and what it was asked; the next request starts anew.
  stop(reason) {
    if (this.worker) this.worker.terminate();
    this.worker = this.started = this.run = null;
    if (this.fail) this.fail(cancelled(reason));
    for (const w of this.waiting.values()) w.reject(cancelled(reason));
    this.waiting.clear();
  }
}

// Analyzer is the two programs: one draws digests, and one makes digests of what
// is none. The second ends after each opening, since WebAssembly gives no memory
// back, and is loaded when it is first needed.
export class Analyzer {
  // load and loadIntake return {worker, wasm}; without the second only digests
  // can be opened.
  constructor(load, loadIntake) {
    this.draws = new Program(load);
    if (loadIntake) this.reads = new Program(loadIntake);
  }

  // open reads inputs, each {address} or {files: [{name, blob, found}, …]}, and
  // returns {runs: [{name, from, error}, …], notes}. The fragment says what files
  // of other tools do not; tell(text, part) is told of progress.
  async open(inputs, fragment, tell) {
    this.draws.again = null;
    await this.draws.start();
    let { files } = await this.draws.ask({ type: "gather", inputs, page: document.baseURI }, tell);
    let notes = [];
    if (this.reads && files.some((f) => !f.error && !f.digest)) {
      this.reads.stop("replaced");
      await this.reads.start();
      ({ runs: files, notes } = await this.reads.ask({ type: "intake", files, fragment }, tell));
      this.reads.stop("done");
    }
    const again = { type: "open", files };
    const { runs } = await this.draws.ask(again, tell);
    this.draws.again = again;
    return { runs, notes };
  }

  async view(fragment, width, part = "") {
    await this.draws.start();
    return this.draws.ask({ type: "view", fragment, width, part });
  }

  // stop ends what is being done.
  stop(reason) {
    this.draws.stop(reason);
    if (this.reads) this.reads.stop(reason);
  }
}

// cancelled is an error that knows whether a person wanted it: cancel, or
// another thing to open in its place.
function cancelled(reason) {
  return Object.assign(new Error(reason), { cancelled: reason === "cancelled" || reason === "replaced" });
}
