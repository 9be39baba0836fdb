// Pan and zoom: which part of the world the stage shows, and at what scale. Pure functions.

/**
 * A point (x, y) of the world is drawn at (x * scale + left, y * scale + top).
 * @typedef {{left: number, top: number, scale: number}} Viewport
 * @typedef {{width: number, height: number}} Size
 * @typedef {import("./scene.js").Rectangle} Rectangle
 */

export const SCALE_MIN = 0.02;
export const SCALE_MAX = 2.5;
/** A view opens with names that can be read, even if not everything fits. */
const READABLE_SCALE = 0.82;
const MARGIN = 48;
/** So many pixels of the graph stay on the stage. */
const IN_SIGHT = 100;

/**
 * Return the viewport that shows all of a rectangle.
 * @param {Rectangle} bounds
 * @param {Size} size
 * @param {number} [scaleMax]
 * @returns {Viewport}
 */
export function fitted(bounds, size, scaleMax = 1) {
  const scale = clampedScale(
    Math.min((size.width - 2 * MARGIN) / bounds.width, (size.height - 2 * MARGIN) / bounds.height, scaleMax),
  );
  return centredOn({ x: bounds.x + bounds.width / 2, y: bounds.y + bounds.height / 2 }, size, scale);
}

/**
 * Return the first viewport of a graph: all of it if its names can be read then, else its centre
 * and as much around it as fits.
 * @param {Rectangle} bounds
 * @param {{x: number, y: number}} centre
 * @param {Size} size
 * @returns {Viewport}
 */
export function opening(bounds, centre, size) {
  const whole = fitted(bounds, size);
  if (whole.scale >= READABLE_SCALE) return whole;
  const scale = READABLE_SCALE;
  const middle = (/** @type {"x" | "y"} */ axis, /** @type {"width" | "height"} */ length) => {
    const half = (size[length] / 2 - MARGIN) / scale;
    const [low, high] = [bounds[axis] + half, bounds[axis] + bounds[length] - half];
    return low > high ? bounds[axis] + bounds[length] / 2 : Math.min(Math.max(centre[axis], low), high);
  };
  return centredOn({ x: middle("x", "width"), y: middle("y", "height") }, size, scale);
}

/**
 * Return the viewport with a point of the world in its middle.
 * @param {{x: number, y: number}} point
 * @param {Size} size
 * @param {number} scale
 * @returns {Viewport}
 */
export function centredOn({ x, y }, size, scale) {
  return { left: size.width / 2 - x * scale, top: size.height / 2 - y * scale, scale };
}

/**
 * Return a viewport zoomed by a factor, with a point of the stage in its place.
 * @param {Viewport} viewport
 * @param {number} factor
 * @param {{x: number, y: number}} fixed
 * @returns {Viewport}
 */
export function zoomed(viewport, factor, fixed) {
  const scale = clampedScale(viewport.scale * factor);
  const ratio = scale / viewport.scale;
  return { left: fixed.x - (fixed.x - viewport.left) * ratio, top: fixed.y - (fixed.y - viewport.top) * ratio, scale };
}

/**
 * Return a viewport moved just so far that a rectangle of the world can be seen.
 * @param {Viewport} viewport
 * @param {Rectangle} area
 * @param {Size} size
 * @returns {Viewport}
 */
export function revealing(viewport, area, size) {
  const { scale } = viewport;
  const shift = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ length) => {
    if (from < MARGIN) return MARGIN - from;
    return to > length - MARGIN ? length - MARGIN - to : 0;
  };
  const x = area.x * scale + viewport.left;
  const y = area.y * scale + viewport.top;
  return {
    left: viewport.left + shift(x, x + area.width * scale, size.width),
    top: viewport.top + shift(y, y + area.height * scale, size.height),
    scale,
  };
}

/**
 * Return a viewport moved just so far that a part of a rectangle stays on the stage.
 * @param {Viewport} viewport
 * @param {Rectangle} bounds
 * @param {Size} size
 * @returns {Viewport}
 */
export function keptInSight({ left, top, scale }, bounds, size) {
  const clamped = (/** @type {number} */ at, /** @type {number} */ from, /** @type {number} */ length, /** @type {number} */ room) =>
    Math.min(Math.max(at, IN_SIGHT - (from + length) * scale), room - IN_SIGHT - from * scale);
  return {
    left: clamped(left, bounds.x, bounds.width, size.width),
    top: clamped(top, bounds.y, bounds.height, size.height),
    scale,
  };
}

/**
 * Return the rectangle of the world that a stage shows.
 * @param {Viewport} viewport
 * @param {Size} size
 * @returns {Rectangle}
 */
export function worldArea({ left, top, scale }, { width, height }) {
  return { x: -left / scale, y: -top / scale, width: width / scale, height: height / scale };
}

/**
 * @param {Viewport} viewport
 * @param {{x: number, y: number}} point of the stage
 */
export function worldPoint({ left, top, scale }, { x, y }) {
  return { x: (x - left) / scale, y: (y - top) / scale };
}

/** @param {number} scale */
function clampedScale(scale) {
  return Math.min(Math.max(scale, SCALE_MIN), SCALE_MAX);
}
