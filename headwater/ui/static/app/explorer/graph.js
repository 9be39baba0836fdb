// The graph of the explorer: answers of the API joined, and the part of it that is shown. Pure.
/**
 * @typedef {object} GraphNode
 * @property {string} urn
 * @property {string} kind
 * @property {string} name
 * @property {string | null} [namespace]
 * @property {number | null} [distance]
 * @property {string | null} [state]
 * @property {string | null} [stateSince]
 * @property {string | null} [stateCause] the urn of the job elsewhere that causes the state
 * @property {string | null} [updatedAt] the time of the newest complete data
 * @property {string | null} [type]
 * @property {string | null} [lastRunAt]
 * @property {string | null} [lastRunId]
 * @property {string[]} [owners]
 * @property {string[]} [tags]
 * @property {number | null} [rowCount]
 * @property {number | null} [failedChecks]
 * @property {number | null} [openFindings]
 * @property {"P1" | "P2" | "P3" | null} [findingTier] of the most urgent of them
 * @property {"EXPOSED" | "UNKNOWN" | "INFLUENCED" | "MASKED" | "DECLASSIFIED" | null} [personalData] the most severe state there
 * @property {string[]} [personalDataClasses] with that state
 * @property {number | null} [columnCount]
 * @property {number | null} [upstreamCount]
 * @property {number | null} [downstreamCount]
 * @property {string} [change] added, removed or same
 * @property {GraphNode[]} [members] of a group
 *
 * @typedef {{source: string, target: string, type: string, change?: string, kinds?: string[], jobs?: string[], count?: number}} GraphEdge
 *
 * @typedef {object} Graph
 * @property {Map<string, GraphNode>} nodes
 * @property {Map<string, GraphEdge>} edges by `edgeKey`
 * @property {string[]} starts
 * @property {string} reason the limit that truncated it
 * @property {number} omitted
 * @property {number} [bare] starts that are left out, for no edge touches them
 *
 * @typedef {{up: Map<string, string[]>, down: Map<string, string[]>}} Adjacency
 *
 * `more` has the neighbours of each node that are not shown; `open` the sides that led to others and can be folded.
 * @typedef {object} Shown
 * @property {GraphNode[]} nodes
 * @property {GraphEdge[]} edges
 * @property {Map<string, {up: number, down: number}>} more
 * @property {Set<string>} open
 * @property {number} total
 */

/** How many nodes a view opens with. */
export const NODE_BUDGET = 60;

/** @param {{source: string, target: string}} edge */
export function edgeKey(edge) {
  return `${edge.source} ${edge.target}`;
}

/**
 * Return a node of an answer with its overview among its own properties.
 * @param {any} node
 * @returns {GraphNode}
 */
function drawn({ overview, ...node }) {
  return { ...node, ...overview };
}

/**
 * Return the graph of an answer of `lineage`; with the change of each node if two times were asked.
 * @param {any} lineage
 * @returns {Graph}
 */
export function graphOf(lineage) {
  const { difference } = lineage;
  const nodes = lineage.nodes.map(drawn);
  const edges = lineage.edges.map((/** @type {GraphEdge} */ edge) => ({ ...edge }));
  if (difference) {
    const addedNodes = new Set(difference.addedNodes.map((/** @type {GraphNode} */ node) => node.urn));
    const addedEdges = new Set(difference.addedEdges.map(edgeKey));
    for (const node of nodes) node.change = addedNodes.has(node.urn) ? "added" : "same";
    for (const edge of edges) edge.change = addedEdges.has(edgeKey(edge)) ? "added" : "same";
    for (const node of difference.removedNodes) nodes.push({ ...drawn(node), change: "removed" });
    for (const edge of difference.removedEdges) edges.push({ ...edge, change: "removed" });
  }
  for (const edge of edges) {
    if (!edge.derivations) continue;
    edge.kinds = kindsOf(edge.derivations);
    const jobs = edge.derivations.map((/** @type {any} */ derivation) => derivation.jobUrn);
    edge.jobs = [...new Set(jobs.filter(Boolean))];
  }
  return {
    nodes: new Map(nodes.map((/** @type {GraphNode} */ node) => [node.urn, node])),
    edges: new Map(edges.map((/** @type {GraphEdge} */ edge) => [edgeKey(edge), edge])),
    starts: lineage.starts ?? [],
    reason: lineage.truncated ? (lineage.truncatedBy ?? "") : "",
    omitted: lineage.omittedCount ?? 0,
  };
}

/**
 * Return the graph of an answer of `lineageTable`, whose nodes and edges are columns of values.
 * @param {any} table
 * @returns {Graph}
 */
export function graphOfTable(table) {
  const { urn, kind, namespace, name, distance } = table.nodes;
  const nodes = urn.map((/** @type {string} */ _, /** @type {number} */ row) => ({
    urn: urn[row],
    kind: kind[row],
    namespace: namespace[row],
    name: name[row],
    distance: distance[row],
  }));
  const { source, target, type } = table.edges;
  const edges = source.map((/** @type {number} */ _, /** @type {number} */ row) => ({
    source: urn[source[row]],
    target: urn[target[row]],
    type: type[row],
  }));
  return {
    nodes: new Map(nodes.map((/** @type {GraphNode} */ node) => [node.urn, node])),
    edges: new Map(edges.map((/** @type {GraphEdge} */ edge) => [edgeKey(edge), edge])),
    starts: table.starts,
    reason: table.truncated ?? "",
    omitted: table.omitted_count,
  };
}

/**
 * Return a graph without the starts that no edge touches, unless there are no others; `bare` counts
 * them. Most columns of a wide table have no lineage of their own.
 * @param {Graph} graph
 * @returns {Graph}
 */
export function withoutBareStarts(graph) {
  const touched = new Set([...graph.edges.values()].flatMap(({ source, target }) => [source, target]));
  const starts = graph.starts.filter((urn) => touched.has(urn));
  if (!starts.length) return graph;
  const bare = new Set(graph.starts.filter((urn) => !touched.has(urn)));
  const nodes = new Map([...graph.nodes].filter(([urn]) => !bare.has(urn)));
  return { ...graph, nodes, starts, bare: bare.size };
}

/**
 * Return the kinds of transformation on an edge of columns, such as "aggregation, masked".
 * @param {{transformations: string[], masked: boolean, datasetLevel: boolean}[]} derivations
 */
function kindsOf(derivations) {
  /** @type {Set<string>} */
  const kinds = new Set();
  for (const { transformations, masked } of derivations) {
    for (const text of transformations) {
      const parts = text.toLowerCase().split(":").filter((part) => part && part !== "masked");
      kinds.add(parts.at(-1) ?? "");
    }
    if (masked) kinds.add("masked");
  }
  return [...kinds].filter(Boolean);
}

/**
 * Return a graph with the nodes and edges of others added; what is known already stays.
 * @param {Graph} graph
 * @param {Graph[]} others
 * @returns {Graph}
 */
export function joined(graph, others) {
  const nodes = new Map(graph.nodes);
  const edges = new Map(graph.edges);
  for (const other of others) {
    for (const [urn, node] of other.nodes) if (!nodes.has(urn)) nodes.set(urn, { ...node, distance: null });
    for (const [key, edge] of other.edges) if (!edges.has(key)) edges.set(key, edge);
  }
  return { ...graph, nodes, edges };
}

/**
 * Return the neighbours of each node on both sides.
 * @param {Iterable<GraphEdge>} edges
 * @returns {Adjacency}
 */
export function adjacencyOf(edges) {
  const up = new Map();
  const down = new Map();
  const add = (/** @type {Map<string, string[]>} */ side, /** @type {string} */ from, /** @type {string} */ to) => {
    const others = side.get(from);
    if (others) others.push(to);
    else side.set(from, [to]);
  };
  for (const { source, target } of edges) {
    add(down, source, target);
    add(up, target, source);
  }
  return { up, down };
}

/**
 * Return the part of a graph that is shown: what the starts reach without crossing a folded side,
 * nearest first, up to the budget. A side that the reader opened is shown beyond the budget.
 * @param {Graph} graph
 * @param {{budget?: number, open?: string[], folded?: string[]}} [options]
 * @returns {Shown}
 */
export function shownOf(graph, { budget = NODE_BUDGET, open = [], folded = [] } = {}) {
  const adjacency = adjacencyOf(graph.edges.values());
  const opened = new Set(open);
  const closed = new Set(folded);
  const { reached, crossed } = reachedFrom(graph, adjacency, { budget, opened, closed });
  const nodes = [...graph.nodes.values()].filter(({ urn }) => reached.has(urn));
  const edges = [...graph.edges.values()].filter((edge) => reached.has(edge.source) && reached.has(edge.target));
  const more = new Map();
  for (const node of nodes) {
    const up = hiddenNeighbours(node.urn, adjacency.up, reached, node.upstreamCount);
    const down = hiddenNeighbours(node.urn, adjacency.down, reached, node.downstreamCount);
    if (up || down) more.set(node.urn, { up, down });
  }
  return { nodes, edges, more, open: crossed, total: graph.nodes.size + graph.omitted };
}

/**
 * @param {string} urn
 * @param {Map<string, string[]>} side
 * @param {Set<string>} reached
 * @param {number | null | undefined} known how many there are on the server
 */
function hiddenNeighbours(urn, side, reached, known) {
  const neighbours = side.get(urn) ?? [];
  const shown = neighbours.filter((other) => reached.has(other)).length;
  return Math.max(neighbours.length, known ?? 0) - shown;
}

/**
 * @param {Graph} graph
 * @param {Adjacency} adjacency
 * @param {{budget: number, opened: Set<string>, closed: Set<string>}} options
 */
function reachedFrom(graph, { up, down }, { budget, opened, closed }) {
  /** @type {Set<string>} */
  const reached = new Set(graph.starts.filter((urn) => graph.nodes.has(urn)).slice(0, Math.max(budget, 1)));
  const crossed = new Set();
  const queue = [...reached];
  for (let index = 0; index < queue.length; index += 1) {
    const urn = queue[index];
    for (const [mark, side] of /** @type {[string, Map<string, string[]>][]} */ ([["<", up], [">", down]])) {
      if (closed.has(mark + urn)) continue;
      for (const other of side.get(urn) ?? []) {
        if (reached.has(other) || (reached.size >= budget && !opened.has(mark + urn))) continue;
        reached.add(other);
        crossed.add(mark + urn);
        queue.push(other);
      }
    }
  }
  // What no path connects to a start, such as a removed node of a comparison, still counts.
  if (!closed.size) {
    for (const urn of graph.nodes.keys()) if (reached.size < budget) reached.add(urn);
  }
  return { reached, crossed };
}

/**
 * Return the nodes upstream and downstream of a node within what is shown, itself included.
 * @param {{edges: GraphEdge[]}} shown
 * @param {string} urn
 * @returns {Set<string>}
 */
export function pathOf(shown, urn) {
  const { up, down } = adjacencyOf(shown.edges);
  const path = new Set([urn]);
  for (const side of [up, down]) {
    const queue = [urn];
    const seen = new Set(queue);
    for (const from of queue) {
      for (const to of side.get(from) ?? []) {
        if (seen.has(to)) continue;
        seen.add(to);
        path.add(to);
        queue.push(to);
      }
    }
  }
  return path;
}
