// A question as state of a view: loading, answer or error.
import { ask } from "./api.js";
import { useCallback, useEffect, useState } from "./html.js";

/**
 * @typedef {{data: any, errors: import("./api.js").Answer["errors"], error: any, isLoading: boolean, again: () => void}} Asked
 */

/**
 * Ask a question, again whenever its variables change. The last answer stays while the next one is
 * awaited. A null name asks nothing.
 * @param {string | null} name
 * @param {Record<string, unknown>} variables
 * @returns {Asked}
 */
export function useAsk(name, variables) {
  const [round, setRound] = useState(0);
  const [state, setState] = useState(
    /** @type {{data: any, errors: any[], error: any, key: string}} */ ({
      data: null,
      errors: [],
      error: null,
      key: "",
    }),
  );
  const key = JSON.stringify([name, variables, round]);
  useEffect(() => {
    if (name === null) return undefined;
    const stop = new AbortController();
    ask(name, variables, stop.signal).then(
      ({ data, errors }) => setState({ data, errors, error: null, key }),
      (error) => {
        if (!stop.signal.aborted) setState({ data: null, errors: [], error, key });
      },
    );
    return () => stop.abort();
  }, [key]);
  const again = useCallback(() => setRound((number) => number + 1), []);
  return { ...state, isLoading: name !== null && state.key !== key, again };
}
