// A chart of a number over time. It is a canvas, so a table with the same numbers stands beside it.
import { awaited } from "../api.js";
import { html, useEffect, useRef, useState } from "../html.js";

const LIBRARY = "../../vendor/uplot-1.6.32/uPlot.esm.js";
const STYLES = "/static/vendor/uplot-1.6.32/uPlot.min.css";
const HEIGHT = 220;
const WIDTH_MIN = 200;
const DAY_SECONDS = 86_400;

/**
 * @typedef {{label: string, color: string, values: (number | null)[], isMarks?: boolean}} Series
 * `color` is the name of a token of app.css, without its dashes.
 */

/** @type {Promise<any> | undefined} */
let library;

/** Load the library and its styles, once and only when a chart is drawn. */
function loadLibrary() {
  library ??= awaited(
    Promise.all([
      import(LIBRARY),
      new Promise((resolve, reject) => {
        const link = document.createElement("link");
        Object.assign(link, { rel: "stylesheet", href: STYLES, onload: resolve, onerror: reject });
        document.head.append(link);
      }),
    ]).then(([module]) => module.default),
  );
  return library;
}

/**
 * @param {{label: string, times: number[], series: Series[], format: (value: number) => string}} properties
 * `times` are seconds since 1970, in rising order.
 */
export function TimeChart({ label, times, series, format }) {
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const [theme, setTheme] = useState(0);
  useEffect(() => onTheme(() => setTheme((/** @type {number} */ number) => number + 1)), []);
  useEffect(() => {
    let isOver = false;
    /** @type {any} */
    let chart;
    const width = () => Math.max(WIDTH_MIN, frame.current?.clientWidth ?? 0);
    const resized = () => chart?.setSize({ width: width(), height: HEIGHT });
    loadLibrary().then((Chart) => {
      if (isOver || !frame.current) return;
      const data = [times, ...series.map(({ values }) => values)];
      chart = new Chart(options(width(), series, format), data, frame.current);
    });
    window.addEventListener("resize", resized);
    return () => {
      isOver = true;
      window.removeEventListener("resize", resized);
      chart?.destroy();
    };
  }, [theme, JSON.stringify([times, series])]);
  return html`<div class="chart" role="img" aria-label=${label} ref=${frame} />`;
}

/**
 * @param {number} width
 * @param {Series[]} series
 * @param {(value: number) => string} format
 */
function options(width, series, format) {
  const tokens = getComputedStyle(document.documentElement);
  const color = (/** @type {string} */ name) => tokens.getPropertyValue(`--${name}`).trim();
  const grid = { stroke: color("line"), width: 1 };
  const axis = { stroke: color("soft"), grid, ticks: grid };
  const times = (/** @type {any} */ _, /** @type {number[]} */ ticks) => timeLabels(ticks);
  const numbers = (/** @type {any} */ _, /** @type {number[]} */ ticks) => ticks.map(format);
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false },
    // Times are shown in UTC, as everywhere on the page.
    tzDate: (/** @type {number} */ time) => inUtc(time),
    scales: { y: { range: (/** @type {any} */ _, /** @type {number} */ __, /** @type {number} */ max) => [0, max * 1.1 || 1] } },
    axes: [{ ...axis, space: 90, values: times }, { ...axis, size: 70, values: numbers }],
    series: [{}, ...series.map((one) => style(one, color(one.color), color("surface")))],
  };
}

/**
 * Return the labels of ticks in UTC: days if they are days apart, otherwise times, and the day below
 * the first of each. Ticks less than a minute apart show seconds.
 * @param {number[]} ticks seconds since 1970
 */
export function timeLabels(ticks) {
  const end = ticks.length > 1 && ticks[1] - ticks[0] < 60 ? 19 : 16;
  const isDaily = ticks.length > 1 && ticks[1] - ticks[0] >= DAY_SECONDS;
  let day = "";
  return ticks.map((tick) => {
    const text = new Date(tick * 1000).toISOString();
    const isNewDay = text.slice(0, 10) !== day;
    day = text.slice(0, 10);
    if (isDaily) return day;
    return isNewDay ? `${text.slice(11, end)}\n${day}` : text.slice(11, end);
  });
}

/**
 * A line with dots, or marks alone: open squares, so that they differ not by colour only.
 * @param {Series} series
 * @param {string} stroke
 * @param {string} ground
 */
function style({ label, isMarks = false }, stroke, ground) {
  const points = { show: true, size: isMarks ? 10 : 6, stroke, fill: isMarks ? ground : stroke };
  return { label, stroke, width: 2, spanGaps: true, points, ...(isMarks ? { paths: () => null } : {}) };
}

/**
 * Return a date whose local parts are those of an instant in UTC.
 * @param {number} seconds since 1970
 */
function inUtc(seconds) {
  const date = new Date(seconds * 1000);
  return new Date(date.getTime() + date.getTimezoneOffset() * 60_000);
}

/**
 * Call a function when the theme changes, until the returned function is called.
 * @param {() => void} listener
 */
function onTheme(listener) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = new MutationObserver(listener);
  system.addEventListener("change", listener);
  chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    system.removeEventListener("change", listener);
    chosen.disconnect();
  };
}
