// The figures of dashboards: their names, and their values in words.
import { count } from "./format.js";
import { figureText } from "./parts/tile.js";
import { t } from "./texts.js";

/** The names of all figures, as the API has them. */
export const FIGURES = [
  "coverage",
  "unknown-downstreams",
  "median-blast-radius",
  "certified-path-integrity",
  "model-completeness",
  "active-pipelines",
  "critical-consumers",
  "compliance-incidents",
  "exposed-artifacts",
  "correlated-traces",
  "open-actions",
  "failing-runs",
  "time-to-impact",
];

/**
 * Say what the value of a figure is a part of.
 * @param {any} figure
 */
export function partOf(figure) {
  const { denominator, numerator, outOf, unit, windowDays } = figure;
  const values = { part: count(numerator), total: count(denominator), what: outOf };
  const words =
    denominator === null || denominator === undefined
      ? ""
      : numerator !== null && unit === "SHARE"
        ? t("figure.share", values)
        : t("figure.of", values);
  const window = windowDays ? t("figure.window", { days: count(windowDays) }) : "";
  const sample = figure.isSampled ? t("figure.sampled.part") : "";
  return [words, window, sample].filter(Boolean).join(", ");
}

/**
 * Return the properties of the tile of a figure.
 * @param {any} figure
 */
export function tileOf(figure) {
  return {
    figure: figure.name,
    label: figure.title,
    value: figure.value,
    unit: figure.unit,
    of: partOf(figure),
    asOf: figure.asOf,
    history: daily(figure.history ?? [], figure.value, figure.asOf),
    threshold: figure.threshold,
    isBelow: figure.isBelowThreshold ?? false,
    href: figure.href,
  };
}

/**
 * Return the snapshots of a figure, with its value now in place of the snapshot of today.
 * @param {{date: string, value: number | null}[]} history oldest first
 * @param {number | null} value
 * @param {string | null} asOf null if the value is not known
 */
export function daily(history, value, asOf) {
  if (!asOf) return history;
  const today = asOf.slice(0, 10);
  const before = history.filter(({ date }) => date < today);
  return before.length || history.length ? [...before, { date: today, value }] : [];
}

/**
 * Say what the figure should be.
 * @param {any} figure
 */
export function boundsOf({ goodDirection, threshold, target, unit }) {
  if (threshold === null) return t("figure.bounds.none");
  const values = { threshold: figureText(threshold, unit), target: figureText(target, unit) };
  return goodDirection === "UP" ? t("figure.bounds.up", values) : t("figure.bounds.down", values);
}
