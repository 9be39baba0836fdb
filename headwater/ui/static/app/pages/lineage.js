// The explorer: where data comes from and where it goes, as a graph or as a list.
import { html, useEffect, useState } from "../html.js";
import { Start } from "../explorer/start.js";
import { viewOf } from "../explorer/address.js";
import { Explorer } from "../explorer/explorer.js";

/** Narrower windows open with the list. */
const GRAPH_PIXELS_MIN = 480;

/** @param {{place: import("../router.js").Place}} properties */
export default function LineagePage({ place }) {
  const isNarrow = useNarrow();
  const view = viewOf(place.parameters);
  if (!view.urn) return html`<${Start} />`;
  const isList = view.view === "list" || (isNarrow && view.view !== "graph");
  return html`<${Explorer} view=${view} isList=${isList} />`;
}

function useNarrow() {
  const [query] = useState(() => matchMedia(`(max-width: ${GRAPH_PIXELS_MIN}px)`));
  const [isNarrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const changed = () => setNarrow(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, [query]);
  return isNarrow;
}
