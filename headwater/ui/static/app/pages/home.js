// The first view: search, and what happened last.
import { count } from "../format.js";
import { html } from "../html.js";
import { Name, Time } from "../parts/facts.js";
import { Subject, findingHref } from "../parts/findings.js";
import { Empty, Outcome } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { State } from "../parts/state.js";
import { Tier } from "../parts/tier.js";
import { hrefOf } from "../router.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

const DAY_MILLISECONDS = 86_400_000;
const since = new Date(Date.now() - DAY_MILLISECONDS).toISOString();

export default function Home() {
  const asked = useAsk("Home", { since });
  return html`<div class="lead">
      <h1>${t("home.title")}</h1>
      <p>${t("home.lead")}</p>
    </div>
    <${Problems} />
    <${Outcome} asked=${asked} what=${t("home.runs")}>
      ${(/** @type {any} */ data) => html`<div class="panels">
        <section class="panel" aria-labelledby="home-failures">
          <h2 id="home-failures"><a href=${hrefOf("failures")}>${t("home.failures")}</a></h2>
          ${list(data.failedRuns, failed, t("home.failures.none"), "")}
        </section>
        <section class="panel" aria-labelledby="home-answers">
          <h2 id="home-answers">${t("home.answers")}</h2>
          ${list(data.answers, answered, t("home.answers.none"), "")}
        </section>
        <section class="panel" aria-labelledby="home-runs">
          <h2 id="home-runs">${t("home.runs")}</h2>
          ${list(data.runs, ran, t("home.runs.none"), t("home.runs.none.hint"))}
        </section>
      </div>`}
    <//>`;
}

/** The open findings; nothing while they are not known, for the page is of use without them. */
function Problems() {
  const { data } = useAsk("HomeFindings", {});
  if (!data?.urgent || !data.soon) return null;
  const { urgent, soon } = data;
  return html`<section class="panel" aria-labelledby="home-findings">
    <h2 id="home-findings"><a href=${hrefOf("findings")}>${t("home.findings")}</a></h2>
    <p class="tier-counts">
      <a href=${hrefOf("findings", "", { tier: "P1" })} data-count=${urgent.totalCount}><${Tier} tier="P1" number=${count(urgent.totalCount)} /></a>
      <a href=${hrefOf("findings", "", { tier: "P2" })} data-count=${soon.totalCount}><${Tier} tier="P2" number=${count(soon.totalCount)} /></a>
    </p>
    ${
      urgent.nodes.length > 0 &&
      html`<ul class="rows">
        ${urgent.nodes.map((/** @type {any} */ one) => html`<li key=${one.id}>${dated(html`<a href=${findingHref(one.id)}>${one.title}</a> <${Subject} urn=${one.urn} />`, one.firstSeen)}</li>`)}
      </ul>`
    }
  </section>`;
}

/**
 * @param {any} connection
 * @param {(node: any) => any} row
 * @param {string} empty
 * @param {string} hint
 */
function list(connection, row, empty, hint) {
  const nodes = connection?.nodes ?? [];
  if (!nodes.length) return html`<${Empty} title=${empty} hint=${hint} />`;
  return html`<ul class="rows">${nodes.map((/** @type {any} */ node) => html`<li key=${node.urn}>${row(node)}</li>`)}</ul>`;
}

/** @param {any} run */
const runLink = (run) =>
  html`<${NodeLink} showKind=${false} node=${{ urn: run.urn, kind: "PIPELINE_RUN", name: run.pipelineName ?? run.runId }} />`;

/**
 * A row: what it is at the left, its time at the right.
 * @param {any} what
 * @param {string} time
 */
const dated = (what, time) => html`<div class="dated"><div>${what}</div><${Time} at=${time} /></div>`;

/** @param {any} run */
const failed = (run) => dated(html`<${State} status=${run.status} /> ${runLink(run)}`, run.failedAt);

/** @param {any} run */
const ran = (run) => dated(html`<${State} status=${run.status} /> ${runLink(run)}`, run.startedAt);

/** @param {any} answer */
const answered = (answer) =>
  html`${dated(html`<${NodeLink} showKind=${false} node=${{ urn: answer.urn, kind: "ANSWER", name: answer.answerId }} />`, answer.generatedAt)}
    <${Name} text=${answer.content} />`;
