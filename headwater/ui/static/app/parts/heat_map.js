// Cost against fidelity: how many datasets have how well known lineage, by what their runs cost. It
// is a table; the shade of a cell repeats its number.
import { count, duration } from "../format.js";
import { html } from "../html.js";
import { t } from "../texts.js";

const FIDELITIES = ["NONE", "JOB", "DATASET", "COLUMN"];
const SHADES = 4;

/**
 * Return the shade of a number, 0 to 4; only 0 has none.
 * @param {number} number
 * @param {number} largest
 */
export function shade(number, largest) {
  return number ? Math.max(1, Math.ceil((number / largest) * SHADES)) : 0;
}

/** @param {{cells: any[]}} properties  in the order of the API */
export function HeatMap({ cells }) {
  const bands = cells.filter(({ fidelity }) => fidelity === FIDELITIES[0]);
  const largest = Math.max(...cells.map(({ datasets }) => datasets), 1);
  const row = (/** @type {string} */ name) => cells.filter(({ fidelity }) => fidelity === name);
  return html`<div class="table-frame" tabindex="0" role="region" aria-label=${t("heat.caption")}>
    <table class="heat">
      <caption>${t("heat.caption")}</caption>
      <thead>
        <tr>
          <th scope="col">${t("heat.fidelity")}</th>
          ${bands.map((cell) => html`<th key=${cell.costTo} scope="col" class="number">${bandWords(cell)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${FIDELITIES.map(
          (name) => html`<tr key=${name}>
            <th scope="row">${t(`heat.${name}`)}</th>
            ${row(name).map(
              (cell) => html`<td key=${cell.costTo} class=${`number heat-${shade(cell.datasets, largest)}`} title=${t("heat.cell", { count: count(cell.datasets), time: duration(cell.seconds) })}>
                ${count(cell.datasets)}
              </td>`,
            )}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** @param {any} cell */
function bandWords({ costFrom, costTo }) {
  if (costTo === 0) return t("heat.band.none");
  if (costTo === null) return t("heat.band.above", { from: duration(costFrom) });
  return t("heat.band", { to: duration(costTo) });
}
