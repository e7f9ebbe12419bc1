// Ask and search: one field, the answer, and why each hit was found.

import { useEffect, useRef, useState } from "preact/hooks";
import { post, type Problem } from "./api";
import { AsOf, dayIn, noonOf } from "./asof";
import { Chips, onlyWho, useFilter, type FilterLine } from "./filters";
import { dateOf, mediumDate, moment, number, said, shortDay, t } from "./i18n";
import { Icon, type IconName } from "./icons";
import { go } from "./router";
import type { Answer, Evidence, Found, Hit, SharedBy } from "./types";
import { asProblem, Failure, iconOf, isSound, plainText, T, Waiting, type Loaded } from "./widgets";

/** The restrictions of a question; they are part of the page's address. */
interface Choice {
  q: string;
  filter: string; // a line, such as: type = core
  asOf: string; // answer as of a date; empty: now
  knownAt: string; // answer from what Locket knew on a date; empty: now
  turn: number; // which question of a conversation it is, from 0
}

/** One question of a conversation, and its answer. */
interface Said {
  choice: Choice;
  text?: string; // the answer; absent: not known
  of?: Hit; // the hit that is the answer
}

/** The current conversation. It is not part of the address, so reloading the page starts a new one. */
let talk: Said[] = [];

function choiceOf(query: URLSearchParams): Choice {
  return {
    q: query.get("q") ?? "",
    filter: query.get("filter") ?? "",
    asOf: dayIn(query.get("asof")),
    knownAt: dayIn(query.get("known")),
    turn: Math.min(Number(query.get("turn")) || 0, talk.length),
  };
}

function addressOf(c: Choice): string {
  const p = new URLSearchParams();
  if (c.q) p.set("q", c.q);
  if (c.filter) p.set("filter", c.filter);
  if (c.asOf) p.set("asof", c.asOf);
  if (c.knownAt) p.set("known", c.knownAt);
  if (c.turn) p.set("turn", String(c.turn));
  return "/ask" + (p.size ? "?" + p : "");
}

export function AskPage({ query }: { query: URLSearchParams }) {
  const choice = choiceOf(query);
  const address = addressOf(choice);
  const field = useRef<HTMLInputElement>(null);
  const [state, set] = useState<{ of: string; found?: Found; answer?: Answer; topic?: string; error?: Problem }>({ of: "" });
  const [recent, remember] = useState<string[]>([]);
  const filter = useFilter(choice.filter);
  const reads = choice.filter && !filter.value; // the line is being read, or can't be
  useEffect(() => {
    if (!choice.q) {
      field.current?.focus();
      return;
    }
    if (reads) return;
    const stop = new AbortController();
    const plain = !choice.filter && !choice.asOf && !choice.knownAt;
    const before = talk.slice(0, choice.turn).flatMap((x) => [{ text: x.choice.q }, ...(x.text ? [{ speaker: "Locket", text: x.text }] : [])]);
    const search = (query: string) => {
      const r: Record<string, unknown> = { query, own: query.startsWith(choice.q.trim()) ? choice.q.trim() : undefined, k: 20, as_of: noonOf(choice.asOf), known_at: noonOf(choice.knownAt), filters: filter.value?.filters };
      return post<Found>("/v1/search", r, stop.signal);
    };
    const asked = plain || before.length ? post<Answer>("/v1/ask", { question: choice.q, before, evidence_only: !plain }, stop.signal) : undefined;
    // A follow-up question is searched for together with the words that it takes from the earlier ones.
    const found = before.length ? asked!.then((a) => search(a.topic ?? choice.q)) : search(choice.q);
    set((s) => ({ ...s, of: "" }));
    Promise.all([found, asked]).then(
      ([found, answer]) => {
        if (answer && plain && !answer.known) found.known = false;
        const said = answer?.model && plain ? plainAnswer(answer) : found.hits[0] && titleOf(found.hits[0]);
        talk = [...talk.slice(0, choice.turn), { choice, text: found.known ? said : undefined, of: found.known ? found.hits[0] : undefined }];
        set({ of: address, found, answer: plain ? answer : undefined, topic: answer?.topic });
        remember((r) => [choice.q, ...r.filter((x) => x !== choice.q)].slice(0, 6));
      },
      (e) => stop.signal.aborted || set({ of: address, error: asProblem(e) }),
    );
    return () => stop.abort();
  }, [address, reads]);
  const change = (c: Partial<Choice>) => go(addressOf({ ...choice, ...c }), true);
  return (
    <div class="page ask">
      <h1 class={choice.q ? "sr" : ""}>{t("ask.title")}</h1>
      <form
        class="ask-field"
        role="search"
        onSubmit={(e) => {
          e.preventDefault();
          const q = field.current!.value.trim();
          if (q) go(addressOf({ ...choice, q, turn: 0 }));
        }}
      >
        <Icon name="ask" size={20} />
        <input key={address} ref={field} type="search" name="q" defaultValue={choice.turn ? "" : choice.q} aria-label={t("ask.title")} placeholder={t("ask.hint")} autocomplete="off" />
        <button class="button solid">{t("ask.do")}</button>
      </form>
      {choice.q && <Filters choice={choice} read={filter} change={change} />}
      {choice.turn > 0 && <Talk turns={talk.slice(0, choice.turn)} />}
      {choice.turn > 0 && <Question text={choice.q} topic={state.of === address ? state.topic : undefined} />}
      {!choice.q ? <Begin recent={recent} /> : filter.error ? null : state.of !== address ? <Waiting /> : state.error ? <Failure error={state.error} /> : <Result key={address} found={state.found!} answer={state.answer} choice={choice} only={(who) => change({ filter: onlyWho(filter.value?.parts ?? [], who) })} />}
    </div>
  );
}

const plainAnswer = (a: Answer) => a.answer?.replace(/\s*\[[0-9a-z]{4,26}\]/g, "");

/** The earlier questions and answers. */
function Talk({ turns }: { turns: Said[] }) {
  return (
    <ol class="talk" aria-label={t("talk.before")}>
      {turns.map((s, i) => (
        <li key={i}>
          <p class="talk-q">
            <a href={addressOf(s.choice)} title={t("talk.back")}>
              <T text={s.choice.q} most={200} />
            </a>
          </p>
          <p class="talk-a">
            {s.text ? <>{s.of?.memory && !s.of.shared_by ? <a href={`/memory/${s.of.id}`}><T text={s.text} most={300} /></a> : <T text={s.text} most={300} />}</> : t("answer.unknown")}
          </p>
        </li>
      ))}
    </ol>
  );
}

/** The current question, and the words that were searched for. */
function Question({ text, topic }: { text: string; topic?: string }) {
  return (
    <div class="talk-now">
      <p class="talk-q">
        <T text={text} most={300} />
      </p>
      {topic && (
        <p class="muted">
          {t("talk.topic")} <T text={topic} most={200} />
        </p>
      )}
    </div>
  );
}

/** The field for a follow-up question. */
function FollowUp({ choice }: { choice: Choice }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (choice.turn && !document.activeElement?.matches("input, textarea")) field.current!.focus({ preventScroll: true }); // not while the wearer types elsewhere
  }, []);
  return (
    <form
      class="inline follow-up"
      onSubmit={(e) => {
        e.preventDefault();
        const q = ((e.currentTarget as HTMLFormElement).elements.namedItem("on") as HTMLInputElement).value.trim();
        if (q) go(addressOf({ ...choice, q, turn: choice.turn + 1 }));
      }}
    >
      <input ref={field} name="on" aria-label={t("talk.on")} placeholder={t("talk.hint")} autocomplete="off" />
      <button class="button">{t("talk.do")}</button>
    </form>
  );
}

function Begin({ recent }: { recent: string[] }) {
  const ideas = recent.length ? recent : [t("ask.idea1"), t("ask.idea2"), t("ask.idea3")];
  return (
    <div class="ask-begin">
      <p class="muted">{recent.length ? t("ask.recent") : t("ask.ideas")}</p>
      <div class="chips">
        {ideas.map((q) => (
          <a key={q} class="chip" href={"/ask?q=" + encodeURIComponent(q)}>
            <T text={q} most={80} />
          </a>
        ))}
      </div>
    </div>
  );
}

function Filters({ choice, read, change }: { choice: Choice; read: Loaded<FilterLine>; change: (c: Partial<Choice>) => void }) {
  const narrowed = !!(choice.filter || choice.asOf || choice.knownAt);
  return (
    <details class="filters" open={narrowed || innerWidth > 760}>
      <summary>{t("filter.label")}</summary>
      <Chips line={choice.filter} read={read} change={(filter) => change({ filter })} />
      <AsOf label={t("asof.label")} name="asof" value={choice.asOf} change={(asOf) => change({ asOf })} />
      <AsOf label={t("asof.known")} name="known" value={choice.knownAt} change={(knownAt) => change({ knownAt })} />
    </details>
  );
}

function Result({ found, answer, choice, only }: { found: Found; answer?: Answer; choice: Choice; only: (who: string) => void }) {
  const best = found.hits[0];
  const rest = found.known && best && !answer?.model ? found.hits.slice(1) : found.hits;
  const near = rest.filter((h) => !h.minor);
  const far = rest.filter((h) => h.minor);
  const rows = (hits: Hit[]) => (
    <ol class="hits">
      {hits.map((h) => (
        <HitRow key={h.id} hit={h} most={found.hits[0].score} only={only} />
      ))}
    </ol>
  );
  return (
    <>
      {!found.known ? (
        <section class="answer unknown">
          <Icon name="why" size={22} />
          <div>
            <h2>{choice.asOf || choice.knownAt ? t("answer.unknownThen", { day: mediumDate(choice.knownAt || choice.asOf) }) : t("answer.unknown")}</h2>
            <p>{near.length ? t("answer.nearest") : t("answer.none")}</p>
            {!near.length && (
              <p class="actions onward">
                <a class="button small" href="/memories">
                  {t("answer.look")}
                </a>
                <a class="button small" href="/graph">
                  {t("graph.title")}
                </a>
              </p>
            )}
          </div>
        </section>
      ) : answer?.model && answer.answer ? (
        <section class="answer">
          <p class="answer-text">
            <T text={plainAnswer(answer)!} most={6000} />
          </p>
          <ul class="cites" aria-label={t("answer.cites")}>
            {answer.citations.map((c) => (
              <li key={c.id}>
                <a href={c.section === "utterances" ? inDay(c.at, c.id) : `/memory/${c.id}`}>
                  <T text={c.text} most={160} />
                </a>
              </li>
            ))}
          </ul>
          {!answer.cited && (
            <p class="notice warn">
              <Icon name="warn" /> <span>{t("answer.uncited")}</span>
            </p>
          )}
          <p class="muted">{t("answer.model", { model: answer.model })}</p>
        </section>
      ) : (
        best && <Best hit={best} />
      )}
      <FollowUp choice={choice} />
      {answer?.trouble && <p class="muted">{t("answer.trouble")}</p>}
      {near.length > 0 && (
        <>
          <h2 class="hits-title">{found.known ? t("answer.more") : t("answer.near")}</h2>
          {rows(near)}
        </>
      )}
      {far.length > 0 && (
        <details class="score hits-title">
          <summary>{t("answer.far", { n: far.length })}</summary>
          {rows(far)}
        </details>
      )}
      {!!found.missing && <p class="muted">{t("answer.missing", { n: found.missing })}</p>}
    </>
  );
}

const inDay = (at: string | undefined, utterance: string) => (at ? `/day/${dateOf(at)}?line=${utterance}` : "/");
const titleOf = (h: Hit) => (h.memory && isSound(h.memory) ? plainText(h.memory) : h.memory?.text) ?? h.utterance?.text ?? h.text;

function Best({ hit: h }: { hit: Hit }) {
  const e = h.evidence?.find((e) => e.excerpt);
  return (
    <section class="answer">
      <p class="answer-text">{h.memory && !h.shared_by ? <a href={`/memory/${h.id}`}><T text={titleOf(h)} most={1200} /></a> : <T text={titleOf(h)} most={1200} />}</p>
      {h.utterance ? (
        <Quote evidence={{ at: h.utterance.at, speaker: h.utterance.speaker, utterance: h.utterance.id }} />
      ) : (
        e && <Quote evidence={e} text={h.said ?? e.excerpt} />
      )}
      {h.shared_by && <Shared by={h.shared_by} />}
      <details class="score">
        <summary>{t("score.title")}</summary>
        <Bars parts={h.parts} />
      </details>
    </section>
  );
}

/** Says who shared something, and until when. */
function Shared({ by }: { by: SharedBy }) {
  return (
    <p class="card-state">
      {t("hit.shared")} <T text={by.by} most={60} />
      {by.until && ` · ${t("hit.sharedUntil", { day: shortDay(by.until) })}`}
    </p>
  );
}

/** A quotation that links to its place in the day. */
export function Quote({ evidence: e, text }: { evidence: Evidence; text?: string }) {
  const who = e.speaker ? <T text={e.speaker} most={60} /> : t("speaker.none");
  return (
    <blockquote class="quote">
      {text && (
        <p>
          <T text={text} most={800} />
        </p>
      )}
      <footer>
        {who} · {moment(e.at)}
        {e.utterance && (
          <a href={inDay(e.at, e.utterance)}>
            {t("evidence.day")} <Icon name="right" size={12} />
          </a>
        )}
      </footer>
    </blockquote>
  );
}

function HitRow({ hit: h, most, only }: { hit: Hit; most: number; only: (who: string) => void }) {
  const [open, set] = useState(false);
  const icon: IconName = h.memory ? iconOf(h.memory) : "sound";
  const e = h.evidence?.find((e) => e.excerpt);
  const who = h.utterance?.speaker ?? e?.speaker;
  return (
    <li class="hit">
      <span class="card-icon">
        <Icon name={icon} size={16} />
      </span>
      <div class="hit-body">
        <a class="hit-text" href={h.shared_by ? undefined : h.memory ? `/memory/${h.id}` : inDay(h.utterance?.at, h.id)}>
          {h.cold ? t("hit.cold") : <T text={titleOf(h)} most={280} />}
        </a>
        <p class="hit-foot">
          <span>{h.memory ? t(`kind1.${h.memory.type}`) : t("hit.said")}</span>
          {who && (
            <button type="button" class="plain" onClick={() => only(who)} title={t("filter.onlyWho", { who })}>
              <T text={who} most={40} />
            </button>
          )}
          <span>{shortDay(h.at)}</span>
          {h.shared_by && <Shared by={h.shared_by} />}
          {h.memory?.state === "superseded" && <span class="card-state">{t("state.superseded")}</span>}
          <button type="button" class="plain why" aria-expanded={open} onClick={() => set(!open)}>
            <span class="meter" aria-hidden="true">
              <i style={{ width: `${Math.max(4, (h.score / most) * 100)}%` }} />
            </span>
            {t("hit.why")}
          </button>
        </p>
        {open && (
          <>
            {e && h.memory && <Quote evidence={e} text={h.said ?? e.excerpt} />}
            <Bars parts={h.parts} />
          </>
        )}
      </div>
    </li>
  );
}

/** The parts of a score as bars, the largest first. */
function Bars({ parts }: { parts: Record<string, number> }) {
  const list = Object.entries(parts).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const most = Math.max(...list.map(([, v]) => Math.abs(v)), 0.001);
  return (
    <dl class="bars">
      {list.map(([name, v]) => (
        <div key={name} class={v < 0 ? "less" : ""}>
          <dt>{said("score", name)}</dt>
          <dd>
            <i style={{ width: `${(Math.abs(v) / most) * 70}%` }} />
            <span>
              {v < 0 ? "−" : "+"}
              {number(Math.abs(Math.round(v * 100) / 100))}
            </span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
