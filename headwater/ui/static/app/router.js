// Addresses of views. The whole state of a view is in its address, except for pan and zoom.
//
// A path begins with the name of its view; a urn or an id is its second part, in one piece:
// /datasets/dataset%3Afile%3A%2Flake%2Forders. Parameters with their default value are left out.

/**
 * @typedef {{view: string, id: string, parameters: Record<string, string>}} Place
 */

const VIEWS = new Set([
  "lineage",
  "search",
  "failures",
  "findings",
  "finding",
  "policies",
  "sign-in",
  "datasets",
  "jobs",
  "runs",
  "answers",
  "dashboards",
]);

/** The view of each kind of node with a page of its own. */
const PAGES = {
  DATASET: "datasets",
  SOURCE: "datasets",
  ARTIFACT: "datasets",
  JOB: "jobs",
  PIPELINE_RUN: "runs",
  ANSWER: "answers",
};

/**
 * Return the place that a path and a query string name; the view "missing" for any other path.
 * @param {string} path
 * @param {string} query
 * @returns {Place}
 */
export function placeOf(path, query) {
  const [first, ...rest] = path.replace(/^\/+|\/+$/g, "").split("/");
  const parameters = Object.fromEntries(new URLSearchParams(query));
  if (!first) return { view: "home", id: "", parameters };
  if (!VIEWS.has(first)) return { view: "missing", id: path, parameters };
  return { view: first, id: rest.map(decoded).join("/"), parameters };
}

/**
 * Return the address of a place.
 * @param {string} view
 * @param {string} [id]
 * @param {Record<string, string | number | boolean | null | undefined>} [parameters]
 * @returns {string}
 */
export function hrefOf(view, id = "", parameters = {}) {
  const given = Object.entries(parameters).filter(
    ([, value]) => value !== "" && value !== null && value !== undefined && value !== false,
  );
  const query = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  const path = view === "home" ? "/" : `/${view}${id ? `/${encodeURIComponent(id)}` : ""}`;
  return query ? `${path}?${query}` : path;
}

/**
 * Return the address of the page of a node, or of its lineage if its kind has no page.
 * @param {{urn: string, kind: string}} node
 * @returns {string}
 */
export function hrefOfNode(node) {
  const view = PAGES[/** @type {keyof typeof PAGES} */ (node.kind)];
  if (!view) return hrefOf("lineage", "", { urn: node.urn });
  const id = ["runs", "answers"].includes(view) ? node.urn.replace(/^(run|answer):/, "") : node.urn;
  return hrefOf(view, id);
}

/**
 * Go to an address. A new view, centre or time is a step that "back" returns from; other changes
 * replace the address.
 * @param {string} href
 * @param {{replace?: boolean}} [options]
 */
export function go(href, { replace = false } = {}) {
  if (replace) history.replaceState(history.state, "", href);
  else history.pushState(null, "", href);
  window.dispatchEvent(new Event("headwater:place"));
}

/**
 * Call a function at every change of the address, until the returned function is called.
 * @param {() => void} listener
 */
export function onPlace(listener) {
  const clicked = (/** @type {MouseEvent} */ event) => {
    const link = /** @type {Element} */ (event.target).closest?.("a[href]");
    const modified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (!link || modified || event.button !== 0 || event.defaultPrevented) return;
    const href = link.getAttribute("href") ?? "";
    const isOurs = href.startsWith("/") && !link.hasAttribute("download");
    const { view } = placeOf(new URL(href, location.origin).pathname, "");
    if (!isOurs || view === "missing" || link.getAttribute("target")) return;
    event.preventDefault();
    go(href);
    window.scrollTo(0, 0);
  };
  document.addEventListener("click", clicked);
  window.addEventListener("popstate", listener);
  window.addEventListener("headwater:place", listener);
  return () => {
    document.removeEventListener("click", clicked);
    window.removeEventListener("popstate", listener);
    window.removeEventListener("headwater:place", listener);
  };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
