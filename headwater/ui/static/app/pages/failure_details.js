// One failure: who is affected, what may have caused it, what to run again, and whom to tell.
import { count, moment } from "../format.js";
import { html } from "../html.js";
import { Affected, Tell, ownersOf } from "../parts/affected.js";
import { NodeList, Owners, Time } from "../parts/facts.js";
import { Cut, Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { FieldOutcome } from "../parts/section.js";
import { State } from "../parts/state.js";
import { DataTable } from "../parts/table.js";
import { t } from "../texts.js";
import { idOfUrn, nodeOfUrn } from "../urns.js";
import { useAsk } from "../use_ask.js";
import { Stale } from "./answer.js";

/** @param {{failure: any}} properties */
export function FailureDetails({ failure }) {
  const asked = useAsk("Failure", { urn: failure.urn });
  const planOwners = asked.data?.replayPlan?.owners ?? [];
  const owners = [...new Set([...ownersOf(failure), ...planOwners])];
  return html`<div class="details" id="failure-details">
    <${Tell} names=${owners} />
    ${failure.error && html`<pre class="wrapped failure-text"><bdi>${failure.error}</bdi></pre>`}
    <section>
      <h2>${t("failures.causes")}</h2>
      <${FieldOutcome} asked=${asked} field="rootCause" what=${t("failures.causes")}>
        ${(/** @type {any} */ rootCause) => html`<${Causes} rootCause=${rootCause} />`}
      <//>
    </section>
    <section>
      <h2>${t("failures.affected")}</h2>
      <div class="panels plain">
        <${Affected} title=${t("run.stale")} affected=${failure.stale} />
        <${Affected} title=${t("run.partial")} affected=${failure.partial} />
      </div>
    </section>
    <section>
      <h2>${t("failures.plan")}</h2>
      <${FieldOutcome} asked=${asked} field="replayPlan" what=${t("failures.plan")}>
        ${(/** @type {any} */ plan) => html`<${Plan} plan=${plan} />`}
      <//>
    </section>
  </div>`;
}

/** @param {{rootCause: any}} properties */
function Causes({ rootCause }) {
  const { candidates, omittedCount, truncated, truncatedBy, stale } = rootCause;
  const shown = count(candidates.length);
  return html`${
      candidates.length
        ? html`<${DataTable}
            caption=${t("failures.causes.caption", { count: shown })}
            columns=${causeColumns()}
            rows=${candidates}
            rowKey=${(/** @type {any} */ cause) => cause.kind + cause.urn + cause.reason}
            isStacked=${true}
            file="causes"
          />`
        : html`<${Empty} title=${t("failures.causes.none")} hint=${t("failures.causes.none.hint")} />`
    }
    ${(omittedCount > 0 || truncated) && html`<${Cut} shown=${shown} total=${truncated ? t("failures.causes.all") : count(candidates.length + omittedCount)} limit=${truncatedBy} />`}
    ${stale.length > 0 && html`<h3>${t("failures.stale")}</h3><${Stale} inputs=${stale} />`}`;
}

/** @returns {import("../parts/table.js").Column[]} */
function causeColumns() {
  return [
    { title: t("column.cause"), value: (cause) => t(`cause.${cause.kind}`) },
    { title: t("column.reason"), value: (cause) => cause.reason, cell: reasonCell },
    { title: t("column.run"), value: (cause) => cause.urn, cell: causeLink },
    { title: t("column.when"), value: (cause) => cause.occurredAt, cell: (cause) => html`<${Time} at=${cause.occurredAt} />` },
    { title: t("column.distance"), value: (cause) => cause.distance, isNumber: true },
  ];
}

/** @param {any} cause */
function reasonCell({ kind, reason, before, after }) {
  // The reason of a changed schema names the columns already.
  const isChange = before !== null && after !== null && kind !== "SCHEMA_CHANGED";
  return html`<bdi class="name">${reason}</bdi>
    ${isChange && html`<div class="soft mono"><bdi class="name">${t("cause.from", { before, after })}</bdi></div>`}`;
}

/** @param {any} cause */
function causeLink({ urn, run }) {
  const node = run
    ? { urn: run.urn, kind: "PIPELINE_RUN", name: run.pipelineName ?? idOfUrn(run.urn) }
    : nodeOfUrn(urn);
  return html`<${NodeLink} node=${node} showKind=${false} />`;
}

/** @param {{plan: any}} properties */
function Plan({ plan }) {
  const { steps, nextJobs, answers, truncated, truncatedBy } = plan;
  if (!steps.length && !nextJobs.length) return html`<${Empty} title=${t("failures.plan.none")} />`;
  const named = answers.map((/** @type {any} */ answer) => ({ ...answer, name: answer.answerId }));
  return html`<ol class="plan">
      ${steps.map(
        (/** @type {any} */ step) => html`<li key=${step.number}>
          <strong>${t("failures.plan.step", { number: step.number })}</strong>
          <ul class="rows">${step.runs.map((/** @type {any} */ run, /** @type {number} */ index) => html`<li key=${index}><${Replay} replay=${run} /></li>`)}</ul>
        </li>`,
      )}
    </ol>
    ${truncated && html`<${Cut} shown=${count(steps.length)} total=${t("failures.plan.cut")} limit=${truncatedBy} />`}
    ${nextJobs.length > 0 && html`<h3>${t("failures.plan.next")}</h3><${NodeList} nodes=${nextJobs} kind="JOB" />`}
    ${named.length > 0 && html`<h3>${t("failures.plan.answers")}</h3><${NodeList} nodes=${named} kind="ANSWER" />`}`;
}

/** @param {{replay: any}} properties */
function Replay({ replay }) {
  const { run, job, outputs, owners, superseded } = replay;
  const node = job
    ? { ...job, kind: "JOB" }
    : run && { urn: run.urn, kind: "PIPELINE_RUN", name: run.pipelineName ?? idOfUrn(run.urn) };
  return html`${node && html`<${NodeLink} node=${node} />`} ${run && html`<${State} status=${run.status} />`}${" "}
    <${Owners} names=${owners} />
    ${superseded && html`<div class="soft">${t("failures.plan.superseded")}</div>`}
    <ul class="bare">
      ${outputs.map(
        (/** @type {any} */ { dataset, lastGood }) => html`<li key=${dataset.urn}>
          → <${NodeLink} node=${{ ...dataset, kind: "DATASET" }} showKind=${false} />,${" "}
          ${lastGood ? html`<span data-urn=${lastGood.urn}>${t("failures.plan.from", { version: moment(lastGood.createdAt) })}</span>` : t("failures.plan.from.none")}
        </li>`,
      )}
    </ul>`;
}
