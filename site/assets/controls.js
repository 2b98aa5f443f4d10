// Controls are the form above a run: what people put into it goes to the view as
// a part of the address, and what Go understood comes back into it.
const byId = (id) => document.getElementById(id);

export class Controls {
  constructor(view) {
    this.view = view;
    this.touched = ""; // the control that was changed last
  }

  get form() { return byId("controls"); }

  // put puts the controls into their place and listens; without HTML they are
  // there already.
  put(html) {
    const holder = byId("controls-holder");
    if (html) holder.innerHTML = html;
    holder.hidden = false;
    this.keep = this.values();
    const f = this.form, slider = byId("warmup-slider"), number = byId("warmup");
    f.addEventListener("submit", (e) => e.preventDefault());
    slider.addEventListener("input", () => {
      number.value = slider.dataset.edges.split(" ")[Number(slider.value)];
      slider.setAttribute("aria-valuetext", number.value + " s");
      this.change("warmup", false);
    });
    slider.addEventListener("change", () => this.change("warmup", true));
    number.addEventListener("change", () => this.change("warmup", true));
    for (const name of ["percentiles", "latency", "interval"]) byId(name).addEventListener("change", () => this.change(name, true));
    for (const r of f.elements.scale) r.addEventListener("change", () => this.change("scale", true));
    byId("reset").addEventListener("click", () => this.view.show(this.view.page(), true));
    byId("cancel").addEventListener("click", () => this.view.cancel());
    byId("step").addEventListener("change", () => this.view.choose(byId("step").value));
    byId("whole-step").addEventListener("click", () => this.view.set({ from: "", to: "" }, true));
  }

  // change hands on what one control says. A final change becomes an entry of the
  // history.
  change(name, final) {
    this.touched = name;
    let value = this.form.elements[name].value.trim();
    if (name === "warmup" && value !== "") value += "s";
    this.view.set({ [name]: value }, final, name === "warmup");
  }

  // sync writes the values that Go understood into the controls, but not into
  // one that is being used.
  sync(c) {
    const f = this.form, slider = byId("warmup-slider");
    slider.dataset.edges = c.edges.join(" ");
    slider.max = String(Math.max(1, c.edges.length - 1));
    const set = (el, v) => { if (document.activeElement !== el || el.type !== "text" && el !== slider) el.value = v; };
    set(slider, c.slot);
    slider.setAttribute("aria-valuetext", c.warmupText);
    set(f.elements.warmup, c.warmup);
    f.elements.percentiles.value = c.percentiles;
    set(f.elements.latency, c.latency);
    for (const [id, value, all] of [["step", c.step, c.steps], ["interval", c.interval, c.intervals]]) {
      const select = byId(id);
      if (JSON.stringify([...select.options].map((o) => [o.value, o.text])) !== JSON.stringify(all)) select.replaceChildren(...all.map(([v, text]) => new Option(text, v)));
      select.value = value;
      select.closest(".field").hidden = all.length < 2;
    }
    for (const r of f.elements.scale) r.checked = r.value === c.scale;
    this.offer("whole-step", Boolean(c.window));
    this.keep = this.values();
  }

  values() {
    const f = this.form;
    return ["warmup", "percentiles", "latency", "interval", "step"].map((n) => [n, f.elements[n].value]).concat([["slider", byId("warmup-slider").value]]);
  }

  // restore gives the controls the values that the page shows.
  restore() {
    const f = this.form;
    if (!f) return;
    for (const [n, v] of this.keep) (n === "slider" ? byId("warmup-slider") : f.elements[n]).value = v;
  }

  // offer shows or hides a button. The focus of one that goes stays beside it.
  offer(id, on) {
    const b = byId(id);
    if (!b) return;
    const left = !on && document.activeElement === b;
    b.hidden = !on;
    if (left) byId("reset").focus({ preventScroll: true });
  }

  say(text) { if (byId("status")) byId("status").textContent = text; }

  // fail shows an error beside the controls, or in the place of the page when
  // there is none yet. An empty one takes it away.
  fail(text) {
    const p = byId("view-error") || byId("page-error");
    if (!p) return;
    p.hidden = !text;
    p.textContent = text;
    const top = byId("page-error");
    if (!text && top) top.hidden = true;
    if (text) this.say("");
    for (const id of ["warmup", "percentiles"]) {
      const input = byId(id);
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
