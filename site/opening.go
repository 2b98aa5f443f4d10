package site

// openingHTML is where a reader opens what is not published here. Its words are
// the promise that the page keeps.
const openingHTML = `<details id="opening" class="opening" open><summary>Open your own</summary>
<div class="drop"><p><b>Drop files or folders anywhere on this page:</b> the folder of a run or parts of it, digests, and what vegeta, k6, warp, wrk2, the OpenMessaging Benchmark, Kafka’s or NATS’ own tests or a histogram log recorded.</p>
<p class="row"><button type="button" id="choose-files">Choose files…</button> <button type="button" id="choose-folder">Choose a folder…</button></p>
<form id="open-address" class="row"><label for="address">or an address</label><input type="text" id="address" inputmode="url" spellcheck="false" autocomplete="off" placeholder="https://…/run.json"> <button>Open</button></form>
<p class="note">Nothing is uploaded: this browser reads and computes everything itself, and asks only the addresses that you give. What a reload would need again (files) is not part of a link; addresses are.</p></div>
<input type="file" id="files" multiple hidden><input type="file" id="folder" webkitdirectory hidden></details>
<ul id="notes" class="notes" role="status" hidden></ul>
`

// openedHTML is where the single file lists what was opened beside what is in it,
// and says what could not be.
const openedHTML = `<p id="page-error" class="error" role="alert" hidden></p>
<ul id="opened" class="opened" hidden></ul>
<ul id="notes" class="notes" role="status" hidden></ul>
`

// besideHTML is where a reader opens others in the single file, which has no
// program for raw logs: that is as large as all the rest.
const besideHTML = `<aside class="beside" aria-label="Other runs"><details id="opening" class="opening" hidden><summary>Open others beside this</summary>
<div class="drop"><p><b>Drop digests anywhere on this page</b>, to look at them here and to compare them with this: what <code>analyze digest RUN</code> wrote, or the files below <code>runs/</code> of a site.</p>
<p class="row"><button type="button" id="choose-files">Choose files…</button></p>
<p class="note">Nothing is uploaded: this browser reads and computes everything itself. Raw logs and what other tools recorded are opened by the page of a site: <code>analyze serve RUN</code>. Files that were dropped are not part of a link.</p></div>
<input type="file" id="files" multiple hidden></details></aside>
`
