// The pipelines that fail most, and the newest changes of schemas.
import { count } from "../format.js";
import { html } from "../html.js";
import { Name, Owners, Time } from "../parts/facts.js";
import { Cut, Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { FieldOutcome, Section, useSeen } from "../parts/section.js";
import { DataTable } from "../parts/table.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

/** @param {{variables: Record<string, unknown>, since: string}} properties */
export function FailingPipelines({ variables, since }) {
  const later = useSeen();
  const asked = useAsk(later.isSeen ? "OnCallPipelines" : null, variables);
  return html`<${Section} id="pipelines" title=${t("oncall.pipelines")} later=${later}>
    <${FieldOutcome} asked=${asked} field="failingPipelines" what=${t("oncall.pipelines")}>
      ${(/** @type {any} */ { nodes, totalCount, failedRuns }) =>
        nodes.length
          ? html`<${DataTable}
                caption=${t("oncall.pipelines.caption", { runs: count(failedRuns), pipelines: count(totalCount) })}
                columns=${pipelineColumns(since)}
                rows=${nodes}
                rowKey=${(/** @type {any} */ row) => `${row.namespace} ${row.name}`}
                isStacked=${true}
                file="failing-pipelines"
              />
              ${totalCount > nodes.length && html`<${Cut} shown=${count(nodes.length)} total=${count(totalCount)} />`}`
          : html`<${Empty} title=${t("oncall.pipelines.none")} />`}
    <//>
  <//>`;
}

/**
 * @param {string} since
 * @returns {import("../parts/table.js").Column[]}
 */
function pipelineColumns(since) {
  const failures = (/** @type {any} */ { namespace, name, failedRuns, runs }) =>
    html`<a href=${hrefOf("failures", "", { since, namespace, pipeline: name })}>${t("oncall.pipelines.share", { failed: count(failedRuns), runs: count(runs) })}</a>`;
  return [
    { title: t("oncall.column.pipeline"), value: (row) => row.name, cell: pipelineCell },
    { title: t("oncall.column.failed"), value: (row) => row.failedRuns, cell: failures, isNumber: true },
    { title: t("oncall.column.last"), value: (row) => row.lastFailedAt, cell: lastCell },
    { title: t("column.error"), value: (row) => row.lastRun?.error, cell: (row) => html`<${Name} text=${row.lastRun?.error?.split("\n", 1)[0]} />` },
    { title: t("column.owners"), value: (row) => (row.job?.owners ?? []).join(", "), cell: (row) => html`<${Owners} names=${row.job?.owners ?? []} />` },
  ];
}

/** @param {any} row */
function pipelineCell({ namespace, name, job }) {
  if (!job) return html`<${Name} text=${name} />`;
  return html`<${NodeLink} node=${{ urn: job.urn, kind: "JOB", namespace, name }} showKind=${false} />`;
}

/** @param {any} row */
function lastCell({ lastRun, lastFailedAt }) {
  const time = html`<${Time} at=${lastFailedAt} />`;
  return lastRun ? html`<a href=${hrefOf("runs", lastRun.urn.replace(/^run:/, ""))}>${time}</a>` : time;
}

/** @param {{variables: Record<string, unknown>}} properties */
export function SchemaChanges({ variables }) {
  const later = useSeen();
  const asked = useAsk(later.isSeen ? "OnCallSchemas" : null, variables);
  return html`<${Section} id="schemas" title=${t("oncall.schemas")} later=${later}>
    <${FieldOutcome} asked=${asked} field="schemaChanges" what=${t("oncall.schemas")}>
      ${(/** @type {any} */ { nodes, totalCount, truncated }) =>
        nodes.length
          ? html`<${DataTable}
                caption=${t("oncall.schemas.caption", { count: count(totalCount) })}
                columns=${schemaColumns()}
                rows=${nodes}
                rowKey=${(/** @type {any} */ row) => row.versionUrn}
                isStacked=${true}
                file="schema-changes"
              />
              ${totalCount > nodes.length && html`<${Cut} shown=${count(nodes.length)} total=${truncated ? t("oncall.schemas.more") : count(totalCount)} />`}`
          : html`<${Empty} title=${t("oncall.schemas.none")} />`}
    <//>
  <//>`;
}

/** @returns {import("../parts/table.js").Column[]} */
function schemaColumns() {
  const dataset = (/** @type {any} */ row) => html`<${NodeLink} node=${{ ...row.dataset, kind: "DATASET" }} showKind=${false} />`;
  return [
    { title: t("column.dataset"), value: (row) => row.dataset.name, cell: dataset },
    { title: t("column.change"), value: (row) => row.differences.join(", "), cell: differenceCell },
    { title: t("column.when"), value: (row) => row.occurredAt, cell: (row) => html`<${Time} at=${row.occurredAt} />` },
    { title: t("column.run"), value: (row) => row.version?.run?.pipelineName, cell: madeBy },
    { title: t("column.owners"), value: (row) => row.dataset.owners.join(", "), cell: (row) => html`<${Owners} names=${row.dataset.owners} />` },
  ];
}

/** @param {any} row */
function differenceCell({ dataset, differences, hashBefore, hashAfter }) {
  const href = hrefOf("datasets", dataset.urn, { before: hashBefore, after: hashAfter });
  return html`<a href=${href}>${differences.map((/** @type {string} */ text) => html`<div key=${text}><bdi class="name">${text}</bdi></div>`)}</a>`;
}

/** @param {any} row */
function madeBy({ version }) {
  const run = version?.run;
  return run && html`<${NodeLink} node=${{ urn: run.urn, kind: "PIPELINE_RUN", name: run.pipelineName ?? run.urn }} showKind=${false} />`;
}
