// The state of the explorer, as the parameters of its address. Pure functions.
import { hrefOf } from "../router.js";

/** @typedef {"up" | "down"} Side */

/**
 * `sides` are the sides of nodes that the reader opened or folded, as "<urn" and ">urn".
 * @typedef {object} View
 * @property {string} urn the centre; "" for the start
 * @property {string} direction BOTH, UPSTREAM or DOWNSTREAM
 * @property {number} depth
 * @property {string} level
 * @property {string} asOf
 * @property {string} from the earlier instant of a comparison
 * @property {string} to the other end of a path
 * @property {string} only the written selector
 * @property {string} overlay
 * @property {string} group
 * @property {string} view graph, list, or "" for what fits the window
 * @property {string} selected
 * @property {boolean} isWhole whether the node budget is off
 * @property {boolean} isTable whether the largest answer is asked for, which has no states
 * @property {string[]} open sides of nodes that were opened
 * @property {string[]} folded sides of nodes that were folded
 * @property {string[]} apart groups that were opened in place
 */

export const DEPTH_MAX = 50;
/** The levels that the controls offer; "" is the level of the centre. */
export const LEVELS = ["", "DATASET_AND_JOB", "COLUMN", "RUN", "TOP"];
/** Kinds of nodes that an address may name instead of their level. */
const LEVEL_OF_KIND = new Map([
  ["DATASET", "DATASET_AND_JOB"],
  ["JOB", "DATASET_AND_JOB"],
  ["VERSION", "RUN"],
  ["ANSWER", "RUN"],
]);
const DIRECTIONS = new Set(["BOTH", "UPSTREAM", "DOWNSTREAM"]);

/**
 * Return the state that the parameters of an address describe; unknown values get their default.
 * @param {Record<string, string>} parameters
 * @returns {View}
 */
export function viewOf(parameters) {
  const text = (/** @type {string} */ name) => parameters[name] ?? "";
  const list = (/** @type {string} */ name) => text(name).split(" ").filter(Boolean);
  const constant = (/** @type {string} */ name) => text(name).toUpperCase();
  const level = LEVEL_OF_KIND.get(constant("level")) ?? constant("level");
  const depth = Number.parseInt(text("depth"), 10);
  return {
    urn: text("urn"),
    direction: DIRECTIONS.has(constant("direction")) ? constant("direction") : "BOTH",
    depth: depth >= 1 ? Math.min(depth, DEPTH_MAX) : 1,
    level: LEVELS.includes(level) ? level : "",
    asOf: instantOf(text("asOf")),
    from: instantOf(text("from")),
    to: text("to"),
    only: text("only"),
    overlay: text("overlay"),
    group: text("group"),
    view: text("view"),
    selected: text("sel"),
    isWhole: text("whole") === "true",
    isTable: text("large") === "true",
    open: list("open"),
    folded: list("fold"),
    apart: list("apart"),
  };
}

/**
 * Return the address of a state; defaults are left out.
 * @param {Partial<View>} view
 */
export function hrefOfView(view) {
  return hrefOf("lineage", "", {
    urn: view.urn,
    direction: view.direction === "BOTH" ? "" : view.direction,
    depth: view.depth === 1 ? "" : view.depth,
    level: view.level,
    asOf: view.asOf,
    from: view.from,
    to: view.to,
    only: view.only,
    overlay: view.overlay,
    group: view.group,
    view: view.view,
    sel: view.selected,
    whole: view.isWhole,
    large: view.isTable,
    open: view.open?.join(" "),
    fold: view.folded?.join(" "),
    apart: view.apart?.join(" "),
  });
}

/**
 * Return the state of another centre: the sides, the selection and the path belong to the old one.
 * @param {View} view
 * @param {string} urn
 * @returns {View}
 */
export function centredAt(view, urn) {
  return { ...view, urn, to: "", selected: "", open: [], folded: [], apart: [], isWhole: false, isTable: false };
}

/**
 * Return the name of a side of a node in an address.
 * @param {string} urn
 * @param {Side} side
 */
export function sideOf(urn, side) {
  return (side === "up" ? "<" : ">") + urn;
}

/**
 * Return an instant in UTC as ISO 8601, or "" for a text that is none.
 * @param {string} text
 */
function instantOf(text) {
  const time = Date.parse(text);
  return Number.isNaN(time) ? "" : new Date(time).toISOString().replace(".000Z", "Z");
}
