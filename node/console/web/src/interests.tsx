// Interests in common: two people find out which interests they share, by messages that they send each other by hand.

import { useState } from "preact/hooks";
import { Afar } from "./afar";
import { call, get, may, post } from "./api";
import { Copied, OwnKey } from "./given";
import { moment, said, t } from "./i18n";
import { Icon } from "./icons";
import { changes, Dialog, DialogEnd, Failure, T, tell, tellError, useLoaded, Waiting } from "./widgets";

interface Comparison {
  id: string;
  name: string;
  words: string;
  began: string;
  offered: number;
  count?: number;
  agreed?: boolean;
  told?: boolean;
  both?: string[];
  ended?: string;
}

/** The result of a step: a question for the wearer's consent, or the state of a comparison with the message to send. */
interface Step {
  asked?: { words: string; ours: number };
  comparison?: Comparison;
  message?: string;
}

/** Consent is the question to the wearer before a step. */
interface Consent {
  title: string;
  says: string[];
  words?: string; // of the other's key, to compare
  name?: boolean; // also ask what the wearer calls the other
  word: string;
  act: (name: string) => Promise<Step>;
}

/** Sending is a message for the wearer to send. */
interface Sending {
  name: string;
  text: string;
}

const form = (e: SubmitEvent) => (e.preventDefault(), new FormData(e.currentTarget as HTMLFormElement));
const field = (data: FormData, name: string) => String(data.get(name) ?? "").trim();
const short = (s: string) => s.slice(0, 60);

export function InterestsPage() {
  const { value, error, again } = useLoaded<{ interests: string[] | null; comparisons: Comparison[] | null }>("/v1/match");
  const [consent, ask] = useState<Consent>();
  const [sending, send] = useState<Sending>();
  const interests = value?.interests ?? [];
  const came = (s: Step) => {
    again();
    if (s.comparison) send(s.message ? { name: s.comparison.name, text: s.message } : undefined);
    if (s.comparison && !s.message) tell({ text: standing(s.comparison) });
  };
  return (
    <div class="page sharing interests">
      <a class="back" href="/communities">
        <Icon name="left" size={14} /> {t("pool.title")}
      </a>
      <header class="page-head">
        <h1>{t("match.title")}</h1>
        <p class="muted">{t("match.says")}</p>
      </header>
      {error && <Failure error={error} />}
      {!value && !error && <Waiting />}
      <Afar does="chooseInterests" by="locket match" />
      {value && <Interests list={interests} again={again} />}
      {sending && (
        <section class="panel sending" role="status">
          <h2>
            <T text={t("match.send", { name: short(sending.name) })} />
          </h2>
          <p class="muted">{t("match.sendSays")}</p>
          <Copied text={sending.text} name={t("match.message")} />
        </section>
      )}
      {value && may("askInterests") && (
        <div class="columns">
          <Ask n={interests.length} ask={ask} />
          <Open ask={ask} came={came} />
        </div>
      )}
      <section class="panel comparisons">
        <h2>{t("match.list")}</h2>
        {value && !value.comparisons?.length && <p class="muted">{t("match.none")}</p>}
        <ul class="rows">
          {value?.comparisons?.map((c) => (
            <li key={c.id}>
              <One of={c} ask={ask} send={send} again={again} />
            </li>
          ))}
        </ul>
      </section>
      {consent && <Agree to={consent} came={came} close={() => ask(undefined)} />}
    </div>
  );
}

/** The interests that are compared, to choose. */
function Interests({ list, again }: { list: string[]; again: () => void }) {
  const [busy, work] = useState(false);
  const [proposed, propose] = useState<string[]>();
  const choose = (add: string[], remove: string[]) => {
    work(true);
    return post("/v1/match/interests", { add, remove })
      .then(() => (again(), propose((p) => p?.filter((i) => !add.includes(i)))), tellError)
      .finally(() => work(false));
  };
  const add = (e: SubmitEvent) => {
    const f = e.currentTarget as HTMLFormElement;
    const words = field(form(e), "words");
    if (words) void choose([words], []).then(() => f.reset());
  };
  const look = () => get<{ interests: string[] | null }>("/v1/match/proposals").then((v) => propose(v.interests ?? []), tellError);
  return (
    <section class="panel" data-does="chooseInterests">
      <h2>{t("match.yours")}</h2>
      <p class="muted">{t("match.yoursSays")}</p>
      <ul class="chips">
        {list.map((i) => (
          <li key={i}>
            <button type="button" class="chip part" disabled={busy} aria-label={t("match.remove", { name: short(i) })} onClick={() => choose([], [i])}>
              <T text={i} most={60} /> <Icon name="close" size={12} />
            </button>
          </li>
        ))}
      </ul>
      <form class="inline" onSubmit={add}>
        <input name="words" data-act="interest" maxLength={60} autocomplete="off" aria-label={t("match.word")} placeholder={t("match.word")} />
        <button class="button" disabled={busy}>
          {t("match.add")}
        </button>
      </form>
      <button type="button" class="button small" onClick={look}>
        {t("match.propose")}
      </button>
      {proposed && !proposed.length && <p class="muted">{t("match.noProposals")}</p>}
      {!!proposed?.length && (
        <>
          <p class="muted">{t("match.proposals")}</p>
          <ul class="chips proposed">
            {proposed.slice(0, 40).map((i) => (
              <li key={i}>
                <button type="button" class="chip part" disabled={busy} aria-label={`${t("match.add")}: ${short(i)}`} onClick={() => choose([i], [])}>
                  <Icon name="mark" size={12} /> <T text={i} most={60} />
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Ask({ n, ask }: { n: number; ask: (c: Consent) => void }) {
  const [busy, work] = useState(false);
  const read = (e: SubmitEvent) => {
    const f = e.currentTarget as HTMLFormElement;
    const data = form(e);
    const name = field(data, "name");
    work(true);
    post<{ key: string; words: string }>("/v1/communities/key", { key: field(data, "key") })
      .then((k) => ask({ title: t("match.ask"), words: k.words, says: [t("pool.compareSays", { name: short(name) }), t("match.learns", { name: short(name), n })], word: t("match.make"), act: () => post<Step>("/v1/match", { name, key: k.key }).then((s) => (f.reset(), s)) }), tellError)
      .finally(() => work(false));
  };
  return (
    <section class="panel" data-does="askInterests">
      <h2>{t("match.ask")}</h2>
      <p class="muted">{t("match.askSays")}</p>
      <form class="fields" onSubmit={read}>
        <label>
          {t("match.who")}
          <input name="name" data-act="compare" required maxLength={60} autocomplete="off" />
        </label>
        <label>
          {t("sharer.key")}
          <textarea name="key" rows={3} required spellcheck={false} placeholder="locket-member-1.…" />
        </label>
        <button class="button" disabled={busy || !n}>
          {busy ? t("wait") : t("pool.read")}
        </button>
      </form>
      {!n && <p class="muted">{t("match.first")}</p>}
      <OwnKey />
    </section>
  );
}

function Open({ ask, came }: { ask: (c: Consent) => void; came: (s: Step) => void }) {
  const [busy, work] = useState(false);
  const open = (e: SubmitEvent) => {
    const f = e.currentTarget as HTMLFormElement;
    const message = field(form(e), "message");
    work(true);
    post<Step>("/v1/match/messages", { message })
      .then((s) => {
        f.reset();
        if (!s.asked) return came(s);
        ask({ title: t("match.asked"), words: s.asked.words, name: true, says: [t("match.askedSays"), t("match.answerSays", { n: s.asked.ours })], word: t("match.answer"), act: (name) => post<Step>("/v1/match/messages", { message, name, yes: true }) });
      }, tellError)
      .finally(() => work(false));
  };
  return (
    <section class="panel" data-does="openInterests">
      <h2>{t("match.open")}</h2>
      <p class="muted">{t("match.openSays")}</p>
      <form class="fields" onSubmit={open}>
        <label>
          {t("match.message")}
          <textarea name="message" data-act="matched" class="code" rows={4} required spellcheck={false} placeholder="locket-match-1.…" />
        </label>
        <button class="button" disabled={busy}>
          {busy ? t("wait") : t("match.doOpen")}
        </button>
      </form>
    </section>
  );
}

/** Agree asks for consent, with the words of the other's key if they have to be compared. */
function Agree({ to: c, came, close }: { to: Consent; came: (s: Step) => void; close: () => void }) {
  const [busy, work] = useState(false);
  const submit = (e: SubmitEvent) => {
    const name = field(form(e), "name");
    work(true);
    c.act(name)
      .then((s) => (close(), came(s)), tellError)
      .finally(() => work(false));
  };
  return (
    <Dialog title={c.title} close={close}>
      <form class="fields" onSubmit={submit}>
        <p>
          <T text={c.says[0]} most={400} />
        </p>
        {c.words && (
          <ul class="pair-words">
            {c.words.split(" ").map((w, i) => (
              <li key={i}>{w}</li>
            ))}
          </ul>
        )}
        {c.name && (
          <label>
            {t("match.who")}
            <input name="name" required maxLength={60} autocomplete="off" autofocus />
          </label>
        )}
        {c.says.slice(1).map((s, i) => (
          <p key={i} class="muted">
            <T text={s} most={400} />
          </p>
        ))}
        <DialogEnd close={close} busy={busy} word={c.word} />
      </form>
    </Dialog>
  );
}

/** standing describes the state of a comparison and the next step. */
function standing(c: Comparison): string {
  const name = short(c.name);
  if (c.both?.length) return t("match.both", { name, what: c.both.join(", ") });
  if (c.ended) return t("match.ended", { why: said("match.end", c.ended) });
  if (c.told) return t("match.told", { name });
  if (c.agreed) return t("match.agreed", { name });
  if (c.count !== undefined) return t("match.count", { name, n: c.count });
  return t("match.waits", { name });
}

function One({ of: c, ask, send, again }: { of: Comparison; ask: (c: Consent) => void; send: (s: Sending) => void; again: () => void }) {
  const name = short(c.name);
  const which = () => ask({ title: t("match.which"), says: [t("match.whichSays", { name }), t("match.whichRisk")], word: t("match.tell"), act: () => post<Step>(`/v1/match/${c.id}/which`) });
  const message = () => get<Step>(`/v1/match/${c.id}/message`).then((s) => send({ name: c.name, text: s.message ?? "" }), tellError);
  const forget = () =>
    call("DELETE", `/v1/match/${c.id}`).then(() => {
      again();
      changes();
      tell({ text: t("match.forgotten") });
    }, tellError);
  return (
    <div class="comparison">
      <span class="rows-text">
        <strong>
          <T text={c.name} most={60} />
        </strong>{" "}
        <span class="muted">{moment(c.began)}</span>
        <span class="row-says">
          <T text={standing(c)} most={2000} />
        </span>
      </span>
      <span class="actions">
        {c.count !== undefined && !c.agreed && !c.ended && (
          <button type="button" class="button small solid" data-does="tellInterests" aria-label={`${t("match.tell")}: ${name}`} onClick={which}>
            {t("match.tell")}
          </button>
        )}
        {may("forgetInterests") && (
          <>
            <button type="button" class="button small" aria-label={`${t("match.again")}: ${name}`} onClick={message}>
              {t("match.again")}
            </button>
            <button type="button" class="button small danger" data-does="forgetInterests" aria-label={`${t("match.forget")}: ${name}`} onClick={forget}>
              {t("match.forget")}
            </button>
          </>
        )}
      </span>
    </div>
  );
}
