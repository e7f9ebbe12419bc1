// Sharing: who can see which of the wearer's memories, and until when.

import { useState } from "preact/hooks";
import { Afar } from "./afar";
import { call } from "./api";
import { GivenPanel } from "./given";
import { mediumDate, dateOf, moment, number, said, shortDay, t, type Word } from "./i18n";
import { Icon, type IconName } from "./icons";
import { LetIn, Looks } from "./letin";
import { More } from "./more";
import { press } from "./palette";
import { Policy } from "./policy";
import { Revert, titleOf, type Author } from "./revert";
import { SharePage } from "./sharepage";
import { Sharer } from "./sharer";
import type { Kind, Status } from "./types";
import { Dialog, Failure, T, tell, tellError, useLoaded, Waiting } from "./widgets";

export interface Reader {
  name: string;
  member: string;
  words: string;
  added: string;
  removed?: string;
}

export interface Share {
  id: string;
  title?: string;
  link: string;
  query?: string;
  redacted?: string[];
  memories: number;
  readers: Reader[];
  created: string;
  expires?: string;
  revoking?: boolean;
  revoked?: string;
  app?: string; // the app that made it
}

interface App {
  name: string;
  can: string[];
  types: string[];
  sensitivity?: string;
  tags?: string[];
  ends?: string;
  revoked?: string;
  used?: string;
}

interface Grant {
  member: string;
  name: string;
  feed?: boolean;
  types: Kind[];
  memories?: number;
  removed?: string;
}

interface Engine {
  kind: string;
  name: string;
  url?: string;
  local: boolean;
}

interface Deed {
  at: string;
  did: string;
  title?: string;
  to?: string[];
  copies: number;
  why?: string;
}

export function SharingPage({ at, status }: { at: string; status: Status }) {
  if (at === "new") return <Sharer />;
  if (at) return <SharePage id={at} />;
  return (
    <div class="page sharing">
      <header class="page-head with-button">
        <div>
          <h1>{t("nav.sharing")}</h1>
          <p class="muted">{t("share.says")}</p>
        </div>
        <a class="button solid" data-does="createShare" href="/sharing/new">
          <Icon name="share" size={16} /> {t("share.new")}
        </a>
      </header>
      <Afar does="createShare" by="locket share" />
      {status.consents ? (
        <p class="notice">
          <Icon name="lock" />
          <a href="/consents">{t("consent.mark", { n: status.consents })}</a>
        </p>
      ) : (
        <p>
          <a class="link" href="/consents">
            {t("consent.title")}
          </a>
        </p>
      )}
      <Out wearer={status.wearer} />
      <Policy />
      <div class="columns">
        <LetIn />
        <GivenPanel />
        <section class="panel">
          <h2>{t("shop.title")}</h2>
          <p class="muted">{t("shop.says")}</p>
          <div class="actions">
            <a class="button" href="/market">
              {t("shop.go")}
            </a>
          </div>
        </section>
        <section class="panel">
          <h2>{t("pool.title")}</h2>
          <p class="muted">{t("pool.says")}</p>
          <div class="actions">
            <a class="button" href="/communities">
              {t("pool.go")}
            </a>
          </div>
        </section>
        <Account />
      </div>
    </div>
  );
}

const over = (s: Share) => !!(s.revoked || s.revoking || (s.expires && Date.parse(s.expires) < Date.now()));
export const readersOf = (s: Share) => s.readers.filter((r) => !r.removed);

/** The question before something is revoked. */
interface End {
  title: string;
  says: string;
  run: () => Promise<unknown>;
  shares?: Share[]; // shares that can still be read, unless they are revoked with it
}

/** Everybody and everything that can see something, in one list. */
function Out({ wearer }: { wearer: string }) {
  const shares = useLoaded<{ shares: Share[] }>("/v1/shares");
  const apps = useLoaded<{ apps: App[] }>("/v1/apps");
  const grants = useLoaded<{ grants: Grant[] }>("/v1/grants");
  const engines = useLoaded<{ engines: Engine[] }>("/v1/engines");
  const [ending, ask] = useState<End>();
  const [author, revert] = useState<Author>();
  const all = [shares, apps, grants, engines];
  const bad = all.find((l) => l.error && !l.error.is("unsupported"))?.error;
  if (all.some((l) => !l.value && !l.error)) return <Waiting />;
  const out = shares.value?.shares.filter((s) => !over(s)) ?? [];
  const ended = shares.value?.shares.filter(over) ?? [];
  const programs = apps.value?.apps.filter((a) => !a.revoked) ?? [];
  const workers = grants.value?.grants.filter((g) => !g.removed) ?? [];
  const away = engines.value?.engines.filter((e) => !e.local) ?? [];
  return (
    <section class="panel">
      <h2>{t("out.title")}</h2>
      {bad && <Failure error={bad} />}
      {shares.error?.is("unsupported") && <Alone />}
      {!out.length && !programs.length && !workers.length && !away.length && (
        <p class="notice good">
          <Icon name="lock" /> {t("out.none", { wearer })}
        </p>
      )}
      <ul class="rows out">
        {out.map((s) => (
          <Row key={s.id} icon="you" kind="person" name={readersOf(s).map((r) => r.name).join(", ") || t("out.nobody")} says={[s.title || s.query, s.app && t("out.by", { name: s.app }), t("out.memories", { n: s.memories }), s.expires ? t("hit.sharedUntil", { day: mediumDate(dateOf(s.expires)) }) : t("out.always")]}>
            <a class="button small" href={"/sharing/" + s.id}>
              {t("out.see")}
            </a>
            <Ends name={s.title || s.id} onClick={() => ask({ title: t("out.revokeTitle", { name: s.title || readersOf(s).map((r) => r.name).join(", ") }), says: t("out.revokeSays"), run: () => call("DELETE", `/v1/shares/${s.id}`) })} />
          </Row>
        ))}
        {programs.map((a) => (
          <Row key={a.name} icon={a.can.includes("console") ? "warn" : "link"} kind="app" name={a.name} says={[a.can.map((c) => said("can", c)).join(", "), whatOf(a), a.ends ? t("hit.sharedUntil", { day: mediumDate(dateOf(a.ends)) }) : "", a.used ? t("out.used", { at: moment(a.used) }) : t("out.unused")]}>
            <Looks app={a.name} name={a.name} />
            {a.can.includes("add") && <TakeBack of={{ app: a.name }} ask={revert} />}
            <Ends does="revokeApp" name={a.name} onClick={() => ask({ title: t("out.revokeTitle", { name: a.name }), says: t("out.revokeApp"), run: () => call("DELETE", "/v1/apps/" + encodeURIComponent(a.name)), shares: out.filter((s) => s.app === a.name) })} />
          </Row>
        ))}
        {workers.map((g) => (
          <Row key={g.member} icon="how" kind="worker" name={g.name || g.member.slice(0, 8)} says={[g.feed ? t("out.feed", { n: g.memories ?? 0 }) : t("out.whole"), t("out.adds", { what: g.types.map((k) => t(`kind.${k}`)).join(", ") })]}>
            <Looks worker={g.member} name={g.name || g.member.slice(0, 8)} />
            <TakeBack of={{ source: "worker" }} ask={revert} />
            <Ends does="revokeGrant" name={g.name} onClick={() => ask({ title: t("out.revokeTitle", { name: g.name }), says: t("out.revokeWorker"), run: () => call("DELETE", "/v1/grants/" + g.member) })} />
          </Row>
        ))}
        {away.map((e) => (
          <Row key={e.kind + e.url} icon="sound" kind="service" name={e.url ?? e.name} says={[said("sends", e.kind)]}>
            <a class="button small" href="/devices">
              {t("nav.devices")}
            </a>
          </Row>
        ))}
      </ul>
      {ended.length > 0 && (
        <details>
          <summary>{t("out.over", { n: ended.length })}</summary>
          <ul class="rows">
            {ended.map((s) => (
              <li key={s.id}>
                <span class="rows-text">
                  <T text={s.title || s.query || s.id.slice(0, 8)} most={80} /> <span class="muted"><T text={s.readers.map((r) => r.name).join(", ")} most={80} /></span>
                </span>
                <span class="muted">{s.revoked || s.revoking ? t("out.revoked", { day: shortDay(s.revoked ?? s.created) }) : t("out.lapsed", { day: shortDay(s.expires!) })}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {author && <Revert of={author} close={() => revert(undefined)} />}
      {ending && <Ending of={ending} close={() => ask(undefined)} done={() => all.forEach((l) => l.again())} />}
    </section>
  );
}

function Ending({ of: { title, says, run, shares = [] }, close, done }: { of: End; close: () => void; done: () => void }) {
  const [too, tick] = useState(false);
  const end = () =>
    run()
      .then(async () => {
        close();
        if (too) for (const s of shares) await call("DELETE", `/v1/shares/${s.id}`);
        tell({ text: t("out.ended") });
      })
      .catch(tellError)
      .finally(done);
  return (
    <Dialog title={title} close={close}>
      <p>{says}</p>
      {shares.length > 0 && (
        <>
          <p>{t("out.appShares", { n: shares.length })}</p>
          <label class="check">
            <input type="checkbox" name="shares" checked={too} onChange={(e) => tick(e.currentTarget.checked)} /> <span>{t("out.appSharesToo")}</span>
          </label>
        </>
      )}
      <footer>
        <button type="button" class="button" onClick={close} autofocus>
          {t("cancel")}
        </button>
        <button type="button" class="button danger solid" onClick={end}>
          {t("out.end")}
        </button>
      </footer>
    </Dialog>
  );
}

/** Alone says that sharing needs a relay, and leads there. */
export const Alone = () => (
  <p class="notice">
    <Icon name="lock" />
    <span>
      {t("share.alone")}{" "}
      <a class="link" href="/devices" onClick={(e) => (e.preventDefault(), press("/devices", "relay"))}>
        {t("relays.add")}
      </a>
    </span>
  </p>
);

function whatOf(a: App): string {
  if (a.can.includes("console")) return t("out.everything");
  const kinds = a.types.map((k) => (k === "utterances" ? t("out.lines") : said("kind", k)));
  const what = kinds.length ? kinds.join(", ") : t("out.nothing");
  return a.tags?.length ? `${what} (${a.tags.join(", ")})` : what;
}

function Row({ icon, kind, name, says, children }: { icon: IconName; kind: string; name: string; says: (string | undefined)[]; children: preact.ComponentChildren }) {
  return (
    <li>
      <span class="card-icon">
        <Icon name={icon} size={16} />
      </span>
      <span class="rows-text">
        <strong>
          <T text={name} most={80} />
        </strong>{" "}
        <span class="badge">{t(`party.${kind}` as Word)}</span>
        <span class="row-says muted">
          <T text={says.filter(Boolean).join(" · ")} most={300} />
        </span>
      </span>
      {children}
    </li>
  );
}

const Ends = ({ does = "revokeShare", name, onClick }: { does?: string; name: string; onClick: () => void }) => (
  <button type="button" class="button small danger" data-does={does} aria-label={t("out.revokeTitle", { name: name.slice(0, 60) })} onClick={onClick}>
    {t("out.revoke")}
  </button>
);

const TakeBack = ({ of, ask }: { of: Author; ask: (of: Author) => void }) => (
  <button type="button" class="button small take-back" title={titleOf(of)} onClick={() => ask(of)}>
    {t("revert.open")}
  </button>
);

/** A reader's name. A sale names the beginning of its buyer's key. */
const named = (reader: string) => reader.replace(/^buyer ([0-9a-f]{8})$/, (_, key) => t("offer.buyer", { key }));

/** The log of what was shared. */
function Account() {
  const { value, error } = useLoaded<{ deeds: Deed[] }>("/v1/share-log");
  const [all, show] = useState(false);
  if (error?.is("unsupported")) return null;
  const list = value?.deeds ?? [];
  return (
    <section class="panel">
      <h2>{t("account.title")}</h2>
      <p class="muted">{t("account.says")}</p>
      {error && <Failure error={error} />}
      {value && !list.length && <p>{t("account.none")}</p>}
      <ul class="rows">
        {(all ? list : list.slice(0, 6)).map((d, i) => (
          <li key={i}>
            <span class="rows-text">
              <strong>{said("deed", d.did)}</strong> <T text={[d.title, d.to?.map(named).join(", ")].filter(Boolean).join(" · ")} most={120} />
              <span class="row-says muted">{d.why ? <T text={d.why} most={200} /> : t("out.memories", { n: d.copies })}</span>
            </span>
            <span class="muted">{moment(d.at)}</span>
          </li>
        ))}
      </ul>
      {list.length > 6 && !all && (
        <More show={() => show(true)}>
          {t("more")} <span class="count">{number(list.length - 6)}</span>
        </More>
      )}
    </section>
  );
}
