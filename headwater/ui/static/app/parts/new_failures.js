// Failures that came while one reads: a button shows them, so that no row moves by itself.
import { watch } from "../api.js";
import { count } from "../format.js";
import { html, useEffect, useState } from "../html.js";
import { t } from "../texts.js";

const NEW_FAILURES = `subscription NewFailures($namespace: String, $pipeline: String) {
  failures(namespace: $namespace, pipeline: $pipeline) { urn failedAt }
}`;

/** @param {{filter: Record<string, string | null>, shown: any[], again: () => void}} properties */
export function NewFailures({ filter, shown, again }) {
  const [failures, setFailures] = useState(/** @type {Record<string, string>} */ ({}));
  useEffect(() => {
    setFailures({});
    return watch(NEW_FAILURES, filter, ({ failures: failure }) =>
      setFailures((/** @type {Record<string, string>} */ known) => ({ ...known, [failure.urn]: failure.failedAt })),
    );
  }, [filter.namespace, filter.pipeline]);
  const known = new Set(shown.map((run) => run.urn + run.failedAt));
  const number = Object.entries(failures).filter(([urn, failedAt]) => !known.has(urn + failedAt)).length;
  const show = () => {
    setFailures({});
    again();
  };
  return html`<span aria-live="polite">
    ${number > 0 && html`<button class="primary" aria-label=${t("failures.new.label", { count: number })} onClick=${show}>${t("failures.new", { count: count(number) })}</button>`}
  </span>`;
}
