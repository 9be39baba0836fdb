// The graph of a view as state: asked once, and grown by each side that the reader opens.
import { useCallback, useEffect, useState } from "../html.js";
import { sideOf } from "./address.js";
import { adjacencyOf, joined } from "./graph.js";
import { load, loadSide, requestKey } from "./load.js";

/**
 * @typedef {import("./address.js").View} View
 * @typedef {import("./address.js").Side} Side
 * @typedef {import("./graph.js").Graph} Graph
 * @typedef {import("./graph.js").Shown} Shown
 * @typedef {(part: Partial<View>) => void} Change
 */

/** @param {View} view */
export function useGraph(view) {
  const [state, setState] = useState(
    /** @type {{graph: Graph | null, error: any, key: string}} */ ({ graph: null, error: null, key: "" }),
  );
  const [round, setRound] = useState(0);
  const [waiting, setWaiting] = useState("");
  const [sideError, setSideError] = useState(/** @type {any} */ (null));
  const key = `${requestKey(view)} ${round}`;
  useEffect(() => {
    const stop = new AbortController();
    setSideError(null);
    load(view, stop.signal).then(
      (graph) => setState({ graph, error: null, key }),
      (error) => stop.signal.aborted || setState({ graph: null, error, key }),
    );
    return () => stop.abort();
  }, [key]);
  const again = useCallback(() => setRound((number) => number + 1), []);

  /**
   * Ask for the neighbours of a node on some sides, unless all of them are known.
   * @param {string} urn
   * @param {Side[]} sides
   */
  const grow = async (urn, sides) => {
    const { graph } = state;
    if (!graph) return;
    const unknown = sides.filter((side) => !isKnown(graph, urn, side));
    if (!unknown.length || view.from) return;
    setWaiting(sideOf(urn, unknown[0]));
    setSideError(null);
    try {
      const parts = await Promise.all(unknown.map((side) => loadSide(view, urn, side)));
      setState((now) => (now.graph ? { ...now, graph: joined(now.graph, parts) } : now));
    } catch (error) {
      setSideError(error);
    } finally {
      setWaiting("");
    }
  };

  /**
   * Open a side with hidden neighbours, or fold one without. Returns the number of opened neighbours,
   * null if it was folded.
   * @param {string} urn
   * @param {Side} side
   * @param {Shown} shown
   * @param {Change} change
   */
  const toggle = async (urn, side, shown, change) => {
    const mark = sideOf(urn, side);
    const hidden = shown.more.get(urn)?.[side] ?? 0;
    const open = view.open.filter((other) => other !== mark);
    const folded = view.folded.filter((other) => other !== mark);
    if (!hidden) {
      change({ open, folded: [...folded, mark] });
      return null;
    }
    await grow(urn, [side]);
    change({ open: [...open, mark], folded });
    return hidden;
  };

  /**
   * Open or fold both sides of a node.
   * @param {boolean} isOpen
   * @param {string} urn
   * @param {Shown} shown
   * @param {Change} change
   */
  const unfold = async (isOpen, urn, shown, change) => {
    const marks = [sideOf(urn, "up"), sideOf(urn, "down")];
    const open = view.open.filter((mark) => !marks.includes(mark));
    const folded = view.folded.filter((mark) => !marks.includes(mark));
    if (!isOpen) {
      change({ open, folded: [...folded, ...marks.filter((mark) => shown.open.has(mark))] });
      return;
    }
    const more = shown.more.get(urn);
    const sides = /** @type {Side[]} */ (["up", "down"]).filter((side) => more?.[side]);
    if (!sides.length) return;
    await grow(urn, sides);
    change({ open: [...open, ...sides.map((side) => sideOf(urn, side))], folded });
  };

  return {
    graph: state.graph,
    error: state.key === key ? state.error : null,
    isLoading: state.key !== key,
    again,
    waiting,
    sideError,
    toggle,
    unfold,
  };
}

/**
 * Return whether the graph has all neighbours of a node on a side.
 * @param {Graph} graph
 * @param {string} urn
 * @param {Side} side
 */
function isKnown(graph, urn, side) {
  const node = graph.nodes.get(urn);
  const total = side === "up" ? node?.upstreamCount : node?.downstreamCount;
  const known = adjacencyOf(graph.edges.values())[side].get(urn)?.length ?? 0;
  return total === null || total === undefined ? known > 0 : known >= total;
}
