// Graphs for tests: those of real producers' events, and generated ones.
import { readFileSync, readdirSync } from "node:fs";

const CAPTURES = new URL("../../captures/", import.meta.url);

/** The names of the captured streams. */
export const STREAMS = readdirSync(CAPTURES).filter((name) => name.endsWith(".jsonl"));

/** Return the graph of the datasets and jobs in a captured stream. */
export function graphOfStream(name) {
  const ids = new Set();
  const links = new Map();
  const link = (from, to) => {
    ids.add(from);
    ids.add(to);
    links.set(`${from}\n${to}`, { from, to });
  };
  for (const line of readFileSync(new URL(name, CAPTURES), "utf-8").split("\n")) {
    const event = line ? JSON.parse(line) : {};
    if (!event.job) continue;
    const job = `job:${event.job.namespace}:${event.job.name}`;
    const urnOf = ({ namespace, name }) => `dataset:${namespace}:${name}`;
    for (const input of event.inputs ?? []) link(urnOf(input), job);
    for (const output of event.outputs ?? []) link(job, urnOf(output));
  }
  return { boxes: boxesOf(ids), links: [...links.values()] };
}

/** Return boxes of one size; every seventh is larger. */
export function boxesOf(ids) {
  return [...ids].map((id, index) => ({
    id,
    width: index % 7 ? 200 : 260,
    height: index % 7 ? 56 : 120,
  }));
}

/** Return numbers from 0 to 1 that are the same for the same seed. */
export function randomOf(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Return a graph without cycles whose links mostly join neighbouring layers. */
export function layered(count, layers, linksPerBox, seed = 1) {
  const random = randomOf(seed);
  const perLayer = Math.ceil(count / layers);
  const ids = Array.from({ length: count }, (_, index) => `n${String(index).padStart(6, "0")}`);
  const links = [];
  for (let index = perLayer; index < count; index += 1) {
    const layer = Math.floor(index / perLayer);
    const number = Math.floor(linksPerBox) + Number(random() < linksPerBox % 1);
    for (let each = 0; each < number; each += 1) {
      const back = random() < 0.8 ? 1 : 1 + Math.floor(random() * layer);
      const from = (layer - back) * perLayer + Math.floor(random() * perLayer);
      links.push({ from: ids[from], to: ids[index] });
    }
  }
  return { boxes: boxesOf(ids), links };
}

/** Return a graph of random links, cycles and loops among them. */
export function tangled(count, linkCount, seed) {
  const random = randomOf(seed);
  const ids = Array.from({ length: count }, (_, index) => `n${index}`);
  const any = () => ids[Math.floor(random() * count)];
  const links = Array.from({ length: linkCount }, () => ({ from: any(), to: any() }));
  return { boxes: boxesOf(ids), links };
}

/** Return a list in another order. */
export function shuffled(list, seed) {
  const random = randomOf(seed);
  const result = [...list];
  for (let index = result.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    [result[index], result[other]] = [result[other], result[index]];
  }
  return result;
}
