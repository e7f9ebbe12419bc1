// Forgetting in two steps: what would be erased is shown first, and erased once that is confirmed.

import { useEffect, useState } from "preact/hooks";
import { post } from "./api";
import { moment, t } from "./i18n";
import { go } from "./router";
import type { ForgetAnswer, Related } from "./types";
import { asProblem, changes, Dialog, Failure, T, tell, tellError, Waiting } from "./widgets";
import type { Problem } from "./api";

export interface Selection {
  ids?: string[];
  since?: string;
  until?: string;
  last?: string;
}

const asked = new EventTarget();

/** forget shows what would be erased and asks for confirmation. With then, the page goes to that address afterwards. */
export const forget = (what: Selection, then?: string) => asked.dispatchEvent(new CustomEvent("forget", { detail: { what, then } }));

export function Forgetting() {
  const [ask, set] = useState<{ what: Selection; then?: string } | null>(null);
  useEffect(() => {
    const on = (e: Event) => set((e as CustomEvent).detail);
    asked.addEventListener("forget", on);
    return () => asked.removeEventListener("forget", on);
  }, []);
  return ask && <Plan what={ask.what} then={ask.then} close={() => set(null)} />;
}

function Plan({ what, then, close }: { what: Selection; then?: string; close: () => void }) {
  const [answer, set] = useState<ForgetAnswer>();
  const [error, fail] = useState<Problem>();
  const [busy, work] = useState(false);
  useEffect(() => {
    post<ForgetAnswer>("/v1/forget", { ...what, plan: true }).then(set, (e) => fail(asProblem(e)));
  }, []);
  async function confirm() {
    work(true);
    try {
      const done = await post<ForgetAnswer>("/v1/forget", { confirm: answer!.confirm });
      tell({ text: t("forget.done", { memories: done.result?.memories ?? 0, lines: done.result?.utterances ?? 0 }) });
      close();
      changes();
      if (then) go(then);
    } catch (e) {
      tellError(e);
      close();
    }
  }
  const plan = answer?.plan;
  const nothing = plan && !plan.memories.length && !plan.utterances.length && !plan.events;
  return (
    <Dialog title={t("forget.title")} close={close} wide>
      {error ? <Failure error={error} /> : !plan ? <Waiting /> : nothing ? <p>{t("forget.nothing")}</p> : (
        <>
          <p>{t("forget.says")}</p>
          <Part title={t("forget.memories", { n: plan.memories.length })} list={plan.memories} />
          <Part title={t("forget.lines", { n: plan.utterances.length })} list={plan.utterances} />
          <Part title={t("forget.trimmed", { n: plan.trimmed.length })} list={plan.trimmed} />
          {plan.events > 0 && <p class="muted">{t("forget.events", { n: plan.events })}</p>}
        </>
      )}
      <footer>
        <button type="button" class="button" onClick={close} autofocus>
          {nothing ? t("close") : t("cancel")}
        </button>
        {plan && !nothing && (
          <button type="button" class="button danger solid" disabled={busy} onClick={confirm}>
            {t("forget.confirm")}
          </button>
        )}
      </footer>
    </Dialog>
  );
}

function Part({ title, list }: { title: string; list: Related[] }) {
  if (!list.length) return null;
  return (
    <section class="forget-part">
      <h3>{title}</h3>
      <ul>
        {list.slice(0, 50).map((r) => (
          <li key={r.id}>
            <T text={r.text} most={240} /> <span class="muted">{moment(r.at)}</span>
          </li>
        ))}
      </ul>
      {list.length > 50 && <p class="muted">{t("forget.andMore", { n: list.length - 50 })}</p>}
    </section>
  );
}
