// Reading is the cross-hair over a figure and the values beside it, by pointer
// and by keys. What is read by keys is said, too.
import { Texts } from "./texts.js";

export class Reading {
  constructor(plot) {
    this.plot = plot;
    this.at = -1; // the row that is read
    this.cross = plot.add("cross");
    this.read = plot.add("read");
    this.read.setAttribute("aria-hidden", "true");
    this.said = plot.add("unseen");
    this.said.setAttribute("role", "status");
    this.said.hidden = false;
    const { canvas, holder } = plot;
    canvas.setAttribute("aria-description", plot.figure.dataset.brush ? Texts.keys : Texts.readKeys);
    canvas.addEventListener("keydown", (e) => this.key(e));
    canvas.addEventListener("blur", () => this.hide());
    holder.addEventListener("pointermove", (e) => this.move(e));
    holder.addEventListener("pointerleave", () => { if (!this.dragged()) this.hide(); });
  }

  dragged() { return Boolean(this.plot.brush && this.plot.brush.drag); }

  // nearest is the row at a value.
  nearest(value) {
    const rows = this.plot.rows();
    let best = -1, least = Infinity;
    const far = (r) => (value >= r.from && value < r.to ? 0 : Math.min(Math.abs(this.plot.px(value) - this.plot.px(r.from)), Math.abs(this.plot.px(value) - this.plot.px(r.to))));
    rows.forEach((r, i) => { const d = far(r); if (d < least) { least = d; best = i; } });
    return best;
  }

  move(e) {
    if (this.dragged()) return;
    if (!this.plot.inside(e)) return this.hide();
    const m = this.slow(e);
    if (m) return this.show(m.at, [Texts.slow, ...m.lines], m.y);
    this.readRow(this.nearest(this.plot.value(e.clientX)));
  }

  // slow is the mark of a slow message under the pointer.
  slow(e) {
    if (!this.plot.figure.dataset.brush) return null;
    const t = this.plot.figure.parentNode.querySelector("table[data-name]");
    if (!t || this.plot.view.without("slowest", this.plot.figure)) return null;
    const r = this.plot.svg.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
    let best = null, least = 8;
    for (const tr of t.tBodies[0].rows) {
      const [at, ns] = tr.dataset.at.split(" ").map(Number);
      const d = Math.hypot(this.plot.px(at) - x, this.plot.py(ns) - y);
      if (d < least) { least = d; best = { tr, at, ns }; }
    }
    if (!best) return null;
    const names = [...t.tHead.rows[0].cells].map((c) => c.textContent);
    return { at: best.at, y: best.ns, lines: [...best.tr.cells].map((c, i) => [names[i], c.textContent]) };
  }

  // readRow shows a row of the table; aloud says it to those who hear the page.
  readRow(i, aloud = false) {
    const rows = this.plot.rows(), r = rows[i];
    if (!r) return this.hide();
    this.at = i;
    const c = this.plot.columns, n = Math.max(1, r.first);
    const title = Texts.span(r.cells[0], n > 1 ? r.cells[1] : undefined, isNaN(r.cells[0]) ? "" : c[0].unit);
    const lines = [], dots = [];
    for (let k = n; k < c.length; k++) {
      const cell = r.cells[k];
      if (cell === "") continue;
      lines.push([c[k].name, c[k].unit ? `${cell} ${c[k].unit}` : cell]);
      if (c[k].per && cell !== ">") dots.push(Number(cell) * c[k].per);
    }
    this.show(this.plot.x.log ? Math.sqrt(r.from * r.to) : (r.from + r.to) / 2, [title, ...lines], ...dots);
    if (aloud) this.said.textContent = Texts.read(title, lines);
  }

  show(at, [title, ...lines], ...dots) {
    const { area, holder } = this.plot, k = this.plot.scale(), left = this.plot.px(at);
    this.cross.hidden = this.read.hidden = false;
    Object.assign(this.cross.style, { left: left + "px", top: area[1] * k + "px", height: (area[3] - area[1]) * k + "px" });
    this.cross.replaceChildren(...dots.map((v) => {
      const i = document.createElement("i");
      i.style.top = this.plot.py(v) - area[1] * k + "px";
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
    const right = left > holder.clientWidth / 2;
    Object.assign(this.read.style, { top: area[1] * k + "px", left: right ? "auto" : left + 12 + "px", right: right ? holder.clientWidth - left + 12 + "px" : "auto" });
  }

  hide() { this.cross.hidden = this.read.hidden = true; this.at = -1; }

  key(e) {
    if (e.target.dataset.handle) return;
    const n = this.plot.rows().length, step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[e.key];
    let at = this.at;
    if (step) at = at < 0 ? (step > 0 ? 0 : n - 1) : at + step;
    else if (e.key === "Home") at = 0;
    else if (e.key === "End") at = n - 1;
    else if (e.key === "Escape") { this.hide(); this.plot.whole(); return; }
    else return;
    e.preventDefault();
    if (n) this.readRow(Math.min(n - 1, Math.max(0, at)), true);
  }
}
