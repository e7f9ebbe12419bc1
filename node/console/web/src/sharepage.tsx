// One share, as its readers see it.

import { call, post } from "./api";
import { Copied } from "./given";
import { dateOf, mediumDate, t } from "./i18n";
import { Icon } from "./icons";
import { Beyond, Seen } from "./seen";
import { readersOf, type Share } from "./sharing";
import type { Memory } from "./types";
import { changes, Failure, T, tell, tellError, useLoaded, Waiting } from "./widgets";

export function SharePage({ id }: { id: string }) {
  const { value, error, again } = useLoaded<{ share: Share; memories: Memory[] }>("/v1/shares/" + encodeURIComponent(id));
  if (error) return <Failure error={error} />;
  if (!value) return <Waiting />;
  const s = value.share;
  const update = () =>
    post<{ added: number; removed: number }>(`/v1/shares/${s.id}/update`).then((u) => {
      tell({ text: t("share.updated", { added: u.added, removed: u.removed }) });
      again();
    }, tellError);
  const out = (member: string) =>
    call("DELETE", `/v1/shares/${s.id}?reader=${member}`).then(() => {
      tell({ text: t("out.ended") });
      again();
      changes();
    }, tellError);
  return (
    <div class="page sharing">
      <a class="back" href="/sharing">
        <Icon name="left" size={14} /> {t("nav.sharing")}
      </a>
      <header class="page-head">
        <h1>
          <T text={s.title || s.query || t("share.untitled")} most={120} />
        </h1>
        <p class="muted">
          {s.revoked || s.revoking ? t("share.over") : s.expires ? t("share.until", { day: mediumDate(dateOf(s.expires)) }) : t("out.always")}
        </p>
      </header>
      <section class="panel">
        <h2>{t("share.readers")}</h2>
        <ul class="rows">
          {readersOf(s).map((r) => (
            <li key={r.member}>
              <Icon name="you" size={16} />
              <span class="rows-text">
                <T text={r.name} most={60} />
                <span class="row-says muted">{t("share.words", { words: r.words })}</span>
              </span>
              {!s.revoked && !s.revoking && (
                <button type="button" class="button small danger" data-does="revokeShare" aria-label={t("share.putOut", { name: r.name.slice(0, 60) })} onClick={() => out(r.member)}>
                  {t("share.out")}
                </button>
              )}
            </li>
          ))}
        </ul>
        {!s.revoked && !s.revoking && <ShareLink link={s.link} />}
      </section>
      <section>
        <h2>{t("share.seen", { n: value.memories.length })}</h2>
        <ul class="rows seen-list">
          {value.memories.map((m) => (
            <li key={m.id} class="panel">
              <Seen text={m.text} />
              <Beyond of={m} />
            </li>
          ))}
        </ul>
        {!s.revoked && !s.revoking && (
          <button type="button" class="button" data-does="updateShare" onClick={update}>
            <Icon name="sync" size={16} /> {t("share.update")}
          </button>
        )}
      </section>
    </div>
  );
}

/** The link for the readers. */
export function ShareLink({ link }: { link: string }) {
  return (
    <div class="share-link">
      <p class="muted">{t("share.link")}</p>
      <Copied text={link} name={t("share.linkName")} />
    </div>
  );
}
