// Numbers, times and names as people read them. Pure functions.

/**
 * Return a count with a separator of thousands; "?" if it is not known.
 * @param {number | string | null | undefined} count
 */
export function count(count) {
  return count === null || count === undefined ? "?" : Number(count).toLocaleString("en-GB");
}

/**
 * Return a share of 0 to 1 as a percentage, rounded down: 99.96 % is not 100 %.
 * @param {number | null | undefined} share
 */
export function percent(share) {
  if (share === null || share === undefined) return "?";
  return `${(Math.floor(share * 1000 + 1e-9) / 10).toLocaleString("en-GB")} %`;
}

/**
 * Return seconds in the largest two units: 3723 is "1 h 2 min".
 * @param {number | null | undefined} seconds
 */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "?";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  const units = /** @type {[string, number][]} */ ([
    ["d", 86400],
    ["h", 3600],
    ["min", 60],
    ["s", 1],
  ]);
  let rest = Math.round(seconds);
  const parts = [];
  for (const [unit, size] of units) {
    const number = Math.floor(rest / size);
    rest -= number * size;
    if (number) parts.push(`${number} ${unit}`);
  }
  return parts.slice(0, 2).join(" ") || "0 s";
}

/**
 * Return how long ago a time was, such as "3 h 5 min ago" or "8 min ago"; "in 2 min" for a time to come.
 * @param {string | null | undefined} time
 * @param {number} [now] milliseconds since 1970
 */
export function ago(time, now = Date.now()) {
  if (!time) return "?";
  const seconds = (now - Date.parse(time)) / 1000;
  if (Math.abs(seconds) < 1) return "now";
  const [number, unit, ...rest] = duration(Math.abs(seconds)).split(" ");
  const words = [number, unit, ...(unit === "h" ? rest : [])].join(" ");
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

/**
 * Return a time to the second, in UTC: "2026-11-22 17:05:09 UTC".
 * @param {string | null | undefined} time
 */
export function moment(time) {
  if (!time) return "?";
  return `${new Date(time).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/**
 * Return a time to the minute, in UTC: "2026-11-22 17:05 UTC".
 * @param {string} time
 */
export function minute(time) {
  return `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/**
 * Return bytes in the largest fitting unit of 1,000.
 * @param {number | string | null | undefined} bytes
 */
export function size(bytes) {
  if (bytes === null || bytes === undefined) return "?";
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let value = Number(bytes);
  let step = 0;
  while (value >= 1000 && step < units.length - 1) {
    value /= 1000;
    step += 1;
  }
  return `${step && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[step]}`;
}

/**
 * Return a text of at most so many characters. A path loses its first folders, because its end
 * names the table; any other text is cut in its middle.
 * @param {string} text
 * @param {number} length
 */
export function shortened(text, length) {
  const characters = [...text];
  if (characters.length <= length) return text;
  const slash = characters.indexOf("/", characters.length - length + 1);
  if (slash >= 0 && slash < characters.length - 1) return `…${characters.slice(slash).join("")}`;
  const isPath = characters.includes("/");
  const head = isPath ? 0 : Math.floor((length - 1) / 3);
  return `${characters.slice(0, head).join("")}…${characters.slice(head + 1 - length).join("")}`;
}

/**
 * Return rows as CSV (RFC 4180). A cell that a spreadsheet would run as a formula gets a leading '.
 * @param {string[]} columns
 * @param {unknown[][]} rows
 */
export function csv(columns, rows) {
  const cell = (/** @type {unknown} */ value) => {
    const text = value === null || value === undefined ? "" : String(value);
    const isFormula = typeof value === "string" && /^[=+\-@\t\r]/.test(text);
    return `"${(isFormula ? "'" : "") + text.replaceAll('"', '""')}"`;
  };
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}
