// A name as text. Names come from strangers: each is isolated in its direction of writing.
import { html } from "../html.js";

const BREAKS_LENGTH_MAX = 300;
/** A line may end after these signs, so that words stay whole. */
const BREAK = /(?<=[._/:-])(?=[^._/:-])/;

/** @param {{text: string}} properties */
export function NameText({ text }) {
  const parts = text.length > BREAKS_LENGTH_MAX ? [text] : text.split(BREAK);
  return html`<bdi>${parts.map((part, index) => html`${index > 0 && html`<wbr />`}${part}`)}</bdi>`;
}
