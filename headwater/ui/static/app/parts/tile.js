// A tile: one figure with what it is a share of, its time, its trend and a mark when it is out of
// bounds.
import { count, duration, minute, percent } from "../format.js";
import { html } from "../html.js";
import { t } from "../texts.js";

const WIDTH = 160;
const HEIGHT = 36;
const PADDING = 3;

/** @typedef {{date: string, value: number | null}} Point */

/**
 * Return the value of a figure as people read it; a dash if it is not known.
 * @param {number | null | undefined} value
 * @param {string} [unit] SHARE, SECONDS, or any other for a number
 */
export function figureText(value, unit) {
  if (value === null || value === undefined) return "–";
  if (unit === "SHARE") return percent(value);
  if (unit === "SECONDS") return duration(value);
  return count(Math.round(value * 10) / 10);
}

/**
 * Return the path of a line through the values of days, in a box. Days without a value break it; a
 * value between two such days is a dot.
 * @param {Point[]} history oldest first
 * @param {number} width
 * @param {number} height
 */
export function sparkline(history, width, height) {
  const known = history.filter(({ value }) => value !== null);
  if (!known.length) return "";
  const days = history.map(({ date }) => Date.parse(date));
  const [first, last] = [Math.min(...days), Math.max(...days)];
  const values = known.map(({ value }) => Number(value));
  const [low, high] = [Math.min(...values, 0), Math.max(...values)];
  const place = (/** @type {number} */ share, /** @type {number} */ size) =>
    Math.round((PADDING + share * (size - 2 * PADDING)) * 10) / 10;
  let isDrawing = false;
  return history
    .map(({ value }, index) => {
      const step = isDrawing ? "L" : "M";
      isDrawing = value !== null;
      if (value === null) return "";
      const x = place(last > first ? (days[index] - first) / (last - first) : 1, width);
      const y = place(1 - (high > low ? (value - low) / (high - low) : 0), height);
      return step === "M" ? `M${x} ${y}h0.1` : `L${x} ${y}`;
    })
    .join("");
}

/**
 * `unit` is SHARE (a value of 0 to 1), SECONDS, or any other for a number. `of` says what the value
 * is a share or a part of. `isBelow` is true beyond the threshold, whichever side of it is good.
 * @param {{
 *   figure: string, label: string, value: number | null, unit?: string, of?: any,
 *   asOf?: string | null, history?: Point[], threshold?: number | null, isBelow?: boolean,
 *   href?: string
 * }} properties
 */
export function Tile({ figure, label, value, unit, of = null, asOf, history = [], threshold = null, isBelow = false, href }) {
  const shown = html`<span class="figure" data-figure=${figure}>${figureText(value, unit)}</span>`;
  return html`<section class=${isBelow ? "tile below" : "tile"} aria-label=${label}>
    <h2>${href ? html`<a href=${href}>${label}</a>` : label}</h2>
    ${shown}
    ${of && html`<div class="note">${of}</div>`}
    ${threshold !== null && html`<${Badge} value=${value} threshold=${threshold} unit=${unit} isBelow=${isBelow} />`}
    <${Trend} label=${label} unit=${unit} history=${history} />
    ${asOf && html`<div class="note">${t("tile.asOf")} <time datetime=${asOf}>${minute(asOf)}</time></div>`}
  </section>`;
}

/** @param {{value: number | null, threshold: number, unit: string | undefined, isBelow: boolean}} properties */
function Badge({ value, threshold, unit, isBelow }) {
  if (value === null) return html`<div class="state state-unknown">${t("tile.unknown")}</div>`;
  const shape = isBelow ? "M7 1.5 13 12.5H1zM7 5v4M7 11v.5" : "M2 7.5 5.5 11 12 3.5";
  return html`<div class=${isBelow ? "state state-failed" : "state state-complete"}>
    <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      <path d=${shape} fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
    <span>${badgeWords(value, threshold, unit, isBelow)}</span>
  </div>`;
}

/**
 * @param {number} value
 * @param {number} threshold
 * @param {string | undefined} unit
 * @param {boolean} isBelow
 */
function badgeWords(value, threshold, unit, isBelow) {
  const values = { threshold: figureText(threshold, unit) };
  if (!isBelow) return t("tile.within", values);
  return value > threshold ? t("tile.above", values) : t("tile.below", values);
}

/**
 * The trend as a line, and as a table for those who do not see it.
 * @param {{label: string, unit: string | undefined, history: Point[]}} properties
 */
function Trend({ label, unit, history }) {
  const known = history.filter(({ value }) => value !== null);
  if (known.length < 2) return null;
  const [first, last] = [known[0], known[known.length - 1]];
  const words = t("tile.trend", {
    before: figureText(first.value, unit),
    since: first.date,
    after: figureText(last.value, unit),
    until: last.date,
  });
  return html`<svg class="spark" width=${WIDTH} height=${HEIGHT} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${words}>
      <path d=${sparkline(history, WIDTH, HEIGHT)} fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
    <details>
      <summary>${t("tile.history", { days: count(known.length) })}</summary>
      <div class="table-frame trend" tabindex="0" role="region" aria-label=${t("tile.table", { label })}>
        <table>
          <thead><tr><th scope="col">${t("column.day")}</th><th scope="col" class="number">${label}</th></tr></thead>
          <tbody>
            ${[...known].reverse().map(
              ({ date, value }) => html`<tr key=${date}><td class="nowrap">${date}</td><td class="number">${figureText(value, unit)}</td></tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>`;
}
