// The memories with which this node may answer other members' questions by itself.

import { useState } from "preact/hooks";
import { call } from "./api";
import type { View } from "./community";
import { t } from "./i18n";
import { Icon } from "./icons";
import { chooses, empty, kinds, Out, requestOf, What, type Form } from "./shareform";
import type { Kind } from "./types";
import { T, tell, tellError } from "./widgets";

/** The choice of memories that the node answers with. */
export interface Choice {
  types: Kind[];
  tags: string[];
  since?: string;
  until?: string;
  sensitivity: string;
  redact: string[];
  quotes?: boolean;
}

/** dayOf is the local day of a time, or a number of days before it, in the format of a date field. */
const dayOf = (at: string | undefined, before = 0) => {
  if (!at) return "";
  const d = new Date(at);
  d.setDate(d.getDate() - before);
  return [d.getFullYear(), d.getMonth() + 1, d.getDate()].map((n) => String(n).padStart(2, "0")).join("-");
};

/** formOf converts a choice to the form's fields. Whatever has no field of its own goes into the words. */
function formOf(c?: Choice): Form {
  if (!c) return empty;
  const own = ["names", "places", "times", "times=month"];
  const has = (word: string) => c.redact.includes(word);
  return {
    ...empty,
    kinds: kinds.filter((k) => c.types.includes(k)),
    tags: c.tags.join(", "),
    since: dayOf(c.since),
    until: dayOf(c.until, 1),
    names: has("names"),
    places: has("places"),
    times: has("times=month") ? "times=month" : has("times") ? "times" : "",
    words: c.redact.filter((w) => !own.includes(w)),
    quotes: !!c.quotes,
    private: c.sensitivity === "private",
  };
}

export function Answering({ view: v, again }: { view: View; again: () => Promise<unknown> }) {
  const [form, set] = useState<Form>();
  const [busy, work] = useState(false);
  const change = (c: Partial<Form> | ((f: Form) => Partial<Form>)) => set((f) => ({ ...f!, ...(typeof c === "function" ? c(f!) : c) }));
  const put = (f?: Form) => {
    work(true);
    const done = (text: string, undo?: Form) => tell({ text, undo: undo && (() => call("PUT", `/v1/communities/${v.id}/answers`, { with: requestOf(pooled(undo)) }).then(again)) });
    call("PUT", `/v1/communities/${v.id}/answers`, f ? { with: requestOf(pooled(f)) } : {})
      .then(() => {
        set(undefined);
        done(t(f ? "pool.answersOn" : "pool.answersOff"), f ? undefined : formOf(v.with));
        return again();
      })
      .catch(tellError)
      .finally(() => work(false));
  };
  const pooled = (f: Form): Form => ({ ...f, pool: { id: v.id, name: v.name } });
  const c = v.with;
  const what = c && [...c.types.map((k) => t(`kind.${k}`)), ...c.tags];
  return (
    <section class="panel pool-answering">
      <h2>{t("pool.answering")}</h2>
      <p class="muted">{t("pool.answeringSays")}</p>
      {c && (
        <p class="notice good">
          <Icon name="check" />
          <span>
            {t("pool.answersWith")} <T text={what!.join(", ")} most={300} />
            {c.redact.length > 0 && (
              <>
                {" "}
                {t("pool.answersWithout")} <T text={c.redact.map(redacted).join(", ")} most={300} />
              </>
            )}
          </span>
        </p>
      )}
      {form ? (
        <form
          class="fields"
          onSubmit={(e) => {
            e.preventDefault();
            put(form);
          }}
        >
          <What form={pooled(form)} change={change} answers />
          <Out form={pooled(form)} change={change} />
          <footer class="actions">
            <button type="button" class="button" onClick={() => set(undefined)}>
              {t("cancel")}
            </button>
            <button class="button solid" disabled={busy || !chooses(form)}>
              {t("pool.answersSet")}
            </button>
          </footer>
        </form>
      ) : (
        <div class="actions">
          <button type="button" class="button small" data-does="answerCommunity" disabled={busy} onClick={() => set(formOf(c))}>
            {t(c ? "pool.answersChange" : "pool.answersChoose")}
          </button>
          {c && (
            <button type="button" class="button small danger" data-does="answerCommunity" disabled={busy} onClick={() => put()}>
              {t("pool.answersEnd")}
            </button>
          )}
        </div>
      )}
    </section>
  );
}

/** redacted lists what is removed, in the page's words. */
const redacted = (word: string) => (word === "names" ? t("sharer.names") : word === "places" ? t("sharer.places") : word.startsWith("times") ? t("sharer.times") : word);
