// A question as state of a view: loading, answer or error.
import { ask, readJson } from "./api.js";
import { useCallback, useEffect, useState } from "./html.js";

/**
 * @typedef {{data: any, errors: import("./api.js").Answer["errors"], error: any, isLoading: boolean, again: () => void}} Asked
 */

/**
 * Ask a question, again whenever its variables change. The last answer stays while the next one is
 * awaited, the last error does not. A null name asks nothing.
 * @param {string | null} name
 * @param {Record<string, unknown>} variables
 * @returns {Asked}
 */
export function useAsk(name, variables) {
  const key = JSON.stringify([name, variables]);
  return useOutcome(name === null ? null : key, (signal) => ask(String(name), variables, signal));
}

/**
 * Read a JSON answer of REST, again whenever its path changes. A null path reads nothing.
 * @param {string | null} path
 * @returns {Asked}
 */
export function useJson(path) {
  return useOutcome(path, async (signal) => ({ data: await readJson(String(path), signal), errors: [] }));
}

/**
 * @param {string | null} question
 * @param {(signal: AbortSignal) => Promise<import("./api.js").Answer>} send
 * @returns {Asked}
 */
function useOutcome(question, send) {
  const [round, setRound] = useState(0);
  const [state, setState] = useState(
    /** @type {{data: any, errors: any[], error: any, key: string}} */ ({
      data: null,
      errors: [],
      error: null,
      key: "",
    }),
  );
  const key = `${round} ${question}`;
  useEffect(() => {
    if (question === null) return undefined;
    const stop = new AbortController();
    send(stop.signal).then(
      ({ data, errors }) => setState({ data, errors, error: null, key }),
      (error) => {
        if (!stop.signal.aborted) setState({ data: null, errors: [], error, key });
      },
    );
    return () => stop.abort();
  }, [key]);
  const again = useCallback(() => setRound((number) => number + 1), []);
  const isLoading = question !== null && state.key !== key;
  return { ...state, error: isLoading ? null : state.error, isLoading, again };
}
