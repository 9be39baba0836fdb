// What shows a finding: values beside what they were compared with, before beside after, and all
// else as facts. Detectors name their values; a name without a text is shown in words of its own.
import { count, duration } from "../format.js";
import { html } from "../html.js";
import { t } from "../texts.js";
import { nodeOfUrn } from "../urns.js";
import { Facts, Time } from "./facts.js";
import { NodeLink } from "./node.js";
import { Subject } from "./findings.js";

const LISTED_MAX = 20;
const WIDTH = 240;
const HEIGHT = 26;
/** A value is unusual from two standard deviations on. */
const DEVIATIONS = 2;
const URN = /^(dataset|job|run|artifact|source|answer|column):\S+$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/;
/** Pairs of names of which the second stands beside the first. */
const PAIRS = [
  ["before", "after"],
  ["vanished", "appeared"],
  ["expected", "actual"],
];
/** The order of the columns of a table; the others follow. */
const FIRST = ["name", "check", "column", "before", "after", "expected", "actual", "severity"];
/** What is compared with a mean; its own fields are not repeated as facts. */
const COMPARED = ["value", "seconds", "mean", "deviation", "share", "measure", "column", "limit"];

/** @param {{evidence: Record<string, any>}} properties */
export function EvidenceView({ evidence }) {
  const entries = Object.entries(evidence).filter(([, value]) => !isEmpty(value));
  if (!entries.length) return html`<p class="soft">${t("finding.evidence.none")}</p>`;
  const lists = entries.filter(([, value]) => isListOfObjects(value));
  const pairs = PAIRS.filter(([one, other]) => one in evidence || other in evidence);
  const taken = new Set([...pairs.flat(), ...(comparisonOf(evidence) ? COMPARED : []), ...lists.map(([name]) => name)]);
  const facts = entries.filter(([name]) => !taken.has(name)).map(([name, value]) => [wordsOf(name), shown(name, value)]);
  return html`${comparisonOf(evidence) && html`<${Comparisons} items=${[evidence]} />`}
    ${pairs.map(([one, other]) => html`<${Pair} key=${one} names=${[one, other]} evidence=${evidence} />`)}
    ${lists.map(([name, items]) => html`<${Items} key=${name} name=${name} items=${items} />`)}
    <${Facts} facts=${facts} />`;
}

/**
 * Return a value with what it was compared with; null if there is none.
 * @param {Record<string, any>} item
 * @returns {{name: string, value: number, mean: number, deviation: number | null, isSeconds: boolean} | null}
 */
export function comparisonOf(item) {
  const value = item.value ?? item.seconds;
  if (typeof value !== "number" || typeof item.mean !== "number") return null;
  const isSeconds = item.seconds !== undefined && item.value === undefined;
  const name = [item.column, wordsOf(item.measure ?? (isSeconds ? "duration" : "value"))].filter(Boolean).join(": ");
  return { name, value, mean: item.mean, deviation: item.deviation ?? null, isSeconds };
}

/**
 * @param {{name: string, items: any[]}} properties
 */
function Items({ name, items }) {
  const listed = items.slice(0, LISTED_MAX);
  if (listed.every(comparisonOf)) return html`<${Comparisons} items=${listed} />`;
  const names = inOrder(listed.flatMap((item) => Object.keys(item).filter((key) => !isEmpty(item[key]))));
  return html`<div class="table-frame" tabindex="0" role="region" aria-label=${wordsOf(name)}>
    <table>
      <caption>${wordsOf(name)}</caption>
      <thead><tr>${names.map((key) => html`<th key=${key} scope="col">${wordsOf(key)}</th>`)}</tr></thead>
      <tbody>
        ${listed.map((item, row) => html`<tr key=${row}>${names.map((key) => html`<td key=${key}>${shown(key, item[key])}</td>`)}</tr>`)}
      </tbody>
    </table>
  </div>`;
}

/**
 * Return names once each: what an item is comes first, then its values, then the others.
 * @param {string[]} names
 */
function inOrder(names) {
  const place = (/** @type {string} */ name) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return [...new Set(names)].sort((a, b) => place(a) - place(b));
}

/** @param {{items: Record<string, any>[]}} properties */
function Comparisons({ items }) {
  const rows = items.map((item) => /** @type {any} */ (comparisonOf(item)));
  return html`<div class="table-frame" tabindex="0" role="region" aria-label=${t("evidence.table")}>
    <table class="comparisons">
      <thead>
        <tr>
          <th scope="col">${t("evidence.measure")}</th>
          <th scope="col" class="number">${t("evidence.value")}</th>
          <th scope="col" class="number">${t("evidence.mean")}</th>
          <th scope="col" class="number">${t("evidence.change")}</th>
          <th scope="col"><span class="soft">${t("evidence.now", { value: "◆" })}</span></th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) => html`<tr key=${row.name}>
            <td><bdi class="name">${row.name}</bdi></td>
            <td class="number"><strong>${numberText(row.value, row.isSeconds)}</strong></td>
            <td class="number">${usualText(row)}</td>
            <td class="number">${changeText(row.value, row.mean)}</td>
            <td><${Spread} row=${row} /></td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/**
 * A small picture: the usual range as a band, the value as a mark.
 * @param {{row: any}} properties
 */
function Spread({ row }) {
  const { value, low, high, at } = spreadOf(row);
  const label = t("evidence.picture", {
    value: numberText(value, row.isSeconds),
    low: numberText(low, row.isSeconds),
    high: numberText(high, row.isSeconds),
  });
  const middle = HEIGHT / 2;
  const [left, right] = [at(low), at(high)];
  return html`<svg class="spread" width=${WIDTH} height=${HEIGHT} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${label}>
    <line class="axis" x1="0" x2=${WIDTH} y1=${middle} y2=${middle} />
    <rect class="usual" x=${left} y="4" width=${Math.max(3, right - left)} height=${HEIGHT - 8} rx="3" />
    <path class="now" d=${`M${at(value)} ${middle - 7}l7 7-7 7-7-7z`} />
  </svg>`;
}

/**
 * Return the usual range of a comparison, and where a number stands in the picture.
 * @param {{value: number, mean: number, deviation: number | null}} row
 */
export function spreadOf({ value, mean, deviation }) {
  const margin = DEVIATIONS * (deviation ?? 0);
  const [low, high] = [mean - margin, mean + margin];
  const [first, last] = [Math.min(low, value), Math.max(high, value)];
  const room = WIDTH - 20;
  const at = (/** @type {number} */ number) =>
    Math.round((10 + (last > first ? ((number - first) / (last - first)) * room : room / 2)) * 10) / 10;
  return { value, low, high, at };
}

/** @param {{names: string[], evidence: Record<string, any>}} properties */
function Pair({ names, evidence }) {
  return html`<div class="panels plain pair">
    ${names.map(
      (name) => html`<div key=${name}>
        <h3>${wordsOf(name)}</h3>
        ${isEmpty(evidence[name]) ? html`<p class="soft">–</p>` : shown(name, evidence[name])}
      </div>`,
    )}
  </div>`;
}

/**
 * A value of the evidence as people read it.
 * @param {string} name
 * @param {any} value
 * @returns {any}
 */
function shown(name, value) {
  if (isEmpty(value)) return "";
  if (Array.isArray(value)) return html`<${Listed} name=${name} values=${value} />`;
  if (typeof value === "boolean") return t(value ? "evidence.yes" : "evidence.no");
  if (typeof value === "number") return numberText(value, /seconds$/i.test(name));
  if (typeof value === "object") {
    const parts = Object.entries(value).filter(([, item]) => !isEmpty(item));
    return html`<${Facts} facts=${parts.map(([key, item]) => [wordsOf(key), shown(key, item)])} />`;
  }
  const text = String(value);
  if (text.startsWith("hidden:")) return html`<${NodeLink} node=${{ urn: text, kind: "HIDDEN", name: "" }} />`;
  if (text.startsWith("producer:")) return html`<${Subject} urn=${text} />`;
  if (URN.test(text)) return html`<${NodeLink} node=${nodeOfUrn(text)} />`;
  if (INSTANT.test(text)) return html`<${Time} at=${text} />`;
  return html`<bdi class="name evidence-text">${text}</bdi>`;
}

/** @param {{name: string, values: any[]}} properties */
function Listed({ name, values }) {
  const first = values.slice(0, LISTED_MAX);
  return html`<ul class="rows">${first.map((value, row) => html`<li key=${row}>${shown(name, value)}</li>`)}</ul>
    ${values.length > first.length && html`<p class="soft">${t("evidence.listed", { count: count(values.length), shown: count(first.length) })}</p>`}`;
}

/**
 * Return the name of a value in words: "previousRun" is "previous run".
 * @param {string} name
 */
export function wordsOf(name) {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ").toLowerCase();
}

/**
 * @param {number} value
 * @param {boolean} isSeconds
 */
function numberText(value, isSeconds) {
  if (isSeconds) return value < 0 ? "0 s" : duration(value);
  if (Number.isInteger(value)) return count(value);
  return Number(value.toPrecision(4)).toLocaleString("en-GB", { maximumFractionDigits: 6 });
}

/** @param {{mean: number, deviation: number | null, isSeconds: boolean}} row */
function usualText({ mean, deviation, isSeconds }) {
  if (deviation === null) return numberText(mean, isSeconds);
  return t("evidence.spread", { mean: numberText(mean, isSeconds), deviation: numberText(deviation, isSeconds) });
}

/**
 * Return how far a value is from its mean: "−45 %"; nothing if the mean is 0.
 * @param {number} value
 * @param {number} mean
 */
export function changeText(value, mean) {
  if (!mean) return "";
  const share = ((value - mean) / Math.abs(mean)) * 100;
  const rounded = Math.abs(share) < 10 ? Math.round(share * 10) / 10 : Math.round(share);
  return `${rounded > 0 ? "+" : rounded < 0 ? "−" : ""}${Math.abs(rounded).toLocaleString("en-GB")} %`;
}

/** @param {any} value */
function isEmpty(value) {
  return value === null || value === undefined || value === "" || (Array.isArray(value) && !value.length);
}

/** @param {any} value */
function isListOfObjects(value) {
  return Array.isArray(value) && value.length > 0 && value.every((item) => item && typeof item === "object" && !Array.isArray(item));
}
