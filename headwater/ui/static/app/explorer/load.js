// What the explorer asks of the API: one request a view, and one for each side that is opened.
import { ask } from "../api.js";
import { datasetOfColumn } from "../urns.js";
import { DEPTH_MAX } from "./address.js";
import { graphOf, graphOfTable, joined, withoutBareStarts } from "./graph.js";

/**
 * @typedef {import("./address.js").View} View
 * @typedef {import("./graph.js").Graph} Graph
 */

/**
 * Return what decides the answer to a view: the view is asked again when it changes.
 * @param {View} view
 */
export function requestKey(view) {
  return JSON.stringify([view.urn, view.direction, view.depth, view.level, view.asOf, view.from, view.to, view.isTable, hasMarks(view)]);
}

/**
 * Return True if the view marks personal data: only then the server looks where it arrives. It knows
 * that of the present graph only.
 * @param {View} view
 */
function hasMarks({ overlay, asOf, from }) {
  return overlay === "privacy" && !asOf && !from;
}

/**
 * Ask for the graph of a view.
 * @param {View} view
 * @param {AbortSignal} signal
 * @returns {Promise<Graph>}
 */
export async function load(view, signal) {
  if (view.to) return loadPath(view, signal);
  if (view.isTable && !view.from) return loadTable(view, signal);
  const column = datasetOfColumn(view.urn);
  const isPresent = !view.asOf && !view.from;
  if (column && isPresent && !view.level) return loadColumn(view, column, signal);
  const comparison = view.from && { from: view.from, to: view.asOf || new Date().toISOString() };
  const above = sidesOf(view, "<");
  const below = sidesOf(view, ">");
  const { data } = await ask(
    "Explore",
    {
      urn: view.urn,
      direction: view.direction,
      depth: view.depth,
      level: view.level,
      asOf: comparison ? null : view.asOf || null,
      between: comparison || null,
      above,
      below,
      hasAbove: above.length > 0,
      hasBelow: below.length > 0,
      hasPersonalData: hasMarks(view),
    },
    signal,
  );
  const graph = joined(graphOf(data.lineage), [data.above, data.below].filter(Boolean).map(graphOf));
  return view.level === "COLUMN" ? withoutBareStarts(graph) : graph;
}

/**
 * Ask for the neighbours of a node on one side.
 * @param {View} view
 * @param {string} urn
 * @param {import("./address.js").Side} side
 * @returns {Promise<Graph>}
 */
export async function loadSide(view, urn, side) {
  const direction = side === "up" ? "UPSTREAM" : "DOWNSTREAM";
  const { data } = await ask("ExploreMore", {
    urn,
    direction,
    depth: 1,
    asOf: view.asOf || null,
    hasPersonalData: hasMarks(view),
  });
  return graphOf(data.lineage);
}

/**
 * @param {View} view
 * @param {"<" | ">"} mark
 */
function sidesOf(view, mark) {
  // A comparison has no present to open sides in.
  if (view.from) return [];
  return view.open.filter((side) => side.startsWith(mark)).map((side) => side.slice(1));
}

/**
 * @param {View} view
 * @param {{namespace: string, name: string, column: string}} start
 * @param {AbortSignal} signal
 */
async function loadColumn(view, start, signal) {
  const { namespace, name, column } = start;
  const { data } = await ask(
    "ExploreColumn",
    {
      dataset: { namespace, name },
      column,
      direction: view.direction,
      depth: view.depth,
      hasPersonalData: hasMarks(view),
    },
    signal,
  );
  const { columnLineage } = data;
  const nearest = columnLineage.nodes.filter((/** @type {any} */ node) => node.distance === 0);
  return graphOf({ ...columnLineage, starts: nearest.map((/** @type {any} */ node) => node.urn) });
}

/**
 * Ask for up to 100,000 nodes, as columns.
 * @param {View} view
 * @param {AbortSignal} signal
 */
async function loadTable({ urn, direction, depth, level, asOf }, signal) {
  const { data } = await ask("ExploreTable", { urn, direction, depth, level, asOf: asOf || null }, signal);
  return graphOfTable(data.lineageTable);
}

/**
 * @param {View} view
 * @param {AbortSignal} signal
 */
async function loadPath(view, signal) {
  const { data } = await ask(
    "ExplorePath",
    {
      from: view.urn,
      to: view.to,
      depth: DEPTH_MAX,
      level: view.level,
      asOf: view.asOf || null,
      hasPersonalData: hasMarks(view),
    },
    signal,
  );
  return { ...graphOf(data.path), starts: [data.path.starts[0], data.target.starts[0]] };
}
