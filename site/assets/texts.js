// Texts are what the page's scripts say, in the page and in its workers: a
// translation of them is a translation of this file. All else is said by Go.
const megabytes = (n) => (n / 1e6).toFixed(1);

export class Texts {
  static save = "Save";
  static saveAs = (format, title) => `Save as ${format}: ${title}`;
  static saved = (name) => `Saved ${name}.`;
  static notSaved = (reason) => `Not saved: ${reason}`;
  static handles = { warmup: "End of the warm-up", from: "Begin of the part looked at", to: "End of the part looked at" };
  static span = (from, to, unit) => (from === to || to === undefined ? `${from} ${unit}`.trim() : `${from} to ${to} ${unit}`);
  static seconds = (s) => `${s} s`;
  static slow = "Slow message";
  static read = (title, lines) => [title, ...lines.map(([name, text]) => `${name} ${text}`)].join(", ") + ".";
  static keys = "Arrow keys read values; drag, or use the three handles, to look at a part; Escape shows all of it.";
  static readKeys = "Arrow keys read values.";
  static computing = "Computing…";
  static cancelled = "Cancelled.";

  // What is open.
  static compare = "Compare";
  static compareAll = "All of them beside each other";
  static compareSome = (n) => (n ? `Compare ${n} ${n < 2 ? "run" : "runs"}` : "Compare");
  static found = (n, all) => `${n} of ${all} runs.`;
  static ticked = (names) => (names.length < 2 ? `Ticked is ${names[0]}: tick another one to compare it with.` : `Ticked are ${names.length} runs, ${names[0]} as the base.`);
  static runs = "Queuebench: runs";
  static gone = "Files that were dropped on the page are gone with a reload: drop them again, and this view shows them.";
  static nothingKnown = "Nothing that was given is a recording that is known. On the command line `analyze import --help` lists what is read";
  static nothingOpen = "Cancelled: nothing is open.";
  static openAlready = "These files are open already.";
  static emptyFolder = "There is no file in that folder.";
  static tooMany = (n) => `More than ${n} files lie in what was dropped: drop the folder of a run. On the command line: \`analyze report FOLDER\``;
  static reading = (n) => `Reading ${n} ${n < 2 ? "file" : "files"}`;
  static asWritten = (reason) => `${reason}. The tables and figures below are as they were written.`;

  // The programs and their workers.
  static loading = "Loading the analyzer";
  static starting = "Starting the analyzer";
  static notLoaded = (file, status) => `${file}, which belongs to this page, could not be loaded${status ? ": " + status : ""}; reload the page`;
  static workerFailed = (reason) => `the analyzer's worker failed: ${reason || "it could not be loaded"}`;
  static noWebAssembly = "this browser has no WebAssembly, or it is switched off, as some modes of protection do. The plain page of a run and the tables of a report can be read without it; `analyze` computes the same on the command line";
  static notStarted = (reason) => `the analyzer could not be started: ${reason}`;
  static ended = "the analyzer ended unexpectedly, most likely for want of memory; use `analyze report` on the command line";
  static noPicture = "the browser made no picture";

  // Files and addresses.
  static address = (n) => `address ${n}`;
  static downloading = (have, total) => `Downloading: ${megabytes(have)}${total ? " of " + megabytes(total) : ""} MB`;
  static unreachable = (place) => `${place} could not be reached. If it lies on another host, that host must allow this page by CORS, and must be https or this machine. On the command line: \`analyze report ${place}\``;
  static refused = (place, status, words, expired) => `${place} could not be read: ${status} ${words}${expired ? ": the signature may have expired" : ""}`;
  static cutOff = (place) => `${place}: the connection ended before the file did; try again`;
  static unreadable = (file, reason) => `${file} cannot be read (${reason}): open it again`;
}
