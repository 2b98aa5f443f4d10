// View binds the page's controls and address to an Analyzer. Values go in as
// the address's text and come back as fragments of HTML; Go reads and writes
// both.
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
  }

  // address is the part of the address that is a view or names what to open.
  static address() {
    const hash = location.hash.slice(1);
    return hash.includes("=") ? hash : "";
  }

  $(id) { return document.getElementById(id); }

  // form puts the controls into their place and listens.
  form(html) {
    const holder = this.$("controls-holder");
    if (html) holder.innerHTML = html;
    holder.hidden = false;
    const f = this.$("controls");
    this.keep = this.values();
    f.addEventListener("submit", (e) => e.preventDefault());
    const slider = this.$("warmup-slider"), number = this.$("warmup");
    slider.addEventListener("input", () => {
      number.value = this.edges()[Number(slider.value)];
      slider.setAttribute("aria-valuetext", number.value + " s");
      this.change("warmup", false);
    });
    slider.addEventListener("change", () => this.change("warmup", true));
    number.addEventListener("change", () => this.change("warmup", true));
    for (const name of ["percentiles", "latency", "interval"]) this.$(name).addEventListener("change", () => this.change(name, true));
    for (const r of f.elements.scale) r.addEventListener("change", () => this.change("scale", true));
    this.$("reset").addEventListener("click", () => { this.go(this.page(), true); });
    this.$("cancel").addEventListener("click", () => this.cancel());
    this.$("step").addEventListener("change", () => this.choose(this.$("step").value));
    this.$("whole-step").addEventListener("click", () => this.set({ from: "", to: "" }, true));
    this.listen();
    this.only(this.$("step").value);
    this.plots.attach(this.main);
  }

  listen() {
    if (this.listening) return;
    this.listening = true;
    // A typed address gives one or both of these, depending on the browser.
    const moved = () => { if (location.hash !== this.hash) { this.hash = location.hash; this.follow(); } };
    this.hash = location.hash;
    window.addEventListener("popstate", moved);
    window.addEventListener("hashchange", moved);
    // A button that names keys of the address and their values sets them: an
    // empty value takes the key away.
    document.addEventListener("click", (e) => {
      const b = e.target.closest && e.target.closest("button[data-set]");
      if (!b) return;
      const p = new URLSearchParams(View.address());
      for (const [k, v] of new URLSearchParams(b.dataset.set)) if (v) p.set(k, v); else p.delete(k);
      location.hash = p.toString();
    });
    document.addEventListener("click", (e) => {
      const a = e.target.closest && e.target.closest("a[data-goto]");
      if (!a) return;
      const id = a.getAttribute("href").slice(1), step = /^step-(\d+-\d+)$/.exec(id);
      const go = () => {
        const target = document.getElementById(id);
        if (!target) return;
        target.scrollIntoView();
        target.tabIndex = -1;
        target.focus({ preventScroll: true });
      };
      if (!step && !document.getElementById(id)) return;
      e.preventDefault();
      if (step && this.chosen && step[1] !== this.chosen) this.choose(step[1]).then(go);
      else go();
    });
    let timer;
    window.addEventListener("resize", () => {
      clearTimeout(timer);
      timer = setTimeout(() => { if (this.shown !== null && Math.abs(this.fit() - this.width) > 40) this.show(View.address()); }, 200);
    });
  }

  // follow shows what the address says, after back, forward or a typed one.
  follow() {
    if (location.hash && !View.address()) return; // an anchor
    this.show(View.address());
  }

  edges() { return this.$("warmup-slider").dataset.edges.split(" "); }

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

  // change puts one control's value into the address's text and shows it.
  // A final one becomes an entry of the history.
  change(name, final) {
    this.touched = name;
    const p = new URLSearchParams(View.address());
    const f = this.$("controls");
    let value = f.elements[name].value.trim();
    if (name === "warmup" && value !== "") value += "s";
    if (value === "") p.delete(name); else p.set(name, value);
    this.go(p.toString(), final, name === "warmup");
  }

  go(fragment, final, quick = false) { return this.show(fragment, final, quick); }

  fit() { return Math.floor(this.main.clientWidth - parseFloat(getComputedStyle(this.main).paddingLeft) * 2 - 12); }

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
    const timers = [setTimeout(() => this.working(true), 120), setTimeout(() => { if (this.$("cancel")) this.$("cancel").hidden = false; }, 600)];
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
        } catch (e) {
          if (e.cancelled) { this.restore(); this.say(Texts.cancelled); break; }
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
    else if (this.$("cancel")) this.$("cancel").hidden = true;
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
    const kept = new Set(), focus = this.focused();
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
    if (q.final && address !== View.address()) {
      history.pushState(null, "", address ? "#" + address : location.pathname + location.search);
      this.hash = location.hash;
    }
    if (!performance.getEntriesByName("first-figure").length) performance.mark("first-figure");
    if (!this.$("controls")) this.form(doc.form);
    this.sync(doc.controls);
    this.$("whole-step").hidden = !doc.controls.window;
    if (this.shown !== null && this.shown !== doc.fragment) this.say(doc.change);
    else this.say(doc.hint);
    this.shown = doc.fragment;
    this.main.dataset.view = doc.fragment;
    this.main.dataset.views = String(Number(this.main.dataset.views || 0) + 1);
  }

  // focused remembers what has the focus in a figure; what comes back finds it
  // again in the figure that was drawn anew.
  focused() {
    const el = document.activeElement, figure = el && el.closest && el.closest("figure[data-figure]");
    const line = el && el.dataset && el.dataset.line;
    if (!figure && !line) return null;
    const at = line ? `[data-line="${line}"]` : `figure[data-figure="${figure.dataset.figure}"] ` + (el.dataset.handle ? `[data-handle="${el.dataset.handle}"]` : ".canvas");
    return () => { const now = this.main.querySelector(at); if (now) now.focus({ preventScroll: true }); };
  }

  // sync writes the values that Go understood into the controls, but not into
  // one that is being used.
  sync(c) {
    const f = this.$("controls"), slider = this.$("warmup-slider");
    slider.dataset.edges = c.edges.join(" ");
    slider.max = String(Math.max(1, c.edges.length - 1));
    const set = (el, v) => { if (document.activeElement !== el || el.type !== "text" && el !== slider) el.value = v; };
    set(slider, c.slot);
    slider.setAttribute("aria-valuetext", c.warmupText);
    set(f.elements.warmup, c.warmup);
    f.elements.percentiles.value = c.percentiles;
    set(f.elements.latency, c.latency);
    for (const [id, value, all] of [["step", c.step, c.steps], ["interval", c.interval, c.intervals]]) {
      const select = this.$(id);
      if (JSON.stringify([...select.options].map((o) => [o.value, o.text])) !== JSON.stringify(all)) select.replaceChildren(...all.map(([v, text]) => new Option(text, v)));
      select.value = value;
      select.closest(".field").hidden = all.length < 2;
    }
    for (const r of f.elements.scale) r.checked = r.value === c.scale;
    this.keep = this.values();
  }

  values() {
    const f = this.$("controls");
    return ["warmup", "percentiles", "latency", "interval", "step"].map((n) => [n, f.elements[n].value]).concat([["slider", this.$("warmup-slider").value]]);
  }

  restore() {
    const f = this.$("controls");
    if (!f) return;
    for (const [n, v] of this.keep) (n === "slider" ? this.$("warmup-slider") : f.elements[n]).value = v;
  }

  say(text) { if (this.$("status")) this.$("status").textContent = text; }

  // fail shows an error beside the controls, or in the place of the page when
  // there is none yet.
  fail(text) {
    const p = this.$("view-error") || this.$("page-error");
    if (!p) return;
    p.hidden = !text;
    p.textContent = text;
    const top = this.$("page-error");
    if (!text && top) top.hidden = true;
    if (text) this.say("");
    for (const id of ["warmup", "percentiles"]) {
      const input = this.$(id);
      if (!input) continue;
      if (text && this.touched === id) {
        input.setAttribute("aria-invalid", "true");
        input.setAttribute("aria-describedby", "view-error");
      } else {
        input.removeAttribute("aria-invalid");
        input.removeAttribute("aria-describedby");
      }
    }
  }
}
