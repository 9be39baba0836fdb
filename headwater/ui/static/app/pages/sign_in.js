// The form that exchanges an API key for a session of this browser.
import { awaited } from "../api.js";
import { html, useState } from "../html.js";
import { placeOf } from "../router.js";
import { t } from "../texts.js";

/** @param {{place: import("../router.js").Place}} properties */
export default function SignIn({ place }) {
  const [refusal, setRefusal] = useState("");
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const response = await awaited(
      fetch("/session", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ key: form.get("key") }),
      }),
    );
    if (response.ok) return location.assign(inside(place.parameters.back ?? "/"));
    const answer = await response.json().catch(() => null);
    return setRefusal(answer?.error?.message ?? `status ${response.status}`);
  };
  return html`<form class="panel" onSubmit=${submit}>
    <h1>${t("signin.title")}</h1>
    <p>${t("signin.lead")}</p>
    ${refusal && html`<p role="alert" class="state-failed">${t("signin.refused", { message: refusal })}</p>`}
    <p>
      <label for="key">${t("signin.key")}</label>
      <input id="key" name="key" type="password" autocomplete="current-password" required />
    </p>
    <button class="primary">${t("signin.submit")}</button>
  </form>`;
}

/**
 * Return an address of this page; "/" for one that leads elsewhere.
 * @param {string} href
 */
function inside(href) {
  const url = new URL(href, location.origin);
  const isOurs = url.origin === location.origin && placeOf(url.pathname, "").view !== "missing";
  return isOurs ? url.pathname + url.search : "/";
}
