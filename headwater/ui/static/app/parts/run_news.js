// Runs of a job that changed while one reads. Nothing moves by itself: a button shows them.
import { watch } from "../api.js";
import { count } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";
import { stateOf } from "./state.js";

const CHANGED_RUNS = `subscription ChangedRuns($namespace: String, $pipeline: String) {
  runEvents(namespace: $namespace, pipeline: $pipeline) { urn status startedAt finishedAt }
}`;

/** @typedef {{urn: string, status: string, startedAt: string | null, finishedAt: string | null}} ChangedRun */

/**
 * Return the newest state of each run of a pipeline that changed since the view was opened.
 * @param {string | null} namespace
 * @param {string | null} pipeline
 * @returns {ChangedRun[]}
 */
function useChangedRuns(namespace, pipeline) {
  const [runs, setRuns] = useState(/** @type {Record<string, ChangedRun>} */ ({}));
  useEffect(() => {
    setRuns({});
    if (!namespace || !pipeline) return undefined;
    return watch(CHANGED_RUNS, { namespace, pipeline }, ({ runEvents: run }) =>
      setRuns((/** @type {Record<string, ChangedRun>} */ known) => ({ ...known, [run.urn]: run })),
    );
  }, [namespace, pipeline]);
  return Object.values(runs);
}

/** @param {ChangedRun} run */
const stampOf = (run) => `${run.urn} ${run.status} ${run.finishedAt}`;

/**
 * A button for the runs of a job that differ from those shown.
 * @param {{job: {namespace: string, name: string}, shown: ChangedRun[], again: () => void}} properties
 */
export function JobNews({ job, shown, again }) {
  const known = new Set(shown.map(stampOf));
  const oldest = Math.min(...shown.map((run) => Date.parse(run.startedAt ?? "")).filter(Boolean));
  const isNews = (/** @type {ChangedRun} */ run) =>
    !known.has(stampOf(run)) && !(run.startedAt && Date.parse(run.startedAt) < oldest);
  const number = useChangedRuns(job.namespace, job.name).filter(isNews).length;
  return html`<span aria-live="polite">
    ${number > 0 && html`<button class="primary" onClick=${again}>${t("news.runs", { count: count(number) })}</button>`}
  </span>`;
}

/**
 * A button for a run that is in another state than shown, and a link to newer runs of its job.
 * @param {{run: any, again: () => void}} properties
 */
export function RunNews({ run, again }) {
  const changed = useChangedRuns(run.namespace, run.pipelineName);
  const own = changed.find((other) => other.urn === run.urn && stampOf(other) !== stampOf(run));
  const begun = Date.parse(run.startedAt ?? "");
  const newer = changed.filter((other) => other.urn !== run.urn && Date.parse(other.startedAt ?? "") > begun);
  const href = run.job && hrefOf("jobs", run.job.urn);
  return html`<p aria-live="polite" class="news">
    ${own && html`<button class="primary" onClick=${again}>${t("news.run", { state: t(`state.${stateOf(own.status)}`) })}</button>`}
    ${newer.length > 0 && href && html`<a class="button" href=${href}>${t("news.newer", { count: count(newer.length) })}</a>`}
  </p>`;
}
