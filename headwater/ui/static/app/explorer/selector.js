// The written selector of the explorer, in the syntax of dbt: "+orders+2 tag:pii,state:failed".
// Pure functions.
//
// A space joins (union), a comma narrows (intersection). "+" before a term adds all that lies
// upstream of it, "+" after it all downstream, a number beside the "+" is the most steps. A term
// is a name, in which * stands for any signs, or method:value. Quotes keep spaces.

/** @typedef {import("./graph.js").GraphNode} GraphNode */
/** @typedef {{source: string, target: string}} Flow */
/**
 * `up` and `down` are the steps around what matches: 0 for none, Infinity for all.
 * @typedef {{method: string, value: string, up: number, down: number}} Term
 * @typedef {{key: string, position: number, word: string}} SelectorError
 * @typedef {{terms: Term[][], error: SelectorError | null}} Selector
 */

/** How each method reads a node. */
const METHODS = /** @type {Record<string, (node: GraphNode, value: string) => boolean>} */ ({
  name: hasName,
  tag: (node, value) => (node.tags ?? []).some((tag) => hasTag(tag, value)),
  owner: (node, value) => (node.owners ?? []).some((owner) => isLike(owner, value)),
  namespace: (node, value) => isLike(node.namespace ?? "", value),
  kind: (node, value) => KINDS[plain(value)] === node.kind,
  state: hasState,
  type: (node, value) => isLike(node.type ?? "", value),
});

const KINDS = /** @type {Record<string, string>} */ ({
  dataset: "DATASET",
  job: "JOB",
  run: "PIPELINE_RUN",
  pipeline_run: "PIPELINE_RUN",
  version: "ARTIFACT",
  artifact: "ARTIFACT",
  source: "SOURCE",
  answer: "ANSWER",
  column: "COLUMN",
  hidden: "HIDDEN",
});
/** Other words for states. */
const STATES = /** @type {Record<string, string>} */ ({
  complete: "ok",
  upstream: "upstream_failed",
  abandoned: "no_news",
});
const NO_TERM = { method: "name", value: "*", up: 0, down: 0 };

/** The methods that a selector may name. */
export const METHOD_NAMES = Object.keys(METHODS);

/**
 * Return the terms of a selector: a union of intersections. After an error there are none.
 * @param {string} text
 * @returns {Selector}
 */
export function parse(text) {
  /** @type {Term[][]} */
  const terms = [];
  for (const { word, position } of wordsOf(text)) {
    if (word === null) return failed("quote", position, text.slice(position));
    const union = [];
    for (const part of partsOf(word, position)) {
      const term = termOf(part.word, part.position);
      if ("key" in term) return { terms: [], error: term };
      union.push(term);
    }
    terms.push(union);
  }
  return { terms, error: null };
}

/**
 * Return the urns that a selector selects; all of them without terms.
 * @param {{nodes: Map<string, GraphNode>, edges: Map<string, Flow>}} graph
 * @param {Selector} selector
 * @returns {Set<string>}
 */
export function matches({ nodes, edges }, { terms }) {
  if (!terms.length) return new Set(nodes.keys());
  const down = /** @type {Map<string, string[]>} */ (new Map());
  const up = /** @type {Map<string, string[]>} */ (new Map());
  for (const { source, target } of edges.values()) {
    push(down, source, target);
    push(up, target, source);
  }
  /** @type {Set<string>} */
  const selected = new Set();
  for (const union of terms) {
    const sets = union.map((term) => {
      const own = [...nodes.values()].filter((node) => METHODS[term.method](node, term.value));
      const urns = own.map(({ urn }) => urn);
      return new Set([...within(urns, up, term.up), ...within(urns, down, term.down)]);
    });
    for (const urn of sets[0]) if (sets.every((set) => set.has(urn))) selected.add(urn);
  }
  return selected;
}

/**
 * Return the words of a text, with their positions; the word null for a quote that is not closed.
 * @param {string} text
 * @returns {{word: string | null, position: number}[]}
 */
function wordsOf(text) {
  const words = [];
  for (let at = 0; at < text.length; ) {
    if (/\s/.test(text[at])) {
      at += 1;
      continue;
    }
    const position = at;
    let isQuoted = false;
    for (; at < text.length && (isQuoted || !/\s/.test(text[at])); at += 1) {
      if (text[at] === '"') isQuoted = !isQuoted;
    }
    words.push({ word: isQuoted ? null : text.slice(position, at), position });
  }
  return words;
}

/**
 * Return the parts of a word between commas that stand outside of quotes.
 * @param {string} word
 * @param {number} position
 */
function partsOf(word, position) {
  const parts = [];
  let [start, isQuoted] = [0, false];
  for (let at = 0; at <= word.length; at += 1) {
    if (word[at] === '"') isQuoted = !isQuoted;
    if (at < word.length && (word[at] !== "," || isQuoted)) continue;
    parts.push({ word: word.slice(start, at), position: position + start });
    start = at + 1;
  }
  return parts;
}

/**
 * @param {string} word
 * @param {number} position
 * @returns {Term | SelectorError}
 */
function termOf(word, position) {
  const before = /^(\d*)\+/.exec(word);
  const after = /\+(\d*)$/.exec(before ? word.slice(before[0].length) : word);
  const start = before ? before[0].length : 0;
  const body = word.slice(start, after ? word.length - after[0].length : word.length);
  if (!body) return { key: "empty", position: position + start, word };
  const named = /^([a-z_]+):(?!\/\/)(.*)$/s.exec(body);
  const isUrn = named && named[1] in KINDS && named[1] !== "name";
  const term = {
    ...NO_TERM,
    value: unquoted(body),
    up: stepsOf(before),
    down: stepsOf(after),
  };
  if (!named || isUrn) return term;
  const [, method, value] = named;
  if (!(method in METHODS)) return { key: "method", position: position + start, word: method };
  if (!unquoted(value)) {
    return { key: "value", position: position + start + method.length + 1, word: method };
  }
  if (method === "kind" && !(plain(unquoted(value)) in KINDS)) {
    return { key: "kind", position: position + start + method.length + 1, word: unquoted(value) };
  }
  return { ...term, method, value: unquoted(value) };
}

/** @param {RegExpExecArray | null} sign */
function stepsOf(sign) {
  if (!sign) return 0;
  return sign[1] ? Number(sign[1]) : Infinity;
}

/**
 * Return nodes and what lies within so many steps on one side.
 * @param {string[]} urns
 * @param {Map<string, string[]>} side
 * @param {number} steps
 */
function within(urns, side, steps) {
  const found = new Set(urns);
  let frontier = urns;
  for (let step = 0; step < steps && frontier.length; step += 1) {
    const next = [];
    for (const urn of frontier) {
      for (const other of side.get(urn) ?? []) {
        if (found.has(other)) continue;
        found.add(other);
        next.push(other);
      }
    }
    frontier = next;
  }
  return found;
}

/**
 * Return whether a name matches: the whole name, its last part, or the urn.
 * @param {GraphNode} node
 * @param {string} value
 */
function hasName(node, value) {
  const last = node.name.split(/[/.]/).at(-1) ?? "";
  return isLike(node.name, value) || isLike(last, value) || isLike(node.urn, value);
}

/**
 * @param {GraphNode} node
 * @param {string} value
 */
function hasState(node, value) {
  const state = plain(value);
  return (node.state ?? "").toLowerCase() === (STATES[state] ?? state);
}

/**
 * Return whether a tag has a key, or is key=value. The tag of a column begins with its name.
 * @param {string} tag
 * @param {string} value
 */
function hasTag(tag, value) {
  const own = tag.slice(tag.indexOf(":") + 1);
  return [tag, own, own.split("=")[0]].some((text) => isLike(text, value));
}

/**
 * Return whether a text matches a pattern in which * stands for any signs, in either case.
 * @param {string} text
 * @param {string} pattern
 */
function isLike(text, pattern) {
  const parts = pattern.toLowerCase().split("*");
  const lower = text.toLowerCase();
  if (parts.length === 1) return lower === parts[0];
  const last = parts[parts.length - 1];
  if (!lower.startsWith(parts[0])) return false;
  let at = parts[0].length;
  for (const part of parts.slice(1, -1)) {
    const found = lower.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return lower.length - last.length >= at && lower.endsWith(last);
}

/** @param {string} value */
function plain(value) {
  return value.toLowerCase().replaceAll(/[\s-]+/g, "_");
}

/** @param {string} text */
function unquoted(text) {
  return text.replaceAll('"', "");
}

/**
 * @param {string} key
 * @param {number} position
 * @param {string} word
 * @returns {Selector}
 */
function failed(key, position, word) {
  return { terms: [], error: { key, position, word } };
}

/**
 * @param {Map<string, string[]>} map
 * @param {string} key
 * @param {string} value
 */
function push(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
