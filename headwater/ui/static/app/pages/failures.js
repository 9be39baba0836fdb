// Failed runs, newest first, with what each one touches. New ones wait behind a button, so that no
// row moves while one reads.
import { count, moment } from "../format.js";
import { html, useState } from "../html.js";
import { affectedNodes, ownersOf } from "../parts/affected.js";
import { Owners, Time } from "../parts/facts.js";
import { Cut, Empty, Outcome } from "../parts/messages.js";
import { runCell, stateCell } from "../parts/failed_run.js";
import { NewFailures } from "../parts/new_failures.js";
import { useTitle } from "../parts/node_head.js";
import { DataTable } from "../parts/table.js";
import { go, hrefOf } from "../router.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";
import { FailureDetails } from "./failure_details.js";

const HOUR_MILLISECONDS = 3_600_000;
/** The hours of each choice of "since"; null for all failures. */
const SINCE = { "1h": 1, "24h": 24, "7d": 168, "30d": 720, all: null };
const SINCE_DEFAULT = "30d";
const ROWS = 25;
const ROWS_MAX = 200;

/**
 * Return the instant that `since` of the address names: null for all, an instant as it is.
 * @param {string} since
 * @param {number} now milliseconds since 1970
 * @returns {string | null}
 */
export function sinceInstant(since, now) {
  if (!(since in SINCE) && !Number.isNaN(Date.parse(since))) return new Date(since).toISOString();
  const name = since in SINCE ? since : SINCE_DEFAULT;
  const hours = SINCE[/** @type {keyof typeof SINCE} */ (name)];
  return hours === null ? null : new Date(now - hours * HOUR_MILLISECONDS).toISOString();
}

/**
 * Return the instant at which a window begins, taken once for each choice: otherwise each drawing
 * would ask again. `take` takes it at the present time.
 * @param {string} since
 */
export function useSince(since) {
  const [taken, setTaken] = useState({ since, instant: sinceInstant(since, Date.now()) });
  const take = () => setTaken({ since, instant: sinceInstant(since, Date.now()) });
  if (taken.since !== since) take();
  return { instant: taken.instant, take };
}

/** @param {{place: import("../router.js").Place}} properties */
export default function FailuresPage({ place }) {
  const { since = SINCE_DEFAULT, namespace = "", pipeline = "" } = place.parameters;
  const first = Math.min(Number(place.parameters.first) || ROWS, ROWS_MAX);
  const { instant } = useSince(since);
  const filter = { namespace: namespace || null, pipeline: pipeline || null };
  const asked = useAsk("Failures", { since: instant, ...filter, first });
  useTitle(t("failures.title"));
  return html`<div class="section-head">
      <h1>${t("failures.title")}</h1>
      <${NewFailures} filter=${filter} shown=${asked.data?.failedRuns?.nodes ?? []} again=${asked.again} />
    </div>
    <p class="soft">${t("failures.lead")}</p>
    <${Filters} place=${place} since=${since} />
    <${Outcome} asked=${asked} what=${t("failures.title")}>
      ${(/** @type {any} */ { failedRuns }) => html`<${List} failedRuns=${failedRuns} place=${place} since=${since} />`}
    <//>`;
}

/** @param {{place: import("../router.js").Place, since: string}} properties */
function Filters({ place, since }) {
  const { namespace = "", pipeline = "" } = place.parameters;
  const filter = (/** @type {Event} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (/** @type {Element} */ (event.target).closest("form"));
    const given = Object.fromEntries(new FormData(form).entries());
    const chosen = { ...given, since: given.since === SINCE_DEFAULT ? null : String(given.since) };
    go(hrefOf("failures", "", chosen), { replace: true });
  };
  const choices = since in SINCE ? Object.keys(SINCE) : [...Object.keys(SINCE), since];
  return html`<form class="filters" role="search" aria-label=${t("failures.filter")} onSubmit=${filter}>
    <label>${t("failures.since")}
      <select name="since" value=${since} onChange=${filter}>
        ${choices.map((name) => html`<option key=${name} value=${name}>${sinceWords(name)}</option>`)}
      </select>
    </label>
    <label>${t("failures.namespace")} <input name="namespace" value=${namespace} onChange=${filter} /></label>
    <label>${t("failures.pipeline")} <input name="pipeline" value=${pipeline} onChange=${filter} /></label>
    <button>${t("failures.filter")}</button>
  </form>`;
}

/** @param {string} since */
function sinceWords(since) {
  if (since in SINCE) return t(`failures.since.${since}`);
  return Number.isNaN(Date.parse(since)) ? since : moment(since);
}

/** @param {{failedRuns: any, place: import("../router.js").Place, since: string}} properties */
function List({ failedRuns, place, since }) {
  const { nodes, totalCount } = failedRuns;
  if (!nodes.length) return html`<${None} place=${place} since=${since} />`;
  const { open } = place.parameters;
  const hrefWith = (/** @type {Record<string, any>} */ changed) => hrefOf("failures", "", { ...place.parameters, ...changed });
  const toggle = (/** @type {string} */ urn) => go(hrefWith({ open: urn === open ? null : urn }));
  return html`<${DataTable}
      caption=${t("failures.caption", { shown: count(nodes.length), total: count(totalCount) })}
      columns=${columnsOf(open, toggle)}
      rows=${nodes}
      rowKey=${(/** @type {any} */ run) => run.urn}
      detail=${(/** @type {any} */ run) => run.urn === open && html`<${FailureDetails} key=${run.urn} failure=${run} />`}
      isStacked=${true}
      file="failures"
    />
    ${
      totalCount > nodes.length &&
      html`<${Cut} shown=${count(nodes.length)} total=${count(totalCount)}>
        ${nodes.length < ROWS_MAX && html`<button onClick=${() => go(hrefWith({ first: Math.min(nodes.length * 2, ROWS_MAX) }), { replace: true })}>${t("failures.more")}</button>`}
      <//>`
    }`;
}

/**
 * Say which filter emptied the list.
 * @param {{place: import("../router.js").Place, since: string}} properties
 */
function None({ place, since }) {
  const { namespace, pipeline } = place.parameters;
  const given = /** @type {[string, string][]} */ ([
    [t("failures.since"), since === "all" ? "" : sinceWords(since)],
    [t("failures.namespace"), namespace ?? ""],
    [t("failures.pipeline"), pipeline ?? ""],
  ]).filter(([, value]) => value);
  if (!given.length) return html`<${Empty} title=${t("failures.none")} />`;
  const filters = given.map(([name, value]) => `${name} ${value}`).join(", ");
  return html`<${Empty} title=${t("failures.none.filter", { filters })}>
    <p><a href=${hrefOf("failures", "", { since: "all" })}>${t("failures.clear")}</a></p>
  <//>`;
}

/**
 * @param {string | undefined} open the urn of the failure whose details are shown
 * @param {(urn: string) => void} toggle
 * @returns {import("../parts/table.js").Column[]}
 */
function columnsOf(open, toggle) {
  return [
    { title: t("column.state"), value: (run) => (run.resolved ? t("failures.resolved") : t("failures.open")), cell: stateCell },
    { title: t("column.failed"), value: (run) => run.failedAt, cell: (run) => html`<${Time} at=${run.failedAt} />` },
    { title: t("column.run"), value: (run) => run.pipelineName ?? run.runId, cell: runCell },
    { title: t("column.affected"), value: (run) => affectedWords(run).join(", "), cell: (run) => affectedWords(run).join(", ") || t("failures.affected.none") },
    { title: t("column.tell"), value: (run) => ownersOf(run).join(", "), cell: (run) => html`<${Owners} names=${ownersOf(run)} />` },
    { title: t("column.details"), value: () => "", cell: (run) => detailsButton(run, open, toggle) },
  ];
}

/** @param {any} run */
function affectedWords(run) {
  const kinds = /** @type {("answers" | "datasets" | "jobs")[]} */ (["answers", "datasets", "jobs"]);
  return kinds
    .map((kind) => ({ kind, number: affectedNodes(run, kind).length }))
    .filter(({ number }) => number > 0)
    .map(({ kind, number }) => t(`failures.affected.${kind}`, { count: count(number) }));
}

/**
 * @param {any} run
 * @param {string | undefined} open
 * @param {(urn: string) => void} toggle
 */
function detailsButton(run, open, toggle) {
  const isOpen = run.urn === open;
  const name = run.pipelineName ?? run.runId;
  const label = isOpen ? t("failures.close.of", { name }) : t("failures.details.of", { name });
  return html`<button aria-expanded=${isOpen} aria-label=${label} onClick=${() => toggle(run.urn)}>
    ${isOpen ? t("failures.close") : t("failures.details")}
  </button>`;
}
