// Sending an edit, and waiting until the graph shows it.
import { ask, change } from "./api.js";
import { useEffect, useRef, useState } from "./html.js";

const PAUSE_MILLISECONDS = 300;
const PAUSE_MILLISECONDS_MAX = 5000;
const LATE_MILLISECONDS = 20_000;

/** @typedef {"idle" | "sending" | "waiting" | "late" | "done" | "failed"} Stage */
/** @typedef {(name: string, variables: Record<string, unknown>) => Promise<void>} SendEdit */

/**
 * Return the edits of a dataset or a job, newest first.
 * @param {string} urn
 * @returns {Record<string, unknown>}
 */
export function editVariables(urn) {
  return { urn, isDataset: urn.startsWith("dataset:"), isJob: urn.startsWith("job:") };
}

/**
 * Return how far the last edit is, and a function that sends one. `onShown` is called when the graph
 * shows it.
 * @param {string} urn
 * @param {() => void} onShown
 * @returns {{stage: Stage, error: any, sendEdit: SendEdit}}
 */
export function useEdit(urn, onShown) {
  const [state, setState] = useState(/** @type {{stage: Stage, error: any}} */ ({ stage: "idle", error: null }));
  const isMounted = useRef(true);
  useEffect(
    () => () => {
      isMounted.current = false;
    },
    [],
  );
  const show = (/** @type {Stage} */ stage, /** @type {any} */ error = null) => {
    if (isMounted.current) setState({ stage, error });
  };
  const sendEdit = async (/** @type {string} */ name, /** @type {Record<string, unknown>} */ variables) => {
    show("sending");
    try {
      const { data } = await change(name, { urn, ...variables });
      show("waiting");
      await shown(urn, data.edit.editId, isMounted, () => show("late"));
      onShown();
      show("done");
    } catch (error) {
      show("failed", error);
    }
  };
  return { ...state, sendEdit };
}

/**
 * Wait until the graph has an edit; the edit is on disk, so that is only a matter of time.
 * @param {string} urn
 * @param {string} editId
 * @param {{current: boolean}} isMounted
 * @param {() => void} onLate
 */
async function shown(urn, editId, isMounted, onLate) {
  const begun = Date.now();
  let pause = PAUSE_MILLISECONDS;
  while (isMounted.current) {
    const { data } = await ask("Edits", editVariables(urn));
    const { edits = [] } = data?.dataset ?? data?.job ?? {};
    if (edits.some((/** @type {{id: string}} */ edit) => edit.id === editId)) return;
    if (Date.now() - begun > LATE_MILLISECONDS) onLate();
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(pause * 1.5, PAUSE_MILLISECONDS_MAX);
  }
}
