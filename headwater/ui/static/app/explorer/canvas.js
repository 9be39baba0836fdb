// The graph on a canvas, when too many nodes are shown for SVG. Only what can be seen is drawn. While
// one pans or zooms, the drawn picture is moved; it is drawn again when the movement ends, or when it
// no longer covers the stage.
import { html, useEffect, useRef } from "../html.js";
import { colourOf, shapeOf } from "../parts/state.js";
import { t } from "../texts.js";
import {
  FIRST_LINE,
  FONT,
  LAST_LINE,
  NAME_LINE,
  SMALL,
  detailAt,
  fitText,
  iconOf,
  lineOf,
  shownState,
  titleOf,
  wordOf,
} from "./marks.js";
import { BOX_HEIGHT, BOX_WIDTH, STUB_RADIUS, boxesIn, isLineIn, stubX, tracePath } from "./scene.js";
import { stubText } from "./svg.js";
import { worldArea } from "./viewport.js";

/** How far the picture reaches over the stage on each side, as a share of its size. */
const MARGIN = 0.25;
const REST_MILLISECONDS = 120;
/** Below this scale curves look straight. */
const CURVED_SCALE = 0.3;
const PADDING = 14;
const TOKENS = /** @type {const} */ ([
  "surface",
  "raised",
  "ink",
  "soft",
  "line-strong",
  "focus",
  "accent",
  "complete",
  "running",
  "failed",
  "aborted",
  "abandoned",
  "stale",
  "unknown",
]);

/** @typedef {Record<string, string>} Colours */

/** @param {{scene: import("./scene.js").Scene, camera: import("./camera.js").Camera, look: import("./svg.js").Look}} properties */
export function CanvasLayer({ scene, camera, look }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const picture = useRef(/** @type {Picture | null} */ (null));
  useEffect(() => {
    if (!canvas.current) return undefined;
    const drawn = new Picture(canvas.current, camera);
    picture.current = drawn;
    const stops = [camera.onChange(() => drawn.moved()), onTheme(() => drawn.themed())];
    return () => {
      for (const stop of stops) stop();
      drawn.stop();
    };
  }, [camera]);
  useEffect(() => picture.current?.of(scene, look), [scene, look]);
  return html`<canvas ref=${canvas} class="picture" role="img" aria-label=${t("explorer.canvas")} />`;
}

/**
 * Call a function when the colours change, until the returned function is called.
 * @param {() => void} listener
 */
function onTheme(listener) {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", listener);
  return () => {
    observer.disconnect();
    system.removeEventListener("change", listener);
  };
}

class Picture {
  /** @param {HTMLCanvasElement} canvas @param {import("./camera.js").Camera} camera */
  constructor(canvas, camera) {
    this.canvas = canvas;
    this.camera = camera;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.drawnAt = camera.viewport;
    /** @type {import("./scene.js").Scene | null} */
    this.scene = null;
    /** @type {import("./svg.js").Look | null} */
    this.look = null;
    this.colours = coloursOf(canvas);
    /** @type {number | undefined} */
    this.rest = undefined;
  }

  stop() {
    clearTimeout(this.rest);
  }

  themed() {
    this.colours = coloursOf(this.canvas);
    this.draw();
  }

  /** @param {import("./scene.js").Scene} scene @param {import("./svg.js").Look} look */
  of(scene, look) {
    this.scene = scene;
    this.look = look;
    this.draw();
  }

  /** Move the drawn picture with the camera; draw it again if it no longer covers the stage. */
  moved() {
    if (!this.scene) return;
    const { viewport, size } = this.camera;
    const ratio = viewport.scale / this.drawnAt.scale;
    const left = viewport.left - this.drawnAt.left * ratio;
    const top = viewport.top - this.drawnAt.top * ratio;
    const x = left - size.width * MARGIN * ratio;
    const y = top - size.height * MARGIN * ratio;
    const reach = (1 + 2 * MARGIN) * ratio;
    const covers = x <= 0 && y <= 0 && x + size.width * reach >= size.width && y + size.height * reach >= size.height;
    const isCurrent = ratio === 1 && this.isSized();
    if (!this.isSized() || (!covers && ratio >= 1) || ratio > 2 || ratio < 0.5) {
      this.draw();
      return;
    }
    this.canvas.style.transform = `translate(${x}px, ${y}px) scale(${ratio})`;
    clearTimeout(this.rest);
    if (!isCurrent || !covers) this.rest = setTimeout(() => this.draw(), REST_MILLISECONDS);
  }

  isSized() {
    const { width, height } = this.pixels();
    return this.canvas.width === width && this.canvas.height === height;
  }

  pixels() {
    const { width, height } = this.camera.size;
    const density = window.devicePixelRatio || 1;
    const reach = (1 + 2 * MARGIN) * density;
    return { width: Math.round(width * reach), height: Math.round(height * reach), density };
  }

  draw() {
    clearTimeout(this.rest);
    const { viewport, size } = this.camera;
    if (!this.scene || !this.look || !size.width) return;
    const { width, height, density } = this.pixels();
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    const [dx, dy] = [size.width * MARGIN, size.height * MARGIN];
    this.canvas.style.width = `${width / density}px`;
    this.canvas.style.height = `${height / density}px`;
    this.canvas.style.transform = `translate(${-dx}px, ${-dy}px)`;
    this.drawnAt = viewport;
    const shifted = { ...viewport, left: viewport.left + dx, top: viewport.top + dy };
    const area = worldArea(shifted, { width: width / density, height: height / density });
    const { context } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, width, height);
    const scale = viewport.scale * density;
    context.setTransform(scale, 0, 0, scale, shifted.left * density, shifted.top * density);
    drawLines(context, this.scene, this.look, this.colours, { area, scale: viewport.scale });
    drawBoxes(context, this.scene, this.look, this.colours, { area, scale: viewport.scale });
  }
}

/**
 * @param {Element} element
 * @returns {Colours}
 */
function coloursOf(element) {
  const style = getComputedStyle(element);
  return Object.fromEntries(TOKENS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/**
 * @typedef {{area: import("./scene.js").Rectangle, scale: number}} Frame
 *
 * @param {CanvasRenderingContext2D} context
 * @param {import("./scene.js").Scene} scene
 * @param {import("./svg.js").Look} look
 * @param {Colours} colours
 * @param {Frame} frame
 */
function drawLines(context, scene, { path }, colours, { area, scale }) {
  const isCurved = scale >= CURVED_SCALE;
  /** @type {Map<string, import("./scene.js").Line[]>} */
  const batches = new Map();
  for (const line of scene.lines) {
    if (!isLineIn(line, area)) continue;
    const mood = moodOfLine(line.edge, path);
    const batch = batches.get(mood);
    if (batch) batch.push(line);
    else batches.set(mood, [line]);
  }
  const width = Math.max(1.5, 1 / scale);
  for (const mood of ["dim", "plain", "removed", "added", "path"]) {
    const batch = batches.get(mood);
    if (!batch) continue;
    const colour = { path: "accent", added: "complete", removed: "failed" }[mood] ?? "line-strong";
    context.strokeStyle = colours[colour];
    context.globalAlpha = mood === "dim" ? 0.25 : 1;
    context.lineWidth = mood === "path" ? width * 1.7 : width;
    context.setLineDash(mood === "removed" ? [6, 5] : []);
    context.beginPath();
    for (const line of batch) {
      tracePath(context, line, isCurved);
      if (isCurved) traceArrow(context, line);
    }
    context.stroke();
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
  if (!detailAt(scale).isFull) return;
  context.font = `${SMALL}px ${FONT}`;
  context.fillStyle = colours.soft;
  context.textAlign = "center";
  for (const [, batch] of batches) {
    for (const line of batch) {
      if (line.label) context.fillText(line.label.text, line.label.x, line.label.y);
    }
  }
}

/**
 * @param {import("./graph.js").GraphEdge} edge
 * @param {Set<string> | null} path
 */
function moodOfLine(edge, path) {
  if (path) return path.has(edge.source) && path.has(edge.target) ? "path" : "dim";
  return edge.change && edge.change !== "same" ? edge.change : "plain";
}

/** @param {CanvasRenderingContext2D} context @param {import("./scene.js").Line} line */
function traceArrow(context, { points }) {
  const [x, y] = points[points.length - 1];
  context.moveTo(x - 6, y - 6);
  context.lineTo(x, y);
  context.lineTo(x - 6, y + 6);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("./scene.js").Scene} scene
 * @param {import("./svg.js").Look} look
 * @param {Colours} colours
 * @param {Frame} frame
 */
function drawBoxes(context, scene, look, colours, { area, scale }) {
  const detail = detailAt(scale);
  /** @type {Map<string, import("./scene.js").Box[]>} */
  const batches = new Map();
  for (const box of boxesIn(scene, area)) {
    if (box.x > area.x + area.width || box.x + BOX_WIDTH < area.x) continue;
    if (box.y > area.y + area.height || box.y + BOX_HEIGHT < area.y) continue;
    const isDim = look.path && !look.path.has(box.node.urn);
    const key = `${isDim ? "dim" : "clear"} ${tokenOf(box.node)}`;
    const batch = batches.get(key);
    if (batch) batch.push(box);
    else batches.set(key, [box]);
  }
  for (const [key, batch] of batches) {
    const [mood, token] = key.split(" ");
    context.globalAlpha = mood === "dim" ? 0.35 : 1;
    context.fillStyle = detail.nameSize ? colours.surface : colours[token];
    context.strokeStyle = colours[token];
    context.lineWidth = Math.max(token === "line-strong" ? 1.2 : 2.2, 1 / scale);
    if (detail.nameSize) {
      context.beginPath();
      for (const { node, x, y } of batch) {
        context.roundRect(x, y, BOX_WIDTH, BOX_HEIGHT, node.kind === "JOB" || node.kind === "PIPELINE_RUN" ? 20 : 6);
      }
      context.fill();
      context.stroke();
      for (const box of batch) drawTexts(context, box, look, colours, detail);
    } else for (const { x, y } of batch) context.fillRect(x, y, BOX_WIDTH, BOX_HEIGHT);
  }
  context.globalAlpha = 1;
  for (const urn of new Set([...look.starts, look.selected, look.focused])) {
    const box = scene.boxes.get(urn);
    if (!box) continue;
    context.strokeStyle = urn === look.focused ? colours.focus : colours.accent;
    context.lineWidth = Math.max(3, 2.5 / scale);
    context.strokeRect(box.x - 4, box.y - 4, BOX_WIDTH + 8, BOX_HEIGHT + 8);
  }
}

/**
 * Return the name of the colour of a node's border.
 * @param {import("./graph.js").GraphNode} node
 */
function tokenOf(node) {
  if (node.change === "added") return "complete";
  if (node.change === "removed") return "failed";
  const state = shownState(node);
  return state && state !== "unknown" ? colourOf(state) : "line-strong";
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("./scene.js").Box} box
 * @param {import("./svg.js").Look} look
 * @param {Colours} colours
 * @param {import("./marks.js").Detail} detail
 */
function drawTexts(context, { node, x, y, ...rest }, look, colours, detail) {
  const isRound = node.kind === "JOB" || node.kind === "PIPELINE_RUN";
  const left = x + (isRound ? PADDING + 4 : PADDING);
  const width = BOX_WIDTH - PADDING - (left - x);
  const font = `600 ${detail.nameSize}px ${FONT}`;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.font = font;
  context.fillStyle = colours.ink;
  const name = fitText(titleOf(node), width, font);
  context.fillText(name, left, detail.isFull ? y + NAME_LINE - 5 : y + BOX_HEIGHT / 2);
  if (detail.isFull) drawLinesOfNode(context, { node, left, right: x + BOX_WIDTH - PADDING, y, width }, look, colours);
  for (const side of /** @type {import("./address.js").Side[]} */ (["up", "down"])) {
    const text = stubText(look, node.urn, side);
    if (text) drawStub(context, { x: stubX({ node, x, y, ...rest }, side), y: y + BOX_HEIGHT / 2, size: detail.stub }, text, colours);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {{node: import("./graph.js").GraphNode, left: number, right: number, y: number, width: number}} box
 * @param {import("./svg.js").Look} look
 * @param {Colours} colours
 */
function drawLinesOfNode(context, { node, left, right, y, width }, { overlay }, colours) {
  context.font = `${SMALL}px ${FONT}`;
  context.fillStyle = colours.soft;
  context.fillText(fitText(lineOf(node, overlay), width, context.font), left, y + LAST_LINE - 4);
  context.fillText(t(`kind.${node.kind}`), left + 23, y + FIRST_LINE - 4);
  context.strokeStyle = colours.soft;
  context.lineWidth = 1.3;
  strokeAt(context, iconOf(node.kind), left, y + 11);
  const state = shownState(node);
  const word = wordOf(node);
  context.fillStyle = context.strokeStyle = colours[tokenOf(node)];
  context.textAlign = "right";
  if (word) context.fillText(word, right - 20, y + FIRST_LINE - 4);
  context.textAlign = "left";
  context.lineWidth = 2;
  if (state) strokeAt(context, shapeOf(state), right - 14, y + 12);
}

/** @type {Map<string, Path2D>} */
const paths = new Map();

/** @param {CanvasRenderingContext2D} context @param {string} data @param {number} x @param {number} y */
function strokeAt(context, data, x, y) {
  let path = paths.get(data);
  if (!path) {
    path = new Path2D(data);
    paths.set(data, path);
  }
  context.translate(x, y);
  context.stroke(path);
  context.translate(-x, -y);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {{x: number, y: number, size: number}} place
 * @param {string} text
 * @param {Colours} colours
 */
function drawStub(context, { x, y, size }, text, colours) {
  context.beginPath();
  context.arc(x, y, STUB_RADIUS * size, 0, 2 * Math.PI);
  context.fillStyle = colours.raised;
  context.strokeStyle = colours["line-strong"];
  context.lineWidth = 1.2;
  context.fill();
  context.stroke();
  context.fillStyle = colours.ink;
  context.font = `600 ${SMALL * size}px ${FONT}`;
  context.textAlign = "center";
  context.fillText(text, x, y + 0.5);
  context.textAlign = "left";
}
