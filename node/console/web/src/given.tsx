// What others share with the wearer: opened by their link and read with the wearer's own key.

import { useState } from "preact/hooks";
import { Afar } from "./afar";
import { call, post } from "./api";
import { dateOf, mediumDate, t } from "./i18n";
import { Icon } from "./icons";
import type { Memory } from "./types";
import { changes, Failure, T, tell, tellError, useLoaded } from "./widgets";

interface Given {
  id: string;
  by: string;
  order?: string; // the order that bought it; absent: it is shared
  title?: string; // title of the listing that was bought
  until?: string;
  ended?: string;
  memories: Memory[];
}

export function GivenPanel() {
  const { value, error, again } = useLoaded<{ shares: Given[] }>("/v1/given");
  const [busy, work] = useState(false);
  async function open(e: SubmitEvent) {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    const field = (name: string) => (form.elements.namedItem(name) as HTMLInputElement).value.trim();
    work(true);
    try {
      const g = await post<Given>("/v1/given", { link: field("link"), from: field("from") });
      form.reset();
      again();
      changes();
      tell({ text: t("given.opened", { n: g.memories.length, by: g.by }) });
    } catch (e) {
      tellError(e);
    } finally {
      work(false);
    }
  }
  const leave = (g: Given) =>
    call("DELETE", `/v1/given/${g.id}`).then(() => {
      again();
      tell({ text: t("given.left", { by: g.by }) });
    }, tellError);
  return (
    <section class="panel given-panel">
      <h2>{t("given.title")}</h2>
      <p class="muted">{t("given.says")}</p>
      {error && <Failure error={error} />}
      {value?.shares.map((g) => (
        <details key={g.id} class="given-share">
          <summary>
            <strong>
              <T text={g.title || g.by} most={80} />
            </strong>{" "}
            <span class="muted">
              {g.order && t("given.bought", { by: g.by.slice(0, 60) })}
              {t("out.memories", { n: g.memories.length })} · {g.ended ? t("given.ended") : g.until ? t("hit.sharedUntil", { day: mediumDate(dateOf(g.until)) }) : g.order ? t("given.kept") : t("given.always")}
            </span>
          </summary>
          <ul class="rows">
            {g.memories.slice(0, 100).map((m) => (
              <li key={m.id}>
                <span class="rows-text">
                  <T text={m.text} most={300} />
                </span>
              </li>
            ))}
          </ul>
          <button type="button" class="button small danger" data-does="leaveGiven" aria-label={t("given.leave") + ": " + g.by.slice(0, 60)} onClick={() => leave(g)}>
            {t("given.leave")}
          </button>
        </details>
      ))}
      <Afar does="openGiven" by="locket share open" />
      <details data-does="openGiven">
        <summary>{t("given.open")}</summary>
        <form class="fields" onSubmit={open}>
          <label>
            {t("given.link")}
            <input name="link" data-act="given" required spellcheck={false} placeholder="https://…/#locket-space-1.…" autocomplete="off" />
          </label>
          <label>
            {t("given.from")}
            <input name="from" maxLength={60} autocomplete="off" />
          </label>
          <button class="button" disabled={busy}>
            {busy ? t("wait") : t("given.do")}
          </button>
        </form>
      </details>
      <OwnKey />
    </section>
  );
}

/** OwnKey shows the key with which others share with the wearer, and its words to compare. */
export function OwnKey() {
  const [key, show] = useState<{ key: string; words: string }>();
  const mine = () => call<{ key: string; words: string }>("POST", "/v1/given/key").then(show, tellError);
  return (
    <details data-does="givenKey" class="own-key" onToggle={(e) => e.currentTarget.open && !key && mine()}>
      <summary data-act="key">{t("given.key")}</summary>
      <p class="muted">{t("given.keySays")}</p>
      {key && (
        <>
          <Copied text={key.key} name={t("given.key")} />
          <p>
            <Icon name="key" size={16} /> {t("share.words", { words: key.words })}
          </p>
        </>
      )}
    </details>
  );
}

/** Copied is a text to be sent to somebody, with a button that copies it. */
export function Copied({ text, name }: { text: string; name: string }) {
  return (
    <div class="inline">
      <input readOnly value={text} aria-label={name} onFocus={(e) => e.currentTarget.select()} />
      <button type="button" class="button" onClick={() => navigator.clipboard.writeText(text).then(() => tell({ text: t("copied") }), () => tell({ text: t("copyFailed") }))}>
        {t("copy")}
      </button>
    </div>
  );
}
