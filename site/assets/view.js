// View binds the page's controls and address to an Analyzer. Values go in as
// the address's text and come back as fragments of HTML; Go reads and writes
// both.
import { Controls } from "./controls.js";
import { Focus } from "./focus.js";
import { Links } from "./links.js";
import { Plots } from "./plot.js";
import { Texts } from "./texts.js";

const pageKeys = ["log", "run", "step", "repeat", "view", "base", "label", "columns", "unit", "metric"];

export class View {
  constructor(analyzer, main) {
    this.analyzer = analyzer;
    this.main = main;
    this.shown = null; // the fragment that the page shows
    this.width = 0;
    this.queued = null;
    this.busy = false;
    this.plots = new Plots(this);
    this.controls = new Controls(this);
    this.links = new Links(this);
  }

  // address is the part of the address that is a view or names what to open.
  static address() {
    const hash = location.hash.slice(1);
    return hash.includes("=") ? hash : "";
  }

  get here() { return View.address(); }

  $(id) { return document.getElementById(id); }

  // form puts the controls into their place, or takes those that are there.
  form(html) {
    this.controls.put(html);
    this.listen();
    this.main.classList.add("live");
    this.only(this.$("step").value);
    this.plots.attach(this.main);
  }

  listen() { this.links.listen(); }

  // follow shows what the address says, after back, forward or a typed one.
  follow() {
    if (location.hash && !View.address()) return; // an anchor
    this.show(View.address());
  }

  // page is the address's own part: what is open.
  page(fragment = View.address()) {
    const out = new URLSearchParams();
    for (const [k, v] of new URLSearchParams(fragment)) if (pageKeys.includes(k)) out.append(k, v);
    return out.toString();
  }

  // only leaves the step in sight that is shown in depth, of those that a report
  // has beforehand.
  only(step) {
    this.chosen = step;
    if (step) for (const el of this.main.querySelectorAll(':scope > [data-region][id^="step-"]')) el.hidden = el.id !== "step-" + step;
  }

  // choose shows another step in depth.
  choose(value) {
    const [step, repeat] = value.split("-");
    return this.set({ step, repeat: repeat === "0" ? "" : repeat }, true);
  }

  // set puts values into the address's text, takes out those that are empty, and
  // shows it. Quick: the step that is shown comes first.
  set(values, final, quick = false) {
    const p = new URLSearchParams(View.address());
    for (const [k, v] of Object.entries(values)) if (v === "") p.delete(k); else p.set(k, v);
    return this.show(p.toString(), final, quick);
  }

  // without tells whether a line is switched off.
  without(line, figure) {
    const box = figure.parentNode.querySelector(`[data-line="${line}"]`);
    return Boolean(box && !box.checked);
  }

  fit() { return Math.floor(this.main.clientWidth - parseFloat(getComputedStyle(this.main).paddingLeft) * 2 - 12); }

  // misfits tells whether the figures are drawn for another width than there is now.
  misfits() { return Math.abs(this.fit() - this.width) > 40; }

  // show asks for a view; of several asked while one is computed, the last
  // wins, and a final one among them still enters the history. A quick one draws
  // what lies below the time line first, and only that until it is final.
  async show(fragment, final = false, quick = false) {
    this.queued = { fragment, quick, final: final || Boolean(this.queued && this.queued.final) };
    if (this.busy) return this.running;
    return (this.running = this.run());
  }

  async run() {
    this.busy = true;
    this.main.dataset.computing = "true"; // at once, while aria-busy waits until it is worth telling
    const timers = [setTimeout(() => this.working(true), 120), setTimeout(() => this.controls.offer("cancel", true), 600)];
    try {
      while (this.queued) {
        const q = this.queued;
        this.queued = null;
        try {
          const width = this.fit();
          if (q.quick && this.main.querySelector('[id^="step-"][id$="-spectrum"]')) {
            this.part(await this.analyzer.view(q.fragment, width, "depth"));
            if (!q.final) continue;
            if (this.queued) { this.queued.final = true; continue; }
          }
          const doc = await this.analyzer.view(q.fragment, width);
          this.width = width;
          this.put(doc, q);
          // The window may have changed meanwhile, and back to what it was before.
          if (!this.queued && this.misfits()) this.queued = { fragment: q.fragment, quick: false, final: false };
        } catch (e) {
          if (e.cancelled) { this.controls.restore(); this.say(Texts.cancelled); break; }
          this.fail(e.message);
        }
      }
    } finally {
      timers.forEach(clearTimeout);
      this.busy = false;
      delete this.main.dataset.computing;
      this.working(false);
    }
  }

  working(on) {
    this.main.setAttribute("aria-busy", String(on));
    if (on) this.say(Texts.computing);
    else this.controls.offer("cancel", false);
  }

  cancel() {
    this.queued = null;
    this.analyzer.stop("cancelled");
  }

  // fill puts HTML into an element, and keeps what was unfolded or scrolled in it.
  fill(el, html) {
    const open = new Set([...el.querySelectorAll("details[open][data-key]")].map((d) => d.dataset.key));
    const left = [...el.querySelectorAll(".scroll")].map((s) => [s.scrollLeft, s.scrollTop]);
    el.innerHTML = html;
    for (const d of el.querySelectorAll("details[data-key]")) if (open.has(d.dataset.key)) d.open = true;
    el.querySelectorAll(".scroll").forEach((s, i) => { if (left[i]) [s.scrollLeft, s.scrollTop] = left[i]; });
    this.plots.attach(el);
  }

  // part replaces what is below the time line while something is dragged over it.
  part(doc) {
    for (const r of doc.regions) {
      const el = this.$(r.id);
      if (el) this.fill(el, r.html);
    }
    this.fail("");
    this.say(doc.change);
    this.main.dataset.parts = String(Number(this.main.dataset.parts || 0) + 1);
  }

  // put replaces the fragments, and keeps what was unfolded or scrolled.
  put(doc, q) {
    const kept = new Set(), focus = Focus.kept(this.main);
    for (const [i, r] of doc.regions.entries()) {
      let el = this.$(r.id);
      if (!el) {
        el = document.createElement("section");
        el.id = r.id;
        el.dataset.region = "";
      }
      // A run and a comparison share some regions, in the same order.
      const next = r.id === "headline" ? this.$("controls-holder") : doc.regions.slice(i + 1).map((o) => this.$(o.id)).find(Boolean) || null;
      if (!el.parentNode) this.main.insertBefore(el, next);
      this.fill(el, r.html);
      kept.add(el);
    }
    for (const el of this.main.querySelectorAll(":scope > [data-region]")) if (!kept.has(el)) el.remove();
    this.only(doc.controls.step);
    if (focus) focus();
    this.main.classList.add("fitted");
    document.title = doc.title;
    this.fail("");
    const page = this.page(q.fragment);
    const address = [page, doc.fragment].filter(Boolean).join("&");
    if (q.final && address !== View.address()) this.links.enter(address);
    for (const name of ["first-figure", "first-view"]) if (!performance.getEntriesByName(name).length) performance.mark(name);
    if (!this.controls.form) this.form(doc.form);
    this.controls.sync(doc.controls);
    // What a person did is told; what the page began with is explained.
    const changed = q.final || this.shown !== doc.fragment || this.told !== undefined && this.told !== doc.change;
    this.say(this.shown !== null && changed ? doc.change : doc.hint);
    this.told = doc.change;
    this.shown = doc.fragment;
    this.main.dataset.view = doc.fragment;
    this.main.dataset.views = String(Number(this.main.dataset.views || 0) + 1);
  }

  // still leaves the page as it was written, with all its steps, and says why
  // nothing of it can be changed.
  still(text) {
    for (const el of this.main.querySelectorAll(":scope > [data-region]")) el.hidden = false;
    this.fail(text);
    this.main.classList.remove("live");
    this.$("controls-holder").classList.add("still");
  }

  say(text) { this.controls.say(text); }

  fail(text) { this.controls.fail(text); }
}
