// Export writes what is seen into files.
import { Texts } from "./texts.js";

export class Export {
  static bar(all, title, view) {
    const bar = document.createElement("div");
    bar.className = "save";
    bar.append(Texts.save + " ");
    for (const [format, save] of all) {
      const b = document.createElement("button");
      b.type = "button";
      b.textContent = format;
      b.setAttribute("aria-label", Texts.saveAs(format, title));
      b.addEventListener("click", async () => {
        try { view.say(Texts.saved(await save())); } catch (e) { view.say(Texts.notSaved(e.message)); }
      });
      bar.append(b);
    }
    return bar;
  }

  // file is a safe name that says what is in it.
  static file(name, suffix) {
    const h = document.querySelector("#headline h1"), run = h ? h.textContent : "queuebench";
    const safe = (s) => s.normalize("NFKD").replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 60) || "run";
    return `${safe(run)}-${safe(name)}.${suffix}`;
  }

  static give(blob, name) {
    const a = document.createElement("a");
    a.href = URL.createObjectURL(blob);
    a.download = name;
    document.body.append(a);
    a.click();
    a.remove();
    setTimeout(() => URL.revokeObjectURL(a.href), 60000);
    return name;
  }

  // text is the drawing with the colours that are seen, and a ground below it.
  static text(svg) {
    const style = getComputedStyle(document.documentElement), copy = svg.cloneNode(true), box = svg.viewBox.baseVal;
    const ground = document.createElementNS(svg.namespaceURI, "rect");
    for (const [k, v] of Object.entries({ width: box.width, height: box.height, fill: style.getPropertyValue("--panel").trim() })) ground.setAttribute(k, v);
    copy.insertBefore(ground, copy.querySelector("desc").nextSibling);
    copy.setAttribute("font-family", "Go, Helvetica, Arial, sans-serif");
    return new XMLSerializer().serializeToString(copy).replace(/var\((--fig-[a-z0-9]+),\s*(#[0-9a-fA-F]+)\)/g, (_, name, usual) => style.getPropertyValue(name).trim() || usual);
  }

  static svg(svg, name) {
    return Export.give(new Blob(['<?xml version="1.0" encoding="UTF-8"?>\n', Export.text(svg)], { type: "image/svg+xml" }), Export.file(name, "svg"));
  }

  static async png(svg, name) {
    const box = svg.viewBox.baseVal, url = URL.createObjectURL(new Blob([Export.text(svg)], { type: "image/svg+xml" }));
    try {
      const image = new Image();
      image.src = url;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = Math.round(box.width * 2);
      canvas.height = Math.round(box.height * 2);
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      return Export.give(await new Promise((done, fail) => canvas.toBlob((b) => (b ? done(b) : fail(new Error(Texts.noPicture))), "image/png")), Export.file(name, "png"));
    } finally {
      URL.revokeObjectURL(url);
    }
  }

  // csv is a table; a text that a spreadsheet would take for a formula is quoted.
  static csv(table, name) {
    const quote = (s) => {
      if (/^[=+@\t\r-]/.test(s) && !/^-?[\d.]+(e[-+]?\d+)?$/.test(s)) s = "'" + s;
      return /[",\r\n]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s;
    };
    const head = (c) => quote(c.dataset.unit && !c.textContent.endsWith(")") ? `${c.textContent} (${c.dataset.unit})` : c.textContent);
    const lines = [[...table.tHead.rows[0].cells].map(head), ...[...table.tBodies[0].rows].map((r) => [...r.cells].map((c) => quote(c.textContent)))];
    return Export.give(new Blob([lines.map((l) => l.join(",") + "\r\n").join("")], { type: "text/csv" }), Export.file(name, "csv"));
  }
}
