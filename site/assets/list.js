// The list of runs: found by a word or a queue, ticked and compared. The list
// itself is HTML that Go wrote.
import { Texts } from "./texts.js";

const $ = (id) => document.getElementById(id);
const form = $("chooser");

if (form) {
  const runs = [...document.querySelectorAll(".runs > .listed")];
  const box = (li) => li.querySelector(".pick input");
  const idle = $("found").textContent;
  let found = "", ticked = "";
  form.hidden = false;
  for (const li of runs) li.querySelector(".pick").hidden = false;

  // find shows the runs that have every word, of the queue that is chosen.
  const find = () => {
    const words = $("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const li of runs) {
      const text = li.textContent.toLowerCase();
      li.hidden = !words.every((w) => text.includes(w)) || ($("queue").value && li.dataset.queue !== $("queue").value);
      if (!li.hidden) n++;
    }
    found = words.length || $("queue").value ? Texts.found(n, runs.length) : "";
    say();
  };

  // choose points the link at what is ticked, from the oldest to the newest.
  const choose = () => {
    const chosen = runs.filter((li) => box(li).checked).reverse(), logs = chosen.map((li) => box(li).value);
    const a = $("compare");
    if (logs.length < 2) {
      a.removeAttribute("href");
      a.setAttribute("aria-disabled", "true");
    } else {
      const p = new URLSearchParams(logs.map((log) => ["log", log]));
      p.set("view", "compare");
      a.href = "#" + p;
      a.removeAttribute("aria-disabled");
    }
    a.textContent = Texts.compareSome(logs.length);
    ticked = logs.length ? Texts.ticked(chosen.map((li) => li.querySelector(".name").textContent)) : "";
    say();
  };

  // say tells what was found and what is ticked.
  const say = () => { $("found").textContent = [found, ticked].filter(Boolean).join(" ") || idle; };

  form.addEventListener("submit", (e) => e.preventDefault());
  $("find").addEventListener("input", find);
  $("queue").addEventListener("change", find);
  for (const li of runs) box(li).addEventListener("change", choose);
  // A browser may give back what was ticked and typed before.
  find();
  choose();
}
