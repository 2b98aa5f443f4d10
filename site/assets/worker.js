// The worker of one of the page's programs: starts it, hands it bytes and
// addresses, and hands back what it answers. It decides nothing. The loader of
// Go's programs and texts.js stand before it in one file.
"use strict";
let memory = () => 0; // bytes of WebAssembly

// start runs the program. m.module saves compiling it again after a cancel.
async function start(m) {
  if (typeof WebAssembly !== "object") throw new Error(Texts.noWebAssembly);
  const go = new Go();
  let instance, module = m.module;
  if (module) {
    instance = await WebAssembly.instantiate(module, go.importObject);
  } else {
    // A host that names the file's compression as an encoding has the browser
    // undo it.
    const [a, b] = await bytes(m.wasm.slice(0, 2));
    let stream = m.wasm.stream();
    if (a === 0x1f && b === 0x8b) stream = stream.pipeThrough(new DecompressionStream("gzip"));
    const response = new Response(stream, { headers: { "Content-Type": "application/wasm" } });
    ({ instance, module } = await WebAssembly.instantiateStreaming(response, go.importObject));
  }
  memory = () => instance.exports.mem.buffer.byteLength;
  await new Promise((resolve, reject) => {
    self.queuebenchReady = resolve;
    go.run(instance).then(() => {
      reject(new Error(Texts.ended));
      postMessage({ type: "dead", error: Texts.ended });
    });
  });
  postMessage({ type: "started", module });
}

const bytes = async (blob) => new Uint8Array(await blob.arrayBuffer());

// good is an answer of the program that is no error.
function good(answer) {
  if (!answer.ok) throw new Error(answer.error);
  return answer;
}

// download fetches one object into a Blob, which the browser keeps out of this
// memory when it is large. on is told how many bytes came, and how many come.
async function download(a, on) {
  let response;
  try {
    response = await fetch(a.url, { referrerPolicy: "no-referrer" });
  } catch {
    throw new Error(Texts.unreachable(a.shown));
  }
  if (!response.ok) {
    const expired = response.status === 403 && a.url.includes("?");
    throw Object.assign(new Error(Texts.refused(a.shown, response.status, response.statusText, expired)), { status: response.status });
  }
  const packed = response.headers.get("Content-Encoding");
  on(0, packed ? 0 : Number(response.headers.get("Content-Length")) || 0);
  const blobs = [];
  let chunks = [], held = 0;
  try {
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      held += value.length;
      on(value.length, 0);
      if (held >= 8e6) {
        blobs.push(new Blob(chunks));
        chunks = [];
        held = 0;
      }
    }
  } catch {
    throw new Error(Texts.cutOff(a.shown));
  }
  return new Blob([...blobs, ...chunks]);
}

// fetched are the files that lie at an address: one, or a run.json with the parts
// that it names, six of them at a time.
async function fetched(text, from, page, on) {
  const files = [];
  const a = self.queuebench.address(text, page);
  const one = (place, blob, more) => ({ name: place.shown, from, remote: true, blob, ...more });
  try {
    good(a);
    let place = a, blob;
    if (/\/$/.test(new URL(a.url).pathname)) place = a.manifest;
    try {
      blob = await download(place, on);
    } catch (e) {
      // The address of a run is that of its folder.
      if (place !== a || ![403, 404].includes(e.status) || /\.(gz|json|parquet|digest|hlog|csv|zst)$/.test(a.shown)) throw e;
      blob = await download(a.manifest, on).catch(() => { throw e; });
      place = a.manifest;
    }
    const is = good(self.queuebench.sniff(await bytes(blob.slice(0, 65536))));
    const log = is.manifest ? good(self.queuebench.parts(place.url, await bytes(blob))) : { parts: [], signed: false };
    files.push(one(place, blob, { digest: is.digest, signed: log.signed }));
    const left = log.parts.map((p, i) => ({ p, i }));
    const got = [];
    await Promise.all(Array.from({ length: 6 }, async () => {
      for (let next; (next = left.shift());) {
        try {
          got[next.i] = one(next.p, await download(next.p, on));
        } catch (e) {
          left.length = 0;
          throw e;
        }
      }
    }));
    return files.concat(got);
  } catch (e) {
    return [{ name: a.shown || Texts.address(from + 1), from, error: e.message }];
  }
}

// gather is what stands for each input: files that were given, or what lies at
// an address.
async function gather(m) {
  let have = 0, total = 0, last = 0;
  const on = (n, more) => {
    have += n;
    total += more;
    if (Date.now() - last < 100) return;
    last = Date.now();
    tell(m.id, Texts.downloading(have, total > have ? total : 0), total > have ? have / total : null);
  };
  const all = await Promise.all(m.inputs.map(async (input, from) => {
    if (input.address !== undefined) return fetched(input.address, from, m.page, on);
    return Promise.all(input.files.map(async (f) => {
      try {
        return { ...f, from, digest: good(self.queuebench.sniff(await bytes(f.blob.slice(0, 65536)))).digest };
      } catch (e) {
        return { name: f.name, from, found: f.found, error: Texts.unreadable(f.name, e.message) };
      }
    }));
  }));
  return { files: all.flat() };
}

function tell(id, text, part) { postMessage({ type: "progress", id, text, part }); }

// open hands digests to the program, and of what is none its beginning.
async function open(m) {
  const files = await Promise.all(m.files.map(async (f) => ({
    name: f.name, from: String(f.origin || f.name), group: Number(f.from || 0), foreign: f.digest === false, error: f.error || "",
    data: f.blob && !f.error ? await bytes(f.digest === false ? f.blob.slice(0, 65536) : f.blob) : null,
  })));
  return self.queuebench.open(files);
}

// intake makes digests of files of any kind, which are read a piece at a time
// and never as a whole.
function intake(m) {
  const reader = new FileReaderSync();
  const files = m.files.map((f) => ({
    ...f, error: f.error || "", blob: null, size: f.blob ? f.blob.size : 0,
    read: (offset, n) => new Uint8Array(reader.readAsArrayBuffer(f.blob.slice(offset, offset + n))),
  }));
  const answer = good(self.queuebench.open(files, m.fragment, (text, part) => tell(m.id, text, part)));
  for (const r of answer.runs) {
    r.origin = r.from;
    if (r.data) r.blob = new Blob([r.data]);
    delete r.data;
  }
  return answer;
}

const does = { gather, open, intake, view: (m) => self.queuebench.view(m.fragment, m.width, m.part) };

self.onmessage = async ({ data: m }) => {
  try {
    if (m.type === "start") return await start(m);
    const answer = await does[m.type](m);
    postMessage({ ok: true, ...answer, type: "answer", id: m.id, memory: memory() });
  } catch (e) {
    const error = String(e && e.message || e);
    postMessage(m.type === "start" ? { type: "dead", error: Texts.notStarted(error) } : { type: "answer", id: m.id, ok: false, error });
  }
};
