// The items, questions and answers of a community's members, and what was removed.

import { useState } from "preact/hooks";
import type { Act, Item, View } from "./community";
import { moment, number, said, t } from "./i18n";
import { More } from "./more";
import { Seen } from "./seen";
import { T, tellError } from "./widgets";

interface Part {
  view: View;
  act: Act;
  remove: (of: { what: string; name: string; undo?: boolean }) => void;
}

const atOnce = 50;

/** One shows one item, with the button that removes it. */
function One({ item: i, view: v, act, remove, kind }: Part & { item: Item; kind?: boolean }) {
  const back = () => act("POST", `/v1/communities/${v.id}/removals`, { what: i.id }, t("pool.isOut")).catch(tellError);
  const what = i.text.slice(0, 60);
  return (
    <div class="pool-item">
      <span class="rows-text">
        <Seen text={i.text} />
        <span class="row-says muted">
          {i.you ? t("pool.byYou") : <T text={i.by} most={60} />} · {moment(i.at)}
          {kind && <> · {said("kind", i.type)}</>}
        </span>
      </span>
      {i.you ? (
        <button type="button" class="button small" data-does="removeFromCommunity" aria-label={`${t("pool.back")}: ${what}`} onClick={back}>
          {t("pool.back")}
        </button>
      ) : (
        v.role !== "member" && (
          <button type="button" class="button small danger" data-does="removeFromCommunity" aria-label={`${t("pool.remove")}: ${what}`} onClick={() => remove({ what: i.id, name: i.text })}>
            {t("pool.remove")}
          </button>
        )
      )}
    </div>
  );
}

function Rest({ n, show }: { n: number; show: () => void }) {
  if (n <= 0) return null;
  return (
    <More show={show}>
      {t("more")} <span class="count">{number(n)}</span>
    </More>
  );
}

export function Items(p: Part) {
  const [n, show] = useState(atOnce);
  const items = p.view.items.toReversed();
  return (
    <section class="panel pool-items">
      <h2>{t("pool.in")}</h2>
      {!items.length && <p class="muted">{t("pool.empty")}</p>}
      <ul class="rows">
        {items.slice(0, n).map((i) => (
          <li key={i.id}>
            <One {...p} item={i} kind />
          </li>
        ))}
      </ul>
      <Rest n={items.length - n} show={() => show(n + atOnce)} />
    </section>
  );
}

/** knows says who can read a question and its answers. */
const knows = (people: number, former = 0) => t(former ? "pool.knowsFormer" : "pool.knows", { n: people, former });

export function Questions(p: Part) {
  const [n, show] = useState(atOnce);
  const [busy, work] = useState(false);
  const { view: v, act } = p;
  const asked = v.questions.toReversed();
  const ask = (e: SubmitEvent) => {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    work(true);
    act("POST", `/v1/communities/${v.id}/questions`, { text: String(new FormData(form).get("question")).trim() }, t("pool.asked"))
      .then(() => form.reset(), tellError)
      .finally(() => work(false));
  };
  return (
    <section class="panel pool-questions">
      <h2>{t("pool.questions")}</h2>
      <form class="fields" data-does="askCommunity" onSubmit={ask}>
        <label>
          {t("pool.question")}
          <input name="question" required maxLength={400} autocomplete="off" />
        </label>
        <p class="muted">{t("pool.askSays", { n: v.people })}</p>
        <div class="actions">
          <button class="button solid" disabled={busy}>
            {busy ? t("wait") : t("pool.ask")}
          </button>
        </div>
      </form>
      <ul class="rows">
        {asked.slice(0, n).map((q) => (
          <li key={q.id} class="pool-question">
            <One {...p} item={q} />
            <p class="muted">{knows(v.people, q.former)}</p>
            {q.answers.length > 0 ? (
              <ul class="pool-answers" aria-label={t("pool.answers")}>
                {q.answers.map((a) => (
                  <li key={a.id}>
                    <One {...p} item={a} />
                  </li>
                ))}
              </ul>
            ) : (
              <p class="muted">{t("pool.unanswered")}</p>
            )}
          </li>
        ))}
      </ul>
      <Rest n={asked.length - n} show={() => show(n + atOnce)} />
    </section>
  );
}

/** The hidden items: who removed them and why, with a button that shows them again. */
export function Removed({ view: v, act, remove }: Part) {
  const [n, show] = useState(atOnce);
  const list = v.removed.toReversed();
  const undo = (i: Item) => (i.yours ? void act("POST", `/v1/communities/${v.id}/removals`, { what: i.removal }, t("pool.restored")).catch(tellError) : remove({ what: i.removal!, name: i.text, undo: true }));
  return (
    <section class="panel pool-removed">
      <details>
        <summary>{t("pool.removed", { n: list.length })}</summary>
        <p class="muted">{t("pool.removedSays")}</p>
        <ul class="rows">
          {list.slice(0, n).map((i) => (
            <li key={i.id}>
              <div class="pool-item">
                <span class="rows-text">
                  <Seen text={i.text} />
                  <span class="row-says muted">
                    {i.you ? t("pool.byYou") : <T text={i.by} most={60} />} · {moment(i.at)}
                  </span>
                  <span class="row-says">{i.removal ? <T text={i.why ?? ""} most={400} /> : t("pool.author")}</span>
                </span>
                {i.removal && (i.yours || v.role === "owner") && (
                  <button type="button" class="button small" data-does="removeFromCommunity" aria-label={`${t("pool.restore")}: ${i.text.slice(0, 60)}`} onClick={() => undo(i)}>
                    {t("pool.restore")}
                  </button>
                )}
              </div>
            </li>
          ))}
        </ul>
        <Rest n={list.length - n} show={() => show(n + atOnce)} />
      </details>
    </section>
  );
}
