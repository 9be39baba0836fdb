// The page of a run: how it ended, what it read and wrote, what its failure touches.
import { facetLinks } from "../facets.js";
import { ago, count, duration, moment } from "../format.js";
import { html } from "../html.js";
import { FacetSection } from "../parts/facet_section.js";
import { Facts, Name, NodeList, OutsideLink, Time } from "../parts/facts.js";
import { RunFindings } from "../parts/findings.js";
import { Code, Folded } from "../parts/folded.js";
import { NodeLink, Tags } from "../parts/node.js";
import { NodeHead, NodeOutcome } from "../parts/node_head.js";
import { RunNews } from "../parts/run_news.js";
import { Section } from "../parts/section.js";
import { State } from "../parts/state.js";
import { DataTable } from "../parts/table.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";
import { idOfUrn, urnOfId } from "../urns.js";
import { useAsk } from "../use_ask.js";
import { Consequences } from "./run_consequences.js";
import { Reads, Writes } from "./run_data.js";
import { Steps, Streams } from "./run_inside.js";

const MARGIN_MILLISECONDS = 1000;
const EVENTS = 100;
const STORIES = new Set(["COMPLETE", "FAIL", "ABORT", "RUNNING", "ABANDONED"]);

/** @param {{place: import("../router.js").Place}} properties */
export default function RunPage({ place }) {
  const urn = urnOfId("run", place.id);
  return html`<${Run} key=${urn} urn=${urn} />`;
}

/** @param {{urn: string}} properties */
function Run({ urn }) {
  const asked = useAsk("Run", { urn });
  return html`<${NodeOutcome} asked=${asked} node=${asked.data?.node} kind=${t("run.kind")} name=${idOfUrn(urn)}>
    ${(/** @type {any} */ run) => html`<${Whole} run=${run} again=${asked.again} />`}
  <//>`;
}

/** @param {{run: any, again: () => void}} properties */
function Whole({ run, again }) {
  const facets = useAsk("Facets", { urn: run.urn }).data?.node?.facets;
  const crumbs = run.job ? [{ text: run.job.name, href: `/jobs/${encodeURIComponent(run.job.urn)}` }] : [];
  return html`<${NodeHead}
      kind=${t("run.kind")}
      urn=${run.urn}
      name=${run.pipelineName ?? run.runId}
      namespace=${run.namespace}
      crumbs=${crumbs}
      state=${html`<${State} status=${run.status} />`}
      actions=${html`<${Links} run=${run} facets=${facets} />`}
    >
      <p>${storyOf(run)}</p>
      <${RunNews} run=${run} again=${again} />
    <//>
    ${run.error && html`<${Trouble} run=${run} />`}
    <${RunFindings} run=${run} />
    <${Consequences} run=${run} />
    <div class="panels spaced broad">
      <${Section} id="inputs" title=${t("run.inputs")}><${Reads} run=${run} /><//>
      <${Section} id="outputs" title=${t("run.outputs")}><${Writes} run=${run} /><//>
      <${Section} id="about" title=${t("part.about")}><${About} run=${run} /><//>
    </div>
    ${run.streams.length > 0 && html`<${Section} id="streams" title=${t("run.streams")}><${Streams} streams=${run.streams} /><//>`}
    ${run.steps.length > 0 && html`<${Section} id="steps" title=${t("run.steps")}><${Steps} steps=${run.steps} /><//>`}
    ${run.children.length > 0 && html`<${Section} id="children" title=${t("run.children")}><${Children} runs=${run.children} /><//>`}
    <${FacetSection} urn=${run.urn} />`;
}

/**
 * Return the state of a run as sentences.
 * @param {any} run
 * @param {number} [now] milliseconds since 1970
 */
export function storyOf(run, now = Date.now()) {
  const end = ago(run.failedAt ?? run.finishedAt, now);
  const story = STORIES.has(run.status)
    ? t(`run.story.${run.status}`, { start: ago(run.startedAt, now), end, duration: duration(run.durationSeconds) })
    : "";
  const sentences = [story];
  if (run.retried) sentences.push(t("run.story.retried"));
  if (run.childFailures) sentences.push(t("run.story.children", { count: count(run.childFailures) }));
  return sentences.join(" ");
}

/** @param {{run: any, facets: any}} properties */
function Links({ run, facets }) {
  return html`${facetLinks(facets).map(
      ({ kind, path, url }) => html`<${OutsideLink} key=${path} address=${url} text=${t(`run.link.${kind}`, { path })} />`,
    )}
    ${run.startedAt && html`<a href=${eventsHref(run)} target="_blank" rel="noopener">${t("run.events")}</a>`}
    ${run.status === "FAIL" && html`<a href=${hrefOf("failures", "", { since: "all", open: run.urn })}>${t("run.causes")}</a>`}`;
}

/**
 * Return the address of the raw events between the start and the end of a run.
 * @param {any} run
 */
function eventsHref({ startedAt, finishedAt, lastSeen }) {
  const end = Date.parse(finishedAt ?? lastSeen ?? startedAt) + MARGIN_MILLISECONDS;
  const query = new URLSearchParams({ after: startedAt, before: new Date(end).toISOString(), limit: String(EVENTS) });
  return `/api/v1/events/lineage?${query}`;
}

/** @param {{run: any}} properties */
function Trouble({ run }) {
  return html`<${Section} id="error" title=${t("run.error")}>
    <pre class="wrapped failure-text"><bdi>${run.error}</bdi></pre>
    ${
      run.stackTrace &&
      html`<${Folded} summary=${t("run.stack")}>${() => html`<${Code} text=${run.stackTrace} what=${t("run.stack")} />`}<//>`
    }
  <//>`;
}

/** @param {{run: any}} properties */
function About({ run }) {
  const scheduled = run.nominalStart && [run.nominalStart, run.nominalEnd].filter(Boolean).map(moment).join(" – ");
  return html`<${Facts}
      facts=${[
        [t("run.id"), html`<bdi class="mono">${run.runId}</bdi>`],
        [t("run.job"), run.job && html`<${NodeLink} node=${{ ...run.job, namespace: null, kind: "JOB" }} showKind=${false} />`],
        [t("run.started"), run.startedAt && html`<${Time} at=${run.startedAt} />`],
        [t("run.ended"), run.finishedAt && html`<${Time} at=${run.finishedAt} />`],
        [t("run.failed"), run.failedAt && html`<${Time} at=${run.failedAt} />`],
        [t("run.heartbeat"), run.lastHeartbeatAt && html`<${Time} at=${run.lastHeartbeatAt} />`],
        [t("run.nominal"), scheduled],
        [t("run.attempt"), run.attempt && t("run.attempt.of", { attempt: run.attempt })],
        [t("run.attempts"), run.attempts > 1 && count(run.attempts)],
        [t("run.engine"), run.engine],
        [t("run.version"), run.version && html`<bdi class="mono">${run.version}</bdi>`],
        [t("run.trigger"), run.triggeredBy && html`<bdi>${run.triggeredBy}</bdi>`],
        [t("run.query"), run.externalQueryId && html`<bdi class="mono">${run.externalQueryId}</bdi>`],
        [t("part.tags"), run.tags.length > 0 && html`<${Tags} names=${run.tags} />`],
        [t("run.traces"), run.traceIds.length > 0 && html`<${Traces} run=${run} />`],
        [t("run.parents"), run.parents.length > 0 && html`<${NodeList} nodes=${run.parents.map(runNode)} />`],
      ]}
    />
    ${
      run.extractionErrors.length > 0 &&
      html`<${Folded} summary=${t("run.extraction")}>
        ${() => html`<${Code} text=${run.extractionErrors.join("\n")} what=${t("run.extraction")} />`}
      <//>`
    }`;
}

/**
 * The traces of a run: links to the tool that shows them if it is set, and to other runs of each.
 * @param {{run: any}} properties
 */
function Traces({ run }) {
  const more = run.traceCount - run.traceIds.length;
  return html`${run.traceIds.map(
    (/** @type {string} */ id, /** @type {number} */ index) => html`<div key=${id}>
      <a class="mono name" href=${hrefOf("search", "", { text: id })}>${id}</a>${" "}
      ${run.traceLinks[index] && html`<${OutsideLink} address=${run.traceLinks[index]} text=${t("run.link.trace", { path: "" })} />`}
    </div>`,
  )}${more > 0 && html`<p class="soft">${t("run.traces.more", { count: count(more) })}</p>`}`;
}

/** @param {any} run */
function runNode(run) {
  return { urn: run.urn, kind: "PIPELINE_RUN", name: run.pipelineName ?? idOfUrn(run.urn) };
}

/** @param {{runs: any[]}} properties */
function Children({ runs }) {
  const columns = [
    { title: t("column.state"), value: (/** @type {any} */ run) => run.status, cell: (/** @type {any} */ run) => html`<${State} status=${run.status} />` },
    { title: t("column.run"), value: (/** @type {any} */ run) => run.pipelineName, cell: (/** @type {any} */ run) => html`<${NodeLink} node=${runNode(run)} showKind=${false} />` },
    { title: t("column.started"), value: (/** @type {any} */ run) => run.startedAt, cell: (/** @type {any} */ run) => html`<${Time} at=${run.startedAt} />` },
    { title: t("column.duration"), value: (/** @type {any} */ run) => run.durationSeconds, cell: (/** @type {any} */ run) => duration(run.durationSeconds), isNumber: true },
    { title: t("column.error"), value: (/** @type {any} */ run) => run.error, cell: (/** @type {any} */ run) => html`<${Name} text=${run.error?.split("\n", 1)[0]} />` },
  ];
  const caption = t("run.children.caption", { count: count(runs.length) });
  return html`<${DataTable} caption=${caption} columns=${columns} rows=${runs} rowKey=${(/** @type {any} */ run) => run.urn} file="runs" />`;
}
