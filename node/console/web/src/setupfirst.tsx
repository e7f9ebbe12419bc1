// The last steps of setup: starting the daemon at login, and a first line.

import { useState } from "preact/hooks";
import { post, type Problem } from "./api";
import { t } from "./i18n";
import { Icon } from "./icons";
import type { Found } from "./types";
import { asProblem, changes, Failure, T } from "./widgets";

/** Login sets the daemon up to start when the wearer logs in. */
export function Login({ login, on }: { login?: string; on: preact.JSX.Element }) {
  const [done, set] = useState<{ file: string; now: string }>();
  const [error, fail] = useState<Problem>();
  return (
    <>
      <section class="panel">
        <p>{t("setup.loginSays")}</p>
        {error && <Failure error={error} />}
        {done ? (
          <div class="notice good" role="status">
            <Icon name="check" />
            <div>
              {t("setup.loginDone")} <code><T text={done.file} most={300} /></code>
              <p class="muted">{t("setup.loginNow")}</p>
              <pre class="pair-line">{done.now}</pre>
            </div>
          </div>
        ) : login ? (
          <div class="actions">
            <button type="button" class="button" data-act="login" onClick={() => post<{ file: string; now: string }>("/setup/login").then(set, (e) => fail(asProblem(e)))}>
              {t("setup.loginDo")}
            </button>
          </div>
        ) : (
          <p class="muted">{t("setup.loginNone")}</p>
        )}
      </section>
      {on}
    </>
  );
}

/** A first line comes back as an answer. */
export function Say({ wearer, on }: { wearer: string; on: preact.JSX.Element }) {
  const [found, set] = useState<string>();
  const [error, fail] = useState<Problem>();
  const [busy, work] = useState(false);
  async function say(e: SubmitEvent) {
    e.preventDefault();
    const text = ((e.currentTarget as HTMLFormElement).elements.namedItem("text") as HTMLInputElement).value.trim();
    if (!text) return;
    work(true);
    fail(undefined);
    try {
      await post("/v1/memories", { text, speaker: wearer, keep: true });
      const { hits } = await post<Found>("/v1/search", { query: text, k: 1 });
      set(hits[0]?.memory?.text ?? hits[0]?.utterance?.text ?? hits[0]?.text ?? "");
      changes();
    } catch (e) {
      fail(asProblem(e));
    } finally {
      work(false);
    }
  }
  return (
    <>
      <section class="panel">
        <p>{t("welcome.tryHow")}</p>
        <form class="inline" onSubmit={say}>
          <input name="text" required maxLength={2000} aria-label={t("welcome.try")} placeholder={t("welcome.hint")} autocomplete="off" />
          <button class="button" disabled={busy}>
            {t("welcome.do")}
          </button>
        </form>
        {error && <Failure error={error} />}
        {found !== undefined && (
          <p class="notice good" role="status">
            <Icon name="check" />
            <span>
              {t("setup.found")} <T text={found} most={300} />
            </span>
          </p>
        )}
      </section>
      {on}
    </>
  );
}
