// The way from an answer to its sources, in words: a tree of citations, versions and runs.
import { count } from "../format.js";
import { html } from "../html.js";
import { Cut } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { State } from "../parts/state.js";
import { t } from "../texts.js";

const VERBS = new Set([
  "ANSWER.ARTIFACT",
  "ANSWER.SOURCE",
  "ANSWER.ANSWER",
  "ANSWER.COLUMN",
  "ARTIFACT.ARTIFACT",
  "ARTIFACT.PIPELINE_RUN",
  "PIPELINE_RUN.ARTIFACT",
  "PIPELINE_RUN.SOURCE",
  "COLUMN.ARTIFACT",
  "COLUMN.SOURCE",
]);

/** @typedef {{branch: any, children: Tree[]}} Tree */

/**
 * Return branches in preorder as a tree; null without any.
 * @param {any[]} branches
 * @returns {Tree | null}
 */
export function treeOf(branches) {
  /** @type {Tree[]} */
  const trees = branches.map((branch) => ({ branch, children: [] }));
  for (const tree of trees) {
    if (tree.branch.parentIndex !== null) trees[tree.branch.parentIndex]?.children.push(tree);
  }
  return trees[0] ?? null;
}

/** @param {{trace: any, branches: number}} properties */
export function Story({ trace, branches }) {
  const shown = trace.tree.slice(0, branches);
  const tree = treeOf(shown);
  if (!tree) return null;
  const number = (/** @type {string} */ kind) =>
    count(new Set(shown.filter((/** @type {any} */ branch) => branch.kind === kind).map((/** @type {any} */ branch) => branch.urn)).size);
  const isCut = trace.tree.length > shown.length;
  return html`<p>
      ${t("answer.story.lead", {
        versions: number("ARTIFACT"),
        runs: number("PIPELINE_RUN"),
        sources: number("SOURCE"),
      })}
    </p>
    ${
      (isCut || trace.truncated) &&
      html`<${Cut} shown=${t("answer.tree.limit", { count: count(shown.length) })} total=${t("answer.tree.more")} limit=${trace.truncatedBy} />`
    }
    <ul class="story" aria-label=${t("answer.tree")}>
      ${tree.children.map((child) => html`<${Branch} key=${child.branch.urn} tree=${child} above=${tree.branch.kind} />`)}
    </ul>`;
}

/** @param {{tree: Tree, above: string}} properties */
function Branch({ tree, above }) {
  const { branch, children } = tree;
  return html`<li>
    <span class="soft">${verbOf(above, branch.kind)}</span> <${NodeLink} node=${branch} showKind=${false} /> <${Remarks} branch=${branch} />
    ${
      children.length > 0 &&
      html`<ul>
        ${children.map((child, index) => html`<${Branch} key=${`${child.branch.urn} ${index}`} tree=${child} above=${branch.kind} />`)}
      </ul>`
    }
  </li>`;
}

/** @param {{branch: any}} properties */
function Remarks({ branch }) {
  const { kind, status, codeVersion, rowCount, repeated } = branch;
  const isNoted = status && (kind === "PIPELINE_RUN" || status !== "COMPLETE");
  return html`${isNoted && html`<${State} status=${status} />`}${" "}
  ${rowCount !== null && html`<span class="soft">${t("answer.tree.rows", { count: count(rowCount) })}</span>`}${" "}
  ${codeVersion && html`<span class="soft"><bdi>${t("answer.tree.code", { version: codeVersion })}</bdi></span>`}${" "}
  ${repeated && html`<em class="soft">${t("answer.tree.repeated")}</em>`}`;
}

/**
 * @param {string} above the kind of the branch above
 * @param {string} kind
 */
function verbOf(above, kind) {
  const pair = `${above}.${kind}`;
  return t(`verb.${VERBS.has(pair) ? pair : "other"}`);
}
