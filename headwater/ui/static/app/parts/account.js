// Whose session it is, in the bar, and the way out.
import { awaited } from "../api.js";
import { html } from "../html.js";
import { signOut, usePrincipal } from "../session.js";
import { t } from "../texts.js";
import { Facts } from "./facts.js";

/** @param {{again: () => void}} properties */
export function Account({ again }) {
  const principal = usePrincipal();
  if (!principal || principal.anonymous) return null;
  const leave = () => awaited(signOut()).then(again, again);
  return html`<details class="menu account">
    <summary><span class="hidden-text">${t("account.label")}</span> <bdi class="name">${principal.displayName ?? principal.name}</bdi></summary>
    <div class="panel">
      <${Facts}
        facts=${[
          [t("account.name"), html`<bdi class="name">${principal.name}</bdi>`],
          [t("account.scopes"), principal.scopes.join(", ")],
          [t("account.namespaces"), html`<bdi class="name">${principal.namespaces.join(", ")}</bdi>`],
        ]}
      />
      <button onClick=${leave}>${t("account.leave")}</button>
    </div>
  </details>`;
}
