// One community, as its members see it. It is fetched when its page is opened and when the wearer
// does something there, but not at each change of the memory, from which its relay could tell when something is heard.

import { useEffect, useState } from "preact/hooks";
import { Afar } from "./afar";
import { call, get, post, type Problem } from "./api";
import type { Head } from "./communities";
import { Items, Questions, Removed } from "./communityitems";
import { Answering, type Choice } from "./communityanswers";
import { Members, Removing, Waits, type Member } from "./communitymembers";
import { moment, said, t, type Word } from "./i18n";
import { Icon } from "./icons";
import { More } from "./more";
import { go } from "./router";
import { asProblem, changes, Dialog, Empty, Failure, T, tell, tellError, Waiting } from "./widgets";

export interface Item {
  id: string;
  by: string;
  at: string;
  type: string;
  text: string;
  you?: boolean;
  why?: string; // why it is hidden
  removal?: string; // the removal that hides it; absent if its author is no longer a member
  yours?: boolean; // the removal is the wearer's own
}

export interface Question extends Item {
  former?: number; // how many former members could read it
  answers: Item[];
}

interface Deed {
  at: string;
  did: string;
  by: string;
  what?: string;
  why?: string;
}

export interface View extends Head {
  members: Member[];
  waiting: Member[];
  items: Item[];
  removed: Item[];
  questions: Question[];
  log: Deed[];
  with?: Choice;
}

/** Act does something in a community, shows the new state, and announces it. */
export type Act = (method: "POST" | "PUT", path: string, body: unknown, done: string | ((v: View) => string), undo?: (v: View) => unknown) => Promise<void>;

/** putIn shares copies with a community, exactly as they were shown. */
export async function putIn(id: string, body: unknown) {
  await post(`/v1/communities/${id}/items`, body);
  changes();
  go("/communities/" + id);
  tell({ text: t("pool.isIn") });
}

export function CommunityPage({ id, head }: { id: string; head?: Head }) {
  const [view, show] = useState<View>();
  const [error, fail] = useState<Problem>();
  const [removing, remove] = useState<{ what: string; name: string; undo?: boolean; person?: boolean }>();
  const look = (signal?: AbortSignal) => get<View>(`/v1/communities/${id}`, signal).then((v) => (show(v), fail(undefined)), (e) => signal?.aborted || fail(asProblem(e)));
  useEffect(() => {
    const stop = new AbortController();
    void look(stop.signal);
    return () => stop.abort();
  }, [id]);
  const act: Act = (method, path, body, done, undo) =>
    call<View>(method, path, body).then((v) => {
      show(v);
      changes();
      const back = undo?.(v);
      tell({ text: typeof done === "string" ? done : done(v), undo: back ? () => call<View>("POST", `/v1/communities/${id}/removals`, back).then(show) : undefined });
    });
  const v = view ?? head;
  if (!v) return error ? error.is("not-found") ? <None /> : <Failure error={error} /> : <Waiting />;
  return (
    <div class="page sharing communities">
      <a class="back" href="/communities">
        <Icon name="left" size={14} /> {t("pool.title")}
      </a>
      <header class="page-head with-button">
        <div>
          <h1>
            <T text={v.name} most={80} />
          </h1>
          <p class="muted">
            {t("pool.you", { role: t(`pool.role.${v.role}` as Word) })} · {t("pool.people", { n: v.people })} · {t("pool.items", { n: v.count })}
          </p>
        </div>
        {view && (
          <a class="button solid" data-does="addToCommunity" href={`/communities/${id}/add`}>
            <Icon name="share" size={16} /> {t("pool.add")}
          </a>
        )}
      </header>
      <Afar does="addToCommunity" by="locket community" />
      {v.ended && <p class="notice warn"><Icon name="warn" /> <span>{t("pool.overSays")}</span></p>}
      {error && <Failure error={error} />}
      {!view && !error && <Waiting />}
      {view && (
        <>
          <Rules view={view} act={act} />
          <Questions view={view} act={act} remove={remove} />
          <Items view={view} act={act} remove={remove} />
          <div class="columns">
            <Members view={view} act={act} remove={remove} />
            {view.waiting.length > 0 && <Waits view={view} act={act} />}
            <Answering key={JSON.stringify(view.with ?? null)} view={view} again={() => look()} />
            {view.removed.length > 0 && <Removed view={view} act={act} remove={remove} />}
            <Log view={view} />
          </div>
        </>
      )}
      <div class="actions market-more">
        <button type="button" class="button" onClick={() => void look().then(() => tell({ text: t("pool.looked") }))}>
          <Icon name="sync" size={16} /> {t("pool.look")}
        </button>
        <Leave id={id} owner={v.role === "owner"} name={v.name} />
      </div>
      {removing && <Removing id={id} of={removing} act={act} close={() => remove(undefined)} />}
    </div>
  );
}

const None = () => (
  <Empty icon="why" title={t("pool.gone")}>
    <a class="button" href="/communities">
      {t("pool.title")}
    </a>
  </Empty>
);

function Rules({ view: v, act }: { view: View; act: Act }) {
  const [text, write] = useState<string>();
  const [busy, work] = useState(false);
  const save = (e: SubmitEvent) => {
    e.preventDefault();
    work(true);
    act("PUT", `/v1/communities/${v.id}/rules`, { text: text!.trim() }, t("pool.ruled"))
      .then(() => write(undefined), tellError)
      .finally(() => work(false));
  };
  return (
    <section class="panel pool-rules">
      <h2>{t("pool.rules")}</h2>
      {text === undefined ? (
        <>
          {v.rules ? (
            <p class="pool-text">
              <T text={v.rules} most={4000} />
            </p>
          ) : (
            <p class="muted">{t("pool.noRules")}</p>
          )}
          {v.role === "owner" && (
            <div class="actions">
              <button type="button" class="button small" data-does="setCommunityRules" onClick={() => write(v.rules ?? "")}>
                {t("pool.rule")}
              </button>
            </div>
          )}
        </>
      ) : (
        <form class="fields" onSubmit={save}>
          <textarea name="rules" rows={4} required maxLength={4000} value={text} aria-label={t("pool.rules")} autofocus onInput={(e) => write(e.currentTarget.value)} />
          <footer class="actions">
            <button type="button" class="button" onClick={() => write(undefined)}>
              {t("cancel")}
            </button>
            <button class="button solid" disabled={busy}>
              {t("pool.setRules")}
            </button>
          </footer>
        </form>
      )}
    </section>
  );
}

const atOnce = 20;

/** The log: who did what, and why. It has only the id of an item; the item's text is shown instead. */
function Log({ view: v }: { view: View }) {
  const [all, show] = useState(false);
  const texts = new Map([...v.items, ...v.removed, ...v.questions, ...v.questions.flatMap((q) => q.answers)].map((i) => [i.id, i.text]));
  const log = v.log.toReversed();
  return (
    <section class="panel">
      <details>
        <summary>{t("pool.log")}</summary>
        <ul class="rows pool-log">
          {(all ? log : log.slice(0, atOnce)).map((d, i) => (
            <li key={i}>
              <span class="rows-text">
                <strong>
                  <T text={d.by} most={60} />
                </strong>{" "}
                <T text={said("pool.did", d.did)} most={60} /> {d.what && <T text={texts.get(d.what) ?? (/^[0-9a-z]{26}$/.test(d.what) ? t("pool.something") : d.what)} most={160} />}
                {d.why && (
                  <span class="row-says muted">
                    <T text={d.why} most={400} />
                  </span>
                )}
                <span class="row-says muted">{moment(d.at)}</span>
              </span>
            </li>
          ))}
        </ul>
        {log.length > atOnce && !all && (
          <More show={() => show(true)}>
            {t("more")} <span class="count">{log.length - atOnce}</span>
          </More>
        )}
      </details>
    </section>
  );
}

function Leave({ id, owner, name }: { id: string; owner: boolean; name: string }) {
  const [asks, ask] = useState(false);
  const [busy, work] = useState(false);
  const leave = () => {
    work(true);
    call("DELETE", `/v1/communities/${id}`)
      .then(() => {
        go("/communities");
        changes();
        tell({ text: t("pool.left", { name }) });
      }, tellError)
      .finally(() => work(false));
  };
  const word = t(owner ? "pool.end" : "pool.leave");
  return (
    <>
      <button type="button" class="button danger" data-does="leaveCommunity" onClick={() => ask(true)}>
        {word}
      </button>
      {asks && (
        <Dialog title={word} close={() => ask(false)}>
          <p>{t(owner ? "pool.endSays" : "pool.leaveSays")}</p>
          <footer>
            <button type="button" class="button" onClick={() => ask(false)} autofocus>
              {t("cancel")}
            </button>
            <button type="button" class="button danger solid" disabled={busy} onClick={leave}>
              {busy ? t("wait") : word}
            </button>
          </footer>
        </Dialog>
      )}
    </>
  );
}
