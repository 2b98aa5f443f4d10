// Links keep the page and its address together: back, forward and typed
// addresses, and what in the page leads to another view or place.
export class Links {
  constructor(view) { this.view = view; }

  listen() {
    if (this.listening) return;
    this.listening = true;
    // A typed address gives one or both of these, depending on the browser.
    const moved = () => { if (location.hash !== this.hash) { this.hash = location.hash; this.view.follow(); } };
    this.hash = location.hash;
    window.addEventListener("popstate", moved);
    window.addEventListener("hashchange", moved);
    document.addEventListener("click", (e) => this.set(e));
    document.addEventListener("click", (e) => this.goto(e));
    let timer;
    window.addEventListener("resize", () => {
      clearTimeout(timer);
      timer = setTimeout(() => { if (this.view.shown !== null && this.view.misfits()) this.view.show(this.view.here); }, 200);
    });
  }

  // enter makes the address an entry of the history.
  enter(address) {
    history.pushState(null, "", address ? "#" + address : location.pathname + location.search);
    this.hash = location.hash;
  }

  // set is a button that names keys of the address and their values: an empty
  // value takes the key away.
  set(e) {
    const b = e.target.closest && e.target.closest("button[data-set]");
    if (!b) return;
    const p = new URLSearchParams(this.view.here);
    for (const [k, v] of new URLSearchParams(b.dataset.set)) if (v) p.set(k, v); else p.delete(k);
    location.hash = p.toString();
  }

  // goto is a link to a place of the page, which may be a step that is not shown.
  goto(e) {
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
    if (step && this.view.chosen && step[1] !== this.view.chosen) this.view.choose(step[1]).then(go);
    else go();
  }
}
