// The dashboard of people on call: what needs attention, what it means for others, whom to tell.
import { afflictedDatasets, consequenceOf, ranked } from "../consequences.js";
import { count } from "../format.js";
import { html } from "../html.js";
import { affectedNodes, ownersOf } from "../parts/affected.js";
import { runCell, stateCell } from "../parts/failed_run.js";
import { Name, Owners, Time } from "../parts/facts.js";
import { FigureTiles } from "../parts/figure_tiles.js";
import { Cut, Empty, Outcome } from "../parts/messages.js";
import { NewFailures } from "../parts/new_failures.js";
import { NodeLink } from "../parts/node.js";
import { useTitle } from "../parts/node_head.js";
import { Section, useSeen } from "../parts/section.js";
import { State } from "../parts/state.js";
import { DataTable } from "../parts/table.js";
import { Tile } from "../parts/tile.js";
import { go, hrefOf } from "../router.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";
import { useSince } from "./failures.js";
import { Alerts } from "./on_call_alerts.js";
import { Consumers } from "./on_call_consumers.js";
import { FailingPipelines, SchemaChanges } from "./on_call_lists.js";
import { NoNews, Overdue } from "./on_call_runs.js";

const WINDOWS = ["1h", "24h", "7d", "30d"];
const WINDOW_DEFAULT = "24h";
const FAILURES = 50;
const TRENDS = ["time-to-impact", "failing-runs"];

/** @param {{place: import("../router.js").Place}} properties */
export default function OnCallPage({ place }) {
  const since = WINDOWS.includes(place.parameters.since) ? place.parameters.since : WINDOW_DEFAULT;
  const namespace = place.parameters.namespace || null;
  const { instant, take } = useSince(since);
  const variables = { since: instant, namespace };
  const failures = useAsk("OnCallFailures", { ...variables, first: FAILURES });
  const runs = useAsk("OnCallRuns", variables);
  useTitle(t("oncall.title"));
  return html`<div class="on-call">
    <div class="section-head">
      <h1>${t("oncall.title")}</h1>
      <${NewFailures} filter=${{ namespace, pipeline: null }} shown=${failures.data?.failedRuns?.nodes ?? []} again=${take} />
    </div>
    <${Window} place=${place} since=${since} />
    <${Outcome} asked=${failures} what=${t("oncall.failures")}>
      ${(/** @type {any} */ { failedRuns }) => html`<${Attention} failedRuns=${failedRuns} runs=${runs} since=${since} place=${place} />`}
    <//>
    <${Alerts} namespace=${namespace} />
    <${Consumers} place=${place} />
    <div class="panels broad spaced">
      <${Section} id="overdue" title=${t("oncall.overdue")}><${Overdue} asked=${runs} /><//>
      <${Section} id="no-news" title=${t("oncall.nonews")}><${NoNews} asked=${runs} /><//>
    </div>
    <${FailingPipelines} variables=${variables} since=${since} />
    <${SchemaChanges} variables=${variables} />
    <${Trends} />
  </div>`;
}

function Trends() {
  const later = useSeen();
  return html`<${Section} id="trends" title=${t("oncall.trends")} later=${later}>
    ${later.isSeen && html`<${FigureTiles} names=${TRENDS} />`}
  <//>`;
}

/** @param {{place: import("../router.js").Place, since: string}} properties */
function Window({ place, since }) {
  const choose = (/** @type {any} */ event) => {
    const form = /** @type {HTMLFormElement} */ (event.target.closest("form"));
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form).entries());
    const chosen = { ...place.parameters, ...given, since: given.since === WINDOW_DEFAULT ? null : String(given.since) };
    go(hrefOf("dashboards", "on-call", /** @type {any} */ (chosen)), { replace: true });
  };
  return html`<form class="filters" role="search" aria-label=${t("failures.filter")} onSubmit=${choose}>
    <label>${t("failures.since")}
      <select name="since" value=${since} onChange=${choose}>
        ${WINDOWS.map((name) => html`<option key=${name} value=${name}>${t(`failures.since.${name}`)}</option>`)}
      </select>
    </label>
    <label>${t("failures.namespace")} <input name="namespace" value=${place.parameters.namespace ?? ""} onChange=${choose} /></label>
  </form>`;
}

/** @param {{failedRuns: any, runs: import("../use_ask.js").Asked, since: string, place: import("../router.js").Place}} properties */
function Attention({ failedRuns, runs, since, place }) {
  const failures = ranked(failedRuns.nodes);
  const open = failures.filter(({ resolved }) => !resolved);
  const afflicted = afflictedDatasets(failures);
  const answers = new Set(open.flatMap((failure) => affectedNodes(failure, "answers").map(({ urn }) => urn)));
  const overdue = runs.data?.overdueRuns?.nodes.length ?? null;
  const noNews = runs.data?.runs?.totalCount ?? null;
  const all = hrefOf("failures", "", { since, namespace: place.parameters.namespace });
  const isWell = !open.length && overdue === 0 && noNews === 0;
  return html`
    ${isWell && html`<${Empty} title=${t("oncall.well")} hint=${t("oncall.well.hint", { window: t(`failures.since.${since}`) })} />`}
    <${Section} id="attention" title=${t("oncall.attention")}>
      <div class="tiles">
        <${Tile} figure="open-failures" label=${t("oncall.open")} value=${open.length} href=${all} of=${t("oncall.open.of", { count: count(failedRuns.totalCount) })} />
        <${Tile} figure="afflicted-datasets" label=${t("oncall.tile.stale")} value=${afflicted.length} href="#stale" />
        <${Tile} figure="afflicted-answers" label=${t("oncall.answers")} value=${answers.size} href="#failures" />
        <${Tile} figure="overdue-runs" label=${t("oncall.tile.overdue")} value=${overdue} href="#overdue" of=${t("oncall.overdue.of", { count: count(runs.data?.overdueRuns?.running) })} />
        <${Tile} figure="no-news-runs" label=${t("oncall.tile.nonews")} value=${noNews} href="#no-news" />
      </div>
    <//>
    <${Section} id="failures" title=${t("oncall.failures")}><${Failures} failures=${failures} total=${failedRuns.totalCount} all=${all} since=${since} /><//>
    <${Section} id="stale" title=${t("oncall.stale")}><${Afflicted} rows=${afflicted} /><//>`;
}

/** @param {{failures: any[], total: number, all: string, since: string}} properties */
function Failures({ failures, total, all, since }) {
  if (!failures.length) return html`<${Empty} title=${t("oncall.failures.none")} hint=${t("oncall.failures.none.hint")} />`;
  return html`<${DataTable}
      caption=${t("oncall.failures.caption", { shown: count(failures.length), total: count(total) })}
      columns=${failureColumns(since)}
      rows=${failures}
      rowKey=${(/** @type {any} */ run) => run.urn}
      isStacked=${true}
      file="on-call-failures"
    />
    ${total > failures.length && html`<${Cut} shown=${count(failures.length)} total=${count(total)}><a href=${all}>${t("oncall.failures.all")}</a><//>`}`;
}

/**
 * @param {string} since
 * @returns {import("../parts/table.js").Column[]}
 */
function failureColumns(since) {
  return [
    { title: t("column.state"), value: ({ resolved }) => (resolved ? t("failures.resolved") : t("failures.open")), cell: stateCell },
    { title: t("column.failed"), value: (run) => run.failedAt, cell: (run) => html`<${Time} at=${run.failedAt} />` },
    { title: t("column.run"), value: (run) => run.pipelineName ?? run.runId, cell: runCell },
    { title: t("column.affected"), value: (run) => consequenceText(run), cell: (run) => consequenceCell(run, since) },
    { title: t("column.tell"), value: (run) => ownersOf(run).join(", "), cell: (run) => html`<${Owners} names=${ownersOf(run)} />` },
    { title: t("oncall.column.good"), value: (run) => run.lastGood.map((/** @type {any} */ { createdAt }) => createdAt).join(", "), cell: goodCell },
  ];
}

/** @param {any} run */
function consequenceText(run) {
  const { certified, answers, assets, isCut } = consequenceOf(run);
  const words = /** @type {[string, number][]} */ ([
    ["oncall.certified", certified],
    ["oncall.touches.answers", answers],
    ["oncall.touches.assets", assets],
  ]).filter(([, number]) => number > 0);
  const text = words.map(([key, number]) => t(key, { count: count(number) })).join(", ") || t("failures.affected.none");
  return isCut ? t("oncall.atleast", { text }) : text;
}

/**
 * @param {any} run
 * @param {string} since
 */
function consequenceCell(run, since) {
  return html`<a href=${hrefOf("failures", "", { since, open: run.urn })}>${consequenceText(run)}</a>`;
}

/** @param {any} run */
function goodCell({ lastGood }) {
  if (!lastGood.length) return html`<span class="soft">${t("oncall.good.none")}</span>`;
  return lastGood.map(
    (/** @type {any} */ version) => html`<div key=${version.urn}>
      <${NodeLink} node=${{ ...version.dataset, namespace: null, kind: "DATASET" }} showKind=${false} />${" "}
      <${Time} at=${version.createdAt} />
    </div>`,
  );
}

/** @param {{rows: import("../consequences.js").Affliction[]}} properties */
function Afflicted({ rows }) {
  if (!rows.length) return html`<${Empty} title=${t("oncall.stale.none")} hint=${t("oncall.stale.none.hint")} />`;
  const columns = [
    { title: t("column.dataset"), value: (/** @type {any} */ row) => row.dataset.name, cell: (/** @type {any} */ row) => html`<${NodeLink} node=${{ ...row.dataset, kind: "DATASET" }} showKind=${false} />` },
    { title: t("column.state"), value: (/** @type {any} */ row) => t(`state.${row.state.toLowerCase()}`), cell: (/** @type {any} */ row) => html`<${State} status=${row.state} />` },
    { title: t("oncall.column.since"), value: (/** @type {any} */ row) => row.since, cell: (/** @type {any} */ row) => html`<${Time} at=${row.since} />` },
    { title: t("oncall.column.why"), value: (/** @type {any} */ row) => row.failures.map((/** @type {any} */ run) => run.pipelineName ?? run.runId).join(", "), cell: whyCell },
  ];
  return html`<${DataTable} caption=${t("oncall.stale.caption", { count: count(rows.length) })} columns=${columns} rows=${rows} rowKey=${(/** @type {any} */ row) => row.dataset.urn} isStacked=${true} file="stale-datasets" />`;
}

/** @param {any} row */
function whyCell({ failures }) {
  return failures.map(
    (/** @type {any} */ run) => html`<div key=${run.urn}>
      <${NodeLink} node=${{ urn: run.urn, kind: "PIPELINE_RUN", name: run.pipelineName ?? run.runId }} showKind=${false} />${" "}
      <${Name} text=${run.error?.split("\n", 1)[0]} />
    </div>`,
  );
}
