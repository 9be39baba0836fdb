// A dataset that is a model: its versions with parameters, metrics, features and training data, and
// what changed between two of them.
import { count, moment, percent } from "../format.js";
import { html } from "../html.js";
import { Facts, Name, NodeList, Time } from "../parts/facts.js";
import { Folded } from "../parts/folded.js";
import { Empty } from "../parts/messages.js";
import { NodeLink } from "../parts/node.js";
import { FieldOutcome, Section, useSeen } from "../parts/section.js";
import { DataTable, withValues } from "../parts/table.js";
import { go, hrefOf } from "../router.js";
import { t } from "../texts.js";
import { nodeOfUrn } from "../urns.js";
import { useAsk } from "../use_ask.js";

const VERSIONS = 20;
const TYPES = new Set(["MODEL", "ML_MODEL"]);

/** @typedef {import("../parts/table.js").Column} Column */
/** @typedef {import("../router.js").Place} Place */

/**
 * Return True if a dataset is a model, as headwater/schema/dataset_labels.py has it.
 * @param {{type: string | null}} dataset
 */
export function isModel({ type }) {
  return TYPES.has((type ?? "").toUpperCase());
}

/** @param {{urn: string, place: Place}} properties */
export function Model({ urn, place }) {
  const later = useSeen();
  const { isSeen } = later;
  const asked = useAsk(isSeen ? "DatasetModel" : null, { urn, versions: VERSIONS });
  return html`<${Section} id="model" title=${t("model.title")} later=${later}>
    <${FieldOutcome} asked=${asked} field="models" what=${t("model.title")}>
      ${(/** @type {any} */ { nodes: [model] }) =>
        model?.versions.length
          ? html`<${Whole} model=${model} place=${place} />`
          : html`<${Empty} title=${t("model.none")} hint=${t("model.none.hint")} />`}
    <//>
  <//>`;
}

/** @param {{model: any, place: Place}} properties */
function Whole({ model, place }) {
  const { versions, trainedOn, deprecatedInputs } = model;
  const deprecated = new Set(deprecatedInputs.map((/** @type {any} */ one) => one.urn));
  const mark = (/** @type {any} */ { urn }) => deprecated.has(urn) && html`<strong>${t("model.deprecated")}</strong>`;
  const chosen = versions.find((/** @type {any} */ one) => one.urn === place.parameters.version) ?? versions[0];
  return html`<h3>${t("model.trained.on")}</h3>
    <${NodeList} nodes=${trainedOn} kind="DATASET" none=${t("model.trained.on.none")} after=${mark} />
    <p class="filters">
      <${Choice} name="version" label=${t("model.version")} versions=${versions} chosen=${chosen} place=${place} />
    </p>
    <${Version} key=${chosen.urn} version=${chosen} />
    <h3>${t("model.changes")}</h3>
    ${versions.length > 1 ? html`<${Changes} urn=${model.urn} versions=${versions} after=${chosen} place=${place} />` : html`<p class="soft">${t("model.changes.one")}</p>`}`;
}

/**
 * A choice among versions, kept in the address under a name.
 * @param {{name: string, label: string, versions: any[], chosen: any, place: Place}} properties
 */
function Choice({ name, label, versions, chosen, place }) {
  const choose = (/** @type {any} */ event) =>
    go(hrefOf(place.view, place.id, { ...place.parameters, [name]: event.target.value }), { replace: true });
  return html`<label>
    ${label}
    <select value=${chosen.urn} onChange=${choose}>
      ${versions.map((one) => html`<option key=${one.urn} value=${one.urn}>${t("model.version.option", { version: one.version ?? "–", when: moment(one.createdAt) })}</option>`)}
    </select>
  </label>`;
}

/** @param {{version: any}} properties */
function Version({ version }) {
  const { featureCompleteness: share, runUrn } = version;
  return html`<${Facts}
      facts=${[
        [t("model.trained"), html`<${Time} at=${version.createdAt} />`],
        [t("model.run"), runUrn && html`<${NodeLink} node=${nodeOfUrn(runUrn)} showKind=${false} />`],
        [t("model.code"), version.code && html`<bdi class="mono">${version.code}</bdi>`],
        [t("model.completeness"), share !== null && t("model.completeness.hint", { percent: percent(share) })],
      ]}
    />
    <${Part} title="model.metrics" rows=${version.metrics} columns=${valueColumns()} isOpen=${true} />
    <${Part} title="model.parameters" rows=${version.parameters} columns=${valueColumns()} />
    <${Part} title="model.features" rows=${version.features} columns=${featureColumns()} />
    <${Part} title="model.data" rows=${version.trainingData} columns=${dataColumns()} />`;
}

/** @param {{title: string, rows: any[], columns: Column[], isOpen?: boolean}} properties */
function Part({ title, rows, columns, isOpen = false }) {
  const caption = t(title, { count: count(rows.length) });
  if (!rows.length) return html`<p class="soft">${caption}</p>`;
  const numbered = rows.map((row, index) => ({ ...row, index }));
  return html`<${Folded} summary=${caption} isOpen=${isOpen}>
    ${() => html`<${DataTable}
      caption=${caption}
      columns=${withValues(columns, numbered)}
      rows=${numbered}
      rowKey=${(/** @type {any} */ row) => row.index}
      isStacked=${true}
      file=${title.replace(".", "-")}
    />`}
  <//>`;
}

/** @returns {Column[]} */
function valueColumns() {
  return [
    { title: t("explorer.list.name"), value: (row) => row.name, cell: (row) => html`<${Name} text=${row.name} />` },
    { title: t("model.value"), value: (row) => row.value, cell: (row) => html`<bdi class="name">${row.value}</bdi>` },
  ];
}

/** @returns {Column[]} */
function featureColumns() {
  const sources = (/** @type {any} */ row) =>
    row.sources.length ? html`<${NodeList} nodes=${row.sources.map(nodeOfUrn)} />` : html`<span class="soft">${t("model.untraced")}</span>`;
  return [
    { title: t("explorer.list.name"), value: (row) => row.name, cell: (row) => html`<${Name} text=${row.name} />` },
    { title: t("column.type"), value: (row) => row.type, cell: (row) => html`<code><bdi>${row.type}</bdi></code>` },
    { title: t("model.sources"), value: (row) => row.sources.join(" ") || t("model.untraced"), cell: sources },
  ];
}

/** @returns {Column[]} */
function dataColumns() {
  return [
    { title: t("column.dataset"), value: (row) => row.datasetUrn, cell: (row) => html`<${NodeLink} node=${nodeOfUrn(row.datasetUrn)} showKind=${false} />` },
    { title: t("column.version"), value: (row) => row.version, cell: (row) => html`<${Name} text=${row.version} />` },
    { title: t("model.digest"), value: (row) => row.digest, cell: (row) => html`<bdi class="mono name">${row.digest}</bdi>` },
  ];
}

/** @param {{urn: string, versions: any[], after: any, place: Place}} properties */
function Changes({ urn, versions, after, place }) {
  const others = versions.filter((one) => one.urn !== after.urn);
  const index = versions.indexOf(after);
  const next = versions[index + 1] ?? others[0];
  const before = others.find((one) => one.urn === place.parameters.since) ?? next;
  const asked = useAsk("ModelChanges", { urn, before: before.urn, after: after.urn });
  return html`<p class="filters"><${Choice} name="since" label=${t("model.changes.from")} versions=${others} chosen=${before} place=${place} /></p>
    <${FieldOutcome} asked=${asked} field="models" what=${t("model.changes")}>
      ${(/** @type {any} */ { nodes: [model] }) => {
        const rows = (model?.changes ?? []).map((/** @type {any} */ change, /** @type {number} */ row) => ({ ...change, row }));
        if (!rows.length) return html`<p>${t("model.changes.same")}</p>`;
        return html`<${DataTable}
          caption=${t("model.changes.caption", { count: count(rows.length) })}
          columns=${changeColumns()}
          rows=${rows}
          rowKey=${(/** @type {any} */ change) => change.row}
          isStacked=${true}
          file="model-changes"
        />`;
      }}
    <//>`;
}

/** @returns {Column[]} */
function changeColumns() {
  const text = (/** @type {string | null} */ value) => html`<${Name} text=${value} />`;
  const named = (/** @type {any} */ row) =>
    row.part === "DATA" ? html`<${NodeLink} node=${nodeOfUrn(row.name)} showKind=${false} />` : text(row.name);
  return [
    { title: t("model.part"), value: (row) => t(`model.part.${row.part}`) },
    { title: t("explorer.list.name"), value: (row) => row.name, cell: named },
    { title: t("column.before"), value: (row) => row.before, cell: (row) => text(row.before) },
    { title: t("column.after"), value: (row) => row.after, cell: (row) => text(row.after) },
  ];
}
