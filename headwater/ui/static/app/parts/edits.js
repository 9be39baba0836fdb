// What stewards edit of a dataset or a job, and the history of that.
import { count, moment } from "../format.js";
import { html } from "../html.js";
import { hrefOf } from "../router.js";
import { mayDo, usePrincipal } from "../session.js";
import { t } from "../texts.js";
import { nodeOfUrn } from "../urns.js";
import { useAsk } from "../use_ask.js";
import { editVariables, useEdit } from "../use_edit.js";
import { EditForms } from "./edit_forms.js";
import { Name, Time } from "./facts.js";
import { Folded } from "./folded.js";
import { Failure, Outcome } from "./messages.js";
import { NodeLink } from "./node.js";
import { Section, useSeen } from "./section.js";
import { DataTable } from "./table.js";

/**
 * The forms of a steward and the history of edits.
 * @param {{node: any, kind: string, tags: string[], columnTags?: Map<string, string[]>, again: () => void}} properties
 */
export function Edits({ node, kind, tags, columnTags = new Map(), again }) {
  const later = useSeen();
  const asked = useAsk(later.isSeen ? "Edits" : null, editVariables(node.urn));
  const shown = () => {
    asked.again();
    again();
  };
  const edit = useEdit(node.urn, shown);
  return html`<${Section} id="edits" title=${t("edit.title")} later=${later}>
    <${Permitted}>
      <${Folded} summary=${t("edit.do")}>
        ${() => html`<${EditForms} node=${node} kind=${kind} tags=${tags} columnTags=${columnTags} sendEdit=${edit.sendEdit} />`}
      <//>
    <//>
    <${Progress} stage=${edit.stage} error=${edit.error} />
    <h3>${t("edit.history")}</h3>
    <${Outcome} asked=${asked} what=${t("edit.history")}>
      ${(/** @type {any} */ data) => html`<${History} edits=${(data.dataset ?? data.job)?.edits ?? []} />`}
    <//>
  <//>`;
}

/**
 * The forms, or why the caller has none.
 * @param {{children?: any}} properties
 */
function Permitted({ children }) {
  const principal = usePrincipal();
  if (mayDo(principal, "steward")) return children;
  if (!principal) return null;
  const back = location.pathname + location.search;
  return html`<p class="soft">
    ${t("edit.forbidden", { name: principal.name, scopes: principal.scopes.join(", ") })}${" "}
    <a href=${hrefOf("sign-in", "", { back })}>${t("error.signin")}</a>
  </p>`;
}

/** @param {{stage: import("../use_edit.js").Stage, error: any}} properties */
function Progress({ stage, error }) {
  if (stage === "failed") return html`<${Failure} error=${error} />`;
  return html`<p role="status" class="edit-progress">
    ${stage === "sending" && t("edit.sending")} ${stage === "waiting" && t("edit.waiting")}
    ${stage === "late" && t("edit.late")} ${stage === "done" && t("edit.done")}
  </p>`;
}

/** @param {{edits: any[]}} properties */
function History({ edits }) {
  if (!edits.length) return html`<p class="soft">${t("edit.history.none")}</p>`;
  const rows = edits.map((edit, index) => ({ ...edit, key: `${edit.id} ${index}` }));
  return html`<${DataTable}
    caption=${t("edit.history.caption", { count: count(edits.length) })}
    columns=${historyColumns()}
    rows=${rows}
    rowKey=${(/** @type {any} */ edit) => edit.key}
    isStacked=${true}
    file="edits"
  />`;
}

/** @returns {import("./table.js").Column[]} */
function historyColumns() {
  const text = (/** @type {string | null} */ value) => html`<${Name} text=${value} />`;
  return [
    { title: t("column.when"), value: (edit) => edit.at, cell: (edit) => html`<${Time} at=${edit.at} />` },
    { title: t("column.by"), value: (edit) => edit.by ?? t("edit.nobody"), cell: (edit) => text(edit.by ?? t("edit.nobody")) },
    { title: t("column.what"), value: (edit) => what(edit), cell: (edit) => text(what(edit)) },
    { title: t("column.from"), value: (edit) => edit.before, cell: (edit) => text(edit.before) },
    { title: t("column.to"), value: (edit) => edit.after, cell: (edit) => text(edit.after) },
  ];
}

/** @param {any} edit */
function what(edit) {
  const kind = t(`edit.kind.${edit.kind}`);
  return edit.column ? `${kind} (${edit.column})` : kind;
}

/**
 * The warning of a deprecated dataset or job.
 * @param {{deprecation: any}} properties
 */
export function Deprecated({ deprecation }) {
  if (!deprecation) return null;
  const { reason, until, replacementUrn, since } = deprecation;
  return html`<div class="message cut">
    <strong><bdi>${t("deprecation.title", { when: moment(since), reason })}</bdi></strong>
    ${until && html`<p>${t("deprecation.until", { date: until })}</p>`}
    ${replacementUrn && html`<p>${t("deprecation.replacement")} <${NodeLink} node=${nodeOfUrn(replacementUrn)} /></p>`}
  </div>`;
}
