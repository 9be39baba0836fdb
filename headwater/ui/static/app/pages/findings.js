// All findings, with filters in the address.
import { count } from "../format.js";
import { html } from "../html.js";
import { FindingTable } from "../parts/findings.js";
import { Cut, Empty } from "../parts/messages.js";
import { useTitle } from "../parts/node_head.js";
import { FieldOutcome } from "../parts/section.js";
import { go, hrefOf } from "../router.js";
import { t } from "../texts.js";
import { useAsk } from "../use_ask.js";

const ROWS = 50;
const ROWS_MAX = 200;
const STATES = { open: true, resolved: false, all: null };
const STATE_DEFAULT = "open";
const TIERS = ["P1", "P2", "P3"];
const WORDS = ["rule", "namespace", "owner"];

/**
 * Return the variables of the question that an address asks.
 * @param {Record<string, string>} parameters
 */
export function variablesOf(parameters) {
  const { state = STATE_DEFAULT, tier = "", rule = "", namespace = "", owner = "", urn = "", root = "" } = parameters;
  const name = state in STATES ? state : STATE_DEFAULT;
  return {
    open: STATES[/** @type {keyof typeof STATES} */ (name)],
    tier: TIERS.includes(tier) ? tier : null,
    rule: rule || null,
    namespace: namespace || null,
    owner: owner || null,
    urn: urn || null,
    root: root || null,
    first: Math.min(Number(parameters.first) || ROWS, ROWS_MAX),
  };
}

/** @param {{place: import("../router.js").Place}} properties */
export default function FindingsPage({ place }) {
  const asked = useAsk("Findings", variablesOf(place.parameters));
  useTitle(t("findings.title"));
  return html`<h1>${t("findings.title")}</h1>
    <p class="soft">${t("findings.lead")} <a href=${hrefOf("policies")}>${t("policies.all")}</a></p>
    <${Filters} place=${place} />
    <${FieldOutcome} asked=${asked} field="findings" what=${t("findings.title")}>
      ${(/** @type {any} */ found) => html`<${List} found=${found} place=${place} />`}
    <//>`;
}

/** @param {{place: import("../router.js").Place}} properties */
function Filters({ place }) {
  const { state = STATE_DEFAULT, tier = "" } = place.parameters;
  const filter = (/** @type {Event} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (/** @type {Element} */ (event.target).closest("form"));
    const given = Object.fromEntries(new FormData(form).entries());
    const { urn, root } = place.parameters;
    const chosen = { urn, root, ...given, state: given.state === STATE_DEFAULT ? null : String(given.state) };
    go(hrefOf("findings", "", /** @type {any} */ (chosen)), { replace: true });
  };
  return html`<form class="filters" role="search" aria-label=${t("findings.filter")} onSubmit=${filter}>
    <label>${t("findings.state")}
      <select name="state" value=${state} onChange=${filter}>
        ${Object.keys(STATES).map((name) => html`<option key=${name} value=${name}>${t(`findings.state.${name}`)}</option>`)}
      </select>
    </label>
    <label>${t("findings.tier")}
      <select name="tier" value=${tier} onChange=${filter}>
        <option value="">${t("findings.tier.all")}</option>
        ${TIERS.map((name) => html`<option key=${name} value=${name}>${t(`tier.${name}`)}</option>`)}
      </select>
    </label>
    ${WORDS.map(
      (name) => html`<label key=${name}>${t(`findings.${name}`)} <input name=${name} value=${place.parameters[name] ?? ""} onChange=${filter} /></label>`,
    )}
    <button>${t("findings.filter")}</button>
  </form>`;
}

/** @param {{found: any, place: import("../router.js").Place}} properties */
function List({ found, place }) {
  const { nodes, totalCount } = found;
  if (!nodes.length) return html`<${None} place=${place} />`;
  const more = hrefOf("findings", "", { ...place.parameters, first: Math.min(nodes.length * 2, ROWS_MAX) });
  return html`<${FindingTable} caption=${t("findings.caption", { shown: count(nodes.length), total: count(totalCount) })} findings=${nodes} />
    ${
      totalCount > nodes.length &&
      html`<${Cut} shown=${count(nodes.length)} total=${count(totalCount)}>
        ${nodes.length < ROWS_MAX && html`<button onClick=${() => go(more, { replace: true })}>${t("findings.more")}</button>`}
      <//>`
    }`;
}

/**
 * Say which filter emptied the list.
 * @param {{place: import("../router.js").Place}} properties
 */
function None({ place }) {
  const given = ["state", "tier", ...WORDS, "urn", "root"].filter((name) => place.parameters[name]);
  if (!given.length) return html`<${Empty} title=${t("findings.none")} hint=${t("findings.none.hint")} />`;
  const filters = given.map((name) => `${name} ${place.parameters[name]}`).join(", ");
  return html`<${Empty} title=${t("findings.none.filter", { filters })}>
    <p><a href=${hrefOf("findings")}>${t("findings.clear")}</a></p>
  <//>`;
}
