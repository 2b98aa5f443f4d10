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
