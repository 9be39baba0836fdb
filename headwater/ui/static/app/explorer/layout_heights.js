// Vertical places in a layered layout: links as straight as the order of each column allows.

/**
 * Items with their extents above and below their centre. `weights` hold how much each segment wants
 * to be straight.
 * @typedef {{count: number, up: Float64Array, down: Float64Array, gaps: Float64Array,
 *   right: import("./layout_ranks.js").Adjacency, left: import("./layout_ranks.js").Adjacency,
 *   weights: Float64Array}} Extents
 */

const PASSES = 5;
/** An item without neighbours stays where it is, unless others push it. */
const WEIGHT_LONE = 0.01;

/**
 * Return the y of the centre of each item.
 *
 * Each pass moves the items of a layer towards the mean of their neighbours in the layer before.
 * The distances within the layer are kept: least squares with a fixed order, solved by pooling
 * neighbours that would overlap. The last passes take the median, which makes chains straight.
 * @param {Int32Array[]} layers
 * @param {Extents} extents
 * @returns {Float64Array}
 */
export function centresOf(layers, extents) {
  const centres = new Float64Array(extents.count);
  const offsets = offsetsOf(layers, extents);
  for (const layer of layers) {
    const middle = (offsets[layer[0]] + offsets[layer[layer.length - 1]]) / 2;
    for (const item of layer) centres[item] = offsets[item] - middle;
  }
  const { left, right } = extents;
  for (let pass = 0; pass < PASSES; pass += 1) {
    sweep(layers, offsets, centres, extents, [left], meanOf);
    sweep(layers.toReversed(), offsets, centres, extents, [right], meanOf);
  }
  sweep(layers, offsets, centres, extents, [left, right], meanOf);
  sweep(layers.toReversed(), offsets, centres, extents, [left, right], medianOf);
  sweep(layers, offsets, centres, extents, [left, right], medianOf);
  return centres;
}

/**
 * Return the least distance of each item from the first of its layer.
 * @param {Int32Array[]} layers
 * @param {Extents} extents
 */
function offsetsOf(layers, { count, up, down, gaps }) {
  const offsets = new Float64Array(count);
  for (const layer of layers) {
    for (let index = 1; index < layer.length; index += 1) {
      const [above, item] = [layer[index - 1], layer[index]];
      const gap = Math.max(gaps[above], gaps[item]);
      offsets[item] = offsets[above] + down[above] + gap + up[item];
    }
  }
  return offsets;
}

/**
 * @param {Int32Array[]} layers
 * @param {Float64Array} offsets
 * @param {Float64Array} centres
 * @param {Extents} extents
 * @param {import("./layout_ranks.js").Adjacency[]} sides
 * @param {(near: Near[]) => number} middleOf
 */
function sweep(layers, offsets, centres, extents, sides, middleOf) {
  for (const layer of layers) {
    const wishes = new Float64Array(layer.length);
    const weights = new Float64Array(layer.length);
    layer.forEach((item, index) => {
      const near = nearTo(item, sides, centres, extents.weights);
      wishes[index] = (near.length ? middleOf(near) : centres[item]) - offsets[item];
      weights[index] = near.reduce((sum, { weight }) => sum + weight, WEIGHT_LONE);
    });
    const pooled = nearestAscending(wishes, weights);
    layer.forEach((item, index) => (centres[item] = pooled[index] + offsets[item]));
  }
}

/** @typedef {{centre: number, weight: number}} Near */

/**
 * @param {number} item
 * @param {import("./layout_ranks.js").Adjacency[]} sides
 * @param {Float64Array} centres
 * @param {Float64Array} weights
 * @returns {Near[]}
 */
function nearTo(item, sides, centres, weights) {
  const near = [];
  for (const { start, list, links } of sides) {
    for (let at = start[item]; at < start[item + 1]; at += 1) {
      near.push({ centre: centres[list[at]], weight: weights[links[at]] });
    }
  }
  return near;
}

/** @param {Near[]} near */
function meanOf(near) {
  let sum = 0;
  let weights = 0;
  for (const { centre, weight } of near) {
    sum += centre * weight;
    weights += weight;
  }
  return sum / weights;
}

/** @param {Near[]} near */
function medianOf(near) {
  near.sort((a, b) => a.centre - b.centre);
  const half = near.reduce((sum, { weight }) => sum + weight, 0) / 2;
  let sum = 0;
  for (let index = 0; index < near.length; index += 1) {
    sum += near[index].weight;
    if (sum === half) return (near[index].centre + near[index + 1].centre) / 2;
    if (sum > half) return near[index].centre;
  }
  return near[near.length - 1].centre;
}

/**
 * Return the ascending values nearest to the wishes, by weighted squares: pool adjacent violators.
 * @param {Float64Array} wishes
 * @param {Float64Array} weights
 * @returns {Float64Array}
 */
export function nearestAscending(wishes, weights) {
  const means = new Float64Array(wishes.length);
  const sums = new Float64Array(wishes.length);
  const sizes = new Int32Array(wishes.length);
  let pools = 0;
  for (let index = 0; index < wishes.length; index += 1) {
    means[pools] = wishes[index];
    sums[pools] = weights[index];
    sizes[pools] = 1;
    pools += 1;
    while (pools > 1 && means[pools - 2] > means[pools - 1]) {
      const weight = sums[pools - 2] + sums[pools - 1];
      means[pools - 2] =
        (means[pools - 2] * sums[pools - 2] + means[pools - 1] * sums[pools - 1]) / weight;
      sums[pools - 2] = weight;
      sizes[pools - 2] += sizes[pools - 1];
      pools -= 1;
    }
  }
  const result = new Float64Array(wishes.length);
  let index = 0;
  for (let pool = 0; pool < pools; pool += 1) {
    for (let member = 0; member < sizes[pool]; member += 1) result[index++] = means[pool];
  }
  return result;
}
