// Nodes collapsed into groups: by namespace, by team, by family of names. Pure functions.

import { adjacencyOf } from "./graph.js";

/**
 * @typedef {import("./graph.js").Graph} Graph
 * @typedef {import("./graph.js").GraphNode} GraphNode
 */

export const GROUP = "group:";
/** A graph of more nodes is collapsed by namespace until the reader opens a group. */
export const UNGROUPED_MAX = 6000;
/** The states of a group's members that it shows, the worst first. */
const WORST_FIRST = [
  "FAILED",
  "PARTIAL",
  "UPSTREAM_FAILED",
  "STALE",
  "ABORTED",
  "SKIPPED",
  "RUNNING",
  "NO_NEWS",
  "OK",
];

/** @type {Record<string, (node: GraphNode) => string>} */
const NAMES = {
  namespace: (node) => node.namespace ?? "",
  team: (node) => node.owners?.[0] ?? "",
  family: (node) => node.name.match(/^(.+?)[._/-]/)?.[1] ?? "",
};

export const GROUPINGS = Object.keys(NAMES);

/**
 * Return a graph with the nodes of each group replaced by one. Starts, groups of one, and the groups
 * named in `apart` stay as they are.
 * @param {Graph} graph
 * @param {string} grouping
 * @param {string[]} apart
 * @returns {Graph}
 */
export function grouped(graph, grouping, apart) {
  const nameOf = NAMES[grouping];
  if (!nameOf) return graph;
  const opened = new Set(apart);
  const starts = new Set(graph.starts);
  /** @type {Map<string, GraphNode[]>} */
  const members = new Map();
  for (const node of graph.nodes.values()) {
    const name = nameOf(node);
    const urn = GROUP + encodeURIComponent(name);
    if (!name || starts.has(node.urn) || opened.has(urn)) continue;
    const list = members.get(urn);
    if (list) list.push(node);
    else members.set(urn, [node]);
  }
  /** @type {Map<string, string>} */
  const shownAs = new Map();
  const nodes = new Map(graph.nodes);
  for (const [urn, list] of members) {
    if (list.length < 2) continue;
    for (const node of list) {
      shownAs.set(node.urn, urn);
      nodes.delete(node.urn);
    }
    nodes.set(urn, groupOf(urn, nameOf(list[0]), list));
  }
  const edges = regrouped(graph, shownAs);
  return { ...graph, nodes: recounted(nodes, graph.edges.values(), edges.values()), edges };
}

/**
 * Return nodes with the numbers of their neighbours after these were collapsed.
 * @param {Map<string, GraphNode>} nodes
 * @param {Iterable<import("./graph.js").GraphEdge>} before
 * @param {Iterable<import("./graph.js").GraphEdge>} after
 */
function recounted(nodes, before, after) {
  const [was, is] = [adjacencyOf(before), adjacencyOf(after)];
  const recount = (/** @type {"up" | "down"} */ side, /** @type {string} */ urn, /** @type {number | null | undefined} */ known) =>
    known && known - (was[side].get(urn)?.length ?? 0) + (is[side].get(urn)?.length ?? 0);
  const counted = new Map();
  for (const [urn, node] of nodes) {
    const upstreamCount = recount("up", urn, node.upstreamCount);
    const downstreamCount = recount("down", urn, node.downstreamCount);
    counted.set(urn, { ...node, upstreamCount, downstreamCount });
  }
  return counted;
}

/**
 * @param {Graph} graph
 * @param {Map<string, string>} shownAs
 */
function regrouped(graph, shownAs) {
  const edges = new Map();
  for (const edge of graph.edges.values()) {
    const source = shownAs.get(edge.source) ?? edge.source;
    const target = shownAs.get(edge.target) ?? edge.target;
    if (source === target) continue;
    const key = `${source} ${target}`;
    const known = edges.get(key);
    if (known) known.count += 1;
    else edges.set(key, { ...edge, source, target, count: 1 });
  }
  return edges;
}

/**
 * @param {string} urn
 * @param {string} name
 * @param {GraphNode[]} members
 * @returns {GraphNode}
 */
function groupOf(urn, name, members) {
  const states = new Set(members.map((node) => node.state));
  return {
    urn,
    kind: "GROUP",
    name,
    namespace: null,
    distance: members.reduce((least, node) => Math.min(least, node.distance ?? least), members[0].distance ?? 0),
    state: WORST_FIRST.find((state) => states.has(state)) ?? null,
    owners: [...new Set(members.flatMap((node) => node.owners ?? []))],
    members,
  };
}
