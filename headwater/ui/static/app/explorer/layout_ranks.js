// Ranks of a layered layout: the column of each box, so that links run from left to right.

/**
 * The neighbours of each node as one list: those of node i are list[start[i]] to
 * list[start[i + 1] - 1], and `links` names the link of each.
 * @typedef {{start: Int32Array, list: Int32Array, links: Int32Array}} Adjacency
 */

/**
 * Return the targets of each source, in the order of the links.
 * @param {number} count
 * @param {ArrayLike<number>} sources
 * @param {ArrayLike<number>} targets
 * @returns {Adjacency}
 */
export function adjacency(count, sources, targets) {
  const start = new Int32Array(count + 1);
  for (let link = 0; link < sources.length; link += 1) start[sources[link] + 1] += 1;
  for (let node = 0; node < count; node += 1) start[node + 1] += start[node];
  const next = start.slice();
  const list = new Int32Array(sources.length);
  const links = new Int32Array(sources.length);
  for (let link = 0; link < sources.length; link += 1) {
    const place = next[sources[link]]++;
    list[place] = targets[link];
    links[place] = link;
  }
  return { start, list, links };
}

/**
 * Return the links that close a cycle (1 for each). Without them the graph has no cycle.
 *
 * A depth-first search finds them: a link to a node on the current path closes a cycle. The search
 * begins at nodes without a link to them, then at the nodes that stood leftmost before.
 * @param {number} count
 * @param {ArrayLike<number>} from
 * @param {ArrayLike<number>} to
 * @param {ArrayLike<number>} before the x of each node in the layout before; NaN for a new node
 * @returns {Uint8Array}
 */
export function backLinks(count, from, to, before) {
  const { start, list, links } = adjacency(count, from, to);
  const inDegree = new Int32Array(count);
  for (let link = 0; link < to.length; link += 1) inDegree[to[link]] += 1;
  const xOf = (/** @type {number} */ node) =>
    Number.isNaN(before[node]) ? Infinity : before[node];
  const roots = Array.from({ length: count }, (_, node) => node).sort(
    (a, b) =>
      Math.sign(inDegree[a]) - Math.sign(inDegree[b]) || compared(xOf(a), xOf(b)) || a - b,
  );
  const isBack = new Uint8Array(from.length);
  const next = start.slice(0, count);
  // 0: not visited, 1: on the path, 2: done.
  const state = new Uint8Array(count);
  for (const root of roots) {
    if (state[root]) continue;
    const path = [root];
    state[root] = 1;
    while (path.length) {
      const node = path[path.length - 1];
      if (next[node] === start[node + 1]) {
        state[node] = 2;
        path.pop();
        continue;
      }
      const place = next[node]++;
      const target = list[place];
      if (state[target] === 1) isBack[links[place]] = 1;
      else if (!state[target]) {
        state[target] = 1;
        path.push(target);
      }
    }
  }
  return isBack;
}

/**
 * Return the rank of each node of a graph without cycles: the length of the longest path to it.
 *
 * A node with more links to the right than to the left then moves right as far as it can, which
 * shortens links.
 * @param {number} count
 * @param {ArrayLike<number>} from
 * @param {ArrayLike<number>} to
 * @returns {Int32Array}
 */
export function ranksOf(count, from, to) {
  const out = adjacency(count, from, to);
  const rank = new Int32Array(count);
  const waiting = new Int32Array(count);
  for (let link = 0; link < to.length; link += 1) waiting[to[link]] += 1;
  const inDegree = waiting.slice();
  /** @type {number[]} */
  const sorted = [];
  for (let node = 0; node < count; node += 1) if (!waiting[node]) sorted.push(node);
  for (let index = 0; index < sorted.length; index += 1) {
    const node = sorted[index];
    for (let place = out.start[node]; place < out.start[node + 1]; place += 1) {
      const target = out.list[place];
      rank[target] = Math.max(rank[target], rank[node] + 1);
      waiting[target] -= 1;
      if (!waiting[target]) sorted.push(target);
    }
  }
  for (let index = sorted.length - 1; index >= 0; index -= 1) {
    const node = sorted[index];
    const outDegree = out.start[node + 1] - out.start[node];
    if (outDegree <= inDegree[node]) continue;
    let nearest = Infinity;
    for (let place = out.start[node]; place < out.start[node + 1]; place += 1) {
      nearest = Math.min(nearest, rank[out.list[place]]);
    }
    rank[node] = nearest - 1;
  }
  return fromZero(rank);
}

/**
 * Return the nodes of each connected part, each in ascending order, by their smallest node.
 * @param {number} count
 * @param {ArrayLike<number>} from
 * @param {ArrayLike<number>} to
 * @returns {number[][]}
 */
export function partsOf(count, from, to) {
  const parent = Int32Array.from({ length: count }, (_, node) => node);
  const rootOf = (/** @type {number} */ node) => {
    let root = node;
    while (parent[root] !== root) {
      parent[root] = parent[parent[root]];
      root = parent[root];
    }
    return root;
  };
  for (let link = 0; link < from.length; link += 1) {
    const [a, b] = [rootOf(from[link]), rootOf(to[link])];
    parent[Math.max(a, b)] = Math.min(a, b);
  }
  /** @type {Map<number, number[]>} */
  const parts = new Map();
  for (let node = 0; node < count; node += 1) {
    const root = rootOf(node);
    const part = parts.get(root);
    if (part) part.push(node);
    else parts.set(root, [node]);
  }
  return [...parts.values()];
}

/** @param {Int32Array} rank */
function fromZero(rank) {
  const lowest = rank.reduce((least, value) => Math.min(least, value), Infinity);
  return lowest ? rank.map((value) => value - lowest) : rank;
}

/**
 * @param {number} a
 * @param {number} b
 */
function compared(a, b) {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
