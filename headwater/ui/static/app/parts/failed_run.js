// The cells of a failed run in a table.
import { html } from "../html.js";
import { t } from "../texts.js";
import { NodeLink } from "./node.js";
import { State } from "./state.js";

/** @param {any} run */
export function stateCell({ resolved }) {
  return resolved
    ? html`<${State} status="COMPLETE" word=${t("failures.resolved")} />`
    : html`<${State} status="FAIL" word=${t("failures.open")} />`;
}

/** @param {any} run */
export function runCell(run) {
  const node = { urn: run.urn, kind: "PIPELINE_RUN", name: run.pipelineName ?? run.runId, namespace: run.namespace };
  return html`<${NodeLink} node=${node} showKind=${false} />
    ${run.error && html`<div class="error-line"><bdi>${run.error.split("\n", 1)[0]}</bdi></div>`}`;
}
