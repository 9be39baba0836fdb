// The words on edges: the kinds of a transformation, or a number of edges. Pure functions.
import { count } from "../format.js";

/**
 * @typedef {import("./scene.js").Rectangle} Rectangle
 * @typedef {{text: string, x: number, y: number}} Label the middle of its line of text
 */

/** Width of a character and height of a line, in the size of small texts. */
const CHARACTER = 7.2;
const HEIGHT = 17;
const MARGIN = 24;
const GAP_MAX = 180;
/** Above so many labels nobody reads them one by one. */
const LABELS_MAX = 400;
/** Parts of the way at which a label may stand, best first. */
const PARTS = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];

/** @param {import("./graph.js").GraphEdge} edge */
export function labelOf(edge) {
  if (edge.kinds?.length) return edge.kinds.map((kind) => kind.replaceAll("_", " ")).join(", ");
  return (edge.count ?? 0) > 1 ? `× ${count(edge.count)}` : "";
}

/**
 * Return the room between columns that the labels of edges need; 0 if there are none.
 * @param {import("./graph.js").GraphEdge[]} edges
 */
export function gapFor(edges) {
  const longest = edges.reduce((most, edge) => Math.max(most, labelOf(edge).length), 0);
  return longest ? Math.min(longest * CHARACTER + 2 * MARGIN, GAP_MAX) : 0;
}

/**
 * Return the label of each line, by its index. A label covers no box and no other label; where it
 * finds no place it is left out.
 * @param {{edge: import("./graph.js").GraphEdge, points: [number, number][]}[]} lines
 * @param {Iterable<Rectangle>} boxes
 * @returns {Map<number, Label>}
 */
export function placedLabels(lines, boxes) {
  /** @type {Map<number, Label>} */
  const labels = new Map();
  if (!lines.some(({ edge }) => labelOf(edge))) return labels;
  const taken = [...boxes];
  lines.forEach(({ edge, points }, index) => {
    const text = labelOf(edge);
    if (!text || labels.size >= LABELS_MAX) return;
    const width = text.length * CHARACTER;
    for (const part of PARTS) {
      const [x, y] = pointAt(points, part);
      const area = { x: x - width / 2, y: y - HEIGHT - 1, width, height: HEIGHT };
      if (taken.some((other) => overlap(area, other))) continue;
      taken.push(area);
      labels.set(index, { text, x, y: y - 5 });
      return;
    }
  });
  return labels;
}

/**
 * Return the point at a part of the way along a line.
 * @param {[number, number][]} points
 * @param {number} part
 * @returns {[number, number]}
 */
function pointAt(points, part) {
  const lengths = points.slice(1).map(([x, y], index) => Math.hypot(x - points[index][0], y - points[index][1]));
  let rest = part * lengths.reduce((sum, length) => sum + length, 0);
  for (const [index, length] of lengths.entries()) {
    if (rest <= length && length > 0) {
      const [[x1, y1], [x2, y2]] = [points[index], points[index + 1]];
      return [x1 + ((x2 - x1) * rest) / length, y1 + ((y2 - y1) * rest) / length];
    }
    rest -= length;
  }
  return points[points.length - 1];
}

/** @param {Rectangle} one @param {Rectangle} other */
function overlap(one, other) {
  const isBeside = one.x + one.width <= other.x || other.x + other.width <= one.x;
  return !isBeside && one.y + one.height > other.y && other.y + other.height > one.y;
}
