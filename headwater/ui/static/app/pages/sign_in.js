// The form that exchanges an API key for a session of this browser, and the way to the OpenID
// provider: a view of its own, and in place of every view while nobody is signed in.
import { awaited } from "../api.js";
import { html, useEffect, useState } from "../html.js";
import { useTitle } from "../parts/node_head.js";
import { placeOf } from "../router.js";
import { readSession, signIn } from "../session.js";
import { t } from "../texts.js";

const FAILURES = new Set(["away", "refused", "role"]);

/** @param {{place: import("../router.js").Place, onDone?: () => void}} properties */
export default function SignIn({ place, onDone }) {
  const failed = place.parameters.failed ?? "";
  const [refusal, setRefusal] = useState(FAILURES.has(failed) ? t(`signin.failed.${failed}`) : "");
  const [provider, setProvider] = useState("");
  useTitle(t("signin.title"));
  useEffect(() => {
    awaited(readSession()).then((session) => setProvider(session.provider ?? ""), () => setProvider(""));
  }, []);
  const back = onDone ? location.pathname + location.search : inside(place.parameters.back ?? "/");
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const key = String(new FormData(form).get("key") ?? "");
    const refused = await awaited(signIn(key)).catch(() => t("signin.offline"));
    if (refused) return setRefusal(refused);
    form.reset();
    return onDone ? onDone() : location.assign(back);
  };
  return html`<form class="panel sign-in" onSubmit=${submit}>
    <h1>${t("signin.title")}</h1>
    ${
      provider &&
      html`<p>
        <a class="button" href=${`/session/oidc?${new URLSearchParams({ back })}`}>
          ${t("signin.provider", { name: provider })}
        </a>
      </p>`
    }
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
