// Nodes and edges with their places, and what lies at a point or in a rectangle. Pure functions.
import { placedLabels } from "./edge_labels.js";
import { edgeKey } from "./graph.js";

/**
 * @typedef {import("./graph.js").GraphNode} GraphNode
 * @typedef {import("./graph.js").GraphEdge} GraphEdge
 * @typedef {{node: GraphNode, x: number, y: number, rank: number}} Box
 * @typedef {{edge: GraphEdge, points: [number, number][], isBack: boolean, label?: import("./edge_labels.js").Label}} Line
 * @typedef {{x: number, y: number, width: number, height: number}} Rectangle
 *
 * @typedef {object} Scene
 * @property {Map<string, Box>} boxes
 * @property {Line[]} lines
 * @property {Rectangle} bounds
 * @property {Map<string, Box[]>} grid boxes by the cells that they touch
 */

export const BOX_WIDTH = 264;
export const BOX_HEIGHT = 78;
/** Radius and distance of the button that opens or folds a side. */
export const STUB_RADIUS = 15;
export const STUB_GAP = 20;
const CELL = 512;

/**
 * Return the boxes to lay out.
 * @param {GraphNode[]} nodes
 */
export function boxesOf(nodes) {
  return nodes.map(({ urn }) => ({ id: urn, width: BOX_WIDTH, height: BOX_HEIGHT }));
}

/**
 * Return the links to lay out.
 * @param {GraphEdge[]} edges
 */
export function linksOf(edges) {
  return edges.map(({ source, target }) => ({ from: source, to: target }));
}

/**
 * Join a shown graph with the places of its layout.
 * @param {import("./graph.js").Shown} shown
 * @param {any} placed the result of `layout`
 * @returns {Scene}
 */
export function sceneOf(shown, placed) {
  /** @type {Map<string, Box>} */
  const boxes = new Map();
  for (const node of shown.nodes) {
    const place = placed.places.get(node.urn);
    if (place) boxes.set(node.urn, { node, ...place });
  }
  const edges = new Map(shown.edges.map((edge) => [edgeKey(edge), edge]));
  /** @type {Line[]} */
  const lines = [];
  for (const { from, to, points, isBack } of placed.routes) {
    const edge = edges.get(`${from} ${to}`);
    if (edge) lines.push({ edge, points, isBack });
  }
  const areas = [...boxes.values()].map(({ x, y }) => ({ x, y, width: BOX_WIDTH, height: BOX_HEIGHT }));
  for (const [index, label] of placedLabels(lines, areas)) lines[index].label = label;
  return { boxes, lines, bounds: boundsOf(boxes.values()), grid: gridOf(boxes.values()) };
}

/**
 * @param {Iterable<Box>} boxes
 * @returns {Rectangle}
 */
function boundsOf(boxes) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of boxes) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + BOX_WIDTH);
    bottom = Math.max(bottom, y + BOX_HEIGHT);
  }
  if (left === Infinity) return { x: 0, y: 0, width: BOX_WIDTH, height: BOX_HEIGHT };
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** @param {Iterable<Box>} boxes */
function gridOf(boxes) {
  /** @type {Map<string, Box[]>} */
  const grid = new Map();
  for (const box of boxes) {
    for (const key of cells({ x: box.x, y: box.y, width: BOX_WIDTH, height: BOX_HEIGHT })) {
      const list = grid.get(key);
      if (list) list.push(box);
      else grid.set(key, [box]);
    }
  }
  return grid;
}

/** @param {Rectangle} area */
function cells({ x, y, width, height }) {
  const keys = [];
  for (let column = Math.floor(x / CELL); column <= Math.floor((x + width) / CELL); column += 1) {
    for (let row = Math.floor(y / CELL); row <= Math.floor((y + height) / CELL); row += 1) {
      keys.push(`${column} ${row}`);
    }
  }
  return keys;
}

/**
 * Return the boxes that a rectangle touches.
 * @param {Scene} scene
 * @param {Rectangle} area
 * @returns {Iterable<Box>}
 */
export function boxesIn(scene, area) {
  const cellCount = (area.width / CELL + 1) * (area.height / CELL + 1);
  if (cellCount > scene.boxes.size) return scene.boxes.values();
  /** @type {Set<Box>} */
  const found = new Set();
  for (const key of cells(area)) for (const box of scene.grid.get(key) ?? []) found.add(box);
  return found;
}

/**
 * Return whether a line may touch a rectangle.
 * @param {Line} line
 * @param {Rectangle} area
 */
export function isLineIn({ points }, { x, y, width, height }) {
  const [first, last] = [points[0], points[points.length - 1]];
  if (Math.max(first[0], last[0]) < x || Math.min(first[0], last[0]) > x + width) return false;
  let [top, bottom] = [Infinity, -Infinity];
  for (const point of points) {
    top = Math.min(top, point[1]);
    bottom = Math.max(bottom, point[1]);
  }
  return bottom >= y && top <= y + height;
}

/**
 * Return what lies at a point: a button of a side, a node, or nothing.
 * @param {Scene} scene
 * @param {{x: number, y: number}} point
 * @param {(urn: string, side: import("./address.js").Side) => boolean} hasStub
 * @param {number} size the factor by which the buttons have grown
 * @returns {{urn: string, part: "node" | "up" | "down"} | null}
 */
export function hit(scene, { x, y }, hasStub, size = 1) {
  const reach = STUB_GAP + STUB_RADIUS * size;
  const near = boxesIn(scene, { x: x - reach, y: y - reach, width: 2 * reach, height: 2 * reach });
  for (const box of near) {
    const dy = y - box.y - BOX_HEIGHT / 2;
    for (const side of /** @type {import("./address.js").Side[]} */ (["up", "down"])) {
      const dx = x - stubX(box, side);
      if (dx * dx + dy * dy <= (STUB_RADIUS * size + 2) ** 2 && hasStub(box.node.urn, side)) {
        return { urn: box.node.urn, part: side };
      }
    }
  }
  for (const box of near) {
    const isInside = x >= box.x && x <= box.x + BOX_WIDTH && y >= box.y && y <= box.y + BOX_HEIGHT;
    if (isInside) return { urn: box.node.urn, part: "node" };
  }
  return null;
}

/**
 * Return where the button of a side stands.
 * @param {Box} box
 * @param {import("./address.js").Side} side
 */
export function stubX(box, side) {
  return side === "up" ? box.x - STUB_GAP : box.x + BOX_WIDTH + STUB_GAP;
}

/**
 * Return the line nearest to a point, within a distance.
 * @param {Scene} scene
 * @param {{x: number, y: number}} point
 * @param {number} distance
 * @returns {Line | null}
 */
export function lineAt(scene, point, distance) {
  let best = null;
  let least = distance;
  const area = { x: point.x - distance, y: point.y - distance, width: 2 * distance, height: 2 * distance };
  for (const line of scene.lines) {
    if (!isLineIn(line, area)) continue;
    for (let index = 1; index < line.points.length; index += 1) {
      const off = distanceTo(point, line.points[index - 1], line.points[index]);
      if (off < least) [best, least] = [line, off];
    }
  }
  return best;
}

/**
 * Return the distance of a point from the curve between two points, which `tracePath` draws.
 * @param {{x: number, y: number}} point
 * @param {[number, number]} from
 * @param {[number, number]} to
 */
function distanceTo({ x, y }, [x1, y1], [x2, y2]) {
  if (x1 === x2) return Math.hypot(x - x1, y - Math.min(Math.max(y, Math.min(y1, y2)), Math.max(y1, y2)));
  const share = Math.min(Math.max((x - x1) / (x2 - x1), 0), 1);
  const onCurve = y1 + (y2 - y1) * share * share * (3 - 2 * share);
  return Math.hypot(x - (x1 + (x2 - x1) * share), y - onCurve);
}

/**
 * Draw a line into a path of a canvas, or into anything with its functions.
 * @param {{moveTo: Function, lineTo: Function, bezierCurveTo: Function}} path
 * @param {Line} line
 * @param {boolean} isCurved
 */
export function tracePath(path, { points }, isCurved = true) {
  path.moveTo(points[0][0], points[0][1]);
  for (let index = 1; index < points.length; index += 1) {
    const [x1, y1] = points[index - 1];
    const [x2, y2] = points[index];
    if (!isCurved || y1 === y2) path.lineTo(x2, y2);
    else {
      const middle = (x1 + x2) / 2;
      path.bezierCurveTo(middle, y1, middle, y2, x2, y2);
    }
  }
}

/**
 * Return a line as the data of an SVG path.
 * @param {Line} line
 */
export function pathData(line) {
  const parts = /** @type {string[]} */ ([]);
  const round = (/** @type {number[]} */ numbers) => numbers.map((number) => Math.round(number * 10) / 10).join(" ");
  tracePath(
    {
      moveTo: (/** @type {number[]} */ ...to) => parts.push(`M${round(to)}`),
      lineTo: (/** @type {number[]} */ ...to) => parts.push(`L${round(to)}`),
      bezierCurveTo: (/** @type {number[]} */ ...to) => parts.push(`C${round(to)}`),
    },
    line,
  );
  return parts.join("");
}

/**
 * Return the node nearest to another in a direction, as arrow keys move.
 * @param {Scene} scene
 * @param {string} urn
 * @param {"left" | "right" | "up" | "down"} direction
 */
export function neighbourIn(scene, urn, direction) {
  const from = scene.boxes.get(urn);
  if (!from) return scene.boxes.keys().next().value ?? urn;
  const isSideways = direction === "left" || direction === "right";
  const sign = direction === "left" || direction === "up" ? -1 : 1;
  const linked = new Set();
  for (const { edge } of isSideways ? scene.lines : []) {
    if (edge.source === urn && sign > 0) linked.add(edge.target);
    if (edge.target === urn && sign < 0) linked.add(edge.source);
  }
  let best = urn;
  let least = Infinity;
  for (const { node, x, y } of scene.boxes.values()) {
    const along = sign * (isSideways ? x - from.x : y - from.y);
    const aside = Math.abs(isSideways ? y - from.y : x - from.x);
    if (node.urn === urn || along <= 1) continue;
    // Left and right follow edges first; up and down stay in the column.
    const penalty = (isSideways && !linked.has(node.urn)) || (!isSideways && aside > BOX_WIDTH / 2) ? 1e6 : 0;
    const cost = along + 2 * aside + penalty;
    if (cost < least) [best, least] = [node.urn, cost];
  }
  return best;
}
