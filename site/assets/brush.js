// Brush is the selection in a time line: a part that is dragged over it, and
// three handles that move its ends and the end of the warm-up.
import { Texts } from "./texts.js";

export class Brush {
  constructor(plot) {
    this.plot = plot;
    this.view = plot.view;
    const { figure, holder } = plot, rows = plot.rows();
    this.edges = rows.map((r) => [r.from, r.cells[0]]);
    this.edges.push([rows.at(-1).to, rows.at(-1).cells[1]]);
    const [from, to] = figure.dataset.brush.split(" ").map(Number);
    this.selected = plot.add("selected");
    this.values = { warmup: this.edge(Number(figure.dataset.warmup)), from: this.edge(from), to: this.edge(to) };
    this.handles = {};
    for (const name of ["warmup", "from", "to"]) this.handles[name] = this.handle(name);
    holder.classList.add("brushed");
    holder.classList.toggle("windowed", Boolean(figure.dataset.windowed));
    holder.addEventListener("pointerdown", (e) => { if (!e.target.dataset.handle && plot.inside(e)) this.grab(e, "part"); });
    holder.addEventListener("dblclick", () => plot.whole());
    this.place();
    new ResizeObserver(() => this.place()).observe(holder);
  }

  handle(name) {
    const h = this.plot.add("handle " + name);
    h.hidden = false;
    h.tabIndex = 0;
    h.dataset.handle = name;
    h.setAttribute("role", "slider");
    h.setAttribute("aria-label", Texts.handles[name]);
    h.addEventListener("keydown", (e) => this.key(e, name));
    h.addEventListener("pointerdown", (e) => this.grab(e, name));
    return h;
  }

  // edge is the index of the edge nearest to a value.
  edge(value) {
    let best = 0;
    this.edges.forEach(([v], i) => { if (Math.abs(v - value) < Math.abs(this.edges[best][0] - value)) best = i; });
    return best;
  }

  place() {
    const k = this.plot.scale(), last = this.edges.length - 1, v = this.values;
    const bounds = { warmup: [0, last - 1], from: [0, v.to - 1], to: [v.from + 1, last] };
    for (const [name, h] of Object.entries(this.handles)) {
      const [value, text] = this.edges[v[name]];
      // The upper handles have the first 24 pixels of the height for themselves.
      const under = name === "warmup" ? 24 : 0;
      Object.assign(h.style, { left: this.plot.px(value) + "px", top: this.plot.area[1] * k + under + "px", height: (this.plot.area[3] - this.plot.area[1]) * k - under + "px" });
      h.setAttribute("aria-valuemin", this.edges[bounds[name][0]][0]);
      h.setAttribute("aria-valuemax", this.edges[Math.max(0, bounds[name][1])][0]);
      h.setAttribute("aria-valuenow", value);
      h.setAttribute("aria-valuetext", Texts.seconds(text));
    }
    this.selected.hidden = !this.drag;
    const a = this.plot.px(this.edges[v.from][0]), b = this.plot.px(this.edges[v.to][0]);
    Object.assign(this.selected.style, { left: a + "px", width: Math.max(0, b - a) + "px", top: this.plot.area[1] * k + "px", height: (this.plot.area[3] - this.plot.area[1]) * k + "px" });
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
    if (name === "warmup" && !this.plot.figure.dataset.windowed) v.from = i;
    this.place();
    return true;
  }

  key(e, name) {
    e.stopPropagation();
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[e.key];
    let to = this.values[name];
    if (step) to += step;
    else if (e.key === "Home") to = 0;
    else if (e.key === "End") to = this.edges.length - 1;
    else if (e.key === "Escape") {
      e.preventDefault();
      if (this.drag) this.drop(true);
      else this.plot.whole();
      return;
    } else return;
    e.preventDefault();
    if (this.put(name, to)) this.tell([name], true);
  }

  grab(e, name) {
    if (e.button !== 0) return;
    e.stopPropagation();
    if (name !== "part") this.handles[name].focus({ preventScroll: true });
    else { e.preventDefault(); this.plot.canvas.focus({ preventScroll: true }); }
    this.plot.reading.hide();
    const was = { ...this.values }, x0 = e.clientX;
    let moved = false;
    const follow = (m) => {
      if (!moved && Math.abs(m.clientX - x0) < 4) return;
      if (!moved) { moved = true; this.drag = true; this.plot.holder.classList.add("dragging"); }
      let changed;
      if (name === "part") {
        const [a, b] = [this.plot.value(x0), this.plot.value(m.clientX)].sort((p, q) => p - q), last = this.edges.length - 1;
        const from = Math.max(this.edges.findLastIndex(([v]) => v <= a), 0);
        const found = this.edges.findIndex(([v]) => v >= b), to = Math.max(found < 0 ? last : found, from + 1);
        changed = from !== this.values.from || to !== this.values.to;
        Object.assign(this.values, { from, to: Math.min(to, last) });
        this.place();
      } else changed = this.put(name, this.edge(this.plot.value(m.clientX)));
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
      this.plot.holder.classList.remove("dragging");
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
}
