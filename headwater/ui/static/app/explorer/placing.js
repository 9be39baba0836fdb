// The layout of the shown graph: at once while it is small, else in a worker.
import { gapFor } from "./edge_labels.js";
import { layout } from "./layout.js";
import { boxesOf, linksOf } from "./scene.js";

/** @typedef {Map<string, {x: number, y: number, rank: number}>} Places */

/** A layout of so many nodes takes less time than a message to a worker. */
const DIRECT_MAX = 150;
/** @type {Worker | null} */
let worker = null;
let last = 0;

/**
 * Return the layout of a shown graph; `previous` are the places of the layout before, and the anchor
 * keeps its place in it.
 * @param {import("./graph.js").Shown} shown
 * @param {Places} previous
 * @param {string | null} anchor
 * @returns {any} the result, or a promise of it
 */
export function place(shown, previous, anchor) {
  const boxes = boxesOf(shown.nodes);
  const links = linksOf(shown.edges);
  const columnGap = gapFor(shown.edges);
  if (boxes.length <= DIRECT_MAX) return layout(boxes, links, { previous, anchor, columnGap });
  worker ??= new Worker(new URL("./layout_worker.js", import.meta.url), { type: "module" });
  const thread = worker;
  last += 1;
  const key = last;
  return new Promise((resolve, reject) => {
    const answered = (/** @type {MessageEvent} */ { data }) => {
      if (data.key !== key) return;
      thread.removeEventListener("message", answered);
      resolve({ ...data, places: new Map(data.places) });
    };
    thread.addEventListener("message", answered);
    thread.addEventListener("error", reject, { once: true });
    thread.postMessage({ boxes, links, previous: [...previous], anchor, columnGap, key });
  });
}
