// The viewport of a stage, shared by all that is drawn on it. Moving it draws nothing by itself.
import { centredOn, fitted, keptInSight, opening, revealing, zoomed } from "./viewport.js";

/**
 * @typedef {import("./viewport.js").Viewport} Viewport
 * @typedef {import("./viewport.js").Size} Size
 */

export class Camera {
  constructor() {
    /** @type {Viewport} */
    this.viewport = { left: 0, top: 0, scale: 1 };
    /** @type {Size} */
    this.size = { width: 0, height: 0 };
    /** @type {Set<() => void>} */
    this.listeners = new Set();
    this.frame = 0;
    /** What must stay in sight, at least in part. @type {import("./scene.js").Rectangle | null} */
    this.bounds = null;
  }

  /**
   * Call a function at the next frame after each change, until the returned function is called.
   * @param {() => void} listener
   */
  onChange(listener) {
    this.listeners.add(listener);
    listener();
    return () => {
      this.listeners.delete(listener);
    };
  }

  changed() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      for (const listener of this.listeners) listener();
    });
  }

  /** @param {Viewport} viewport */
  show(viewport) {
    this.viewport = this.bounds ? keptInSight(viewport, this.bounds, this.size) : viewport;
    this.changed();
  }

  /** @param {Size} size */
  resize(size) {
    this.size = size;
    this.changed();
  }

  /** @param {number} dx @param {number} dy */
  pan(dx, dy) {
    const { left, top, scale } = this.viewport;
    this.show({ left: left + dx, top: top + dy, scale });
  }

  /** @param {number} factor @param {{x: number, y: number}} [fixed] */
  zoom(factor, fixed = { x: this.size.width / 2, y: this.size.height / 2 }) {
    this.show(zoomed(this.viewport, factor, fixed));
  }

  /** @param {import("./scene.js").Rectangle} bounds */
  fit(bounds) {
    this.show(fitted(bounds, this.size));
  }

  /** @param {import("./scene.js").Rectangle} bounds @param {{x: number, y: number}} centre */
  open(bounds, centre) {
    this.show(opening(bounds, centre, this.size));
  }

  /** @param {{x: number, y: number}} point */
  centre(point) {
    this.show(centredOn(point, this.size, Math.max(this.viewport.scale, 0.75)));
  }

  /** @param {import("./scene.js").Rectangle} area */
  reveal(area) {
    this.show(revealing(this.viewport, area, this.size));
  }
}
