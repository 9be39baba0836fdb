// The state of a run or a dataset: told by a shape and a word, and by a colour last.
import { html } from "../html.js";
import { t } from "../texts.js";

/** The state of each run status, as the API names them. */
const STATES = {
  COMPLETE: "complete",
  RUNNING: "running",
  FAIL: "failed",
  ABORT: "aborted",
  ABANDONED: "abandoned",
  STALE: "stale",
  PARTIAL: "partial",
  OK: "complete",
  FAILED: "failed",
  ABORTED: "aborted",
  SKIPPED: "skipped",
  UPSTREAM_FAILED: "upstream",
  NO_NEWS: "abandoned",
};

/** Path of each state in a box of 14 by 14. Each differs in outline, not only in colour. */
const SHAPES = {
  complete: "M2 7.5 5.5 11 12 3.5",
  running: "M4 2.5v9L12 7z",
  failed: "M3 3l8 8M11 3l-8 8",
  aborted: "M3 3h8v8H3z",
  abandoned: "M7 11.5v.5M4.5 5a2.5 2.5 0 1 1 3.4 2.3c-.6.3-.9.7-.9 1.7",
  stale: "M7 1.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11M7 4v3.2L9.2 9",
  partial: "M7 1.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11M7 1.5v11",
  skipped: "M2.5 3.5 6.5 7l-4 3.5M7.5 3.5l4 3.5-4 3.5",
  upstream: "M7 12V3M3.5 6.5 7 3l3.5 3.5M3 12.5h8",
  unknown: "M3 7h8",
};

/**
 * Return the name of a state: of a run's status, or "unknown".
 * @param {string | null | undefined} status
 * @returns {keyof typeof SHAPES}
 */
export function stateOf(status) {
  return /** @type {keyof typeof SHAPES} */ (
    STATES[/** @type {keyof typeof STATES} */ (status ?? "")] ?? "unknown"
  );
}

/**
 * Return the path of a state's shape, for pictures.
 * @param {keyof typeof SHAPES} state
 */
export function shapeOf(state) {
  return SHAPES[state];
}

/**
 * Return the name of a state's colour: states of one kind share it, their shapes and words differ.
 * @param {keyof typeof SHAPES} state
 */
export function colourOf(state) {
  if (state === "partial" || state === "upstream") return "stale";
  return state === "skipped" ? "unknown" : state;
}

/** @param {{status: string | null | undefined, word?: string}} properties */
export function State({ status, word }) {
  const state = stateOf(status);
  return html`<span class=${`state state-${colourOf(state)}`}>
    <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      <path d=${SHAPES[state]} fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
    <span>${word ?? t(`state.${state}`)}</span>
  </span>`;
}
