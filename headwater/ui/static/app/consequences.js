// What failures mean for others: how far each one reaches, and what is stale or partial because of
// them. Pure functions.
import { affectedNodes } from "./parts/affected.js";

const CERTIFIED = new Set(["certified", "canonical"]);

/**
 * @typedef {{answers: number, certified: number, assets: number, isCut: boolean}} Consequence
 * `assets` are datasets and jobs. `isCut` is true if a limit was reached, so that there may be more.
 */

/**
 * Return what a failed run makes stale or partial.
 * @param {any} failure
 * @returns {Consequence}
 */
export function consequenceOf(failure) {
  const datasets = affectedNodes(failure, "datasets");
  return {
    answers: affectedNodes(failure, "answers").length,
    certified: datasets.filter(isCertified).length,
    assets: datasets.length + affectedNodes(failure, "jobs").length,
    isCut: failure.stale.truncated || failure.partial.truncated,
  };
}

/**
 * Return True for a dataset with the tag certified or canonical.
 * @param {{tags: string[]}} dataset
 */
export function isCertified({ tags }) {
  return tags.some((tag) => {
    const [key, value = "true"] = tag.toLowerCase().split("=");
    return CERTIFIED.has(key) && value === "true";
  });
}

/**
 * Return failures with the worst consequences first: open ones, then by certified datasets, answers
 * and assets touched, then the newest.
 * @param {any[]} failures
 */
export function ranked(failures) {
  const keyed = failures.map((failure) => {
    const { certified, answers, assets } = consequenceOf(failure);
    return { failure, key: [Number(!failure.resolved), certified, answers, assets, Date.parse(failure.failedAt)] };
  });
  keyed.sort((a, b) => {
    const index = a.key.findIndex((value, position) => value !== b.key[position]);
    return index < 0 ? 0 : b.key[index] - a.key[index];
  });
  return keyed.map(({ failure }) => failure);
}

/**
 * @typedef {{dataset: any, state: "STALE" | "PARTIAL", since: string, failures: any[]}} Affliction
 * `since` is the time of the first of the failures.
 */

/**
 * Return each dataset that open failures make stale or partial, with these failures; partial ones
 * first, then those affected for the longest time.
 * @param {any[]} failures
 * @returns {Affliction[]}
 */
export function afflictedDatasets(failures) {
  /** @type {Map<string, Affliction>} */
  const found = new Map();
  for (const failure of failures.filter(({ resolved }) => !resolved)) {
    for (const [affected, state] of /** @type {[any, "STALE" | "PARTIAL"][]} */ ([
      [failure.partial, "PARTIAL"],
      [failure.stale, "STALE"],
    ])) {
      for (const dataset of affected.datasets) add(found, dataset, state, failure);
    }
  }
  return [...found.values()].sort(
    (a, b) => a.state.localeCompare(b.state) || Date.parse(a.since) - Date.parse(b.since) || a.dataset.urn.localeCompare(b.dataset.urn),
  );
}

/**
 * @param {Map<string, Affliction>} found
 * @param {any} dataset
 * @param {"STALE" | "PARTIAL"} state
 * @param {any} failure
 */
function add(found, dataset, state, failure) {
  /** @type {Affliction} */
  const known = found.get(dataset.urn) ?? { dataset, state, since: failure.failedAt, failures: [] };
  if (state === "PARTIAL") known.state = state;
  if (Date.parse(failure.failedAt) < Date.parse(known.since)) known.since = failure.failedAt;
  if (!known.failures.includes(failure)) known.failures.push(failure);
  found.set(dataset.urn, known);
}
