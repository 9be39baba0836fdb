// A button that copies a text.
import { html, useState } from "../html.js";
import { t } from "../texts.js";

const COPIED_MILLISECONDS = 1500;

/** @param {{text: string, what: string}} properties */
export function Copy({ text, what }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), COPIED_MILLISECONDS);
  };
  return html`<button class="plain small" aria-label=${t("copy.label", { what })} onClick=${copy}>
    <span aria-live="polite">${isCopied ? t("copy.done") : t("copy.do", { what })}</span>
  </button>`;
}

/**
 * Copy a text. Over plain HTTP a browser has no clipboard interface, only the command.
 * @param {string} text
 */
async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  return field.remove();
}
