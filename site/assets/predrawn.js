// The plain page of a published run holds what its default view shows, drawn when
// the run was published: it can be read while the analyzer is on its way.

// predrawn puts the regions of such a page where the view will put its own, and
// says whether it did. alive says whether they are still wanted.
export async function predrawn(address, main, holder, alive) {
  const response = await fetch(address).catch(() => null);
  if (!response || !response.ok) return false;
  // Nothing runs in a document that was only parsed.
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const regions = page.querySelectorAll("main > section[data-region]");
  if (!regions.length || !alive()) return false;
  for (const r of regions) main.insertBefore(document.adoptNode(r), r.id === "headline" ? holder : null);
  document.title = page.title;
  performance.mark("first-figure");
  return true;
}
