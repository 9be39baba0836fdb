// Trace ids in facets of runs. Pure functions.

const DEPTH_MAX = 6;
const TRACES_MAX = 50;
/** https://www.w3.org/TR/trace-context/ */
const TRACE_PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/i;

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
