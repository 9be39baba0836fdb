// How nodes look: icons, texts cut to their width, and the words of each overlay.
import { ago, count, shortened } from "../format.js";
import { stateOf } from "../parts/state.js";
import { t } from "../texts.js";

/** @typedef {import("./graph.js").GraphNode} GraphNode */

export const OVERLAYS = ["freshness", "rows", "findings", "privacy", "owners", "tags"];
/** A mark of each tier, as its shape elsewhere on the page. */
const TIER_MARKS = /** @type {Record<string, string>} */ ({ P1: "▲", P2: "◆", P3: "●" });
/** A mark of each state of personal data, before its word. */
const PRIVACY_MARKS = { EXPOSED: "▲", UNKNOWN: "?", INFLUENCED: "▽", MASKED: "■", DECLASSIFIED: "✓" };
/** The kinds of nodes at which personal data is known. */
const MARKED = new Set(["DATASET", "COLUMN", "ANSWER"]);
const MEASURED_LENGTH_MAX = 80;

/** Path of each kind in a box of 16 by 16. */
const ICONS = /** @type {Record<string, string>} */ ({
  DATASET:
    "M3 4c0-1.1 2.2-2 5-2s5 .9 5 2v8c0 1.1-2.2 2-5 2s-5-.9-5-2zM3 4c0 1.1 2.2 2 5 2s5-.9 5-2M3 8c0 1.1 2.2 2 5 2s5-.9 5-2",
  JOB: "M3 2h10a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V3a1 1 0 0 1 1-1zM6.5 5.5v5l4-2.5z",
  PIPELINE_RUN: "M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8M6.7 5.5v5l4-2.5z",
  ARTIFACT: "M8 2l6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3",
  SOURCE: "M8 2v7M5 6.5L8 9.5l3-3M2 10v4h12v-4",
  ANSWER: "M2 3h12v8H8l-4 3v-3H2z",
  COLUMN: "M2 2.5h12v11H2zM6 2.5v11M10 2.5v11",
  HIDDEN: "M2 8s2.2-4 6-4 6 4 6 4-2.2 4-6 4-6-4-6-4M3 13L13 3",
  GROUP: "M5 2h9v9M2 5h9v9H2z",
});

/** @param {string} kind */
export function iconOf(kind) {
  return ICONS[kind] ?? ICONS.HIDDEN;
}

/**
 * Return the name of a node as the explorer shows it.
 * @param {GraphNode} node
 */
export function titleOf(node) {
  if (node.kind === "HIDDEN") return t("hidden.name");
  return node.name;
}

/**
 * Return the state that a node shows; null for kinds that have none.
 * @param {GraphNode} node
 */
export function shownState(node) {
  return node.state ? stateOf(node.state) : null;
}

/**
 * Return the word at the end of the first line of a node: its change, or its state.
 * @param {GraphNode} node
 */
export function wordOf(node) {
  if (node.change && node.change !== "same") return t(`explorer.change.${node.change}`);
  const state = shownState(node);
  return state ? t(`state.${state}`) : "";
}

/**
 * Return the last line of a node: what the overlay shows of it, or where it is.
 * @param {GraphNode} node
 * @param {string} overlay
 */
export function lineOf(node, overlay) {
  if (node.members) return t("explorer.group.size", { count: count(node.members.length) });
  switch (overlay) {
    case "freshness":
      return freshnessOf(node);
    case "rows":
      return node.rowCount === null || node.rowCount === undefined
        ? t("explorer.unknown")
        : t("explorer.overlay.rows.line", { count: count(node.rowCount) });
    case "findings":
      return findingsOf(node);
    case "privacy":
      return privacyOf(node);
    case "owners":
      return node.owners?.join(", ") || t("part.unowned");
    case "tags":
      return node.tags?.join(" ") || t("explorer.overlay.tags.none");
    default:
      return node.namespace ?? "";
  }
}

/**
 * Return the open findings of a node in words: "▲ P1 urgent, 2 findings".
 * @param {GraphNode} node
 */
export function findingsOf({ openFindings, findingTier, failedChecks }) {
  if (openFindings && findingTier) {
    const tier = `${TIER_MARKS[findingTier]} ${t(`tier.${findingTier}`)}`;
    return t("explorer.overlay.findings.line", { tier, count: count(openFindings) });
  }
  if (failedChecks) return t("explorer.overlay.findings.checks", { count: count(failedChecks) });
  return t("explorer.overlay.findings.none");
}

/**
 * Return the personal data at a node in words: "▲ unmasked: email".
 * @param {GraphNode} node
 */
export function privacyOf({ kind, namespace, personalData, personalDataClasses = [] }) {
  if (!MARKED.has(kind)) return namespace ?? "";
  if (personalData === undefined) return t("explorer.unknown");
  if (!personalData) return t("explorer.overlay.privacy.none");
  const state = `${PRIVACY_MARKS[personalData]} ${t(`privacy.${personalData}`)}`;
  return t("explorer.overlay.privacy.line", { state, classes: personalDataClasses.join(", ") });
}

/** @param {GraphNode} node */
function freshnessOf({ updatedAt, lastRunAt }) {
  if (updatedAt) return t("explorer.overlay.freshness.written", { ago: ago(updatedAt) });
  return lastRunAt ? t("explorer.overlay.freshness.line", { ago: ago(lastRunAt) }) : t("explorer.unknown");
}

/**
 * Return a node in words, for those who hear it.
 * @param {GraphNode} node
 * @param {string} overlay
 * @param {{up: number, down: number} | undefined} more
 */
export function described(node, overlay, more) {
  const parts = [t(`kind.${node.kind}`), shortened(titleOf(node), MEASURED_LENGTH_MAX), wordOf(node)];
  if (overlay || node.members) parts.push(lineOf(node, overlay));
  if (more?.up) parts.push(t("explorer.more.up", { count: count(more.up) }));
  if (more?.down) parts.push(t("explorer.more.down", { count: count(more.down) }));
  return parts.filter(Boolean).join(", ");
}

/** @type {Map<string, string>} */
const fittedTexts = new Map();
const FITTED_MAX = 50_000;
/** @type {CanvasRenderingContext2D | null} */
let ruler = null;

/**
 * Return a text cut in its middle to a width in pixels.
 * @param {string} text
 * @param {number} width
 * @param {string} font
 */
export function fitText(text, width, font) {
  const key = `${font}|${width}|${text}`;
  const known = fittedTexts.get(key);
  if (known !== undefined) return known;
  ruler ??= document.createElement("canvas").getContext("2d");
  const context = /** @type {CanvasRenderingContext2D} */ (ruler);
  context.font = font;
  const isWide = (/** @type {string} */ part) => context.measureText(part).width > width;
  let best = shortened(text, MEASURED_LENGTH_MAX);
  if (isWide(best)) {
    let [low, high] = [1, MEASURED_LENGTH_MAX];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (isWide(shortened(text, middle))) high = middle - 1;
      else low = middle;
    }
    best = shortened(text, low);
  }
  if (fittedTexts.size > FITTED_MAX) fittedTexts.clear();
  fittedTexts.set(key, best);
  return best;
}

/**
 * Details at each scale. Texts are never smaller than 11 pixels of the screen: names grow while one
 * zooms out, the other lines go, and at last only boxes are left.
 * `stub` is the factor by which the buttons of sides grow.
 * @typedef {{isFull: boolean, nameSize: number, stub: number}} Detail
 */
const DETAILS = /** @type {[number, Detail][]} */ ([
  [0.81, { isFull: true, nameSize: 17, stub: 1 }],
  [0.55, { isFull: false, nameSize: 20, stub: 1.45 }],
  [0.37, { isFull: false, nameSize: 30, stub: 1.8 }],
  [0.26, { isFull: false, nameSize: 42, stub: 1.8 }],
]);
const PLAIN = { isFull: false, nameSize: 0, stub: 0 };

/**
 * @param {number} scale
 * @returns {Detail}
 */
export function detailAt(scale) {
  return DETAILS.find(([least]) => scale >= least)?.[1] ?? PLAIN;
}

export const FONT = "system-ui, sans-serif";
/** Size of the small texts, and the lines that the texts stand on. */
export const SMALL = 13.6;
export const FIRST_LINE = 24;
export const NAME_LINE = 48;
export const LAST_LINE = 67;
