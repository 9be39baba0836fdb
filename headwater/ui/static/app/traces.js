// Trace ids in facets of runs, and partitions with offsets in raw events. Pure functions.

const DEPTH_MAX = 6;
const TRACES_MAX = 50;
const PARTITIONS_MAX = 1000;
/** https://www.w3.org/TR/trace-context/ */
const TRACE_PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/i;
const FACET_KEYS = ["facets", "inputFacets", "outputFacets"];

/** @typedef {{traceId: string, spanId: string}} Trace */

/**
 * Return the traces that facets name, each once: by `traceId` with `spanId`, or by `traceparent`.
 * @param {unknown} facets
 * @returns {Trace[]}
 */
export function tracesOf(facets) {
  /** @type {Map<string, Trace>} */
  const found = new Map();
  walk(facets, 0, (object) => {
    const trace = traceOf(object);
    if (trace && found.size < TRACES_MAX) found.set(`${trace.traceId} ${trace.spanId}`, trace);
  });
  return [...found.values()];
}

/**
 * @param {Record<string, unknown>} object
 * @returns {Trace | null}
 */
function traceOf(object) {
  const text = (/** @type {RegExp} */ key) => {
    const name = Object.keys(object).find((one) => key.test(one));
    return name && typeof object[name] === "string" ? String(object[name]) : "";
  };
  const [, traceId = "", spanId = ""] = TRACE_PARENT.exec(text(/^trace_?parent$/i)) ?? [];
  if (traceId) return { traceId, spanId };
  const id = text(/^trace_?id$/i);
  return id ? { traceId: id, spanId: text(/^span_?id$/i) } : null;
}

/**
 * @typedef {{dataset: {namespace: string, name: string}, partition: number, begin: number | null, end: number | null}} Partition
 */

/**
 * Return the partitions that datasets of raw events name in their facets, with the lowest and the
 * highest offset of all events.
 * @param {any[]} events
 * @returns {Partition[]}
 */
export function partitionsOf(events) {
  /** @type {Map<string, Partition>} */
  const found = new Map();
  for (const event of events) {
    for (const dataset of [...(event.inputs ?? []), ...(event.outputs ?? [])]) {
      const { namespace, name } = dataset;
      for (const key of FACET_KEYS) {
        walk(dataset[key], 0, (object) => {
          const one = partitionOf(object);
          if (one && found.size < PARTITIONS_MAX) join(found, { dataset: { namespace, name }, ...one });
        });
      }
    }
  }
  return [...found.values()].sort(
    (a, b) => a.dataset.name.localeCompare(b.dataset.name) || a.partition - b.partition,
  );
}

/** @param {Record<string, unknown>} object */
function partitionOf(object) {
  const number = (/** @type {RegExp} */ key) => {
    const name = Object.keys(object).find((one) => key.test(one));
    const value = name ? object[name] : null;
    return value !== null && value !== "" && Number.isFinite(Number(value)) ? Number(value) : null;
  };
  const partition = number(/^partition(_?id)?$/i);
  const begin = number(/^(start|starting|begin|beginning|from|first|earliest)_?offset$/i);
  const end = number(/^((end|ending|until|to|last|latest)_?)?offset$/i);
  return partition === null || (begin === null && end === null) ? null : { partition, begin, end };
}

/**
 * @param {Map<string, Partition>} found
 * @param {Partition} one
 */
function join(found, one) {
  const key = JSON.stringify([one.dataset.namespace, one.dataset.name, one.partition]);
  const known = found.get(key) ?? one;
  const begins = [known.begin, one.begin].filter((offset) => offset !== null);
  const ends = [known.end, one.end].filter((offset) => offset !== null);
  found.set(key, {
    ...one,
    begin: begins.length ? Math.min(...begins.map(Number)) : null,
    end: ends.length ? Math.max(...ends.map(Number)) : null,
  });
}

/**
 * Call a function with each object in a value.
 * @param {unknown} value
 * @param {number} depth
 * @param {(object: Record<string, unknown>) => void} onObject
 */
function walk(value, depth, onObject) {
  if (!value || typeof value !== "object" || depth > DEPTH_MAX) return;
  if (!Array.isArray(value)) onObject(/** @type {Record<string, unknown>} */ (value));
  for (const inner of Object.values(value)) walk(inner, depth + 1, onObject);
}
