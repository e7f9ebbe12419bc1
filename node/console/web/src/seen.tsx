// A text with what was taken out of it marked, and the text before with what goes marked.

import { t } from "./i18n";

/** What redaction leaves in the place of a word: […], or a role in brackets. */
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

/** Own is the wearer's text, in which what the reader does not see is struck through. */
export function Own({ was, text }: { was: string; text: string }) {
  const kept = text.split(gone).filter((_, i) => i % 2 === 0);
  const parts: preact.ComponentChildren[] = [];
  let at = 0;
  for (const [i, k] of kept.entries()) {
    const next = i === kept.length - 1 ? (was.endsWith(k) ? was.length - k.length : -1) : was.indexOf(k, at);
    if (next < at) return <bdi>{was}</bdi>; // a text that can't be laid beside the other, such as one with brackets of its own
    if (next > at) parts.push(<del key={i}>{was.slice(at, next)}</del>);
    parts.push(k);
    at = next + k.length;
  }
  return <bdi class="own">{parts}</bdi>;
}
