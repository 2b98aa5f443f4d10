// Plot lays a cross-hair, a read-out and a selection over a figure that Go drew.
// Go says where the data lie (data-area, data-x, data-y) and what they are (the
// table behind the figure): nothing is computed here but places on the screen.
import { Export } from "./export.js";
import { Texts } from "./texts.js";

export class Plots {
  constructor(view) { this.view = view; }

  // attach takes hold of the figures below root that are new.
  attach(root) {
    for (const f of root.querySelectorAll("figure.figure")) if (!f.plot) f.plot = new Plot(this.view, f);
    for (const set of root.querySelectorAll("fieldset.lines")) this.lines(set);
    for (const t of root.querySelectorAll("table[data-name]")) {
      const d = t.closest("details");
      if (d && !d.querySelector(".save")) d.querySelector("summary").after(Export.bar([["CSV", () => Export.csv(t, t.dataset.name)]], t.caption.textContent.slice(0, 40), this.view));
    }
  }

  lines(set) {
    if (!set.hidden) return;
    set.hidden = false;
    set.addEventListener("change", () => {
      const on = [...set.querySelectorAll("input:checked")].map((i) => i.dataset.line);
      this.view.set({ lines: on.join(",") }, true);
    });
  }
}

class Plot {
  constructor(view, figure) {
    this.view = view;
    this.figure = figure;
    this.holder = figure.querySelector(".plot");
    this.svg = this.holder && this.holder.querySelector("svg");
    if (!this.svg) return;
    this.tools();
    if (!figure.dataset.area) return;
    this.area = figure.dataset.area.split(" ").map(Number);
    this.x = Plot.axis(figure.dataset.x);
    this.y = Plot.axis(figure.dataset.y);
    this.at = -1; // the row that is read
    this.cross = this.add("cross");
    this.read = this.add("read");
    this.read.setAttribute("role", "status");
    const canvas = figure.querySelector(".canvas");
    canvas.title = "";
    canvas.setAttribute("aria-description", figure.dataset.brush ? Texts.keys : Texts.readKeys);
    canvas.addEventListener("keydown", (e) => this.key(e));
    canvas.addEventListener("blur", () => this.hide());
    this.holder.addEventListener("pointermove", (e) => this.move(e));
    this.holder.addEventListener("pointerleave", () => { if (!this.drag) this.hide(); });
    if (figure.dataset.brush) this.brush();
  }

  static axis(text) {
    const [min, max, log] = text.split(" ");
    return { min: Number(min), max: Number(max), log: log === "log" };
  }

  add(kind) {
    const el = document.createElement("div");
    el.className = kind;
    el.hidden = true;
    this.holder.append(el);
    return el;
  }

  // scale is how many pixels of the screen a unit of the drawing takes.
  scale() { return this.svg.getBoundingClientRect().width / this.svg.viewBox.baseVal.width; }

  // px is where a value lies, in pixels from the left of the drawing.
  px(value) {
    const v = this.x.log ? Math.log10(value) : value;
    return (this.area[0] + (v - this.x.min) / (this.x.max - this.x.min) * (this.area[2] - this.area[0])) * this.scale();
  }

  py(value) {
    const v = this.y.log ? Math.log10(value) : value;
    return (this.area[3] - (v - this.y.min) / (this.y.max - this.y.min) * (this.area[3] - this.area[1])) * this.scale();
  }

  // value is what lies at a place of the screen.
  value(clientX) {
    const u = (clientX - this.svg.getBoundingClientRect().left) / this.scale();
    const v = this.x.min + (u - this.area[0]) / (this.area[2] - this.area[0]) * (this.x.max - this.x.min);
    return this.x.log ? 10 ** v : v;
  }

  inside(e) {
    const r = this.svg.getBoundingClientRect(), k = this.scale();
    const x = (e.clientX - r.left) / k, y = (e.clientY - r.top) / k;
    return x >= this.area[0] - 6 && x <= this.area[2] + 6 && y >= this.area[1] - 6 && y <= this.area[3] + 6;
  }

  get table() { return this.figure.querySelector("details.data table"); }

  // rows are those of the table with the stretch that each covers.
  rows() {
    if (this.known) return this.known;
    const t = this.table;
    this.known = [];
    if (!t) return this.known;
    const first = Number(t.dataset.first);
    this.columns = [...t.tHead.rows[0].cells].map((c) => ({ name: c.textContent, unit: c.dataset.unit || "", per: Number(c.dataset.per || 0) }));
    for (const tr of t.tBodies[0].rows) {
      const cells = [...tr.cells].map((c) => c.textContent);
      const at = first ? cells.slice(0, first).map(Number) : tr.dataset.at.split(" ").map(Number);
      this.known.push({ from: at[0], to: at.at(-1), cells, first });
    }
    return this.known;
  }

  // nearest is the row at a value.
  nearest(value) {
    const rows = this.rows();
    let best = -1, least = Infinity;
    const far = (r) => (value >= r.from && value < r.to ? 0 : Math.min(Math.abs(this.px(value) - this.px(r.from)), Math.abs(this.px(value) - this.px(r.to))));
    rows.forEach((r, i) => { const d = far(r); if (d < least) { least = d; best = i; } });
    return best;
  }

  move(e) {
    if (this.drag) return;
    if (!this.inside(e)) return this.hide();
    const m = this.slow(e);
    if (m) return this.show(m.at, [Texts.slow, ...m.lines], m.y);
    this.readRow(this.nearest(this.value(e.clientX)));
  }

  // slow is the mark of a slow message under the pointer.
  slow(e) {
    if (!this.figure.dataset.brush) return null;
    const t = this.figure.parentNode.querySelector("table[data-name]");
    if (!t || this.view.without("slowest", this.figure)) return null;
    const r = this.svg.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
    let best = null, least = 8;
    for (const tr of t.tBodies[0].rows) {
      const [at, ns] = tr.dataset.at.split(" ").map(Number);
      const d = Math.hypot(this.px(at) - x, this.py(ns) - y);
      if (d < least) { least = d; best = { tr, at, ns }; }
    }
    if (!best) return null;
    const names = [...t.tHead.rows[0].cells].map((c) => c.textContent);
    return { at: best.at, y: best.ns, lines: [...best.tr.cells].map((c, i) => [names[i], c.textContent]) };
  }

  readRow(i) {
    const rows = this.rows(), r = rows[i];
    if (!r) return this.hide();
    this.at = i;
    const c = this.columns, n = Math.max(1, r.first);
    const title = Texts.span(r.cells[0], n > 1 ? r.cells[1] : undefined, isNaN(r.cells[0]) ? "" : c[0].unit);
    const lines = [], dots = [];
    for (let k = n; k < c.length; k++) {
      const cell = r.cells[k];
      if (cell === "") continue;
      lines.push([c[k].name, c[k].unit ? `${cell} ${c[k].unit}` : cell]);
      if (c[k].per && cell !== ">") dots.push(Number(cell) * c[k].per);
    }
    this.show(this.x.log ? Math.sqrt(r.from * r.to) : (r.from + r.to) / 2, [title, ...lines], ...dots);
  }

  show(at, [title, ...lines], ...dots) {
    const k = this.scale(), left = this.px(at);
    this.cross.hidden = this.read.hidden = false;
    Object.assign(this.cross.style, { left: left + "px", top: this.area[1] * k + "px", height: (this.area[3] - this.area[1]) * k + "px" });
    this.cross.replaceChildren(...dots.map((v) => {
      const i = document.createElement("i");
      i.style.top = this.py(v) - this.area[1] * k + "px";
      return i;
    }));
    const head = document.createElement("b"), dl = document.createElement("dl");
    head.textContent = title;
    for (const [name, text] of lines) {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = name;
      dd.textContent = text;
      dl.append(dt, dd);
    }
    this.read.replaceChildren(head, dl);
    const right = left > this.holder.clientWidth / 2;
    Object.assign(this.read.style, { top: this.area[1] * k + "px", left: right ? "auto" : left + 12 + "px", right: right ? this.holder.clientWidth - left + 12 + "px" : "auto" });
  }

  hide() { this.cross.hidden = this.read.hidden = true; this.at = -1; }

  key(e) {
    if (e.target.dataset.handle) return;
    const n = this.rows().length, step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[e.key];
    let at = this.at;
    if (step) at = at < 0 ? (step > 0 ? 0 : n - 1) : at + step;
    else if (e.key === "Home") at = 0;
    else if (e.key === "End") at = n - 1;
    else if (e.key === "Escape") { this.hide(); if (this.figure.dataset.windowed) this.view.set({ from: "", to: "" }, true); return; }
    else return;
    e.preventDefault();
    if (n) this.readRow(Math.min(n - 1, Math.max(0, at)));
  }

  // brush lets a part be selected, and the warm-up be moved.
  brush() {
    const rows = this.rows();
    if (!rows.length) return;
    this.edges = rows.map((r) => [r.from, r.cells[0]]);
    this.edges.push([rows.at(-1).to, rows.at(-1).cells[1]]);
    const [from, to] = this.figure.dataset.brush.split(" ").map(Number);
    this.selected = this.add("selected");
    this.values = { warmup: this.edge(Number(this.figure.dataset.warmup)), from: this.edge(from), to: this.edge(to) };
    this.handles = {};
    for (const name of ["warmup", "from", "to"]) {
      const h = this.add("handle " + name);
      h.hidden = false;
      h.tabIndex = 0;
      h.dataset.handle = name;
      h.setAttribute("role", "slider");
      h.setAttribute("aria-label", Texts.handles[name]);
      h.addEventListener("keydown", (e) => this.handleKey(e, name));
      h.addEventListener("pointerdown", (e) => this.grab(e, name));
      this.handles[name] = h;
    }
    this.holder.classList.add("brushed");
    this.holder.classList.toggle("windowed", Boolean(this.figure.dataset.windowed));
    this.holder.addEventListener("pointerdown", (e) => { if (!e.target.dataset.handle && this.inside(e)) this.grab(e, "part"); });
    this.holder.addEventListener("dblclick", () => { if (this.figure.dataset.windowed) this.view.set({ from: "", to: "" }, true); });
    this.place();
    new ResizeObserver(() => this.place()).observe(this.holder);
  }

  // edge is the index of the edge nearest to a value.
  edge(value) {
    let best = 0;
    this.edges.forEach(([v], i) => { if (Math.abs(v - value) < Math.abs(this.edges[best][0] - value)) best = i; });
    return best;
  }

  place() {
    const k = this.scale(), last = this.edges.length - 1, v = this.values;
    const bounds = { warmup: [0, last - 1], from: [0, v.to - 1], to: [v.from + 1, last] };
    for (const [name, h] of Object.entries(this.handles)) {
      const [value, text] = this.edges[v[name]];
      Object.assign(h.style, { left: this.px(value) + "px", top: this.area[1] * k + "px", height: (this.area[3] - this.area[1]) * k + "px" });
      h.setAttribute("aria-valuemin", this.edges[bounds[name][0]][0]);
      h.setAttribute("aria-valuemax", this.edges[Math.max(0, bounds[name][1])][0]);
      h.setAttribute("aria-valuenow", value);
      h.setAttribute("aria-valuetext", Texts.seconds(text));
    }
    this.selected.hidden = !this.drag;
    const a = this.px(this.edges[v.from][0]), b = this.px(this.edges[v.to][0]);
    Object.assign(this.selected.style, { left: a + "px", width: Math.max(0, b - a) + "px", top: this.area[1] * k + "px", height: (this.area[3] - this.area[1]) * k + "px" });
  }

  // tell hands the selection on; what is at its own end is left out.
  tell(names, final) {
    const v = this.values, out = {}, text = (i) => this.edges[i][1] + "s";
    if (names.includes("warmup")) out.warmup = text(v.warmup);
    if (names.includes("from")) out.from = v.from <= v.warmup ? "" : text(v.from);
    if (names.includes("to")) out.to = v.to === this.edges.length - 1 ? "" : text(v.to);
    this.view.set(out, final, true);
  }

  // put moves an end to an edge, as far as the others let it.
  put(name, i) {
    const v = this.values, last = this.edges.length - 1;
    const lo = name === "to" ? v.from + 1 : 0, hi = name === "from" ? v.to - 1 : name === "warmup" ? last - 1 : last;
    i = Math.min(hi, Math.max(lo, i));
    if (v[name] === i) return false;
    v[name] = i;
    if (name === "warmup" && !this.figure.dataset.windowed) v.from = i;
    this.place();
    return true;
  }

  handleKey(e, name) {
    e.stopPropagation();
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[e.key];
    let to = this.values[name];
    if (step) to += step;
    else if (e.key === "Home") to = 0;
    else if (e.key === "End") to = this.edges.length - 1;
    else if (e.key === "Escape") {
      e.preventDefault();
      if (this.drag) this.drop(true);
      else if (this.figure.dataset.windowed) this.view.set({ from: "", to: "" }, true);
      return;
    } else return;
    e.preventDefault();
    if (this.put(name, to)) this.tell([name], true);
  }

  grab(e, name) {
    if (e.button !== 0) return;
    e.stopPropagation();
    if (name !== "part") this.handles[name].focus({ preventScroll: true });
    else { e.preventDefault(); this.figure.querySelector(".canvas").focus({ preventScroll: true }); }
    this.hide();
    const was = { ...this.values }, x0 = e.clientX;
    let moved = false;
    const follow = (m) => {
      if (!moved && Math.abs(m.clientX - x0) < 4) return;
      if (!moved) { moved = true; this.drag = true; this.holder.classList.add("dragging"); }
      let changed;
      if (name === "part") {
        const [a, b] = [this.value(x0), this.value(m.clientX)].sort((p, q) => p - q), last = this.edges.length - 1;
        const from = Math.max(this.edges.findLastIndex(([v]) => v <= a), 0);
        const found = this.edges.findIndex(([v]) => v >= b), to = Math.max(found < 0 ? last : found, from + 1);
        changed = from !== this.values.from || to !== this.values.to;
        Object.assign(this.values, { from, to: Math.min(to, last) });
        this.place();
      } else changed = this.put(name, this.edge(this.value(m.clientX)));
      if (changed) this.tell(name === "part" ? ["from", "to"] : [name], false);
    };
    const end = (m) => {
      this.drop(false);
      if (m.type === "pointercancel") { this.values = was; this.place(); this.view.follow(); return; }
      if (moved) this.tell(name === "part" ? ["from", "to"] : [name], true);
    };
    const escape = (k) => { if (k.key === "Escape") { k.stopPropagation(); this.drop(false); this.values = was; this.place(); this.view.follow(); } };
    this.drop = () => {
      this.drag = false;
      this.holder.classList.remove("dragging");
      window.removeEventListener("pointermove", follow);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
      window.removeEventListener("keydown", escape, true);
      this.place();
    };
    window.addEventListener("pointermove", follow);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
    window.addEventListener("keydown", escape, true);
  }

  tools() {
    const name = this.figure.dataset.figure, all = [["SVG", () => Export.svg(this.svg, name)], ["PNG", () => Export.png(this.svg, name)]];
    if (this.table) all.push(["CSV", () => Export.csv(this.table, name)]);
    this.figure.querySelector("figcaption").before(Export.bar(all, this.figure.dataset.title, this.view));
  }
}
