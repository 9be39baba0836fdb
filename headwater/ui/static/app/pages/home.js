// The first view: search, and what happened last.
import { html } from "../html.js";
import { Name, Time } from "../parts/facts.js";
import { Empty, Outcome } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { State } from "../parts/state.js";
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
