// Runs that take longer than usual, and runs that sent no end.
import { count, duration } from "../format.js";
import { html } from "../html.js";
import { Owners, Time } from "../parts/facts.js";
import { Cut, Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { FieldOutcome } from "../parts/section.js";
import { DataTable } from "../parts/table.js";
import { t } from "../texts.js";

/** @param {{asked: import("../use_ask.js").Asked}} properties */
export function Overdue({ asked }) {
  return html`<${FieldOutcome} asked=${asked} field="overdueRuns" what=${t("oncall.overdue")}>
    ${(/** @type {any} */ { nodes, running, truncated }) => html`${
        nodes.length
          ? html`<${DataTable}
              caption=${t("oncall.overdue.caption", { count: count(nodes.length), running: count(running) })}
              columns=${overdueColumns()}
              rows=${nodes}
              rowKey=${(/** @type {any} */ row) => row.run.urn}
              isStacked=${true}
              file="overdue-runs"
            />`
          : html`<${Empty} title=${t("oncall.overdue.none")} hint=${t("oncall.overdue.none.hint", { running: count(running) })} />`
      }
      ${truncated && html`<${Cut} shown=${count(running)} total=${t("oncall.overdue.more")} />`}`}
  <//>`;
}

/** @returns {import("../parts/table.js").Column[]} */
function overdueColumns() {
  return [
    { title: t("column.run"), value: ({ run }) => run.pipelineName, cell: ({ run }) => runLink(run) },
    { title: t("oncall.column.elapsed"), value: (row) => row.elapsedSeconds, cell: (row) => duration(row.elapsedSeconds), isNumber: true },
    { title: t("oncall.column.usual"), value: (row) => row.medianSeconds, cell: (row) => duration(row.medianSeconds), isNumber: true },
    { title: t("oncall.column.longest"), value: (row) => row.longestSeconds, cell: (row) => duration(row.longestSeconds), isNumber: true },
    { title: t("column.owners"), value: ({ run }) => (run.job?.owners ?? []).join(", "), cell: ({ run }) => html`<${Owners} names=${run.job?.owners ?? []} />` },
  ];
}

/** @param {{asked: import("../use_ask.js").Asked}} properties */
export function NoNews({ asked }) {
  return html`<${FieldOutcome} asked=${asked} field="runs" what=${t("oncall.nonews")}>
    ${(/** @type {any} */ { nodes, totalCount }) =>
      nodes.length
        ? html`<${DataTable}
              caption=${t("oncall.nonews.caption", { count: count(totalCount) })}
              columns=${noNewsColumns()}
              rows=${nodes}
              rowKey=${(/** @type {any} */ run) => run.urn}
              isStacked=${true}
              file="runs-without-news"
            />
            ${totalCount > nodes.length && html`<${Cut} shown=${count(nodes.length)} total=${count(totalCount)} />`}`
        : html`<${Empty} title=${t("oncall.nonews.none")} hint=${t("oncall.nonews.none.hint")} />`}
  <//>`;
}

/** @returns {import("../parts/table.js").Column[]} */
function noNewsColumns() {
  return [
    { title: t("column.run"), value: (run) => run.pipelineName, cell: runLink },
    { title: t("column.started"), value: (run) => run.startedAt, cell: (run) => html`<${Time} at=${run.startedAt} />` },
    { title: t("oncall.column.news"), value: (run) => run.lastSeen, cell: (run) => html`<${Time} at=${run.lastSeen} />` },
    { title: t("column.owners"), value: (run) => (run.job?.owners ?? []).join(", "), cell: (run) => html`<${Owners} names=${run.job?.owners ?? []} />` },
  ];
}

/** @param {any} run */
function runLink(run) {
  const node = { urn: run.urn, kind: "PIPELINE_RUN", name: run.pipelineName ?? run.runId, namespace: run.namespace };
  return html`<${NodeLink} node=${node} showKind=${false} />`;
}
