// Order within the columns of a layered layout: few crossings, and known nodes in their order.
import { adjacency } from "./layout_ranks.js";

/**
 * The items of a layered graph: boxes, and the points where a long link passes a column. A segment
 * joins an item with one of the next rank. `keys` hold the y of items in the layout before, or NaN.
 * @typedef {{count: number, boxCount: number, ranks: Int32Array, rankCount: number,
 *   from: number[], to: number[], keys: Float64Array}} Items
 */

const SWEEPS_MAX = 12;
const SWEEPS_WITHOUT_GAIN = 3;
const SWEEPS_LARGE = 6;
/** Above so many items, pairs of neighbours are not exchanged, and one start is tried. */
const ITEMS_LARGE = 2500;
/** Below so many items, more starts are tried: a small picture is looked at closely. */
const ITEMS_SMALL = 250;
const STARTS_SMALL = 8;

/**
 * Return the items of each rank from top to bottom.
 * @param {Items} items
 * @returns {Int32Array[]}
 */
export function orderedLayers(items) {
  const right = adjacency(items.count, items.from, items.to);
  const left = adjacency(items.count, items.to, items.from);
  const isLarge = items.count > ITEMS_LARGE;
  const starts = [byVisit(items, right, left)];
  if (items.keys.some((key) => !Number.isNaN(key))) starts.unshift(byKey(items, right, left));
  else if (!isLarge) starts.push(byIndex(items));
  for (let seed = 1; items.count <= ITEMS_SMALL && seed <= STARTS_SMALL; seed += 1) {
    starts.push(byChance(items, seed));
  }
  let best = starts[0];
  let fewest = Infinity;
  for (const start of isLarge ? starts.slice(0, 1) : starts) {
    const { layers, crossings } = swept(items, start, right, left, isLarge);
    if (crossings < fewest) [best, fewest] = [layers, crossings];
    if (!fewest) break;
  }
  return best;
}

/**
 * Sweep over the layers, each sorted by the mean place of its neighbours; return the best order.
 * @param {Items} items
 * @param {Int32Array[]} layers
 * @param {import("./layout_ranks.js").Adjacency} right
 * @param {import("./layout_ranks.js").Adjacency} left
 * @param {boolean} isLarge
 */
function swept(items, layers, right, left, isLarge) {
  const places = new Int32Array(items.count);
  for (const layer of layers) keepKnown(layer, items.keys);
  place(layers, places);
  let best = copied(layers);
  let fewest = crossingsOf(layers, right, places);
  let idle = 0;
  const most = isLarge ? SWEEPS_LARGE : SWEEPS_MAX;
  for (let sweep = 0; sweep < most && fewest && idle < SWEEPS_WITHOUT_GAIN; sweep += 1) {
    const isRightward = sweep % 2 === 0;
    for (let step = 1; step < layers.length; step += 1) {
      const layer = layers[isRightward ? step : layers.length - 1 - step];
      sortByNeighbours(layer, isRightward ? left : right, places);
      keepKnown(layer, items.keys);
      layer.forEach((item, index) => (places[item] = index));
    }
    if (!isLarge) exchangeNeighbours(layers, items.keys, right, left, places);
    const crossings = crossingsOf(layers, right, places);
    idle = crossings < fewest ? 0 : idle + 1;
    if (crossings < fewest) [best, fewest] = [copied(layers), crossings];
  }
  return { layers: best, crossings: fewest };
}

/**
 * Sort a layer by the mean place of the neighbours; items without neighbours keep their index.
 * @param {Int32Array} layer
 * @param {import("./layout_ranks.js").Adjacency} neighbours
 * @param {Int32Array} places
 */
function sortByNeighbours(layer, neighbours, places) {
  const { start, list } = neighbours;
  /** @type {{item: number, mean: number}[]} */
  const moving = [];
  /** @type {number[]} */
  const slots = [];
  for (let index = 0; index < layer.length; index += 1) {
    const item = layer[index];
    const degree = start[item + 1] - start[item];
    if (!degree) continue;
    let sum = 0;
    for (let at = start[item]; at < start[item + 1]; at += 1) sum += places[list[at]];
    moving.push({ item, mean: sum / degree });
    slots.push(index);
  }
  moving.sort((a, b) => a.mean - b.mean || places[a.item] - places[b.item]);
  moving.forEach(({ item }, index) => (layer[slots[index]] = item));
}

/**
 * Put the known items of a layer into their order before, in the indexes that known items take.
 * @param {Int32Array} layer
 * @param {Float64Array} keys
 */
function keepKnown(layer, keys) {
  /** @type {number[]} */
  const slots = [];
  for (let index = 0; index < layer.length; index += 1) {
    if (!Number.isNaN(keys[layer[index]])) slots.push(index);
  }
  const known = slots.map((slot) => layer[slot]).sort((a, b) => keys[a] - keys[b] || a - b);
  known.forEach((item, index) => (layer[slots[index]] = item));
}

/**
 * Exchange neighbours in a layer as long as that removes crossings.
 * @param {Int32Array[]} layers
 * @param {Float64Array} keys
 * @param {import("./layout_ranks.js").Adjacency} right
 * @param {import("./layout_ranks.js").Adjacency} left
 * @param {Int32Array} places
 */
function exchangeNeighbours(layers, keys, right, left, places) {
  let isBetter = true;
  for (let pass = 0; isBetter && pass < 8; pass += 1) {
    isBetter = false;
    for (const layer of layers) {
      for (let index = 0; index + 1 < layer.length; index += 1) {
        const [a, b] = [layer[index], layer[index + 1]];
        if (!Number.isNaN(keys[a]) && !Number.isNaN(keys[b])) continue;
        const gain =
          inversions(a, b, right, places) +
          inversions(a, b, left, places) -
          inversions(b, a, right, places) -
          inversions(b, a, left, places);
        if (gain <= 0) continue;
        [layer[index], layer[index + 1]] = [b, a];
        [places[a], places[b]] = [index + 1, index];
        isBetter = true;
      }
    }
  }
}

/**
 * Return the crossings of the segments of an item with those of an item below it.
 * @param {number} above
 * @param {number} below
 * @param {import("./layout_ranks.js").Adjacency} neighbours
 * @param {Int32Array} places
 */
function inversions(above, below, { start, list }, places) {
  let count = 0;
  for (let a = start[above]; a < start[above + 1]; a += 1) {
    for (let b = start[below]; b < start[below + 1]; b += 1) {
      if (places[list[a]] > places[list[b]]) count += 1;
    }
  }
  return count;
}

/**
 * Return the number of crossings between all neighbouring layers, with a tree of sums.
 * @param {Int32Array[]} layers
 * @param {import("./layout_ranks.js").Adjacency} right
 * @param {Int32Array} places
 */
function crossingsOf(layers, { start, list }, places) {
  let crossings = 0;
  for (let rank = 0; rank + 1 < layers.length; rank += 1) {
    const size = layers[rank + 1].length;
    const tree = new Int32Array(size + 1);
    let inserted = 0;
    for (const item of layers[rank]) {
      for (let at = start[item]; at < start[item + 1]; at += 1) {
        let notAfter = 0;
        for (let node = places[list[at]] + 1; node > 0; node -= node & -node) {
          notAfter += tree[node];
        }
        crossings += inserted - notAfter;
      }
      for (let at = start[item]; at < start[item + 1]; at += 1) {
        for (let node = places[list[at]] + 1; node <= size; node += node & -node) tree[node] += 1;
        inserted += 1;
      }
    }
  }
  return crossings;
}

/**
 * Return the layers in the order of a depth-first search from the left: trees do not cross.
 * @param {Items} items
 * @param {import("./layout_ranks.js").Adjacency} right
 * @param {import("./layout_ranks.js").Adjacency} left
 */
function byVisit(items, right, left) {
  /** @type {number[][]} */
  const layers = Array.from({ length: items.rankCount }, () => []);
  const isVisited = new Uint8Array(items.count);
  const roots = byRank(items);
  for (const root of roots) {
    const stack = [root];
    while (stack.length) {
      const item = /** @type {number} */ (stack.pop());
      if (isVisited[item]) continue;
      isVisited[item] = 1;
      layers[items.ranks[item]].push(item);
      for (const { start, list } of [left, right]) {
        for (let at = start[item + 1] - 1; at >= start[item]; at -= 1) stack.push(list[at]);
      }
    }
  }
  return layers.map((layer) => Int32Array.from(layer));
}

/**
 * Return the layers in the order of the layout before; new items go to the mean of their
 * neighbours.
 * @param {Items} items
 * @param {import("./layout_ranks.js").Adjacency} right
 * @param {import("./layout_ranks.js").Adjacency} left
 */
function byKey(items, right, left) {
  const keys = items.keys.slice();
  /** @type {number[]} */
  const queue = [];
  for (let item = 0; item < items.count; item += 1) if (!Number.isNaN(keys[item])) queue.push(item);
  for (let index = 0; index < queue.length; index += 1) {
    for (const { start, list } of [right, left]) {
      for (let at = start[queue[index]]; at < start[queue[index] + 1]; at += 1) {
        if (!Number.isNaN(keys[list[at]])) continue;
        keys[list[at]] = keys[queue[index]];
        queue.push(list[at]);
      }
    }
  }
  const layers = byIndex(items);
  for (const layer of layers) layer.sort((a, b) => keys[a] - keys[b] || a - b);
  return layers;
}

/**
 * Return the layers in the order of the items' indexes.
 * @param {Items} items
 */
function byIndex(items) {
  /** @type {number[][]} */
  const layers = Array.from({ length: items.rankCount }, () => []);
  for (let item = 0; item < items.count; item += 1) layers[items.ranks[item]].push(item);
  return layers.map((layer) => Int32Array.from(layer));
}

/**
 * Return the layers in an order that looks random and depends on the seed only.
 * @param {Items} items
 * @param {number} seed
 */
function byChance(items, seed) {
  let state = seed;
  const chances = Float64Array.from({ length: items.count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state;
  });
  const layers = byIndex(items);
  for (const layer of layers) layer.sort((a, b) => chances[a] - chances[b] || a - b);
  return layers;
}

/** @param {Items} items */
function byRank(items) {
  return byIndex(items).flatMap((layer) => [...layer]);
}

/**
 * @param {Int32Array[]} layers
 * @param {Int32Array} places
 */
function place(layers, places) {
  for (const layer of layers) layer.forEach((item, index) => (places[item] = index));
}

/** @param {Int32Array[]} layers */
function copied(layers) {
  return layers.map((layer) => layer.slice());
}
