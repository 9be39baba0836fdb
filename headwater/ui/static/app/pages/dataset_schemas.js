// The schemas that a dataset has had, and the difference of two of them.
import { count, moment } from "../format.js";
import { html } from "../html.js";
import { Empty } from "../parts/messages.js";
import { FieldOutcome, Section, useSeen } from "../parts/section.js";
import { DataTable } from "../parts/table.js";
import { go, hrefOf } from "../router.js";
import { schemaDifference } from "../schemas.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

const HASH_SHOWN = 8;
/** A sign of each change, beside its word. */
const SIGNS = { added: "+", dropped: "−", retyped: "±" };

/** @param {{urn: string, place: import("../router.js").Place}} properties */
export function SchemaHistory({ urn, place }) {
  const later = useSeen();
  const { isSeen } = later;
  const asked = useAsk(isSeen ? "DatasetSchemas" : null, { urn });
  return html`<${Section} id="schemas" title=${t("dataset.history")} later=${later}>
    <${FieldOutcome} asked=${asked} field="dataset" what=${t("dataset.history")}>
      ${(/** @type {any} */ { schemaVersions }) => html`<${Whole} schemas=${schemaVersions} place=${place} />`}
    <//>
  <//>`;
}

/** @param {{schemas: any[], place: import("../router.js").Place}} properties  newest schema first */
function Whole({ schemas, place }) {
  if (!schemas.length) return html`<${Empty} title=${t("dataset.history.none")} hint=${t("dataset.columns.none.hint")} />`;
  if (schemas.length === 1) return html`<p>${t("dataset.history.one", { when: moment(schemas[0].firstSeen) })}</p>`;
  const { before, after } = place.parameters;
  const from = chosen(schemas, before, 1);
  const to = chosen(schemas, after, 0);
  const choose = (/** @type {string} */ side, /** @type {string} */ hash) => {
    const parameters = { ...place.parameters, before: from.hash, after: to.hash, [side]: hash };
    go(hrefOf(place.view, place.id, parameters), { replace: true });
  };
  return html`<p class="filters">
      <${Choice} label=${t("dataset.history.before")} schemas=${schemas} value=${from.hash} onChoose=${(/** @type {string} */ hash) => choose("before", hash)} />
      <${Choice} label=${t("dataset.history.after")} schemas=${schemas} value=${to.hash} onChoose=${(/** @type {string} */ hash) => choose("after", hash)} />
    </p>
    <${Difference} before=${from.fields} after=${to.fields} />`;
}

/**
 * @param {any[]} schemas
 * @param {string | undefined} hash
 * @param {number} index which schema stands for an unknown hash
 */
function chosen(schemas, hash, index) {
  return schemas.find((schema) => schema.hash === hash) ?? schemas[index];
}

/** @param {{label: string, schemas: any[], value: string, onChoose: (hash: string) => void}} properties */
function Choice({ label, schemas, value, onChoose }) {
  return html`<label>
    ${label}
    <select value=${value} onChange=${(/** @type {any} */ event) => onChoose(event.target.value)}>
      ${schemas.map(
        (schema) => html`<option key=${schema.hash} value=${schema.hash}>
          ${t("dataset.history.option", { when: moment(schema.firstSeen), count: count(schema.fields.length), hash: schema.hash.slice(0, HASH_SHOWN) })}
        </option>`,
      )}
    </select>
  </label>`;
}

/** @param {{before: any[], after: any[]}} properties */
function Difference({ before, after }) {
  const { changes, unchanged } = schemaDifference(before, after);
  if (!changes.length) return html`<p>${t("dataset.history.same")}</p>`;
  const number = (/** @type {string} */ change) => changes.filter((row) => row.change === change).length;
  const caption = t("dataset.history.caption", {
    added: number("added"),
    dropped: number("dropped"),
    retyped: number("retyped"),
    unchanged,
  });
  return html`<${DataTable}
    caption=${caption}
    columns=${tableColumns()}
    rows=${changes}
    rowKey=${(/** @type {any} */ row) => row.change + row.name}
    file="schema-difference"
  />`;
}

/** @returns {import("../parts/table.js").Column[]} */
function tableColumns() {
  const type = (/** @type {string | null} */ text) => html`<code><bdi>${text}</bdi></code>`;
  return [
    { title: t("column.change"), value: (row) => t(`change.${row.change}`), cell: changeMark },
    { title: t("column.name"), value: (row) => row.name, cell: (row) => html`<bdi class="name">${row.name}</bdi>` },
    { title: t("column.before"), value: (row) => row.before, cell: (row) => row.before && type(row.before) },
    { title: t("column.after"), value: (row) => row.after, cell: (row) => row.after && type(row.after) },
  ];
}

/** @param {any} row */
function changeMark({ change }) {
  const sign = SIGNS[/** @type {keyof typeof SIGNS} */ (change)];
  return html`<span class=${`change change-${change}`}><span aria-hidden="true">${sign}</span> ${t(`change.${change}`)}</span>`;
}
