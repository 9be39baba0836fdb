// The controls above the graph. Each changes the address, and the address changes the graph.
import { html } from "../html.js";
import { t } from "../texts.js";
import { DEPTH_MAX, LEVELS } from "./address.js";
import { GROUPINGS } from "./groups.js";
import { OVERLAYS } from "./marks.js";
import { TimeControl } from "./time.js";

const DEPTHS = [1, 2, 3, 5, 10, DEPTH_MAX];
const DIRECTIONS = ["BOTH", "UPSTREAM", "DOWNSTREAM"];

/** @typedef {import("./address.js").View} View */

/**
 * `change` replaces the address, `step` makes a step that "back" returns from.
 * @param {{
 *   view: View, change: (part: Partial<View>) => void, step: (part: Partial<View>) => void,
 *   children?: any
 * }} properties
 */
export function Controls({ view, change, step, children = null }) {
  const depths = DEPTHS.includes(view.depth) ? DEPTHS : [...DEPTHS, view.depth].sort((a, b) => a - b);
  return html`<div class="controls" role="toolbar" aria-label=${t("explorer.controls")}>
    <${Choice}
      name="direction"
      value=${view.direction}
      options=${DIRECTIONS.map((value) => [value, t(`explorer.direction.${value}`)])}
      change=${(/** @type {string} */ direction) => change({ direction })}
    />
    <${Choice}
      name="depth"
      value=${view.depth}
      options=${depths.map((value) => [value, value === DEPTH_MAX ? t("explorer.depth.all") : String(value)])}
      change=${(/** @type {string} */ depth) => change({ depth: Number(depth) })}
    />
    <${Choice}
      name="level"
      value=${view.level}
      options=${LEVELS.map((value) => [value, t(`explorer.level.${value || "none"}`)])}
      change=${(/** @type {string} */ level) => step({ level, open: [], folded: [], apart: [] })}
    />
    <${Choice}
      name="overlay"
      value=${view.overlay}
      options=${["", ...OVERLAYS].map((value) => [value, t(`explorer.overlay.${value || "none"}`)])}
      change=${(/** @type {string} */ overlay) => change({ overlay })}
    />
    <${Choice}
      name="group"
      value=${view.group}
      options=${["", ...GROUPINGS].map((value) => [value, t(`explorer.group.${value || "none"}`)])}
      change=${(/** @type {string} */ group) => change({ group, apart: [] })}
    />
    <${TimeControl} view=${view} step=${step} />
    ${children}
  </div>`;
}

/** @param {{step: (part: Partial<View>) => void, isList: boolean}} properties */
export function ViewSwitch({ step, isList }) {
  return html`<div class="switch" role="group" aria-label=${t("explorer.view")}>
    <button aria-pressed=${!isList} onClick=${() => step({ view: "graph" })}>${t("explorer.view.graph")}</button>
    <button aria-pressed=${isList} onClick=${() => step({ view: "list" })}>${t("explorer.view.list")}</button>
  </div>`;
}

/**
 * @param {{name: string, value: string | number, options: [string | number, string][], change: (value: string) => void}} properties
 */
function Choice({ name, value, options, change }) {
  return html`<label>
    <span>${t(`explorer.${name}`)}</span>
    <select name=${name} value=${value} onChange=${(/** @type {any} */ event) => change(event.target.value)}>
      ${options.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === value}>${text}</option>`)}
    </select>
  </label>`;
}

/**
 * @param {{camera: import("./camera.js").Camera, fit: () => void, home: () => void, help: () => void}} properties
 */
export function ZoomButtons({ camera, fit, home, help }) {
  const button = (/** @type {string} */ name, /** @type {string} */ sign, /** @type {() => void} */ act) =>
    html`<button aria-label=${t(`explorer.zoom.${name}`)} title=${t(`explorer.zoom.${name}`)} onClick=${act}>${sign}</button>`;
  return html`<div class="zoom" role="group" aria-label=${t("explorer.zoom")}>
    ${button("in", "+", () => camera.zoom(1.25))} ${button("out", "−", () => camera.zoom(0.8))}
    ${button("fit", "⤢", fit)} ${button("home", "⌂", home)} ${button("help", "?", help)}
  </div>`;
}
