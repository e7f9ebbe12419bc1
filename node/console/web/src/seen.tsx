// A redacted text with the gaps marked, and the original with the removed parts marked.

import { t } from "./i18n";
import type { Memory } from "./types";

/** What redaction puts in place of a word: […], or a role in brackets. */
const gone = /(\[[^\][]{1,60}\])/;

/** Seen is a text as a reader sees it. */
export function Seen({ text }: { text: string }) {
  return (
    <bdi class="seen">
      {(text.length > 2000 ? text.slice(0, 2000) + "…" : text).split(gone).map((part, i) =>
        i % 2 ? (
          <mark key={i} class="taken">
            <span class="sr">{t("seen.taken")}</span>
            <span aria-hidden={part === "[…]"}>{part.slice(1, -1)}</span>
          </mark>
        ) : (
          part
        ),
      )}
    </bdi>
  );
}

/** What a reader sees of a memory beside its text: a document's content, details, the steps of a how-to. */
export function Beyond({ of }: { of: Pick<Memory, "text" | "fields"> }) {
  const f = of.fields;
  const all = [f?.resource?.content, f?.episodic?.details !== f?.episodic?.event_type && f?.episodic?.details, f?.semantic?.details, f?.procedural?.description, ...(f?.procedural?.steps ?? [])];
  return <Texts all={all.filter((s) => s && !of.text.includes(s.trim())) as string[]} />;
}

/** Texts are what would be shown beside a memory's text. */
export function Texts({ all }: { all: string[] }) {
  return (
    <>
      {all.map((s, i) => (
        <p key={i} class="muted">
          <Seen text={s} />
        </p>
      ))}
    </>
  );
}

/** Own is the wearer's text, with the parts that the reader does not see struck through. */
export function Own({ was, text }: { was: string; text: string }) {
  const kept = text.split(gone).filter((_, i) => i % 2 === 0);
  const parts: preact.ComponentChildren[] = [];
  let at = 0;
  for (const [i, k] of kept.entries()) {
    const next = i === kept.length - 1 ? (was.endsWith(k) ? was.length - k.length : -1) : was.indexOf(k, at);
    if (next < at) return <bdi>{was}</bdi>; // the texts can't be aligned, for example because the original has brackets
    if (next > at) parts.push(<del key={i}>{was.slice(at, next)}</del>);
    parts.push(k);
    at = next + k.length;
  }
  return <bdi class="own">{parts}</bdi>;
}
