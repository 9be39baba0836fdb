// The form that exchanges an API key for a session of this browser: a view of its own, and in place
// of every view while nobody is signed in.
import { awaited } from "../api.js";
import { html, useState } from "../html.js";
import { useTitle } from "../parts/node_head.js";
import { placeOf } from "../router.js";
import { signIn } from "../session.js";
import { t } from "../texts.js";

/** @param {{place: import("../router.js").Place, onDone?: () => void}} properties */
export default function SignIn({ place, onDone }) {
  const [refusal, setRefusal] = useState("");
  useTitle(t("signin.title"));
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const key = String(new FormData(form).get("key") ?? "");
    const refused = await awaited(signIn(key)).catch(() => t("signin.offline"));
    if (refused) return setRefusal(refused);
    form.reset();
    return onDone ? onDone() : location.assign(inside(place.parameters.back ?? "/"));
  };
  return html`<form class="panel sign-in" onSubmit=${submit}>
    <h1>${t("signin.title")}</h1>
    <p>${t("signin.lead")}</p>
    ${refusal && html`<p role="alert" class="state-failed">${t("signin.refused", { message: refusal })}</p>`}
    <p>
      <label for="key">${t("signin.key")}</label>
      <input id="key" name="key" type="password" autocomplete="current-password" required />
    </p>
    <p><button class="primary">${t("signin.submit")}</button></p>
    <p class="soft">${t("signin.help")}</p>
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
