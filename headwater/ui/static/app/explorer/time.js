// The time of the graph: now, at an instant, or the difference of two instants.
import { minute } from "../format.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { t } from "../texts.js";

const PERIODS = /** @type {[string, number][]} */ ([
  ["day", 86_400_000],
  ["week", 7 * 86_400_000],
  ["month", 30 * 86_400_000],
  ["year", 365 * 86_400_000],
]);
const STEPS = 200;

/** @typedef {import("./address.js").View} View */

/** @param {{view: View, step: (part: Partial<View>) => void}} properties */
export function TimeControl({ view, step }) {
  const isPast = Boolean(view.asOf || view.from);
  const frame = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  useEffect(() => {
    const close = (/** @type {Event} */ event) => {
      const isOutside = !frame.current?.contains(/** @type {Node} */ (event.target));
      const isEscape = event instanceof KeyboardEvent && event.key === "Escape";
      if (frame.current && (isEscape || (event.type === "pointerdown" && isOutside))) frame.current.open = false;
    };
    document.addEventListener("pointerdown", close);
    document.addEventListener("keydown", close);
    return () => {
      document.removeEventListener("pointerdown", close);
      document.removeEventListener("keydown", close);
    };
  }, []);
  const placed = () => {
    const popover = frame.current?.querySelector(".popover");
    popover?.classList.remove("to-left");
    const isCut = popover && popover.getBoundingClientRect().right > window.innerWidth;
    popover?.classList.toggle("to-left", Boolean(isCut));
  };
  return html`<details class="time" ref=${frame} onToggle=${placed}>
    <summary class=${isPast ? "is-set" : ""}>${timeTitle(view)}</summary>
    <div class="popover">
      <${Instant} name="asOf" value=${view.asOf} change=${(/** @type {string} */ asOf) => step({ asOf })} />
      <${Slider} value=${view.asOf} change=${(/** @type {string} */ asOf) => step({ asOf })} />
      <${Instant} name="from" value=${view.from} change=${(/** @type {string} */ from) => step({ from, open: [] })} />
      <p class="soft">${t("explorer.time.hint")}</p>
      ${isPast && html`<p><button onClick=${() => step({ asOf: "", from: "" })}>${t("explorer.time.now")}</button></p>`}
    </div>
  </details>`;
}

/**
 * Return the time of a view in words.
 * @param {View} view
 */
export function timeTitle({ asOf, from }) {
  if (from) return t("explorer.time.compared", { from: minute(from), to: asOf ? minute(asOf) : t("explorer.time.present") });
  return asOf ? t("explorer.time.at", { time: minute(asOf) }) : t("explorer.time.latest");
}

/** @param {{name: string, value: string, change: (instant: string) => void}} properties */
function Instant({ name, value, change }) {
  const changed = (/** @type {any} */ event) => change(event.target.value ? `${event.target.value}Z` : "");
  return html`<label>
    <span>${t(`explorer.time.${name}`)}</span>
    <input type="datetime-local" name=${name} step="1" value=${value.slice(0, 19)} onChange=${changed} />
  </label>`;
}

/** @param {string} period */
function lengthOf(period) {
  return PERIODS.find(([name]) => name === period)?.[1] ?? 0;
}

/** @param {{value: string, change: (instant: string) => void}} properties */
function Slider({ value, change }) {
  const [period, setPeriod] = useState("week");
  const [now] = useState(Date.now());
  const length = lengthOf(period);
  const placeIn = (/** @type {number} */ whole) => {
    const share = value ? 1 - (now - Date.parse(value)) / whole : 1;
    return Math.round(Math.min(Math.max(share, 0), 1) * STEPS);
  };
  const [place, setPlace] = useState(placeIn(length));
  useEffect(() => setPlace(placeIn(length)), [value]);
  const instantAt = (/** @type {number} */ step) => new Date(now - length * (1 - step / STEPS)).toISOString();
  const instant = instantAt(place);
  const chosen = (/** @type {any} */ event) => {
    setPeriod(event.target.value);
    setPlace(placeIn(lengthOf(event.target.value)));
  };
  // The place of the event: the state may be drawn later than the next event comes.
  const end = (/** @type {any} */ event) => {
    const step = Number(event.target.value);
    change(step === STEPS ? "" : instantAt(step));
  };
  return html`<div class="slider">
    <label>
      <span>${t("explorer.time.period")}</span>
      <select value=${period} onChange=${chosen}>
        ${PERIODS.map(([name]) => html`<option key=${name} value=${name}>${t(`explorer.time.${name}`)}</option>`)}
      </select>
    </label>
    <input
      type="range"
      min="0"
      max=${STEPS}
      value=${place}
      aria-label=${t("explorer.time.slider")}
      aria-valuetext=${place === STEPS ? t("explorer.time.present") : minute(instant)}
      onInput=${(/** @type {any} */ event) => setPlace(Number(event.target.value))}
      onChange=${end}
    />
    <output>${place === STEPS ? t("explorer.time.present") : minute(instant)}</output>
  </div>`;
}
