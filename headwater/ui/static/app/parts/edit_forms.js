// The forms of a steward: one for each thing that can be edited. Each sends one event.
import { html, useEffect, useRef, useState } from "../html.js";
import { t } from "../texts.js";
import { columnUrn } from "../urns.js";

/** @typedef {import("../use_edit.js").SendEdit} SendEdit */

const CERTIFIED = "certified";

/** @param {{node: any, kind: string, tags: string[], columnTags: Map<string, string[]>, sendEdit: SendEdit}} properties */
export function EditForms({ node, kind, tags, columnTags, sendEdit }) {
  return html`<div class="edit-forms">
    <${Description} node=${node} sendEdit=${sendEdit} />
    <${Owners} owners=${node.owners} sendEdit=${sendEdit} />
    <${Tags} node=${node} kind=${kind} tags=${tags} columnTags=${columnTags} sendEdit=${sendEdit} />
    <${Certification} isCertified=${tags.includes(CERTIFIED)} sendEdit=${sendEdit} />
    <${Deprecation} node=${node} sendEdit=${sendEdit} />
    ${node.urn.startsWith("dataset:") && html`<${Aliases} node=${node} sendEdit=${sendEdit} />`}
  </div>`;
}

/**
 * Return the values of a form that was sent, without the spaces around them.
 * @param {Event} event
 * @returns {Record<string, string>}
 */
function valuesOf(event) {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.target);
  const values = [...new FormData(form).entries()].map(([name, value]) => [name, String(value).trim()]);
  return Object.fromEntries(values);
}

/** @param {{node: any, sendEdit: SendEdit}} properties */
function Description({ node, sendEdit }) {
  const submit = (/** @type {Event} */ event) => sendEdit("EditDescription", { description: valuesOf(event).description });
  return html`<form onSubmit=${submit}>
    <fieldset>
      <legend>${t("edit.description")}</legend>
      <label>
        <span class="hidden-text">${t("edit.description")}</span>
        <textarea name="description" rows="3" required dir="auto">${node.description ?? ""}</textarea>
      </label>
      <p class="soft">${t("edit.description.hint")}</p>
      <p>
        <button>${t("edit.save")}</button>${" "}
        <button type="button" onClick=${() => sendEdit("EditDescription", { description: null })}>${t("edit.withdraw")}</button>
      </p>
    </fieldset>
  </form>`;
}

/** @param {{owners: string[], sendEdit: SendEdit}} properties */
function Owners({ owners, sendEdit }) {
  const submit = (/** @type {Event} */ event) => {
    const { owner } = valuesOf(event);
    /** @type {HTMLFormElement} */ (event.target).reset();
    return sendEdit("EditOwners", { add: [owner] });
  };
  return html`<form onSubmit=${submit}>
    <fieldset>
      <legend>${t("edit.owners")}</legend>
      <${Removable} names=${owners} label="edit.owner.remove" remove=${(/** @type {string} */ name) => sendEdit("EditOwners", { remove: [name] })} />
      <p>
        <label>${t("edit.owner.new")} <input name="owner" required maxlength="500" dir="auto" /></label>${" "}
        <button>${t("edit.owner.add")}</button>
      </p>
    </fieldset>
  </form>`;
}

/**
 * Names, each with a button that removes it.
 * @param {{names: string[], label: string, remove: (name: string) => void}} properties
 */
function Removable({ names, label, remove }) {
  return html`<p>
    ${names.map(
      (name) => html`<span class="tag" key=${name}>
        <bdi class="name">${name}</bdi>
        <button type="button" class="plain small" aria-label=${t(label, { name })} onClick=${() => remove(name)}>✕</button>
      </span>`,
    )}
  </p>`;
}

/** @param {{node: any, kind: string, tags: string[], columnTags: Map<string, string[]>, sendEdit: SendEdit}} properties */
function Tags({ node, kind, tags, columnTags, sendEdit }) {
  const [column, setColumn] = useState("");
  const columns = (node.fields ?? []).map((/** @type {any} */ field) => field.name);
  const urn = column ? columnUrn(node.urn, column) : node.urn;
  const shown = column ? (columnTags.get(column) ?? []) : tags;
  const submit = (/** @type {Event} */ event) => {
    const { tag } = valuesOf(event);
    const form = /** @type {HTMLFormElement} */ (event.target);
    /** @type {HTMLInputElement} */ (form.elements.namedItem("tag")).value = "";
    return sendEdit("EditTags", { urn, add: [tag] });
  };
  return html`<form onSubmit=${submit}>
    <fieldset>
      <legend>${t("edit.tags")}</legend>
      ${
        columns.length > 0 &&
        html`<p><label>${t("edit.tag.of")}${" "}
          <select value=${column} onChange=${(/** @type {any} */ event) => setColumn(event.target.value)}>
            <option value="">${t("edit.tag.whole", { kind })}</option>
            ${columns.map((/** @type {string} */ name) => html`<option key=${name} value=${name}>${name}</option>`)}
          </select>
        </label></p>`
      }
      <${Removable} names=${shown} label="edit.tag.remove" remove=${(/** @type {string} */ name) => sendEdit("EditTags", { urn, remove: [name] })} />
      <p>
        <label>${t("edit.tag.new")} <input name="tag" required maxlength="500" dir="auto" /></label>${" "}
        <button>${t("edit.tag.add")}</button>
      </p>
    </fieldset>
  </form>`;
}

/** @param {{isCertified: boolean, sendEdit: SendEdit}} properties */
function Certification({ isCertified, sendEdit }) {
  const label = isCertified ? t("edit.certify.withdraw") : t("edit.certify");
  return html`<fieldset>
    <legend>${t("edit.certification")}</legend>
    <button onClick=${() => sendEdit("Certify", { certified: !isCertified })}>${label}</button>
  </fieldset>`;
}

/** @param {{node: any, sendEdit: SendEdit}} properties */
function Deprecation({ node, sendEdit }) {
  const [sent, setSent] = useState(/** @type {Record<string, any> | null} */ (null));
  const isDeprecated = Boolean(node.deprecation);
  const submit = (/** @type {Event} */ event) => {
    const { reason = null, replacement, until } = valuesOf(event);
    setSent({ reason, replacement: replacement || null, until: until || null });
  };
  const confirm = () => {
    setSent(null);
    return sendEdit("Deprecate", sent ?? {});
  };
  const question = isDeprecated ? "edit.deprecate.undo.sure" : "edit.deprecate.sure";
  return html`<form onSubmit=${submit}>
    <fieldset>
      <legend>${t("edit.deprecation")}</legend>
      ${!isDeprecated && html`<${DeprecationFields} />`}
      <button>${isDeprecated ? t("edit.deprecate.withdraw") : t("edit.deprecate")}</button>
      ${sent && html`<${Confirm} question=${t(question, { name: node.name })} confirm=${confirm} cancel=${() => setSent(null)} />`}
    </fieldset>
  </form>`;
}

function DeprecationFields() {
  return html`<p><label>${t("edit.deprecate.reason")} <input name="reason" required dir="auto" /></label></p>
    <p>
      <label>${t("edit.deprecate.replacement")} <input name="replacement" pattern="(dataset|job):.+" /></label>
      <label>${t("edit.deprecate.until")} <input name="until" type="date" /></label>
    </p>`;
}

/** @param {{node: any, sendEdit: SendEdit}} properties */
function Aliases({ node, sendEdit }) {
  const [other, setOther] = useState("");
  const [isAsking, setAsking] = useState(false);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (event.submitter?.getAttribute("value") === "split") return setAsking(true);
    return sendEdit("JoinAliases", { other: other.trim() });
  };
  const split = () => {
    setAsking(false);
    return sendEdit("SplitAliases", { other: other.trim() });
  };
  return html`<form onSubmit=${submit}>
    <fieldset>
      <legend>${t("edit.aliases")}</legend>
      <p><label>${t("edit.alias.other")}
        <input name="other" required pattern="dataset:.+" value=${other} onInput=${(/** @type {any} */ event) => setOther(event.target.value)} />
      </label></p>
      <p>
        <button name="verdict" value="join">${t("edit.alias.join")}</button>${" "}
        <button name="verdict" value="split">${t("edit.alias.split")}</button>
      </p>
      ${isAsking && html`<${Confirm} question=${t("edit.alias.split.sure", { name: node.name, other })} confirm=${split} cancel=${() => setAsking(false)} />`}
    </fieldset>
  </form>`;
}

/**
 * A question before a change that is hard to overlook afterwards. Escape cancels it.
 * @param {{question: string, confirm: () => void, cancel: () => void}} properties
 */
function Confirm({ question, confirm, cancel }) {
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => button.current?.focus(), []);
  const escape = (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && cancel();
  return html`<div class="message cut" role="alertdialog" aria-label=${question} onKeyDown=${escape}>
    <p><bdi>${question}</bdi></p>
    <button type="button" class="primary" onClick=${confirm}>${t("edit.confirm")}</button>${" "}
    <button type="button" ref=${button} onClick=${cancel}>${t("edit.cancel")}</button>
  </div>`;
}
