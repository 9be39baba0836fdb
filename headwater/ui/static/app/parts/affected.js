// What a failed run touches: answers first, then datasets and jobs, and whom to tell.
import { html } from "../html.js";
import { t } from "../texts.js";
import { NodeList, Owners } from "./facts.js";

/**
 * Return the owners that a failed run concerns: of its job, and of what it touches.
 * @param {any} failure
 * @returns {string[]}
 */
export function ownersOf(failure) {
  return [...new Set([...failure.owners, ...failure.stale.owners, ...failure.partial.owners])];
}

/**
 * Return the nodes of a kind that a failed run makes stale or partial, each once.
 * @param {any} failure
 * @param {"answers" | "datasets" | "jobs"} kind
 * @returns {any[]}
 */
export function affectedNodes(failure, kind) {
  const nodes = [...failure.stale[kind], ...failure.partial[kind]];
  return [...new Map(nodes.map((node) => [node.urn, node])).values()];
}

/** @param {{title: string, affected: any}} properties */
export function Affected({ title, affected }) {
  const { answers, datasets, jobs } = affected;
  if (!answers.length && !datasets.length && !jobs.length) return null;
  const named = answers.map((/** @type {any} */ answer) => ({ ...answer, name: answer.answerId }));
  return html`<section class="affected">
    <h3>${title}</h3>
    ${named.length > 0 && html`<h4>${t("part.all.answers")}</h4><${NodeList} nodes=${named} kind="ANSWER" />`}
    ${datasets.length > 0 && html`<h4>${t("part.all.datasets")}</h4><${NodeList} nodes=${datasets} kind="DATASET" />`}
    ${jobs.length > 0 && html`<h4>${t("part.all.jobs")}</h4><${NodeList} nodes=${jobs} kind="JOB" />`}
    ${affected.truncated && html`<p class="soft">${t("run.consequences.truncated", { limit: affected.truncatedBy ?? "?" })}</p>`}
  </section>`;
}

/** @param {{names: string[]}} properties */
export function Tell({ names }) {
  return html`<p><strong>${t("run.tell")}:</strong> <${Owners} names=${names} none=${t("tell.nobody")} /></p>`;
}
