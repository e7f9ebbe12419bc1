// Shown when nothing was heard yet: how to begin.

import { useState } from "preact/hooks";
import { post } from "./api";
import { Engines } from "./engines";
import { t } from "./i18n";
import { Icon } from "./icons";
import type { Status } from "./types";
import { Wearables } from "./wearables";
import { changes, tell, tellError, useLoaded } from "./widgets";

/** Welcome calls closed when nothing is open or typed any more that has to stay. */
export function Welcome({ wearer, closed }: { wearer: string; closed: () => void }) {
  const [busy, work] = useState(false);
  const { value: status } = useLoaded<Status>("/v1/status");
  async function say(e: SubmitEvent) {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    const text = (form.elements.namedItem("text") as HTMLInputElement).value.trim();
    if (!text) return;
    work(true);
    try {
      await post("/v1/memories", { text, speaker: wearer, keep: true });
      form.reset();
      tell({ text: t("welcome.heard") });
      changes();
      closed();
    } catch (e) {
      tellError(e);
    } finally {
      work(false);
    }
  }
  return (
    <div class="welcome">
      <h1>{t("welcome.title")}</h1>
      <p class="muted">{t("welcome.says")}</p>
      <ol>
        <li class="panel">
          <h2>{t("welcome.try")}</h2>
          <p class="muted">{t("welcome.tryHow")}</p>
          <form class="inline" onSubmit={say}>
            <input name="text" required maxLength={2000} aria-label={t("welcome.try")} placeholder={t("welcome.hint")} autocomplete="off" />
            <button class="button solid" disabled={busy}>
              {t("welcome.do")}
            </button>
          </form>
        </li>
        <li>
          <p class="muted">{t("welcome.wearableHow")}</p>
          {status && <Wearables status={status} closed={closed} />}
        </li>
        <li>
          <Engines />
        </li>
        <li class="panel">
          <h2>{t("welcome.keep")}</h2>
          <p class="muted">{t("welcome.keepHow")}</p>
          <pre class="pair-line">{"locket backup DIR\nlocket setup --at-login"}</pre>
          <a class="button" href="/devices">
            <Icon name="devices" size={16} /> {t("pair.do")}
          </a>
        </li>
        <li class="panel">
          <h2>{t("welcome.ask")}</h2>
          <p class="muted">{t("welcome.askHow")}</p>
          <a class="button" href="/ask">
            <Icon name="ask" size={16} /> {t("nav.ask")}
          </a>
        </li>
      </ol>
    </div>
  );
}
