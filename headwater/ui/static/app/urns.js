// Urns of the nodes that an address names. headwater/schema/urns.py has the rules.

const URN_LENGTH_MAX = 2000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** A part of a urn: nothing but plain characters, "/" and percent-encoded bytes. */
const PART = /^#?(?:[\w.~/-]|%[0-9A-F]{2})*$/;

/**
 * Percent-encode a part of a urn, but for "/".
 * @param {string} text
 */
export function urnPart(text) {
  const encoded = encodeURIComponent(text).replaceAll("%2F", "/");
  return encoded.replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Return the urn of a run or an answer from the id in an address: its urn, the end of that, or the
 * id as its producer wrote it.
 * @param {"run" | "answer"} kind
 * @param {string} id
 */
export function urnOfId(kind, id) {
  const text = id.startsWith(`${kind}:`) ? id.slice(kind.length + 1) : id;
  if (kind === "run" && UUID.test(text)) return `run:${text.toLowerCase()}`;
  return `${kind}:${PART.test(text) ? text : urnPart(text)}`;
}

/**
 * Return the id in the urn of a run or an answer, as its producer wrote it.
 * @param {string} urn
 */
export function idOfUrn(urn) {
  return unquoted(urn.slice(urn.indexOf(":") + 1));
}

/**
 * Return the urn of a column of a dataset; "" if the urn would be a hash, which the page cannot make.
 * @param {string} dataset the urn of the dataset
 * @param {string} column
 */
export function columnUrn(dataset, column) {
  const urn = `${dataset.replace(/^dataset:/, "column:")}:${urnPart(column)}`;
  return urn.startsWith("column:#") || urn.length > URN_LENGTH_MAX ? "" : urn;
}

/**
 * Return the dataset and the name of a column; null for another urn, and for one that is a hash.
 * @param {string} urn
 */
export function datasetOfColumn(urn) {
  const [kind, namespace, name, column] = urn.split(":");
  if (kind !== "column" || !column || namespace.startsWith("#")) return null;
  return { namespace: unquoted(namespace), name: unquoted(name), column: unquoted(column) };
}

/**
 * Return the urn of the dataset of a version or a source; any other urn as it is.
 * @param {string} urn
 */
export function datasetUrnOf(urn) {
  const [kind, ...parts] = urn.split(":");
  const isOfDataset = ["artifact", "source"].includes(kind) && parts.length >= 2;
  return isOfDataset ? `dataset:${parts[0]}:${parts[1]}` : urn;
}

/**
 * Return the last part of a urn as text, for nodes of which only the urn is known.
 * @param {string} urn
 */
export function nameOfUrn(urn) {
  const [kind, ...parts] = urn.split(":");
  const index = ["dataset", "job", "source", "artifact"].includes(kind) ? 1 : parts.length - 1;
  return unquoted(parts[index] ?? urn);
}

/** The kind of node that each kind of urn names, as the API names it. */
const KINDS = {
  dataset: "DATASET",
  job: "JOB",
  run: "PIPELINE_RUN",
  source: "SOURCE",
  artifact: "ARTIFACT",
  answer: "ANSWER",
  column: "COLUMN",
};

/**
 * Return a node for a link, from its urn alone.
 * @param {string} urn
 */
export function nodeOfUrn(urn) {
  const kind = KINDS[/** @type {keyof typeof KINDS} */ (urn.split(":")[0])] ?? "HIDDEN";
  return { urn, kind, name: nameOfUrn(urn) };
}

/** @param {string} text */
function unquoted(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
