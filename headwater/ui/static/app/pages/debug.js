// The dashboard for debugging: one run with its data, traces and raw events, and the platform.
import { ask } from "../api.js";
import { count, duration } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { Time } from "../parts/facts.js";
import { Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { useTitle } from "../parts/node_head.js";
import { FieldOutcome, Section } from "../parts/section.js";
import { State } from "../parts/state.js";
import { DataTable } from "../parts/table.js";
import { go, hrefOf } from "../router.js";
import { t } from "../texts.js";
import { idOfUrn } from "../urns.js";
import { useAsk } from "../use_ask.js";
import { Platform } from "./debug_platform.js";
import { DebugRun } from "./debug_run.js";

const PAUSE_MILLISECONDS = 150;
const RUNS = 10;

/** @param {{place: import("../router.js").Place}} properties */
export default function DebugPage({ place }) {
  const { run = "", job = "" } = place.parameters;
  useTitle(t("debug.title"));
  return html`<div class="on-call">
    <h1>${t("debug.title")}</h1>
    <${Section} id="choose" title=${t("debug.choose")}>
      <${Finder} />
      ${job ? html`<${JobRuns} key=${job} job=${job} place=${place} />` : html`<${AllRuns} place=${place} />`}
    <//>
    ${run && html`<${DebugRun} key=${run} id=${run} place=${place} />`}
    <${Platform} />
  </div>`;
}

function Finder() {
  const [text, setText] = useState("");
  const [found, setFound] = useState(/** @type {any[] | null} */ (null));
  useEffect(() => {
    const stop = new AbortController();
    if (!text.trim()) setFound(null);
    else {
      const timer = setTimeout(() => {
        ask("DebugFind", { text: text.trim() }, stop.signal).then(
          ({ data }) => setFound(nodesOf(data)),
          () => !stop.signal.aborted && setFound([]),
        );
      }, PAUSE_MILLISECONDS);
      stop.signal.addEventListener("abort", () => clearTimeout(timer));
    }
    return () => stop.abort();
  }, [text]);
  return html`<div class="finder">
    <input
      type="search"
      aria-label=${t("debug.find")}
      placeholder=${t("debug.find")}
      autocomplete="off"
      spellcheck="false"
      value=${text}
      onInput=${(/** @type {any} */ event) => setText(event.target.value)}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Enter" && found?.[0] && go(hrefOfFound(found[0]))}
    />
    <div aria-live="polite">
      ${found?.length === 0 && html`<${Empty} title=${t("debug.found.none", { text })} hint=${t("debug.found.none.hint")} />`}
      ${
        found &&
        found.length > 0 &&
        html`<ul class="rows" aria-label=${t("debug.found")}>
          ${found.map(
            (node) => html`<li key=${node.urn}>
              <span class="kind">${t(`kind.${node.kind}`)}</span> <a class="name" href=${hrefOfFound(node)}><bdi>${node.name}</bdi></a>
              ${node.kind === "PIPELINE_RUN" ? html` <span class="mono soft"><bdi>${idOfUrn(node.urn)}</bdi></span>` : html` <span class="namespace"><bdi>${node.namespace}</bdi></span>`}
            </li>`,
          )}
        </ul>`
      }
    </div>
  </div>`;
}

/** @param {any} data */
function nodesOf({ nodesByName, search }) {
  return [...(nodesByName ?? []), ...(search?.edges ?? []).map((/** @type {any} */ edge) => edge.node)];
}

/** @param {{kind: string, urn: string}} node */
function hrefOfFound({ kind, urn }) {
  const parameters = kind === "JOB" ? { job: urn } : { run: idOfUrn(urn) };
  return hrefOf("dashboards", "debug", /** @type {any} */ (parameters));
}

/** @param {{place: import("../router.js").Place}} properties */
function AllRuns({ place }) {
  const asked = useAsk("DebugRuns", { first: RUNS });
  return html`<${FieldOutcome} asked=${asked} field="runs" what=${t("home.runs")}>
    ${(/** @type {any} */ { nodes, totalCount }) => html`<${Runs} nodes=${nodes} place=${place} caption=${t("debug.recent", { shown: count(nodes.length), total: count(totalCount) })} />`}
  <//>`;
}

/** @param {{job: string, place: import("../router.js").Place}} properties */
function JobRuns({ job, place }) {
  const asked = useAsk("DebugJobRuns", { urn: job, first: RUNS });
  return html`<p><a href=${hrefOf("dashboards", "debug", { run: place.parameters.run })}>${t("debug.recent.all")}</a></p>
    <${FieldOutcome} asked=${asked} field="job" what=${t("home.runs")}>
      ${(/** @type {any} */ { name, runs }) => html`<${Runs}
        nodes=${runs.nodes}
        place=${place}
        caption=${t("debug.recent.job", { name, shown: count(runs.nodes.length), total: count(runs.totalCount) })}
      />`}
    <//>`;
}

/** @param {{nodes: any[], caption: string, place: import("../router.js").Place}} properties */
function Runs({ nodes, caption, place }) {
  if (!nodes.length) return html`<${Empty} title=${t("debug.recent.none")} hint=${t("home.runs.none.hint")} />`;
  const href = (/** @type {any} */ run) => hrefOf("dashboards", "debug", { job: place.parameters.job, run: run.runId });
  const chosen = place.parameters.run;
  const columns = [
    { title: t("column.state"), value: (/** @type {any} */ run) => run.status, cell: (/** @type {any} */ run) => html`<${State} status=${run.status} />` },
    {
      title: t("column.run"),
      value: (/** @type {any} */ run) => run.runId,
      cell: (/** @type {any} */ run) => html`<a class="name mono" href=${href(run)} aria-current=${run.runId === chosen ? "true" : undefined}><bdi>${run.runId}</bdi></a>`,
    },
    {
      title: t("column.job"),
      value: (/** @type {any} */ run) => run.pipelineName,
      cell: (/** @type {any} */ run) => html`<${NodeLink} node=${{ urn: run.urn, kind: "PIPELINE_RUN", name: run.pipelineName ?? run.runId, namespace: run.namespace }} showKind=${false} />`,
    },
    { title: t("column.started"), value: (/** @type {any} */ run) => run.startedAt, cell: (/** @type {any} */ run) => html`<${Time} at=${run.startedAt} />` },
    { title: t("column.duration"), value: (/** @type {any} */ run) => run.durationSeconds, cell: (/** @type {any} */ run) => run.durationSeconds !== null && duration(run.durationSeconds), isNumber: true },
  ];
  return html`<${DataTable} caption=${caption} columns=${columns} rows=${nodes} rowKey=${(/** @type {any} */ run) => run.urn} isStacked=${true} file="runs" />`;
}
