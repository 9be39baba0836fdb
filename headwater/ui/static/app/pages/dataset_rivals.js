// A note on a dataset of which other data tells the same, with the certified one named.
import { html } from "../html.js";
import { NodeLink } from "../parts/node.js";
import { t } from "../texts.js";
import { nodeOfUrn } from "../urns.js";
import { useAsk } from "../use_ask.js";

const GROUPS = 5;
const COLUMNS_SHOWN = 8;

/** @param {{urn: string}} properties */
export function Rivals({ urn }) {
  const asked = useAsk("DatasetRivals", { urn, first: GROUPS });
  const groups = asked.data?.competingDatasets?.nodes ?? [];
  if (!groups.length) return null;
  return html`<div class="message cut" id="rivals">
    <strong>${t("rivals.title")}</strong>
    ${groups.map((/** @type {any} */ group, /** @type {number} */ index) => html`<${Group} key=${index} group=${group} urn=${urn} />`)}
  </div>`;
}

/** @param {{group: any, urn: string}} properties */
function Group({ group, urn }) {
  const { columns, preferred, datasets } = group;
  const certified = datasets.filter((/** @type {any} */ one) => one.certified && !one.deprecated);
  const shown = columns.slice(0, COLUMNS_SHOWN).join(", ") + (columns.length > COLUMNS_SHOWN ? ", …" : "");
  return html`<p><bdi>${t("rivals.same", { columns: shown })}</bdi></p>
    <ul class="rows">
      ${datasets.map(
        (/** @type {any} */ one) => html`<li key=${one.urn}>
          <${NodeLink} node=${nodeOfUrn(one.urn)} showKind=${false} />${" "}
          <span class=${one.urn === preferred ? "" : "soft"}>${wordsOf(one, preferred, urn)}</span>
        </li>`,
      )}
    </ul>
    ${!preferred && html`<p>${t(certified.length ? "rivals.several" : "rivals.none")}</p>`}`;
}

/**
 * Return what is known of one of the datasets: whether it is certified, deprecated, or this one.
 * @param {any} dataset
 * @param {string | null} preferred
 * @param {string} self
 */
export function wordsOf({ urn, certified, deprecated }, preferred, self) {
  const words = [];
  if (urn === self) words.push(t("rivals.self"));
  if (urn === preferred) words.push(t("rivals.certified"));
  else words.push(t(certified ? "rivals.certified.too" : "rivals.uncertified"));
  if (deprecated) words.push(t("rivals.deprecated"));
  return words.join(", ");
}
