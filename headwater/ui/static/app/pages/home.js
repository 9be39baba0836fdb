// The first view: search, and what happened last.
import { ago, moment } from "../format.js";
import { html } from "../html.js";
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
  return html`<h1>${t("home.title")}</h1>
    <p>${t("home.lead")}</p>
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
    <//>
    <section aria-labelledby="home-programs">
      <h2 id="home-programs">${t("home.programs")}</h2>
      <p>
        <a href="/graphql">GraphiQL</a>, <a href="/openapi.json">OpenAPI</a>,${" "}
        <a href="/cypher">Cypher</a>, <a href="/readyz">readiness</a>, <a href="/metrics">metrics</a>.
      </p>
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

/** @param {any} run */
const failed = (run) =>
  html`<${State} status=${run.status} /> ${runLink(run)} <time title=${moment(run.failedAt)}>${ago(run.failedAt)}</time>`;

/** @param {any} run */
const ran = (run) =>
  html`<${State} status=${run.status} /> ${runLink(run)} <time title=${moment(run.startedAt)}>${ago(run.startedAt)}</time>`;

/** @param {any} answer */
const answered = (answer) =>
  html`<${NodeLink} showKind=${false} node=${{ urn: answer.urn, kind: "ANSWER", name: answer.answerId }} />${" "}
    <time title=${moment(answer.generatedAt)}>${ago(answer.generatedAt)}</time>
    <br />${answer.content}`;
