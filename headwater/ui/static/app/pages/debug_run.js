// One run for debugging: what flowed, its traces, its raw events, its offsets, its schemas.
import { facetLinks } from "../facets.js";
import { ago, count, moment } from "../format.js";
import { html } from "../html.js";
import { OutsideLink } from "../parts/facts.js";
import { Code, Folded } from "../parts/folded.js";
import { Cut, Empty, Outcome } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { FieldOutcome, Section } from "../parts/section.js";
import { State } from "../parts/state.js";
import { DataTable } from "../parts/table.js";
import { go, hrefOf } from "../router.js";
import { t } from "../texts.js";
import { tracesOf } from "../traces.js";
import { idOfUrn, urnOfId } from "../urns.js";
import { useAsk, useJson } from "../use_ask.js";
import { SchemaHistory } from "./dataset_schemas.js";
import { RunGraph } from "./debug_graph.js";
import { Reads, Writes } from "./run_data.js";
import { Streams } from "./run_inside.js";

const EVENTS = 100;

/** @param {{id: string, place: import("../router.js").Place}} properties */
export function DebugRun({ id, place }) {
  const urn = urnOfId("run", id);
  const asked = useAsk("DebugRun", { urn });
  const runId = asked.data?.node?.runId;
  const query = new URLSearchParams({ runId: runId ?? "", limit: String(EVENTS), sortDirection: "asc" });
  const events = useJson(runId ? `/api/v1/events/lineage?${query}` : null);
  return html`<${FieldOutcome} asked=${asked} field="node" what=${t("debug.run")}>
    ${(/** @type {any} */ run) => html`<${Whole} run=${run} events=${events} place=${place} />`}
  <//>`;
}

/** @param {{run: any, events: import("../use_ask.js").Asked, place: import("../router.js").Place}} properties */
function Whole({ run, events, place }) {
  return html`
    <${Section} id="run" title=${t("debug.graph")} note=${html`<a href=${hrefOf("lineage", "", { urn: run.urn, level: "run" })}>${t("debug.graph.open")}</a>`}>
      <p>
        <${NodeLink} node=${{ urn: run.urn, kind: "PIPELINE_RUN", name: run.pipelineName ?? run.runId, namespace: run.namespace }} />${" "}
        <${State} status=${run.status} /> ${run.startedAt && ago(run.startedAt)}
      </p>
      ${run.error && html`<pre class="wrapped failure-text"><bdi>${run.error}</bdi></pre>`}
      <${RunGraph} run=${run} />
      <div class="panels broad">
        <div><h3>${t("run.inputs")}</h3><${Reads} run=${run} /></div>
        <div><h3>${t("run.outputs")}</h3><${Writes} run=${run} /></div>
      </div>
    <//>
    <${Section} id="traces" title=${t("debug.traces")}><${Traces} run=${run} /><//>
    <${Section} id="events" title=${t("debug.events")}>
      <${Outcome} asked=${events} what=${t("debug.events")}>
        ${(/** @type {any} */ found) => html`<${Events} events=${found.events} total=${found.totalCount} />`}
      <//>
    <//>
    <${Section} id="offsets" title=${t("debug.offsets")}>
      ${
        run.streams.length
          ? html`<${Streams} streams=${run.streams} />`
          : html`<${Empty} title=${t("debug.offsets.none")} hint=${t("debug.offsets.none.hint")} />`
      }
    <//>
    <${Schemas} run=${run} place=${place} />`;
}

/** @param {{run: any}} properties */
function Traces({ run }) {
  const rows = [run, ...run.parents].flatMap((one) => [
    ...tracesOf(one.facets).map((trace) => ({ run: one, ...trace, url: "" })),
    ...facetLinks(one.facets)
      .filter(({ kind }) => kind === "trace")
      .map(({ url }) => ({ run: one, traceId: url, spanId: "", url })),
  ]);
  if (!rows.length) return html`<${Empty} title=${t("debug.traces.none")} hint=${t("debug.traces.none.hint")} />`;
  return html`<${DataTable}
      caption=${t("debug.traces.caption", { count: count(rows.length) })}
      columns=${traceColumns(run)}
      rows=${rows}
      rowKey=${(/** @type {any} */ row) => [row.run.urn, row.traceId, row.spanId].join(" ")}
      isStacked=${true}
      file="traces"
    />
    <p class="soft">${t("debug.traces.none.hint")}</p>`;
}

/**
 * @param {any} own the chosen run
 * @returns {import("../parts/table.js").Column[]}
 */
function traceColumns(own) {
  const node = (/** @type {any} */ run) => ({ urn: run.urn, kind: "PIPELINE_RUN", name: run.pipelineName ?? idOfUrn(run.urn) });
  const outputs = (/** @type {any} */ run) => (run.urn === own.urn ? own.outputs : []);
  return [
    { title: t("debug.column.trace"), value: (row) => row.traceId, cell: (row) => (row.url ? html`<${OutsideLink} address=${row.url} />` : html`<bdi class="mono name">${row.traceId}</bdi>`) },
    { title: t("debug.column.span"), value: (row) => row.spanId, cell: (row) => html`<bdi class="mono name">${row.spanId}</bdi>` },
    { title: t("column.run"), value: (row) => row.run.pipelineName, cell: (row) => html`<${NodeLink} node=${node(row.run)} showKind=${false} />` },
    {
      title: t("run.outputs"),
      value: (row) => outputs(row.run).map((/** @type {any} */ { name }) => name).join(", "),
      cell: (row) => outputs(row.run).map((/** @type {any} */ dataset) => html`<div key=${dataset.urn}><${NodeLink} node=${{ ...dataset, kind: "DATASET" }} showKind=${false} /></div>`),
    },
  ];
}

/** @param {{events: any[], total: number}} properties */
function Events({ events, total }) {
  if (!events.length) return html`<${Empty} title=${t("debug.events.none")} hint=${t("debug.events.none.hint")} />`;
  return html`<p class="soft">${t("debug.events.caption", { shown: count(events.length), total: count(total) })}</p>
    ${events.map(
      (event, index) => html`<${Folded} key=${index} summary=${t("debug.events.one", { type: event.eventType ?? "–", when: moment(event.eventTime) })}>
        ${() => html`<${Code} text=${JSON.stringify(event, null, 2)} what=${t("debug.events.what")} />`}
      <//>`,
    )}
    ${total > events.length && html`<${Cut} shown=${count(events.length)} total=${count(total)} />`}`;
}

/** @param {{run: any, place: import("../router.js").Place}} properties */
function Schemas({ run, place }) {
  const datasets = [...new Map([...run.outputs, ...run.inputs].map((/** @type {any} */ one) => [one.urn, one])).values()];
  if (!datasets.length) return null;
  const chosen = datasets.find(({ urn }) => urn === place.parameters.dataset) ?? datasets[0];
  const choose = (/** @type {any} */ event) => {
    const parameters = { ...place.parameters, dataset: event.target.value, before: null, after: null };
    go(hrefOf("dashboards", "debug", parameters), { replace: true });
  };
  return html`<p class="filters">
      <label>${t("debug.schema")}
        <select value=${chosen.urn} onChange=${choose}>
          ${datasets.map(({ urn, name }) => html`<option key=${urn} value=${urn}>${name}</option>`)}
        </select>
      </label>
    </p>
    <${SchemaHistory} key=${chosen.urn} urn=${chosen.urn} place=${place} />`;
}
