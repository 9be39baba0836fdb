// A table that sorts by any column and saves itself as CSV.
import { csv } from "../format.js";
import { html, useState } from "../html.js";
import { t } from "../texts.js";

/**
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: any) => unknown} value what is sorted and saved
 * @property {(row: any) => any} [cell] what is shown, if not the value
 * @property {boolean} [isNumber]
 */

/**
 * @param {{caption: string, columns: Column[], rows: any[], rowKey: (row: any) => string, file?: string}} properties
 */
export function DataTable({ caption, columns, rows, rowKey, file = "headwater" }) {
  const [order, setOrder] = useState({ column: -1, sign: 1 });
  const sorted = order.column < 0 ? rows : sortedBy(rows, columns[order.column].value, order.sign);
  const sort = (/** @type {number} */ column) =>
    setOrder({ column, sign: order.column === column ? -order.sign : 1 });
  const direction = (/** @type {number} */ index) =>
    order.column !== index ? "none" : order.sign > 0 ? "ascending" : "descending";
  return html`<div class="table-frame" tabindex="0" role="region" aria-label=${caption}>
    <table>
      <caption>
        ${caption}${" "}
        <button class="plain" aria-label=${t("table.csv.label", { caption })} onClick=${() => save(file, columns, sorted)}>
          ${t("table.csv")}
        </button>
      </caption>
      <thead>
        <tr>
          ${columns.map(
            (column, index) => html`<th key=${column.title} scope="col" class=${column.isNumber ? "number" : ""} aria-sort=${direction(index)}>
              <button title=${t("table.sort", { column: column.title })} onClick=${() => sort(index)}>
                ${column.title}${order.column === index ? (order.sign > 0 ? " ▲" : " ▼") : ""}
              </button>
            </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${sorted.map(
          (row) => html`<tr key=${rowKey(row)}>
            ${columns.map(
              (column) => html`<td key=${column.title} class=${column.isNumber ? "number" : ""}>
                ${column.cell ? column.cell(row) : column.value(row)}
              </td>`,
            )}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/**
 * Return rows in the order of a value; rows without it come last. Equal rows keep their order.
 * @param {any[]} rows
 * @param {(row: any) => unknown} value
 * @param {number} sign 1 or -1
 */
export function sortedBy(rows, value, sign) {
  const isMissing = (/** @type {unknown} */ found) =>
    found === null || found === undefined || found === "";
  return [...rows].sort((a, b) => {
    const [left, right] = [value(a), value(b)];
    if (isMissing(left) || isMissing(right)) return Number(isMissing(left)) - Number(isMissing(right));
    if (typeof left === "number" && typeof right === "number") return sign * (left - right);
    return sign * String(left).localeCompare(String(right), "en", { numeric: true });
  });
}

/**
 * @param {string} file
 * @param {Column[]} columns
 * @param {any[]} rows
 */
function save(file, columns, rows) {
  const titles = columns.map((column) => column.title);
  const text = csv(titles, rows.map((row) => columns.map((column) => column.value(row))));
  download(`${file}.csv`, new Blob([text], { type: "text/csv" }));
}

/**
 * Save content as a file of the reader.
 * @param {string} name
 * @param {Blob} content
 */
export function download(name, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
