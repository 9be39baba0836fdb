// Links in facets: the logs of a run, its trace, its page in the scheduler. Pure functions.

const DEPTH_MAX = 6;
const LINKS_MAX = 20;
/** Every facet has these two: they describe the facet, not the run. */
const DESCRIPTIVE = new Set(["_producer", "_schemaURL"]);

/** @typedef {{kind: "logs" | "trace" | "other", path: string, url: string}} FacetLink */

/**
 * Return an address that a link may lead to: http or https; null for any other text. Facets are
 * written by strangers, and a browser runs `javascript:`.
 * @param {unknown} text
 */
export function webAddress(text) {
  if (typeof text !== "string" || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  return new URL(text).href;
}

/**
 * Return the links in facets: to logs first, then to traces.
 * @param {Record<string, unknown> | null | undefined} facets
 * @returns {FacetLink[]}
 */
export function facetLinks(facets) {
  /** @type {FacetLink[]} */
  const links = [];
  collect(facets, [], links);
  const order = ["logs", "trace", "other"];
  return links.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

/**
 * @param {unknown} value
 * @param {string[]} path
 * @param {FacetLink[]} links
 */
function collect(value, path, links) {
  if (links.length >= LINKS_MAX || path.length > DEPTH_MAX) return;
  const url = webAddress(value);
  if (url) links.push({ kind: kindOf(path), path: path.join("."), url });
  else if (value && typeof value === "object") {
    for (const [key, inner] of Object.entries(value)) {
      if (!DESCRIPTIVE.has(key)) collect(inner, [...path, key], links);
    }
  }
}

/** @param {string[]} path */
function kindOf(path) {
  const words = path.join(" ");
  if (/(^|[ _-])logs?|Logs?(?![a-z])/.test(words)) return "logs";
  return /trace(?!back)|span(?!ner)/i.test(words) ? "trace" : "other";
}
