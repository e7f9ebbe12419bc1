// A share made step by step: what, with whom, what to leave out; then what the
// readers would see beside the wearer's own memories. Nothing has been sent yet.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { t, type Word } from "./i18n";
import { Icon } from "./icons";
import { Listing } from "./sell";
import { chooses, empty, Out, What, type Form, type Part } from "./shareform";
import { Look } from "./sharelook";
import { ShareLink } from "./sharepage";
import type { Share } from "./sharing";
import { T } from "./widgets";

const days = [7, 30, 90, 365, 0];

const steps = ["what", "who", "out", "look"] as const;

/** titleOf returns the heading of a step. A sale has its own headings, except where both ask the same. */
const titleOf = (step: number, sell?: boolean) => t(`${sell && step !== 2 ? "sell" : "sharer"}.${steps[step]}Title` as Word);

/** Sharer shows the steps. Its initial values make it a share, a sale or something for a community. */
export function Sharer({ begin }: { begin?: Partial<Form> }) {
  const sell = !!begin?.sale;
  const pool = begin?.pool;
  const order = pool ? [0, 2, 3] : [0, 1, 2, 3]; // order of the steps
  const [form, set] = useState<Form>({ ...empty, ...begin });
  const [step, go] = useState(0);
  const [made, make] = useState<Share>();
  const title = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    // Before the step is visible: later it would take the focus from a field that is being typed into.
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
      <a class="back" href={pool ? "/communities/" + pool.id : sell ? "/market" : "/sharing"}>
        <Icon name="left" size={14} /> {pool ? <T text={pool.name} most={60} /> : t(sell ? "shop.title" : "nav.sharing")}
      </a>
      <ol class="sharer-steps" aria-label={t("sharer.steps")}>
        {order.map((i, n) => (
          <li key={i} aria-current={i === step ? "step" : undefined} class={i < step ? "done" : ""}>
            <button type="button" class="plain" disabled={i > step} onClick={() => go(i)}>
              <span class="sharer-n">{n + 1}</span> {t(`${sell && i === 1 ? "sell" : "sharer"}.${steps[i]}` as Word)}
            </button>
          </li>
        ))}
      </ol>
      <h1 ref={title} tabIndex={-1}>
        {pool && step === 0 ? t("pool.what") : titleOf(step, sell)}
      </h1>
      {step < 3 ? (
        <form
          class="panel fields"
          onSubmit={(e) => {
            e.preventDefault();
            go(order[order.indexOf(step) + 1]);
          }}
        >
          {step === 0 ? <What form={form} change={change} /> : step === 1 ? <Who form={form} change={change} /> : <Out form={form} change={change} />}
          <footer class="actions">
            {step > 0 && (
              <button type="button" class="button" onClick={() => go(order[order.indexOf(step) - 1])}>
                {t("sharer.back")}
              </button>
            )}
            <button class="button solid" disabled={step === 0 && !chooses(form)}>
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
