// Doubts: memories that were barely understood or that one of the wearer's workers added, to be confirmed or archived one by one.

import { call, post } from "./api";
import { moment, said, t } from "./i18n";
import { Icon } from "./icons";
import type { Memory } from "./types";
import { did } from "./undo";
import { changes, Failure, iconOf, plainText, T, tellError, useLoaded, useSteady } from "./widgets";

/** The confidence from which a memory is not doubtful; a memory's own page uses the same value. */
const sure = 0.6;

const unsure = JSON.stringify({ AND: [{ pinned: false }, { type: { ne: "vault" } }, { OR: [{ confidence: { lt: sure } }, { plugin: { contains: "worker/" } }] }] });
const most = 12; // shown
const asked = 50; // more than are shown, so that new ones drop none of those

const isWorkers = (m: Memory) => !!m.source.plugin?.startsWith("worker/");

export function Doubts() {
  const { value, error } = useLoaded<{ memories: Memory[]; next?: string }>(`/v1/memories?limit=${asked}&filters=${encodeURIComponent(unsure)}`);
  const all = useSteady(value?.memories ?? [], (m) => m.id);
  const list = all.slice(0, most);
  const done = (text: string, undo: () => Promise<unknown>) => (changes(), did(text, undo));
  const right = (m: Memory) => post(`/v1/memories/${m.id}/pin`).then(() => done(t("did.pinned"), () => post(`/v1/memories/${m.id}/unpin`)), tellError);
  const archived = (m: Memory, archived: boolean) => call("PATCH", `/v1/memories/${m.id}`, { archived });
  const away = (m: Memory) => archived(m, true).then(() => done(t("did.archived"), () => archived(m, false)), tellError);
  /** leave focuses the element after a doubt that is removed. With nothing focused, the next key would settle a conflict. */
  const leave = (from: Element) => {
    const beside = [from.nextElementSibling, from.previousElementSibling].find((el) => el?.matches(".doubt")) ?? document.querySelector(".review h1");
    (beside as HTMLElement | null)?.focus();
  };
  const keys = (e: KeyboardEvent, m: Memory) => {
    if ((e.target as Element).closest("button, a") || e.ctrlKey || e.metaKey || e.altKey) return;
    const here = e.currentTarget as HTMLElement;
    const beside = (e.key === "j" ? here.nextElementSibling : here.previousElementSibling) as HTMLElement | null;
    if (["y", "n", "Enter"].includes(e.key)) {
      if (!e.repeat) void (e.key === "n" ? away(m) : right(m));
      if (!e.repeat) leave(here);
    } else if (e.key === "j" || e.key === "k") beside?.matches(".doubt") ? beside.focus() : e.key === "k" && document.querySelector<HTMLElement>(".conflict.here")?.focus();
    else return;
    e.preventDefault();
  };
  if (error) return <Failure error={error} />;
  if (!list.length) return null;
  return (
    <section class="doubts">
      <h2>
        {t("doubts.title")} <span class="count">{all.length > most ? most + "+" : all.length}</span>
      </h2>
      <p class="muted">{t("doubts.says")}</p>
      {list.map((m) => (
        <article key={m.id} class="panel doubt" tabIndex={0} aria-label={t(isWorkers(m) ? "doubts.worker" : "doubts.low")} onKeyDown={(e) => keys(e, m)}>
          <a class="doubt-text" href={`/memory/${m.id}`}>
            <Icon name={iconOf(m)} size={16} /> <T text={plainText(m)} most={300} />
          </a>
          <p class="muted">
            {t(isWorkers(m) ? "doubts.worker" : "doubts.low")} · <T text={said("by", m.source.plugin ?? "")} most={60} /> · {moment(m.evidence?.[0]?.at ?? m.learnt)}
          </p>
          <div class="actions">
            <button type="button" class="button small" onClick={(e) => (right(m), leave(e.currentTarget.closest(".doubt")!))}>
              <kbd>y</kbd> {t("doubts.right")}
            </button>
            <button type="button" class="button small" onClick={(e) => (away(m), leave(e.currentTarget.closest(".doubt")!))}>
              <kbd>n</kbd> {t("doubts.away")}
            </button>
            <a class="button small" href={`/memory/${m.id}`}>
              {t("doubts.correct")}
            </a>
          </div>
        </article>
      ))}
    </section>
  );
}
