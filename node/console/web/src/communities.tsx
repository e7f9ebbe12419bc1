// Communities: spaces in which several people share redacted copies, each person under their own rules.

import { useState } from "preact/hooks";
import { Afar, AfarPage } from "./afar";
import { may, post } from "./api";
import { CommunityPage } from "./community";
import { OwnKey } from "./given";
import { t, type Word } from "./i18n";
import { Icon } from "./icons";
import { go } from "./router";
import { Sharer } from "./sharer";
import { Alone } from "./sharing";
import { Failure, T, tell, tellError, useLoaded, Waiting } from "./widgets";

/** A community to which the wearer belongs. */
export interface Head {
  id: string;
  name: string;
  link: string;
  role: "owner" | "moderator" | "member";
  rules?: string;
  people: number;
  count: number;
  answers?: boolean;
  fetched?: string;
  ended?: string;
}

export function CommunitiesPage({ path }: { path: string[] }) {
  const list = useLoaded<{ communities: Head[] }>("/v1/communities");
  const of = list.value?.communities.find((c) => c.id === path[0]);
  if (!path[0]) return <All list={list} />;
  if (list.error) return <Failure error={list.error} />;
  if (!list.value) return <Waiting />;
  if (path[1] === "add") {
    if (!may("addToCommunity")) return <AfarPage />;
    if (of) return <Sharer key={of.id} begin={{ pool: { id: of.id, name: of.name } }} />;
  }
  return <CommunityPage key={path[0]} id={path[0]} head={of} />;
}

function All({ list: { value, error, again } }: { list: ReturnType<typeof useLoaded<{ communities: Head[] }>> }) {
  return (
    <div class="page sharing communities">
      <header class="page-head">
        <h1>{t("pool.title")}</h1>
        <p class="muted">{t("pool.says")}</p>
      </header>
      {error && <Failure error={error} />}
      {!value && !error && <Waiting />}
      <section class="panel">
        <h2>{t("pool.yours")}</h2>
        {value && !value.communities.length && <p>{t("pool.none")}</p>}
        <ul class="rows">
          {value?.communities.map((c) => (
            <li key={c.id}>
              <a href={"/communities/" + c.id}>
                <Icon name="you" size={18} />
                <span class="rows-text">
                  <strong>
                    <T text={c.name} most={80} />
                  </strong>{" "}
                  <span class="badge">{t(`pool.role.${c.role}` as Word)}</span>
                  <span class="row-says muted">{[t("pool.people", { n: c.people }), t("pool.items", { n: c.count }), c.ended ? t("pool.over") : c.answers && t("pool.answering")].filter(Boolean).join(" · ")}</span>
                </span>
              </a>
            </li>
          ))}
        </ul>
      </section>
      <Afar does="newCommunity" by="locket community" />
      <div class="columns">
        <Found again={again} />
        <Join again={again} />
      </div>
      <section class="panel">
        <h2>{t("match.title")}</h2>
        <p class="muted">{t("match.goSays")}</p>
        <a class="button" href="/interests">
          {t("match.go")}
        </a>
      </section>
    </div>
  );
}

/** Entering is a form that leads to a community's page. */
function useEntering(path: string, names: string[], again: () => void): [boolean, (e: SubmitEvent) => void] {
  const [busy, work] = useState(false);
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    work(true);
    post<Head>(path, Object.fromEntries(names.map((n) => [n, String(form.get(n)).trim() || undefined])))
      .then((c) => {
        again();
        go("/communities/" + c.id);
        tell({ text: t(path.endsWith("join") ? "pool.joined" : "pool.made", { name: c.name }) });
      }, tellError)
      .finally(() => work(false));
  };
  return [busy, submit];
}

function Found({ again }: { again: () => void }) {
  const sync = useLoaded<{ relay: string }>("/v1/sync");
  const [busy, submit] = useEntering("/v1/communities", ["name", "as"], again);
  return (
    <section class="panel" data-does="newCommunity">
      <h2>{t("pool.new")}</h2>
      <p class="muted">{t("pool.newSays")}</p>
      {sync.value && !sync.value.relay && <Alone />}
      <form class="fields" onSubmit={submit}>
        <label>
          {t("pool.name")}
          <input name="name" data-act="found" required maxLength={60} autocomplete="off" />
        </label>
        <label>
          {t("pool.as")}
          <input name="as" maxLength={60} autocomplete="off" placeholder={t("pool.role.owner")} />
        </label>
        <button class="button solid" disabled={busy}>
          {busy ? t("wait") : t("pool.found")}
        </button>
      </form>
    </section>
  );
}

function Join({ again }: { again: () => void }) {
  const [busy, submit] = useEntering("/v1/communities/join", ["link", "name"], again);
  return (
    <section class="panel given-panel" data-does="joinCommunity">
      <h2>{t("pool.join")}</h2>
      <p class="muted">{t("pool.joinSays")}</p>
      <OwnKey />
      <form class="fields" onSubmit={submit}>
        <label>
          {t("given.link")}
          <input name="link" data-act="join" required spellcheck={false} placeholder="https://…/#locket-space-1.…" autocomplete="off" />
        </label>
        <label>
          {t("pool.call")}
          <input name="name" maxLength={60} autocomplete="off" />
        </label>
        <button class="button solid" disabled={busy}>
          {busy ? t("wait") : t("pool.enter")}
        </button>
      </form>
    </section>
  );
}
