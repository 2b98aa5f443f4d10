package site

import "queuebench/report/texts"

// openingHTML is where a reader opens what is not published here. Its words are
// the promise that the page keeps.
const openingHTML = `<details id="opening" class="opening" open><summary>` + texts.OpenOwn + `</summary>
<div class="drop"><p>` + texts.DropAnything + `</p>
<p class="row"><button type="button" id="choose-files">` + texts.ChooseFiles + `</button> <button type="button" id="choose-folder">` + texts.ChooseFolder + `</button></p>
<form id="open-address" class="row"><label for="address">` + texts.OrAddress + `</label><input type="text" id="address" inputmode="url" spellcheck="false" autocomplete="off" placeholder="` + texts.AddressExample + `"> <button>` + texts.OpenAddress + `</button></form>
<p class="note">` + texts.NoUpload + `</p></div>
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
const besideHTML = `<aside class="beside" aria-label="` + texts.OtherRuns + `"><details id="opening" class="opening" hidden><summary>` + texts.OpenBeside + `</summary>
<div class="drop"><p>` + texts.DropDigests + `</p>
<p class="row"><button type="button" id="choose-files">` + texts.ChooseFiles + `</button></p>
<p class="note">` + texts.NoUploadHere + `</p></div>
<input type="file" id="files" multiple hidden></details></aside>
`
