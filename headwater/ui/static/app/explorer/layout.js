// The layout of a graph from left to right: boxes in columns, links between them. Pure, no DOM.
//
// The steps: links that close a cycle are turned round (layout_ranks.js), each box gets a column,
// long links get a place in each column that they pass, the order in the columns is chosen for few
// crossings (layout_order.js), and the heights for straight links (layout_heights.js). Connected
// parts are laid out one by one and stacked. The result depends on the set of boxes and links only.
import { centresOf } from "./layout_heights.js";
import { orderedLayers } from "./layout_order.js";
import { adjacency, backLinks, partsOf, ranksOf } from "./layout_ranks.js";

/** @typedef {{id: string, width: number, height: number}} Box */
/** @typedef {{from: string, to: string}} Link */
/**
 * The left upper corner of a box, and its column.
 * @typedef {{x: number, y: number, rank: number}} Place
 */
/** @typedef {[number, number]} Point */
/**
 * A link as a line of points, from the right side of one box to the left side of another. `isBack`:
 * it closes a cycle, and runs from right to left below the boxes.
 * @typedef {{from: string, to: string, points: Point[], isBack: boolean}} Route
 */
/**
 * `left` and `top` are 0 without an anchor.
 * @typedef {{places: Map<string, Place>, routes: Route[], left: number, top: number,
 *   width: number, height: number}} Layout
 */

const COLUMN_GAP = 72;
/** A gap grows with the height that its steepest link climbs, up to the maximum. */
const COLUMN_GAP_MAX = 220;
const STEEPNESS_MAX = 5;
const BOX_GAP = 18;
const LINK_GAP = 10;
const PART_GAP = 40;
/** The room below a box for each link that closes a cycle there, and its way round the box. */
const LANE = 12;
const TURN = 16;
/** Beyond so many passing points, the longest links are drawn directly. */
const PASSING_POINTS_MAX = 40_000;

/**
 * Return the places of boxes and the routes of links.
 * @param {Box[]} boxes
 * @param {Link[]} links links with an unknown end are left out, repeated ones too
 * @param {{previous?: Map<string, {x: number, y: number}>, anchor?: string | null,
 *   columnGap?: number}} [options]
 *   `previous`: the places before; boxes in it keep their order in a column. `anchor`: the box that
 *   keeps its exact place. `columnGap`: the least room between columns, for words on links.
 * @returns {Layout}
 */
export function layout(boxes, links, options = {}) {
  const { previous = new Map(), anchor = null, columnGap = 0 } = options;
  const sorted = [...boxes].sort((a, b) => compared(a.id, b.id));
  const index = new Map(sorted.map(({ id }, node) => [id, node]));
  const unique = uniqueLinks(links, index);
  const parts = partsOf(
    sorted.length,
    unique.map(({ from }) => from),
    unique.map(({ to }) => to),
  );
  const partOf = new Int32Array(sorted.length);
  parts.forEach((part, number) => part.forEach((node) => (partOf[node] = number)));
  /** @type {{from: number, to: number}[][]} */
  const linksOf = parts.map(() => []);
  for (const link of unique) linksOf[partOf[link.from]].push(link);
  const isLone = (/** @type {number} */ number) =>
    parts[number].length === 1 && !linksOf[number].length;
  const drawn = parts
    .map((part, number) => ({ part, number }))
    .filter(({ number }) => !isLone(number))
    .map(({ part, number }) => drawnPart(sorted, part, linksOf[number], { previous, columnGap }));
  const lone = parts.filter((_, number) => isLone(number)).map(([node]) => sorted[node]);
  return anchored(stacked(drawn, lone, previous), previous, anchor);
}

/**
 * Return the links as pairs of indexes, each once, sorted.
 * @param {Link[]} links
 * @param {Map<string, number>} index
 */
function uniqueLinks(links, index) {
  const pairs = new Map();
  for (const link of links) {
    const [from, to] = [index.get(link.from), index.get(link.to)];
    if (from === undefined || to === undefined) continue;
    pairs.set(from * index.size + to, { from, to });
  }
  return [...pairs.values()].sort((a, b) => a.from - b.from || a.to - b.to);
}

/** @typedef {{places: Map<string, Place>, routes: Route[], width: number, height: number}} Part */

/**
 * Return the layout of one connected part.
 * @param {Box[]} boxes all boxes
 * @param {number[]} part the indexes of its boxes
 * @param {{from: number, to: number}[]} links its links, by indexes of all boxes
 * @param {{previous: Map<string, {x: number, y: number}>, columnGap: number}} options
 * @returns {Part}
 */
function drawnPart(boxes, part, links, { previous, columnGap }) {
  const local = new Map(part.map((node, index) => [node, index]));
  const own = part.map((node) => boxes[node]);
  const from = links.map((link) => /** @type {number} */ (local.get(link.from)));
  const to = links.map((link) => /** @type {number} */ (local.get(link.to)));
  const xBefore = Float64Array.from(own, ({ id }) => previous.get(id)?.x ?? NaN);
  const isBack = backLinks(own.length, from, to, xBefore);
  const forward = from.map((source, link) =>
    isBack[link] ? [to[link], source] : [source, to[link]],
  );
  const loops = forward.filter(([source, target]) => source === target).length;
  const straight = loops ? forward.filter(([source, target]) => source !== target) : forward;
  const ranks = ranksOf(
    own.length,
    straight.map(([source]) => source),
    straight.map(([, target]) => target),
  );
  const chains = chainsOf(own.length, forward, ranks);
  const keys = new Float64Array(chains.ranks.length).fill(NaN);
  own.forEach(({ id, height }, node) => {
    const before = previous.get(id);
    if (before) keys[node] = before.y + height / 2;
  });
  const rankCount = ranks.reduce((most, rank) => Math.max(most, rank), 0) + 1;
  const items = {
    count: chains.ranks.length,
    boxCount: own.length,
    ranks: chains.ranks,
    rankCount,
    from: chains.from,
    to: chains.to,
    keys,
  };
  const layers = orderedLayers(items);
  const lanes = lanesOf(own.length, forward, isBack);
  const centres = centresOf(layers, extentsOf(own, items, lanes.counts));
  const solved = { items, layers, centres, chains, forward, isBack, lanes: lanes.ofLink };
  return placedPart(own, solved, columnGap);
}

/**
 * Return the segments of links between neighbouring ranks, with passing points for long links.
 * The points of link l are passing[l], in ascending ranks; null if the link is drawn directly.
 * @param {number} boxCount
 * @param {number[][]} links pairs with ascending ranks, or loops
 * @param {Int32Array} boxRanks
 */
function chainsOf(boxCount, links, boxRanks) {
  const spanOf = (/** @type {number} */ link) =>
    boxRanks[links[link][1]] - boxRanks[links[link][0]];
  const byLength = links.map((_, link) => link).sort((a, b) => spanOf(a) - spanOf(b) || a - b);
  const hasPoints = new Uint8Array(links.length);
  let points = 0;
  for (const link of byLength) {
    points += Math.max(spanOf(link) - 1, 0);
    if (points > PASSING_POINTS_MAX) break;
    hasPoints[link] = 1;
  }
  const ranks = [...boxRanks];
  const [from, to] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
  /** @type {(number[] | null)[]} */
  const passing = links.map(([source, target], link) => {
    if (!hasPoints[link]) return null;
    /** @type {number[]} */
    const chain = [];
    if (source === target) return chain;
    let last = source;
    for (let rank = boxRanks[source] + 1; rank < boxRanks[target]; rank += 1) {
      const item = ranks.push(rank) - 1;
      from.push(last);
      to.push(item);
      chain.push(item);
      last = item;
    }
    from.push(last);
    to.push(target);
    return chain;
  });
  return { boxCount, ranks: Int32Array.from(ranks), from, to, passing };
}

/**
 * Return the lanes below boxes for links that close cycles: the number at each box, and of each
 * such link its lane at its source and at its target.
 * @param {number} boxCount
 * @param {number[][]} links
 * @param {Uint8Array} isBack
 */
function lanesOf(boxCount, links, isBack) {
  const counts = new Int32Array(boxCount);
  const ofLink = links.map(([left, right], link) => {
    if (!isBack[link]) return [0, 0];
    const atRight = counts[right]++;
    return [left === right ? atRight : counts[left]++, atRight];
  });
  return { counts, ofLink };
}

/**
 * @param {Box[]} boxes
 * @param {import("./layout_order.js").Items} items
 * @param {Int32Array} laneCounts
 * @returns {import("./layout_heights.js").Extents}
 */
function extentsOf(boxes, { count, from, to }, laneCounts) {
  const up = new Float64Array(count);
  const down = new Float64Array(count);
  const gaps = new Float64Array(count).fill(LINK_GAP);
  boxes.forEach(({ height }, node) => {
    up[node] = height / 2;
    down[node] = height / 2 + laneCounts[node] * LANE;
    gaps[node] = BOX_GAP;
  });
  // A segment between two passing points is straighter than one at a box.
  const weights = Float64Array.from(from, (source, segment) => {
    const passing = Number(source >= boxes.length) + Number(to[segment] >= boxes.length);
    return [1, 2, 8][passing];
  });
  const right = adjacency(count, from, to);
  const left = adjacency(count, to, from);
  return { count, up, down, gaps, right, left, weights };
}

/**
 * @typedef {{items: import("./layout_order.js").Items, layers: Int32Array[], centres: Float64Array,
 *   chains: {passing: (number[] | null)[]}, forward: number[][], isBack: Uint8Array,
 *   lanes: number[][]}} Solved
 */

/**
 * Return the places and routes of a part, with its upper left corner at 0, 0.
 * @param {Box[]} boxes
 * @param {Solved} solved
 * @param {number} columnGap
 * @returns {Part}
 */
function placedPart(boxes, solved, columnGap) {
  const { items, layers, centres } = solved;
  const columns = columnsOf(boxes, solved, Math.max(columnGap, COLUMN_GAP));
  let top = Infinity;
  boxes.forEach(({ height }, node) => (top = Math.min(top, centres[node] - height / 2)));
  for (let item = boxes.length; item < items.count; item += 1) top = Math.min(top, centres[item]);
  const places = new Map();
  boxes.forEach(({ id, height }, node) => {
    const rank = items.ranks[node];
    const y = Math.round(centres[node] - height / 2 - top);
    places.set(id, { x: columns[rank].left, y, rank });
  });
  const heights = Float64Array.from(centres, (centre) => Math.round(centre - top));
  const routes = solved.forward.map((_, link) =>
    routeOf(boxes, solved, link, places, columns, heights),
  );
  const bottoms = boxes.map(({ id, height }) => places.get(id).y + height);
  for (const { points } of routes) for (const [, y] of points) bottoms.push(y);
  const height = bottoms.reduce((most, bottom) => Math.max(most, bottom), 0);
  return { places, routes, width: columns[layers.length - 1].right, height };
}

/**
 * Return the left and the right side of each column.
 * @param {Box[]} boxes
 * @param {Solved} solved
 * @param {number} gapMin
 */
function columnsOf(boxes, { items, layers, centres }, gapMin) {
  const widths = new Float64Array(layers.length);
  boxes.forEach(({ width }, node) => {
    widths[items.ranks[node]] = Math.max(widths[items.ranks[node]], width);
  });
  const climbs = new Float64Array(layers.length);
  for (let segment = 0; segment < items.from.length; segment += 1) {
    const [source, target] = [items.from[segment], items.to[segment]];
    const climb = Math.abs(centres[source] - centres[target]);
    climbs[items.ranks[source]] = Math.max(climbs[items.ranks[source]], climb);
  }
  let x = 0;
  return layers.map((_, rank) => {
    const column = { left: x, right: x + Math.ceil(widths[rank]) };
    const gap = Math.min(Math.max(gapMin, climbs[rank] / STEEPNESS_MAX), COLUMN_GAP_MAX);
    x = column.right + Math.round(gap);
    return column;
  });
}

/**
 * Return the route of a link, from its source to its target as they were given.
 * @param {Box[]} boxes
 * @param {Solved} solved
 * @param {number} link
 * @param {Map<string, Place>} places
 * @param {{left: number, right: number}[]} columns
 * @param {Float64Array} heights
 * @returns {Route}
 */
function routeOf(boxes, { items, chains, forward, isBack, lanes }, link, places, columns, heights) {
  const [left, right] = forward[link].map((node) => boxes[node]);
  /** @type {Point[]} */
  const points = [];
  for (const item of chains.passing[link] ?? []) {
    const column = columns[items.ranks[item]];
    points.push([column.left, heights[item]], [column.right, heights[item]]);
  }
  if (isBack[link]) {
    points.unshift(...laneBelow(left, places, lanes[link][0]).toReversed());
    if (left !== right) points.push(...laneBelow(right, places, lanes[link][1]).toReversed());
    points.unshift(...entry(left, places));
    points.push(...exit(right, places).toReversed());
    points.reverse();
    return { from: right.id, to: left.id, points, isBack: true };
  }
  return {
    from: left.id,
    to: right.id,
    points: [exit(left, places)[0], ...points, entry(right, places)[0]],
    isBack: false,
  };
}

/**
 * Return the point where links leave a box, and the point of the turn after it.
 * @param {Box} box
 * @param {Map<string, Place>} places
 * @returns {Point[]}
 */
function exit(box, places) {
  const { x, y } = /** @type {Place} */ (places.get(box.id));
  const middle = y + Math.round(box.height / 2);
  return [
    [x + box.width, middle],
    [x + box.width + TURN, middle],
  ];
}

/**
 * Return the point where links enter a box, and the point of the turn before it.
 * @param {Box} box
 * @param {Map<string, Place>} places
 * @returns {Point[]}
 */
function entry(box, places) {
  const { x, y } = /** @type {Place} */ (places.get(box.id));
  const middle = y + Math.round(box.height / 2);
  return [
    [x, middle],
    [x - TURN, middle],
  ];
}

/**
 * Return the two ends of a lane below a box, the right one first.
 * @param {Box} box
 * @param {Map<string, Place>} places
 * @param {number} lane
 * @returns {Point[]}
 */
function laneBelow(box, places, lane) {
  const { x, y } = /** @type {Place} */ (places.get(box.id));
  const below = y + box.height + LANE * (lane + 1) - 4;
  return [
    [x + box.width + TURN, below],
    [x - TURN, below],
  ];
}

/**
 * Stack the parts, those known from before first and in their order, then the largest; boxes
 * without links stand in a grid below them.
 * @param {Part[]} parts
 * @param {Box[]} lone
 * @param {Map<string, {x: number, y: number}>} previous
 * @returns {Part}
 */
function stacked(parts, lone, previous) {
  const topBefore = (/** @type {Part} */ { places }) =>
    [...places.keys()]
      .map((id) => previous.get(id)?.y ?? Infinity)
      .reduce((top, y) => Math.min(top, y), Infinity);
  const ordered = parts
    .map((part, index) => ({ part, index, top: topBefore(part) }))
    .sort(
      (a, b) =>
        compared(a.top, b.top) ||
        b.part.places.size - a.part.places.size ||
        a.index - b.index,
    )
    .map(({ part }) => part);
  if (lone.length) ordered.push(gridOf(lone));
  /** @type {Map<string, Place>} */
  const places = new Map();
  const routes = [];
  let [width, height] = [0, 0];
  for (const part of ordered) {
    const top = height ? height + PART_GAP : 0;
    for (const [id, place] of part.places) places.set(id, { ...place, y: place.y + top });
    for (const route of part.routes) {
      routes.push({ ...route, points: movedPoints(route.points, 0, top) });
    }
    width = Math.max(width, part.width);
    height = top + part.height;
  }
  routes.sort((a, b) => compared(a.from, b.from) || compared(a.to, b.to));
  return { places, routes, width, height };
}

/**
 * @param {Box[]} boxes
 * @returns {Part}
 */
function gridOf(boxes) {
  const width = boxes.reduce((most, box) => Math.max(most, box.width), 0);
  const height = boxes.reduce((most, box) => Math.max(most, box.height), 0);
  const columns = Math.ceil(Math.sqrt((boxes.length * (height + BOX_GAP)) / (width + BOX_GAP)));
  const places = new Map();
  boxes.forEach(({ id }, index) => {
    const rank = index % columns;
    const row = Math.floor(index / columns);
    places.set(id, { x: rank * (width + BOX_GAP), y: row * (height + BOX_GAP), rank });
  });
  const rows = Math.ceil(boxes.length / columns);
  return {
    places,
    routes: [],
    width: Math.min(columns, boxes.length) * (width + BOX_GAP) - BOX_GAP,
    height: rows * (height + BOX_GAP) - BOX_GAP,
  };
}

/**
 * Move a layout so that the anchor keeps its place.
 * @param {Part} part
 * @param {Map<string, {x: number, y: number}>} previous
 * @param {string | null} anchor
 * @returns {Layout}
 */
function anchored(part, previous, anchor) {
  const before = anchor === null ? undefined : previous.get(anchor);
  const now = anchor === null ? undefined : part.places.get(anchor);
  if (!before || !now) return { ...part, left: 0, top: 0 };
  const [right, down] = [before.x - now.x, before.y - now.y];
  const places = new Map();
  for (const [id, { x, y, rank }] of part.places) {
    places.set(id, { x: x + right, y: y + down, rank });
  }
  places.set(/** @type {string} */ (anchor), { x: before.x, y: before.y, rank: now.rank });
  const routes = part.routes.map((route) => ({
    ...route,
    points: movedPoints(route.points, right, down),
  }));
  return { ...part, places, routes, left: right, top: down };
}

/**
 * @param {Point[]} points
 * @param {number} right
 * @param {number} down
 * @returns {Point[]}
 */
function movedPoints(points, right, down) {
  return points.map(([x, y]) => [x + right, y + down]);
}

/**
 * @template {string | number} T
 * @param {T} a
 * @param {T} b
 */
function compared(a, b) {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
