// What the failure of a run touches, and the checks that failed in it.
import { count, moment } from "../format.js";
import { html } from "../html.js";
import { Affected, Tell, affectedNodes, ownersOf } from "../parts/affected.js";
import { NodeLink } from "../parts/node.js";
import { FieldOutcome, Section } from "../parts/section.js";
import { DataTable } from "../parts/table.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";
import { measuredColumns } from "./dataset_quality.js";

const SECOND_MILLISECONDS = 1000;

/** @param {{run: any}} properties */
export function Consequences({ run }) {
  const isFailed = run.status === "FAIL" && run.failedAt !== null;
  // The API lists failed runs by the time of their failure: one second holds this one.
  const until = isFailed ? new Date(Date.parse(run.failedAt) + SECOND_MILLISECONDS).toISOString() : null;
  const asked = useAsk("RunConsequences", {
    runId: run.runId,
    isFailed,
    pipeline: run.pipelineName,
    namespace: run.namespace,
    since: run.failedAt,
    until,
  });
  return html`${
    isFailed &&
    html`<${Section} id="consequences" title=${t("run.consequences")}>
      <${FieldOutcome} asked=${asked} field="failedRuns" what=${t("run.consequences")}>
        ${(/** @type {any} */ { nodes }) => {
          const failure = nodes.find((/** @type {any} */ node) => node.urn === run.urn);
          return failure ? html`<${Touched} failure=${failure} />` : html`<p class="soft">${t("run.consequences.none")}</p>`;
        }}
      <//>
    <//>`
  }
  <${Checks} run=${run} asked=${asked} />`;
}

/** @param {{failure: any}} properties */
function Touched({ failure }) {
  const { resolved, resolvedAt, resolvedBy } = failure;
  const kinds = /** @type {("answers" | "datasets" | "jobs")[]} */ (["answers", "datasets", "jobs"]);
  const isNone = kinds.every((kind) => !affectedNodes(failure, kind).length);
  return html`<p>
      ${resolved ? t("run.consequences.resolved", { when: moment(resolvedAt) }) : t("run.consequences.open")}${" "}
      ${resolvedBy && html`<${NodeLink} node=${{ urn: resolvedBy.urn, kind: "PIPELINE_RUN", name: resolvedBy.pipelineName ?? resolvedBy.urn }} />`}
    </p>
    <${Tell} names=${ownersOf(failure)} />
    ${isNone && html`<p class="soft">${t("run.consequences.none")}</p>`}
    <div class="panels plain">
      <${Affected} title=${t("run.stale")} affected=${failure.stale} />
      <${Affected} title=${t("run.partial")} affected=${failure.partial} />
    </div>`;
}

/** @param {{run: any, asked: import("../use_ask.js").Asked}} properties */
function Checks({ run, asked }) {
  const { testsPassed, failedTests } = run;
  const isTested = testsPassed !== null || failedTests.length > 0 || asked.data?.failedChecks?.nodes.length > 0;
  if (!isTested) return null;
  const dataset = (/** @type {any} */ row) => row.dataset && html`<${NodeLink} node=${{ ...row.dataset, kind: "DATASET" }} showKind=${false} />`;
  const columns = [...measuredColumns(), { title: t("column.dataset"), value: (/** @type {any} */ row) => row.dataset?.name, cell: dataset }];
  return html`<${Section} id="checks" title=${t("run.tests")}>
    ${testsPassed !== null && html`<p>${t("run.tests.passed", { count: count(testsPassed) })}</p>`}
    <${FieldOutcome} asked=${asked} field="failedChecks" what=${t("run.tests")}>
      ${(/** @type {any} */ { nodes, totalCount }) =>
        nodes.length
          ? html`<${DataTable}
              caption=${t("run.tests.caption", { count: count(totalCount) })}
              columns=${columns}
              rows=${nodes}
              rowKey=${(/** @type {any} */ row) => [row.name, row.column, row.dataset?.urn].join(" ")}
              isStacked=${true}
              file="checks"
            />`
          : html`<p class="soft">${t("run.tests.none")}</p>`}
    <//>
  <//>`;
}
