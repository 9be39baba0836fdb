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
 * `detail` returns what stands below a row, over all columns. A stacked table is a list of cards on
 * a narrow window.
 * @param {{
 *   caption: string, columns: Column[], rows: any[], rowKey: (row: any) => string, file?: string,
 *   detail?: (row: any) => any, isStacked?: boolean
 * }} properties
 */
export function DataTable({ caption, columns, rows, rowKey, file = "headwater", detail, isStacked = false }) {
  const [order, setOrder] = useState({ column: -1, sign: 1 });
  const sorted = order.column < 0 ? rows : sortedBy(rows, columns[order.column].value, order.sign);
  const sort = (/** @type {number} */ column) =>
    setOrder({ column, sign: order.column === column ? -order.sign : 1 });
  const direction = (/** @type {number} */ index) =>
    order.column !== index ? "none" : order.sign > 0 ? "ascending" : "descending";
  return html`<div class="table-frame" tabindex="0" role="region" aria-label=${caption}>
    <table class=${isStacked ? "stacked" : ""}>
      <caption>
        <bdi>${caption}</bdi>${" "}
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
          (row) => html`<${Row} key=${rowKey(row)} row=${row} columns=${columns} detail=${detail?.(row)} />`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** @param {{row: any, columns: Column[], detail: any}} properties */
function Row({ row, columns, detail }) {
  return html`<tr>
      ${columns.map(
        (column) => html`<td key=${column.title} class=${column.isNumber ? "number" : ""} data-title=${column.title}>
          ${column.cell ? column.cell(row) : column.value(row)}
        </td>`,
      )}
    </tr>
    ${detail && html`<tr><td class="detail" colspan=${columns.length}>${detail}</td></tr>`}`;
}

/**
 * Return the columns that have a value in some row, so that empty ones take no room.
 * @param {Column[]} columns
 * @param {any[]} rows
 */
export function withValues(columns, rows) {
  return columns.filter(({ value }) => rows.some((row) => !isMissing(value(row))));
}

/** @param {unknown} value */
function isMissing(value) {
  return value === null || value === undefined || value === "";
}

/**
 * Return rows in the order of a value; rows without it come last. Equal rows keep their order.
 * @param {any[]} rows
 * @param {(row: any) => unknown} value
 * @param {number} sign 1 or -1
 */
export function sortedBy(rows, value, sign) {
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
