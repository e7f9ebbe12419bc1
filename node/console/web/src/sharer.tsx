// A share made step by step: what, with whom, what stays out; then what the
// readers would see stands beside the wearer's own, and nothing has gone out yet.

import { useEffect, useRef, useState } from "preact/hooks";
import { post, type Problem } from "./api";
import { t, type Word } from "./i18n";
import { Icon } from "./icons";
import { Own, Seen } from "./seen";
import { listed, Listing, listingOf, noSale, type Sale } from "./sell";
import { ShareLink } from "./sharepage";
import { Alone, type Share } from "./sharing";
import type { Kind } from "./types";
import { asProblem, Failure, T, tell, Waiting } from "./widgets";

const kinds: Kind[] = ["semantic", "episodic", "procedural", "resource", "core"];
const days = [7, 30, 90, 365, 0];

/** What is asked of the wearer. */
interface Form {
  query: string;
  kinds: Kind[];
  since: string;
  title: string;
  to: { name: string; key: string }[];
  names: boolean;
  places: boolean;
  times: "" | "times" | "times=month";
  words: string[];
  quotes: boolean;
  private: boolean;
  days: number;
  atLeast: number;
  without: { id: string; text: string }[];
  sale?: Sale; // it is sold, and not shared
}

interface Preview {
  memories: { of: string; type: Kind; text: string; was?: string; copy: unknown }[];
  readers: { name: string; words: string }[];
  left_out: number;
  few?: number;
  risks: { kind: string; of?: string; what: string }[];
  held?: { why: string; memories: number }[];
  confirm: string;
}

const empty: Form = { query: "", kinds: [], since: "", title: "", to: [{ name: "", key: "" }], names: true, places: false, times: "", words: [], quotes: false, private: false, days: 30, atLeast: 0, without: [] };

function requestOf(f: Form, confirm?: string): unknown {
  const bundle = {
    query: f.query.trim() || undefined,
    types: f.kinds.length || f.query.trim() ? f.kinds : kinds,
    since: f.since ? new Date(f.since + "T00:00:00").toISOString() : undefined,
    title: f.title.trim() || undefined,
    to: f.to.filter((r) => r.key.trim()).map((r) => (r.name.trim() ? `${r.name.trim().replaceAll("=", " ")}=` : "") + r.key.replace(/\s+/g, "")),
    redact: [...(f.names ? ["names"] : []), ...(f.places ? ["places"] : []), ...(f.times ? [f.times] : []), ...f.words],
    quotes: f.quotes || undefined,
    sensitivity: f.private ? "private" : undefined,
    at_least: f.atLeast || undefined,
    without: f.without.length ? f.without.map((m) => m.id) : undefined,
    expires: f.days ? new Date(Math.floor(Date.now() / 1000) * 1000 + f.days * 864e5).toISOString() : undefined,
    confirm,
  };
  return f.sale ? listingOf(f.title, f.sale, bundle) : bundle;
}

const steps = ["what", "who", "out", "look"] as const;

/** titleOf is the heading of a step. Selling has its own, but where both ask the same. */
const titleOf = (step: number, sell?: boolean) => t(`${sell && step !== 2 ? "sell" : "sharer"}.${steps[step]}Title` as Word);

export function Sharer({ sell }: { sell?: boolean }) {
  const [form, set] = useState<Form>(sell ? { ...empty, sale: noSale } : empty);
  const [step, go] = useState(0);
  const [made, make] = useState<Share>();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (step || made) title.current?.focus();
  }, [step, made]);
  const change = (c: Partial<Form> | ((f: Form) => Partial<Form>)) => set((f) => ({ ...f, ...(typeof c === "function" ? c(f) : c) }));
  if (made)
    return (
      <div class="page sharing sharer">
        <h1 ref={title} tabIndex={-1}>
          {t("sharer.made", { n: made.memories })}
        </h1>
        <p class="muted">{t("sharer.madeSays")}</p>
        <ShareLink link={made.link} />
        <div class="actions">
          <a class="button solid" href="/sharing">
            {t("sharer.done")}
          </a>
          <a class="button" href={"/sharing/" + made.id}>
            {t("out.see")}
          </a>
        </div>
      </div>
    );
  return (
    <div class={`page sharing sharer${step === 3 ? " wide" : ""}`}>
      <a class="back" href={sell ? "/market" : "/sharing"}>
        <Icon name="left" size={14} /> {t(sell ? "shop.title" : "nav.sharing")}
      </a>
      <ol class="sharer-steps" aria-label={t("sharer.steps")}>
        {steps.map((s, i) => (
          <li key={s} aria-current={i === step ? "step" : undefined} class={i < step ? "done" : ""}>
            <button type="button" class="plain" disabled={i > step} onClick={() => go(i)}>
              <span class="sharer-n">{i + 1}</span> {t(`${sell && i === 1 ? "sell" : "sharer"}.${s}` as Word)}
            </button>
          </li>
        ))}
      </ol>
      <h1 ref={title} tabIndex={-1}>
        {titleOf(step, sell)}
      </h1>
      {step < 3 ? (
        <form
          class="panel fields"
          onSubmit={(e) => {
            e.preventDefault();
            go(step + 1);
          }}
        >
          {step === 0 ? <What form={form} change={change} /> : step === 1 ? <Who form={form} change={change} /> : <Out form={form} change={change} />}
          <footer class="actions">
            {step > 0 && (
              <button type="button" class="button" onClick={() => go(step - 1)}>
                {t("sharer.back")}
              </button>
            )}
            <button class="button solid" disabled={step === 0 && !form.query.trim() && !form.kinds.length}>
              {t("sharer.next")}
            </button>
          </footer>
        </form>
      ) : (
        <Look form={form} change={change} back={() => go(2)} made={make} />
      )}
    </div>
  );
}

interface Part {
  form: Form;
  change: (c: Partial<Form> | ((f: Form) => Partial<Form>)) => void;
}

function What({ form, change }: Part) {
  return (
    <>
      <label>
        {t("sharer.query")}
        <input name="query" value={form.query} maxLength={300} placeholder={t("sharer.queryHint")} onInput={(e) => change({ query: e.currentTarget.value })} autocomplete="off" />
      </label>
      <div role="group" aria-label={t("sharer.kinds")}>
        <p class="field-name">{t("sharer.kinds")}</p>
        <div class="chips">
          {kinds.map((k) => (
            <button key={k} type="button" class="chip" aria-pressed={form.kinds.includes(k)} onClick={() => change({ kinds: form.kinds.includes(k) ? form.kinds.filter((x) => x !== k) : [...form.kinds, k] })}>
              {t(`kind.${k}`)}
            </button>
          ))}
        </div>
        <p class="muted">{t("sharer.never")}</p>
      </div>
      <label>
        {t("sharer.since")}
        <input type="date" value={form.since} onInput={(e) => change({ since: e.currentTarget.value })} />
      </label>
      {!form.sale && (
        <label>
          {t("sharer.title")}
          <input name="title" value={form.title} maxLength={120} placeholder={t("sharer.titleHint")} onInput={(e) => change({ title: e.currentTarget.value })} autocomplete="off" />
        </label>
      )}
    </>
  );
}

function Who({ form, change }: Part) {
  if (form.sale) return <Listing title={form.title} sale={form.sale} retitle={(title) => change({ title })} change={(c) => change((f) => ({ sale: { ...f.sale!, ...c } }))} />;
  const one = (i: number, c: Partial<Form["to"][0]>) => change((f) => ({ to: f.to.map((r, n) => (n === i ? { ...r, ...c } : r)) }));
  return (
    <>
      <p class="muted">{t("sharer.whoSays")}</p>
      {form.to.map((r, i) => (
        <div key={i} class="fields">
          <label>
            {t("sharer.name")}
            <input name="name" value={r.name} required maxLength={60} onInput={(e) => one(i, { name: e.currentTarget.value })} autocomplete="off" />
          </label>
          <label>
            {t("sharer.key")}
            <textarea name="key" rows={3} required spellcheck={false} value={r.key} placeholder="locket-member-1.…" onInput={(e) => one(i, { key: e.currentTarget.value })} />
          </label>
        </div>
      ))}
      <div class="actions">
        <button type="button" class="button small" onClick={() => change({ to: [...form.to, { name: "", key: "" }] })}>
          {t("sharer.another")}
        </button>
        {form.to.length > 1 && (
          <button type="button" class="button small" onClick={() => change({ to: form.to.slice(0, -1) })}>
            {t("sharer.fewer")}
          </button>
        )}
      </div>
      <label>
        {t("sharer.days")}
        <select value={String(form.days)} onChange={(e) => change({ days: Number(e.currentTarget.value) })}>
          {days.map((d) => (
            <option key={d} value={String(d)}>
              {d ? t("sharer.for", { n: d }) : t("out.always")}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

function Check({ on, set, name, says }: { on: boolean; set: (on: boolean) => void; name: string; says?: string }) {
  return (
    <label class="check">
      <input type="checkbox" checked={on} onChange={(e) => set(e.currentTarget.checked)} />
      <span>
        {name}
        {says && <span class="row-says muted">{says}</span>}
      </span>
    </label>
  );
}

function Out({ form, change }: Part) {
  return (
    <>
      <Check on={form.names} set={(names) => change({ names })} name={t("sharer.names")} says={t("sharer.namesSays")} />
      <Check on={form.places} set={(places) => change({ places })} name={t("sharer.places")} />
      <label>
        {t("sharer.times")}
        <select name="times" value={form.times} onChange={(e) => change({ times: e.currentTarget.value as Form["times"] })}>
          <option value="">{t("sharer.timesExact")}</option>
          <option value="times=month">{t("sharer.timesMonth")}</option>
          <option value="times">{t("sharer.timesNone")}</option>
        </select>
      </label>
      <label>
        {t("sharer.words")}
        <input name="words" value={form.words.join(", ")} placeholder={t("sharer.wordsHint")} onChange={(e) => change({ words: e.currentTarget.value.split(/[,，]/).map((w) => w.trim()).filter(Boolean) })} autocomplete="off" />
      </label>
      <details>
        <summary>{t("sharer.more")}</summary>
        <div class="fields">
          <Check on={form.quotes} set={(quotes) => change({ quotes })} name={t("sharer.quotes")} says={t("sharer.quotesSays")} />
          <Check on={form.private} set={(p) => change({ private: p })} name={t("sharer.private")} says={t("sharer.privateSays")} />
          <label>
            {t("sharer.atLeast")}
            <input type="number" min={0} max={100} value={form.atLeast} onInput={(e) => change({ atLeast: Number(e.currentTarget.value) || 0 })} />
          </label>
        </div>
      </details>
    </>
  );
}

/** The two views beside each other, and what a reader might tell nevertheless. */
function Look({ form, change, back, made }: Part & { back: () => void; made: (s: Share) => void }) {
  const [state, set] = useState<{ of: Form; preview?: Preview; error?: Problem }>();
  const [busy, work] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    post<Preview>(form.sale ? "/v1/market/preview" : "/v1/shares/preview", requestOf(form), stop.signal).then(
      (preview) => set({ of: form, preview }),
      (e) => stop.signal.aborted || set({ of: form, error: asProblem(e) }),
    );
    return () => stop.abort();
  }, [form]);
  const again = (
    <button type="button" class="button" onClick={back}>
      {t("sharer.back")}
    </button>
  );
  const leave = (m: Form["without"][0]) => {
    change((f) => ({ without: [...f.without, m] }));
    tell({ text: t("sharer.isOut"), undo: async () => change((f) => ({ without: f.without.filter((o) => o.id !== m.id) })) });
  };
  if (!state) return <Waiting />;
  if (!state.preview)
    return (
      <>
        <LeftOut form={form} change={change} />
        {state.error!.is("not-found") ? (
          <div class="notice warn">
            <Icon name="why" />
            <div>
              <strong>{t("sharer.nothing")}</strong>
              <p>{t("sharer.nothingSays")}</p>
              <p class="muted">
                <T text={state.error!.message} most={300} />
              </p>
            </div>
          </div>
        ) : state.error!.is("unsupported") ? (
          <Alone />
        ) : (
          <Failure error={state.error!} />
        )}
        {again}
      </>
    );
  const p = state.preview;
  const who = form.sale ? t("sell.buyer") : p.readers.map((r) => r.name).join(", ");
  const give = () => {
    work(true);
    const body = requestOf(form, p.confirm);
    (form.sale ? listed(body) : post<Share>("/v1/shares", body).then(made))
      .catch((e) => {
        const problem = asProblem(e);
        if (!problem.is("conflict")) return tell({ text: problem.message });
        tell({ text: form.sale ? problem.message : t("sharer.changed") });
        change({}); // which looks again
      })
      .finally(() => work(false));
  };
  return (
    <>
      <p class="muted">{t("sharer.lookSays", { n: p.memories.length })}</p>
      <table class="two-views">
        <thead>
          <tr>
            <th scope="col">{t("sharer.yours")}</th>
            <th scope="col">
              <T text={t("sharer.theirs", { who })} most={100} />
            </th>
          </tr>
        </thead>
        <tbody>
          {p.memories.map((m) => (
            <tr key={m.of}>
              <td data-of={t("sharer.yours")}>
                <a href={`/memory/${m.of}`} target="_blank" rel="noopener">
                  {m.was ? <Own was={m.was} text={m.text} /> : <T text={m.text} />}
                </a>
              </td>
              <td data-of={who}>
                <Seen text={m.text} />
                <div class="view-tools">
                  <details>
                    <summary>{t("sharer.exact")}</summary>
                    <pre>{JSON.stringify(m.copy, null, 1)}</pre>
                  </details>
                  <button type="button" class="button small" aria-label={t("sharer.leaveOut", { what: (m.was ?? m.text).slice(0, 80) })} onClick={() => leave({ id: m.of, text: m.was ?? m.text })}>
                    {t("sharer.leave")}
                  </button>
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <LeftOut form={form} change={change} />
      {p.left_out > 0 && <p class="muted">{t("sharer.leftOut", { n: p.left_out })}</p>}
      {!!p.few && <p class="muted">{t("sharer.few", { n: p.few })}</p>}
      {p.held?.map((h) => (
        <p key={h.why} class="muted">
          {t("sharer.held", { n: h.memories })} <T text={h.why} most={200} />
        </p>
      ))}
      <Risks preview={p} form={form} change={change} />
      {form.sale ? (
        <p class="notice warn">
          <Icon name="warn" />
          <span>{t("sell.undo")}</span>
        </p>
      ) : (
        <section class="panel">
          <h2>{t("sharer.compare")}</h2>
          <p class="muted">{t("sharer.compareSays")}</p>
          <ul class="rows">
            {p.readers.map((r) => (
              <li key={r.name}>
                <Icon name="key" size={16} />
                <span class="rows-text">
                  <T text={r.name} most={60} />
                </span>
                <strong>{r.words}</strong>
              </li>
            ))}
          </ul>
        </section>
      )}
      <footer class="actions">
        {again}
        <button type="button" class="button solid" disabled={busy || state.of !== form} onClick={give}>
          <Icon name="share" size={16} /> {form.sale ? t("sell.do", { price: form.sale.price.slice(0, 40) }) : t("sharer.give", { who: who.slice(0, 80) })}
        </button>
      </footer>
    </>
  );
}

/** What the wearer has left out, to be taken in again. */
function LeftOut({ form, change }: Part) {
  if (!form.without.length) return null;
  return (
    <section class="panel left-out">
      <h2>{t("sharer.without", { n: form.without.length })}</h2>
      <ul class="rows">
        {form.without.map((m) => (
          <li key={m.id}>
            <span class="rows-text">
              <T text={m.text} most={160} />
            </span>
            <button type="button" class="button small" aria-label={t("sharer.takeIn", { what: m.text.slice(0, 80) })} onClick={() => change((f) => ({ without: f.without.filter((o) => o.id !== m.id) }))}>
              {t("sharer.take")}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What a reader might tell, in the page's words, each with what helps. */
function Risks({ preview: p, form, change }: Part & { preview: Preview }) {
  const quoted = (kind: string) => [...new Set(p.risks.filter((r) => r.kind === kind).flatMap((r) => /“(.+?)”/.exec(r.what)?.[1] ?? []))];
  const drop = (word: string) => change({ words: [...form.words, word] });
  const has = (kind: string) => p.risks.some((r) => r.kind === kind);
  if (!p.risks.length)
    return (
      <p class="notice good">
        <Icon name="check" /> {t("risk.none")}
      </p>
    );
  return (
    <section class="panel risks">
      <h2>{t("risk.title")}</h2>
      <p class="muted">{t("risk.says")}</p>
      {(["reaches", "name"] as const).map(
        (kind) =>
          has(kind) && (
            <div key={kind} class="risk">
              <p>
                <Icon name="warn" size={16} /> {t(`risk.${kind}`)}
              </p>
              <div class="chips">
                {quoted(kind).map((w) => (
                  <button key={w} type="button" class="chip" aria-label={t("risk.take", { word: w.slice(0, 60) })} onClick={() => drop(w)}>
                    <T text={w} most={60} /> <Icon name="close" size={12} />
                  </button>
                ))}
              </div>
            </div>
          ),
      )}
      {has("exact") && (
        <div class="risk">
          <p>
            <Icon name="warn" size={16} /> {t("risk.exact")}
          </p>
          <button type="button" class="button small" onClick={() => change({ times: "times=month" })}>
            {t("risk.round")}
          </button>
        </div>
      )}
      {has("script") && (
        <p class="risk">
          <Icon name="warn" size={16} /> {t("risk.script")}
        </p>
      )}
      {p.risks
        .filter((r) => r.kind === "joins")
        .map((r) => (
          <p key={r.what} class="risk">
            <Icon name="warn" size={16} /> <T text={r.what} most={300} />
          </p>
        ))}
    </section>
  );
}
