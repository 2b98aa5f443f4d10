// View binds the page's controls and address to an Analyzer. Values go in as
// the address's text and come back as fragments of HTML; Go reads and writes
// both.
const pageKeys = ["log", "run", "step", "repeat", "view"];

export class View {
  constructor(analyzer, main) {
    this.analyzer = analyzer;
    this.main = main;
    this.shown = null; // the fragment that the page shows
    this.width = 0;
    this.queued = null;
    this.busy = false;
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
    for (const name of ["percentiles", "latency"]) this.$(name).addEventListener("change", () => this.change(name, true));
    for (const r of f.elements.scale) r.addEventListener("change", () => this.change("scale", true));
    this.$("reset").addEventListener("click", () => { this.go(this.page(), true); });
    this.$("cancel").addEventListener("click", () => this.cancel());
    this.listen();
  }

  listen() {
    if (this.listening) return;
    this.listening = true;
    // A typed address gives one or both of these, depending on the browser.
    const moved = () => { if (location.hash !== this.hash) { this.hash = location.hash; this.follow(); } };
    this.hash = location.hash;
    window.addEventListener("popstate", moved);
    window.addEventListener("hashchange", moved);
    document.addEventListener("click", (e) => {
      const a = e.target.closest && e.target.closest("a[data-goto]");
      if (!a) return;
      const target = document.getElementById(a.getAttribute("href").slice(1));
      if (!target) return;
      e.preventDefault();
      target.scrollIntoView();
      target.tabIndex = -1;
      target.focus({ preventScroll: true });
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
  page() {
    const out = new URLSearchParams();
    for (const [k, v] of new URLSearchParams(View.address())) if (pageKeys.includes(k)) out.append(k, v);
    return out.toString();
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
    this.go(p.toString(), final);
  }

  go(fragment, final) { return this.show(fragment, final); }

  fit() { return Math.floor(this.main.clientWidth - parseFloat(getComputedStyle(this.main).paddingLeft) * 2 - 12); }

  // show asks for a view; of several asked while one is computed, the last
  // wins, and a final one among them still enters the history.
  async show(fragment, final = false) {
    this.queued = { fragment, final: final || Boolean(this.queued && this.queued.final) };
    if (this.busy) return;
    this.busy = true;
    this.main.dataset.computing = "true"; // at once, while aria-busy waits until it is worth telling
    const timers = [setTimeout(() => this.working(true), 120), setTimeout(() => { if (this.$("cancel")) this.$("cancel").hidden = false; }, 600)];
    try {
      while (this.queued) {
        const q = this.queued;
        this.queued = null;
        try {
          const width = this.fit();
          const doc = await this.analyzer.view(q.fragment, width);
          this.width = width;
          this.put(doc, q);
        } catch (e) {
          if (e.cancelled) { this.restore(); this.say("Cancelled."); break; }
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
    if (on) this.say("Computing…");
    else if (this.$("cancel")) this.$("cancel").hidden = true;
  }

  cancel() {
    this.queued = null;
    this.analyzer.stop("cancelled");
  }

  // put replaces the fragments, and keeps what was unfolded or scrolled.
  put(doc, q) {
    const open = new Set([...this.main.querySelectorAll("details[open][data-key]")].map((d) => d.dataset.key));
    const kept = new Set();
    for (const r of doc.regions) {
      let el = this.$(r.id);
      if (!el) {
        el = document.createElement("section");
        el.id = r.id;
        el.dataset.region = "";
      }
      const left = [...el.querySelectorAll(".scroll")].map((s) => [s.scrollLeft, s.scrollTop]);
      el.innerHTML = r.html;
      el.querySelectorAll(".scroll").forEach((s, i) => { if (left[i]) [s.scrollLeft, s.scrollTop] = left[i]; });
      if (!el.parentNode) this.main.insertBefore(el, r.id === "headline" ? this.$("controls-holder") : null);
      kept.add(el);
    }
    for (const el of this.main.querySelectorAll(":scope > [data-region]")) if (!kept.has(el)) el.remove();
    for (const d of this.main.querySelectorAll("details[data-key]")) if (open.has(d.dataset.key)) d.open = true;
    this.main.classList.add("fitted");
    document.title = doc.title;
    this.fail("");
    const page = this.page();
    const address = [page, doc.fragment].filter(Boolean).join("&");
    if (q.final && address !== View.address()) {
      history.pushState(null, "", address ? "#" + address : location.pathname + location.search);
      this.hash = location.hash;
    }
    if (!this.$("controls")) this.form(doc.form);
    this.sync(doc.controls);
    if (this.shown !== null && this.shown !== doc.fragment) this.say(doc.change);
    else this.say(doc.hint);
    this.shown = doc.fragment;
    this.main.dataset.view = doc.fragment;
    this.main.dataset.views = String(Number(this.main.dataset.views || 0) + 1);
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
    for (const r of f.elements.scale) r.checked = r.value === c.scale;
    this.keep = this.values();
  }

  values() {
    const f = this.$("controls");
    return ["warmup", "percentiles", "latency"].map((n) => [n, f.elements[n].value]).concat([["slider", this.$("warmup-slider").value]]);
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
