// The urgency of a finding: told by a shape and a word, and by a colour last.
import { html } from "../html.js";
import { t } from "../texts.js";

/** Path of each tier in a box of 14 by 14. Each differs in outline, not only in colour. */
const SHAPES = {
  P1: "M7 1.5 13 12.5H1zM7 5.5v3M7 10.3v.3",
  P2: "M7 1.5 12.5 7 7 12.5 1.5 7z",
  P3: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9",
};
const COLOURS = { P1: "failed", P2: "stale", P3: "unknown" };

/** @typedef {keyof typeof SHAPES} TierName */

/** @param {{tier: TierName, number?: string}} properties */
export function Tier({ tier, number = "" }) {
  return html`<span class=${`state state-${COLOURS[tier]}`}>
    <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      <path d=${SHAPES[tier]} fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
    <span>${t(`tier.${tier}`)}${number && ` ${number}`}</span>
  </span>`;
}

/**
 * Return the most urgent tier of findings; null if there is none.
 * @param {{severity: TierName}[]} findings
 * @returns {TierName | null}
 */
export function urgentOf(findings) {
  const [first] = findings.map(({ severity }) => severity).sort();
  return first ?? null;
}
