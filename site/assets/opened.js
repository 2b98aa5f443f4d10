// Opened is the list of what is open in a page, and the files that a person gave
// to it. It reads none of them.
import { Texts } from "./texts.js";
import { View } from "./view.js";

const said = (file) => file.name + " " + file.blob.size + " " + file.blob.lastModified;

export class Opened {
  // list is where the runs are listed, told where what goes with them is said.
  constructor(list, told) {
    this.list = list;
    this.told = told;
    this.drops = []; // lists of files; they live as long as the page does
  }

  // fresh are those of some files that were not given before.
  fresh(files) {
    const seen = new Set(this.drops.flat().map(said));
    return files.filter((f) => !seen.has(said(f)));
  }

  // show lists what is open, when it is more than one run.
  show(runs, { run, compare }) {
    this.list.replaceChildren();
    this.list.hidden = runs.length < 2;
    if (this.list.hidden) return;
    const add = (text, title, pressed, keys) => {
      const li = document.createElement("li"), b = document.createElement("button");
      b.type = "button";
      b.textContent = text;
      b.title = title;
      b.setAttribute("aria-pressed", String(pressed));
      b.addEventListener("click", () => this.go(keys));
      li.append(b);
      this.list.append(li);
      return b;
    };
    runs.forEach((r, i) => {
      const b = add(r.name, r.error || r.from, !compare && i + 1 === run, { run: String(i + 1) });
      if (r.error) b.classList.add("failed");
    });
    add(Texts.compare, Texts.compareAll, compare, { view: "compare" });
  }

  // tell shows notes; none hides them.
  tell(notes) {
    this.told.hidden = !notes.length;
    this.told.replaceChildren(...notes.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  }

  // go shows another of the open runs, or all of them.
  go(keys) {
    const p = new URLSearchParams(View.address());
    for (const k of ["run", "view", "step", "repeat"]) p.delete(k);
    for (const [k, v] of Object.entries(keys)) p.append(k, v);
    const hash = "#" + p.toString();
    if (hash === location.hash) return this.follow();
    location.hash = hash;
  }
}
