// The stage of the graph: pointer, wheel and keys move the camera and choose nodes.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";
import { t } from "../texts.js";
import { CanvasLayer } from "./canvas.js";
import { keyAction } from "./keyboard.js";
import { detailAt } from "./marks.js";
import { Minimap } from "./minimap.js";
import { BOX_HEIGHT, BOX_WIDTH, hit, lineAt, neighbourIn } from "./scene.js";
import { SvgLayer, stubText } from "./svg.js";
import { worldPoint } from "./viewport.js";

/** Up to so many nodes SVG is as fast as a canvas; at 300 it has half the frames. */
export const SVG_NODES_MAX = 150;
/** A few groups with many edges between them are slow as well. */
const SVG_LINES_MAX = 500;
const DRAG_PIXELS_MIN = 4;
const LINE_PIXELS = 40;
const LINE_REACH_PIXELS = 7;

/**
 * The callbacks by which the stage reports gestures to the explorer.
 * @typedef {object} Handlers
 * @property {(urn: string) => void} select
 * @property {(edge: import("./graph.js").GraphEdge) => void} selectEdge
 * @property {() => void} release frees the selection
 * @property {(urn: string) => void} focus
 * @property {(urn: string) => void} hover
 * @property {(urn: string, side: import("./address.js").Side) => void} toggle
 * @property {(urn: string) => void} centre
 * @property {(urn: string) => void} pathTo
 * @property {(isOpen: boolean, urn: string) => void} unfold opens or folds both sides
 * @property {() => void} home
 * @property {() => void} fit
 * @property {() => void} help
 */

/**
 * @param {{
 *   scene: import("./scene.js").Scene, camera: import("./camera.js").Camera,
 *   look: import("./svg.js").Look, handlers: Handlers, description: string, children?: any
 * }} properties
 */
export function Stage({ scene, camera, look, handlers, description, children = null }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const latest = useRef({ scene, look, handlers });
  latest.current = { scene, look, handlers };
  const [isSized, setSized] = useState(false);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const measure = () => {
      if (!element.clientWidth) return;
      camera.resize({ width: element.clientWidth, height: element.clientHeight });
      setSized(true);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [camera]);
  useEffect(() => (frame.current ? listen(frame.current, camera, latest) : undefined), [camera]);
  const isMuch = scene.boxes.size > SVG_NODES_MAX || scene.lines.length > SVG_LINES_MAX;
  const Layer = isMuch ? CanvasLayer : SvgLayer;
  const pressed = (/** @type {KeyboardEvent} */ event) => onKey(event, latest.current, camera);
  return html`<div class="stage-frame">
    <div
      ref=${frame}
      class="stage"
      tabindex="0"
      role="application"
      aria-label=${t("explorer.stage")}
      aria-describedby="stage-description"
      aria-activedescendant=${look.focused && Layer === SvgLayer ? `node-${look.focused}` : undefined}
      data-layer=${Layer === SvgLayer ? "svg" : "canvas"}
      onKeyDown=${pressed}
    >
      ${isSized && html`<${Layer} scene=${scene} camera=${camera} look=${look} />`}
    </div>
    <p id="stage-description" class="hidden-text">${description}</p>
    <${Minimap} scene=${scene} camera=${camera} />
    ${children}
  </div>`;
}

/**
 * @typedef {{scene: import("./scene.js").Scene, look: import("./svg.js").Look, handlers: Handlers}} Latest
 *
 * @param {KeyboardEvent} event
 * @param {Latest} latest
 * @param {import("./camera.js").Camera} camera
 */
function onKey(event, { scene, look, handlers }, camera) {
  const action = keyAction(event);
  if (!action) return;
  event.preventDefault();
  const urn = look.focused || look.selected || look.starts[0] || "";
  if (action.move) {
    const next = look.focused ? neighbourIn(scene, look.focused, action.move) : urn;
    handlers.focus(next);
    const box = scene.boxes.get(next);
    if (box) camera.reveal({ x: box.x, y: box.y, width: BOX_WIDTH, height: BOX_HEIGHT });
  } else if (action.name === "select") handlers.select(urn);
  else if (action.name === "centre") handlers.centre(urn);
  else if (action.name === "open") handlers.unfold(true, urn);
  else if (action.name === "fold") handlers.unfold(false, urn);
  else if (action.name === "in") camera.zoom(1.25);
  else if (action.name === "out") camera.zoom(0.8);
  else handlers[/** @type {"home" | "fit" | "help" | "release"} */ (action.name)]();
}

/**
 * Listen to the pointer on the stage, until the returned function is called.
 * @param {HTMLElement} element
 * @param {import("./camera.js").Camera} camera
 * @param {{current: Latest}} latest
 */
function listen(element, camera, latest) {
  /** @type {Map<number, {x: number, y: number}>} */
  const pointers = new Map();
  let moved = 0;
  const pointOf = (/** @type {MouseEvent} */ event) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const at = (/** @type {MouseEvent} */ event) => {
    const { scene, look } = latest.current;
    const { stub } = detailAt(camera.viewport.scale);
    const hasStub = (/** @type {string} */ urn, /** @type {any} */ side) => stub > 0 && stubText(look, urn, side) !== "";
    return hit(scene, worldPoint(camera.viewport, pointOf(event)), hasStub, stub);
  };
  const wheel = (/** @type {WheelEvent} */ event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? LINE_PIXELS : 1;
    if (event.ctrlKey || event.metaKey) camera.zoom(Math.exp((-event.deltaY * unit) / 300), pointOf(event));
    else if (event.shiftKey && !event.deltaX) camera.pan(-event.deltaY * unit, 0);
    else camera.pan(-event.deltaX * unit, -event.deltaY * unit);
  };
  const down = (/** @type {PointerEvent} */ event) => {
    if (event.button !== 0) return;
    if (!pointers.size) moved = 0;
    pointers.set(event.pointerId, pointOf(event));
    element.setPointerCapture(event.pointerId);
  };
  const move = (/** @type {PointerEvent} */ event) => {
    const before = pointers.get(event.pointerId);
    if (!before) {
      latest.current.handlers.hover(at(event)?.urn ?? "");
      return;
    }
    const now = pointOf(event);
    moved += Math.hypot(now.x - before.x, now.y - before.y);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const ratio = Math.hypot(now.x - other.x, now.y - other.y) / Math.hypot(before.x - other.x, before.y - other.y);
      camera.zoom(ratio, other);
    } else if (moved >= DRAG_PIXELS_MIN) camera.pan(now.x - before.x, now.y - before.y);
    pointers.set(event.pointerId, now);
  };
  const up = (/** @type {PointerEvent} */ event) => {
    const isClick = pointers.delete(event.pointerId) && !pointers.size && moved < DRAG_PIXELS_MIN;
    if (isClick && event.type === "pointerup") click(event);
  };
  const click = (/** @type {PointerEvent} */ event) => {
    const { scene, handlers } = latest.current;
    const found = at(event);
    if (found?.part === "node" && event.shiftKey) handlers.pathTo(found.urn);
    else if (found?.part === "node") handlers.select(found.urn);
    else if (found) handlers.toggle(found.urn, /** @type {any} */ (found.part));
    else {
      const reach = LINE_REACH_PIXELS / camera.viewport.scale;
      const line = lineAt(scene, worldPoint(camera.viewport, pointOf(event)), reach);
      if (line) handlers.selectEdge(line.edge);
      else handlers.release();
    }
  };
  const twice = (/** @type {MouseEvent} */ event) => {
    const found = at(event);
    if (found?.part === "node") latest.current.handlers.centre(found.urn);
  };
  const leave = () => latest.current.handlers.hover("");
  element.addEventListener("wheel", wheel, { passive: false });
  element.addEventListener("pointerdown", down);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("pointerleave", leave);
  element.addEventListener("dblclick", twice);
  return () => {
    element.removeEventListener("wheel", wheel);
    element.removeEventListener("pointerdown", down);
    element.removeEventListener("pointermove", move);
    element.removeEventListener("pointerup", up);
    element.removeEventListener("pointercancel", up);
    element.removeEventListener("pointerleave", leave);
    element.removeEventListener("dblclick", twice);
  };
}
