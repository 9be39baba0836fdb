// Personal data: its state at a node, told by a shape and words, and the path that explains it.
import { count } from "../format.js";
import { html } from "../html.js";
import { t } from "../texts.js";
import { nodeOfUrn } from "../urns.js";
import { Folded } from "./folded.js";
import { Cut, Empty } from "./messages.js";
import { NodeLink } from "./node.js";
import { FieldOutcome, Section } from "./section.js";
import { DataTable } from "./table.js";

/** The states of the API, the most severe first; a classified node that nothing reaches comes last. */
const STATES = ["EXPOSED", "UNKNOWN", "INFLUENCED", "MASKED", "DECLASSIFIED", "CLASSIFIED"];
/** Path of each state in a box of 14 by 14. Each differs in outline, not only in colour. */
const SHAPES = {
  EXPOSED: "M1 7s2.2-4 6-4 6 4 6 4-2.2 4-6 4-6-4-6-4M7 5.6a1.4 1.4 0 1 1 0 2.8 1.4 1.4 0 0 1 0-2.8",
  UNKNOWN: "M7 11.5v.5M4.5 5a2.5 2.5 0 1 1 3.4 2.3c-.6.3-.9.7-.9 1.7",
  INFLUENCED: "M2 2.5h10L8.5 7v4.5l-3-1.5V7z",
  MASKED: "M1 7s2.2-4 6-4 6 4 6 4-2.2 4-6 4-6-4-6-4M2.5 12.5 11.5 1.5",
  DECLASSIFIED: "M7 1.5 12 3.5v3.3c0 3-2.2 5-5 5.9-2.8-.9-5-2.9-5-5.9V3.5zM4.7 7 6.4 8.8 9.5 5.4",
  CLASSIFIED: "M1.5 1.5h5.2L12.5 7.3l-5.2 5.2L1.5 6.7zM4.3 4.3v.1",
};
const COLOURS = {
  EXPOSED: "failed",
  UNKNOWN: "stale",
  INFLUENCED: "unknown",
  MASKED: "complete",
  DECLASSIFIED: "complete",
  CLASSIFIED: "running",
};

/** @typedef {keyof typeof SHAPES} PrivacyState */

/**
 * Return the state as the page shows it: a node that has the class itself is classified.
 * @param {{state: string, steps: any[]}} entry
 * @returns {PrivacyState}
 */
export function shownStateOf({ state, steps }) {
  return state === "EXPOSED" && !steps.length ? "CLASSIFIED" : /** @type {PrivacyState} */ (state);
}

/** @param {{state: PrivacyState}} properties */
function PrivacyState({ state }) {
  return html`<span class=${`state state-${COLOURS[state]}`} data-privacy=${state}>
    <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      <path d=${SHAPES[state]} fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
    <span>${t(`privacy.${state}`)}</span>
  </span>`;
}

/**
 * Return one entry for each class, the most severe, the most severe classes first.
 * @param {any[]} entries
 */
export function worstOfClasses(entries) {
  const severity = (/** @type {any} */ entry) => STATES.indexOf(shownStateOf(entry));
  const ordered = [...entries].sort(
    (a, b) => severity(a) - severity(b) || a.classification.localeCompare(b.classification),
  );
  /** @type {Map<string, any>} */
  const found = new Map();
  for (const entry of ordered) if (!found.has(entry.classification)) found.set(entry.classification, entry);
  return [...found.values()];
}

/**
 * A chip for each class: the class, and its state by shape and word. Each leads to the section with
 * the path.
 * @param {{entries: any[]}} properties
 */
export function PrivacyChips({ entries }) {
  return worstOfClasses(entries).map((entry) => {
    const { classification } = entry;
    const state = shownStateOf(entry);
    return html`<a class="chip" key=${classification} href="#personal-data">
      <bdi>${classification}</bdi> <${PrivacyState} state=${state} />
    </a>`;
  });
}

/**
 * The section with each class, its state and its path.
 * @param {{asked: import("../use_ask.js").Asked, dataset: any}} properties
 */
export function PrivacySection({ asked, dataset }) {
  return html`<${Section} id="personal-data" title=${t("privacy.title")}>
    <${FieldOutcome} asked=${asked} field="personalData" what=${t("privacy.title")}>
      ${(/** @type {any} */ { nodes, totalCount }) => {
        if (!nodes.length) return html`<${Empty} title=${t("privacy.none")} hint=${t("privacy.none.hint")} />`;
        return html`<${DataTable}
            caption=${t("privacy.caption", { count: count(worstOfClasses(nodes).length) })}
            columns=${tableColumns(dataset.urn)}
            rows=${nodes}
            rowKey=${(/** @type {any} */ entry) => `${entry.urn} ${entry.classification}`}
            isStacked=${true}
            file="personal-data"
          />
          ${totalCount > nodes.length && html`<${Cut} shown=${count(nodes.length)} total=${count(totalCount)} />`}`;
      }}
    <//>
  <//>`;
}

/**
 * @param {string} urn of the dataset
 * @returns {import("./table.js").Column[]}
 */
function tableColumns(urn) {
  const where = (/** @type {any} */ entry) => (entry.urn === urn ? t("privacy.whole") : nodeOfUrn(entry.urn).name);
  return [
    { title: t("column.state"), value: (entry) => STATES.indexOf(shownStateOf(entry)), cell: (entry) => html`<${PrivacyState} state=${shownStateOf(entry)} />` },
    { title: t("privacy.class"), value: (entry) => entry.classification, cell: (entry) => html`<bdi class="name">${entry.classification}</bdi>` },
    { title: t("privacy.of"), value: where, cell: (entry) => html`<bdi class="name">${where(entry)}</bdi>` },
    { title: t("privacy.from"), value: (entry) => entry.path[0], cell: (entry) => entry.steps.length > 0 && html`<${PathNode} urn=${entry.path[0]} />` },
    { title: t("privacy.path"), value: (entry) => entry.steps.length, cell: (entry) => html`<${Path} entry=${entry} />` },
  ];
}

/** @param {{entry: any}} properties */
function Path({ entry }) {
  if (!entry.steps.length) return html`<span class="soft">${t("privacy.path.own")}</span>`;
  return html`<${Folded} summary=${t("privacy.path.show", { count: count(entry.steps.length) })}>
    ${() => html`<ol class="path">
      <li><${PathNode} urn=${entry.path[0]} /></li>
      ${entry.steps.map((/** @type {any} */ step, /** @type {number} */ index) => html`<li key=${index}><${Step} step=${step} /></li>`)}
    </ol>`}
  <//>`;
}

/** @param {{step: any}} properties */
function Step({ step }) {
  const { target, job, transformations, state } = step;
  return html`<div class="soft">
      ↓ <${PrivacyState} state=${state} /> ${job && html`<${NodeLink} node=${nodeOfUrn(job)} />`} ${howOf(step, transformations)}
    </div>
    <${PathNode} urn=${target} />`;
}

/**
 * Return how a step passes values on, in words.
 * @param {any} step
 * @param {string[]} transformations
 */
function howOf({ source, target, job }, transformations) {
  if (transformations.length) return html`<bdi>${transformations.join(", ")}</bdi>`;
  if (job) return t("privacy.step.no.columns");
  if (target.startsWith("hidden:") || source.startsWith("hidden:")) return "";
  return t(target.startsWith("answer:") ? "privacy.step.cited" : "privacy.step.belongs");
}

/**
 * A node of a path. A column stands with its dataset.
 * @param {{urn: string}} properties
 */
function PathNode({ urn }) {
  if (!/^column:[^#]/.test(urn)) return html`<${NodeLink} node=${nodeOfUrn(urn)} />`;
  const dataset = `dataset:${urn.slice("column:".length).split(":").slice(0, 2).join(":")}`;
  return html`<${NodeLink} node=${nodeOfUrn(urn)} showKind=${false} />${" "}
    <span class="soft">(<${NodeLink} node=${nodeOfUrn(dataset)} showKind=${false} />)</span>`;
}
