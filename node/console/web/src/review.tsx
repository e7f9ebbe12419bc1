// Review: the decisions that wait for the wearer, one after the other, by keyboard.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { call, post } from "./api";
import { moment, said, t } from "./i18n";
import { Doubts } from "./doubts";
import { Icon } from "./icons";
import { NamesReview } from "./names";
import { did, typing, useUndo } from "./undo";
import { asProblem, changes, Failure, T, tell, tellError, useLoaded, useSteady, Waiting } from "./widgets";

interface Side {
  memory: string;
  value: string;
  text: string;
  device?: string;
  here?: boolean;
  by: { plugin?: string; device?: string };
  rank: number;
  at: string;
}

interface Conflict {
  id: string;
  kind: "field" | "slot" | "pin";
  field?: string;
  slot?: { subject: string; attribute: string };
  sides: Side[];
}

interface Step {
  kind: string;
  memory: string;
  text: string;
  into_text?: string;
  reason: string;
}

interface Plan {
  id: string;
  steps: Step[];
  more?: boolean;
}

interface Dream {
  id: string;
  at: string;
  claims: number;
  undone: boolean;
}

interface Settlement {
  id: string;
  at: string;
  memory: string;
  text: string;
}

export function ReviewPage() {
  useUndo();
  return (
    <div class="page review">
      <header class="page-head">
        <h1 tabIndex={-1}>{t("nav.review")}</h1>
        <p class="muted">
          {t("review.says")}{" "}
          <span class="keys">
            {t("review.keys")} <kbd>j</kbd> <kbd>k</kbd> <kbd>1</kbd> <kbd>2</kbd> <kbd>b</kbd> <kbd>y</kbd> <kbd>n</kbd> <kbd>Enter</kbd> <kbd>u</kbd>
          </span>
        </p>
      </header>
      <Conflicts />
      <Settled />
      <Doubts />
      <NamesReview />
      <Dreams />
    </div>
  );
}

const unsettle = (id: string) => call("DELETE", `/v1/conflicts/${id}`);

/** The conflicts that were settled, which can be looked at and undone. */
function Settled() {
  const [open, show] = useState(false);
  const { value, error } = useLoaded<{ settled: Settlement[] }>(open ? "/v1/conflicts/settled" : null);
  return (
    <details class="settled" onToggle={(e) => show(e.currentTarget.open)}>
      <summary>{t("review.before")}</summary>
      {error && <Failure error={error} />}
      {open && !value && !error && <Waiting />}
      {value && !value.settled.length && <p class="muted">{t("review.beforeNone")}</p>}
      <ul class="rows">
        {value?.settled.map((s) => (
          <li key={s.id}>
            <span class="rows-text">
              <a href={`/memory/${s.memory}`}>
                <T text={s.text || t("review.gone")} most={200} />
              </a>
              <span class="row-says muted">{moment(s.at)}</span>
            </span>
            <button type="button" class="button small" aria-label={`${t("review.back")}: ${s.text.slice(0, 60)}`} onClick={() => unsettle(s.id).then(() => (tell({ text: t("review.undone") }), changes()), tellError)}>
              {t("review.back")}
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Conflicts() {
  const { value, error, again } = useLoaded<{ conflicts: Conflict[] }>("/v1/conflicts");
  const [at, move] = useState<string>();
  const refs = useRef<(HTMLElement | null)[]>([]);
  const list = useSteady(value?.conflicts ?? [], (c) => c.id); // a key settles the one that the wearer sees chosen, even if another has just come
  const first = useRef<string>();
  if (value) first.current ??= list[0]?.id ?? "";
  const here = list.findIndex((c) => c.id === (at ?? first.current)); // -1: the chosen one was settled elsewhere, or has changed; no key settles another that takes its place
  async function settle(c: Conflict, body: { choose?: number; both?: boolean }) {
    try {
      await post(`/v1/conflicts/${c.id}`, body);
      did(t("review.settled"), () => unsettle(c.id));
      const n = list.indexOf(c);
      move((list[n + 1] ?? list[n - 1] ?? c).id);
      again();
      changes();
    } catch (e) {
      if (asProblem(e).is("not-found")) tell({ text: t("error.changed") });
      else tellError(e);
      again();
    }
  }
  useLayoutEffect(() => { // with the drawing, so that a key is for what is seen
    const on = (e: KeyboardEvent) => {
      if (typing(e, ", button, a, .doubt")) return;
      const doubt = () => document.querySelector<HTMLElement>(".doubt")?.focus();
      if (!list.length) return void (e.key === "j" && doubt());
      const c = list[here];
      const target = e.target as Element;
      const its = c && !e.repeat && (target === document.body || !!target.closest(".conflict.here")); // a key press elsewhere settles nothing
      if (e.key === "j" || e.key === "k") {
        const next = here + (e.key === "j" ? 1 : -1);
        if (next === list.length) return doubt();
        move(list[Math.max(0, next)].id);
        refs.current[Math.max(0, next)]?.focus();
      } else if (!its) return;
      else if (/^[1-9]$/.test(e.key) && Number(e.key) <= c.sides.length) void settle(c, { choose: Number(e.key) });
      else if (e.key === "b") void settle(c, { both: true });
      else if (e.key === "Enter") void settle(c, { choose: 1 });
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", on);
    return () => removeEventListener("keydown", on);
  });
  if (error) return <Failure error={error} />;
  if (!value) return <Waiting />;
  return (
    <section>
      <h2>
        {t("review.conflicts")} <span class="count">{list.length}</span>
      </h2>
      {!list.length && (
        <div class="notice good">
          <Icon name="check" />
          <p>{t("review.none")}</p>
        </div>
      )}
      {list.map((c, i) => (
        <article key={c.id} class={`panel conflict${i === here ? " here" : ""}`} tabIndex={0} ref={(el) => void (refs.current[i] = el)} onFocus={() => move(c.id)} aria-label={t(`conflict.${c.kind}`)}>
          <h3>{t(`conflict.${c.kind}`)}</h3>
          <div class="sides">
            {c.sides.map((s, n) => (
              <div class="side-card" key={n}>
                <p class="side-text">
                  <a href={`/memory/${s.memory}`}>
                    <T text={c.kind === "field" ? s.value : s.text} most={300} />
                  </a>
                </p>
                <p class="muted">
                  {s.rank >= 3 ? t("by.person") : said("by", s.by.plugin ?? "")} · {s.here ? t("review.here") : <T text={s.device ?? t("review.other")} most={40} />} · {moment(s.at)}
                </p>
                <button type="button" class="button small" onClick={() => settle(c, { choose: n + 1 })}>
                  <kbd>{n + 1}</kbd> {t("review.choose")}
                </button>
              </div>
            ))}
          </div>
          <button type="button" class="button small" onClick={() => settle(c, { both: true })}>
            <kbd>b</kbd> {t("review.both")}
          </button>
        </article>
      ))}
    </section>
  );
}

function Dreams() {
  const { value, error, again } = useLoaded<{ dreams: Dream[] }>("/v1/dream");
  const [plan, set] = useState<Plan | null>(null);
  const [left, leave] = useState<string[]>([]); // memories whose steps are left out
  const [busy, work] = useState(false);
  const run = async (f: () => Promise<unknown>) => {
    work(true);
    try {
      await f();
      again();
    } catch (e) {
      tellError(e);
    } finally {
      work(false);
    }
  };
  const look = () => run(async () => (leave([]), set(await post<Plan>("/v1/dream/plan"))));
  const undo = (id?: string) => post("/v1/dream/undo", id ? { id } : {});
  const apply = () =>
    run(async () => {
      const done = await post<{ id: string; steps: number; skipped?: unknown[] }>("/v1/dream/apply", { id: plan!.id, without: left });
      set(null);
      changes();
      const skipped = done.skipped?.length ?? 0;
      if (!done.steps) return tell({ text: t(!skipped ? "dream.left" : left.length ? "dream.leftSkipped" : "dream.skipped", { n: skipped }) });
      did(t("dream.done", { n: done.steps }), () => undo(done.id));
    });
  return (
    <section class="tidy">
      <h2>{t("dream.title")}</h2>
      <p class="muted">{t("dream.says")}</p>
      {error && <Failure error={error} />}
      <div class="actions">
        <button type="button" class="button" data-act="tidy" disabled={busy} onClick={look}>
          {t("dream.look")}
        </button>
        {plan && plan.steps.length > 0 && (
          <button type="button" class="button solid" disabled={busy} onClick={apply}>
            {t("dream.apply", { n: plan.steps.filter((s) => !left.includes(s.memory)).length })}
          </button>
        )}
      </div>
      {plan && !plan.steps.length && <p class="notice good"><Icon name="check" /> {t("dream.nothing")}</p>}
      {plan && (
        <ol class="dream-steps">
          {plan.steps.map((s, i) => (
            <li key={i} class="panel">
              <StepText step={s} />
              <label class="check">
                <input type="checkbox" aria-label={`${t("dream.take")}: ${s.text.slice(0, 60)}`} checked={!left.includes(s.memory)} onChange={() => leave((l) => (l.includes(s.memory) ? l.filter((m) => m !== s.memory) : [...l, s.memory]))} />
                <span>{t("dream.take")}</span>
              </label>
            </li>
          ))}
        </ol>
      )}
      {!!value?.dreams.length && (
        <ul class="rows dreams">
          {value.dreams.slice(0, 10).map((d) => (
            <li key={d.id}>
              <span class="rows-text">
                {moment(d.at)} · {t("dream.claims", { n: d.claims })}
                {!d.undone && <Dreamt id={d.id} />}
              </span>
              {d.undone ? (
                <span class="muted">{t("dream.undone")}</span>
              ) : (
                <button type="button" class="button small" disabled={busy} onClick={() => run(() => undo(d.id).then(changes))}>
                  {t("undo")}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function StepText({ step: s }: { step: Step }) {
  return (
    <>
      <strong>{said("dream", s.kind)}</strong>
      <p>{s.text ? <a href={`/memory/${s.memory}`}><T text={s.text} most={300} /></a> : t("dream.hidden")}</p>
      {s.into_text && (
        <p>
          <span class="muted">{t("dream.into")}</span> <T text={s.into_text} most={300} />
        </p>
      )}
    </>
  );
}

/** The steps of a past dream. Each can be undone separately. */
function Dreamt({ id }: { id: string }) {
  const [open, show] = useState(false);
  const { value, error } = useLoaded<{ steps: Step[] }>(open ? "/v1/dream/" + encodeURIComponent(id) : null);
  const back = (s: Step) =>
    post("/v1/dream/undo", { id, memory: s.memory }).then(() => {
      tell({ text: t("dream.stepBack") });
      changes();
    }, tellError);
  return (
    <details class="dreamt" onToggle={(e) => show(e.currentTarget.open)}>
      <summary>{t("dream.steps")}</summary>
      {error && <Failure error={error} />}
      {open && !value && !error && <Waiting />}
      <ol class="dream-steps">
        {value?.steps.map((s) => (
          <li key={s.kind + s.memory} class="panel">
            <StepText step={s} />
            <button type="button" class="button small" aria-label={`${t("dream.back")}: ${s.text.slice(0, 60)}`} onClick={() => back(s)}>
              {t("dream.back")}
            </button>
          </li>
        ))}
      </ol>
    </details>
  );
}
