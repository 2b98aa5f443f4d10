// Focus keeps the reader's place when regions of the page are written anew: by
// keys nothing else says where one is.
const places = "a[href], button, summary, input, select, [tabindex]";

export class Focus {
  // kept is what gives the focus back after the regions below main were replaced;
  // null where it lies in none of them.
  static kept(main) {
    const el = document.activeElement, region = el && el.closest && el.closest("[data-region]");
    if (!region || !main.contains(region)) return null;
    const at = Focus.path(el), index = [...region.querySelectorAll(places)].indexOf(el), text = el.textContent;
    return () => {
      if (el.isConnected) return;
      let now = at && main.querySelector(at);
      if (!now) {
        const same = document.getElementById(region.id);
        const all = same ? [...same.querySelectorAll(places)] : [];
        now = all[index] && all[index].textContent === text ? all[index] : Focus.heading(same || main.querySelector("[data-region]") || main);
      }
      if (now) now.focus({ preventScroll: true });
    };
  }

  // path names what is drawn anew under the same name.
  static path(el) {
    if (el.dataset.line) return `[data-region]:not([hidden]) [data-line="${el.dataset.line}"]`;
    const figure = el.closest("figure[data-figure]");
    if (figure) {
      const of = `figure[data-figure="${figure.dataset.figure}"] `;
      if (el.dataset.handle) return of + `[data-handle="${el.dataset.handle}"]`;
      if (el.matches(".canvas")) return of + ".canvas";
    }
    if (el.matches("summary") && el.parentNode.dataset.key) return `details[data-key="${el.parentNode.dataset.key}"] > summary`;
    return "";
  }

  // heading is the first one below an element, which then can have the focus.
  static heading(root) {
    const h = root.querySelector("h1, h2, h3");
    if (h) h.tabIndex = -1;
    return h;
  }

  // lost tells whether what had the focus is gone, or is shown no more.
  static lost() {
    const el = document.activeElement;
    return !el || el === document.body || !el.checkVisibility();
  }

  // arrive puts the focus at the beginning of what was opened, where it was lost
  // with what stood in its place before.
  static arrive(main) {
    if (!Focus.lost()) return;
    const h = Focus.heading(main.querySelector("[data-region]") || main);
    if (h) h.focus({ preventScroll: true });
  }
}
