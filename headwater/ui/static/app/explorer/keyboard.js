// The keys of the stage. Pure.

/** @typedef {"left" | "right" | "up" | "down"} Direction */

const MOVES = /** @type {Record<string, Direction>} */ ({
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
});
const NAMES = /** @type {Record<string, string>} */ ({
  Enter: "select",
  " ": "select",
  c: "centre",
  "+": "open",
  "=": "open",
  "-": "fold",
  i: "in",
  o: "out",
  0: "home",
  f: "fit",
  "?": "help",
  Escape: "release",
});

/** The keys and the texts of what they do, for the help. */
export const KEYS = [
  ["← ↑ ↓ →", "move"],
  ["Enter", "select"],
  ["+", "open"],
  ["−", "fold"],
  ["c", "centre"],
  ["0", "home"],
  ["f", "fit"],
  ["i, o", "zoom"],
  ["/", "search"],
  ["Esc", "release"],
  ["?", "help"],
];

/**
 * Return what a key does on the stage; null for a key that is not ours.
 * @param {{key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean}} event
 * @returns {{name: string, move?: Direction} | null}
 */
export function keyAction({ key, ctrlKey, metaKey, altKey }) {
  if (ctrlKey || metaKey || altKey) return null;
  if (key in MOVES) return { name: "move", move: MOVES[key] };
  return key in NAMES ? { name: NAMES[key] } : null;
}
