// Texts are what the page's scripts say; all else is said by Go.
export class Texts {
  static save = "Save";
  static saveAs = (format, title) => `Save as ${format}: ${title}`;
  static saved = (name) => `Saved ${name}.`;
  static notSaved = (reason) => `Not saved: ${reason}`;
  static handles = { warmup: "End of the warm-up", from: "Begin of the part looked at", to: "End of the part looked at" };
  static span = (from, to, unit) => (from === to || to === undefined ? `${from} ${unit}`.trim() : `${from} to ${to} ${unit}`);
  static seconds = (s) => `${s} s`;
  static slow = "Slow message";
  static keys = "Arrow keys read values; drag, or use the three handles, to look at a part; Escape shows all of it.";
  static readKeys = "Arrow keys read values.";
  static computing = "Computing…";
  static cancelled = "Cancelled.";
}
