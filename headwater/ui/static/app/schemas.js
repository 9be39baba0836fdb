// Columns of datasets: their tags, and the difference of two schemas. Pure functions.

/**
 * @typedef {{name: string, type: string | null}} Field
 * @typedef {{change: "added" | "dropped" | "retyped", name: string, before: string | null, after: string | null}} FieldChange
 */

/**
 * Return the columns that two schemas do not share, in the order of the later one; dropped ones last.
 * @param {Field[]} before
 * @param {Field[]} after
 * @returns {{changes: FieldChange[], unchanged: number}}
 */
export function schemaDifference(before, after) {
  const earlier = new Map(before.map((field) => [field.name, field.type]));
  const later = new Set(after.map((field) => field.name));
  /** @type {FieldChange[]} */
  const changes = [];
  for (const { name, type } of after) {
    const previous = earlier.get(name);
    if (previous === undefined) changes.push({ change: "added", name, before: null, after: type });
    else if (previous !== type) changes.push({ change: "retyped", name, before: previous, after: type });
  }
  const unchanged = after.length - changes.length;
  for (const { name, type } of before) {
    if (!later.has(name)) changes.push({ change: "dropped", name, before: type, after: null });
  }
  return { changes, unchanged };
}

/**
 * Split the tags of a dataset into its own and those of its columns, which read column:key=value.
 * @param {string[]} tags
 * @param {string[]} columns
 * @returns {{own: string[], ofColumn: Map<string, string[]>}}
 */
export function splitTags(tags, columns) {
  /** @type {string[]} */
  const own = [];
  /** @type {Map<string, string[]>} */
  const ofColumn = new Map();
  const longestFirst = [...columns].sort((a, b) => b.length - a.length);
  for (const tag of tags) {
    const column = longestFirst.find((name) => tag.startsWith(`${name}:`));
    if (column === undefined) own.push(tag);
    else ofColumn.set(column, [...(ofColumn.get(column) ?? []), tag.slice(column.length + 1)]);
  }
  return { own, ofColumn };
}
