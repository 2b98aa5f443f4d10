// Plot lays a cross-hair, a read-out and a selection over a figure that Go drew.
// Go says where the data lie (data-area, data-x, data-y) and what they are (the
// table behind the figure): nothing is computed here but places on the screen.
import { Brush } from "./brush.js";
import { Export } from "./export.js";
import { Reading } from "./reading.js";

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
    this.canvas = figure.querySelector(".canvas");
    this.reading = new Reading(this);
    if (figure.dataset.brush && this.rows().length) this.brush = new Brush(this);
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

  // whole shows all of the step again, where a part of it is looked at.
  whole() {
    if (this.figure.dataset.windowed) this.view.set({ from: "", to: "" }, true);
  }

  tools() {
    const name = this.figure.dataset.figure, all = [["SVG", () => Export.svg(this.svg, name)], ["PNG", () => Export.png(this.svg, name)]];
    if (this.table) all.push(["CSV", () => Export.csv(this.table, name)]);
    this.figure.querySelector("figcaption").before(Export.bar(all, this.figure.dataset.title, this.view));
  }
}
