// A line of a day: who said it, what was remembered, and why no more.

import type { Row } from "./day";
import { forget } from "./forget";
import { clock, said, seconds, t } from "./i18n";
import { Icon } from "./icons";
import type { Line } from "./types";
import { Card, Sound, T, tell } from "./widgets";

export function LineRow({ row, id, hue, open, setOpen, fresh }: { row: Row & { kind: "line" }; id: string; hue: number; open: boolean; setOpen: (id?: string) => void; fresh: boolean }) {
  const l = row.line;
  return (
    <li id={id} class={`row said${row.first ? " first" : ""}${open ? " open" : ""}${fresh ? " fresh" : ""}`}>
      <span id={"l-" + l.id} class="anchor" />
      <time dateTime={l.at}>{row.minute ? clock(l.at) : ""}</time>
      <div class={`bubble hue-${hue}`}>
        {row.first && <span class="speaker">{l.speaker ? <T text={l.speaker} most={60} /> : t("speaker.none")}</span>}
        <p lang={l.lang || undefined}>
          <Redacted text={l.text} />
        </p>
        <span class="line-tools">
          {row.marked && (
            <span class="mark" title={t("line.marked")}>
              <Icon name="mark" size={14} />
              <span class="sr">{t("line.marked")}</span>
            </span>
          )}
          {row.sound && <Sound memory={row.sound.memory} from={row.sound.from} label={t("line.hear")} small />}
          <button type="button" class="plain about" aria-expanded={open} aria-label={t("line.about")} title={t("line.about")} onClick={() => setOpen(open ? undefined : l.id)}>
            <Icon name="more" size={16} />
          </button>
        </span>
        {open && <About line={l} remembered={row.memories.length > 0} />}
      </div>
      {row.memories.length > 0 && (
        <div class="beside" role="group" aria-label={t("line.remembered")}>
          {row.memories.map((m) => (
            <Card key={m.id} memory={m} />
          ))}
        </div>
      )}
    </li>
  );
}

/** Marks where a secret was removed from a text: [password]. */
function Redacted({ text }: { text: string }) {
  const parts = text.split(/(\[(?:password|pin|secret|token|card|key|code|credential|account)[^\]\n]{0,24}\])/);
  return (
    <bdi>
      {parts.map((p, i) =>
        i % 2 ? (
          <span class="redacted" key={i} title={t("line.redacted")}>
            <Icon name="lock" size={12} />
            {said("secret", p.slice(1, -1))}
          </span>
        ) : (
          p
        ),
      )}
    </bdi>
  );
}

function About({ line, remembered }: { line: Line; remembered: boolean }) {
  const reasons = (line.refusals ?? []).filter((r, i, all) => all.findIndex((o) => o.kind === r.kind) === i && !(remembered && r.kind === "nothing"));
  return (
    <div class="about-line">
      <dl>
        <dt>{t("line.when")}</dt>
        <dd>{seconds(line.at)}</dd>
        {line.place && (
          <>
            <dt>{t("line.where")}</dt>
            <dd>
              <T text={line.place} most={120} />
            </dd>
          </>
        )}
        <dt>{remembered ? t("line.also") : t("line.why")}</dt>
        <dd>
          {reasons.length === 0 && (remembered ? t("line.nothingElse") : t("line.noReason"))}
          {reasons.map((r) => (
            <span class="reason" key={r.kind}>
              {said("refused", r.kind)}
            </span>
          ))}
        </dd>
      </dl>
      <div class="actions">
        <a class="button small" href={`/ask?q=${encodeURIComponent(line.text.slice(0, 120))}`}>
          <Icon name="ask" size={14} /> {t("line.search")}
        </a>
        <button
          type="button"
          class="button small"
          onClick={() =>
            navigator.clipboard.writeText(line.text).then(
              () => tell({ text: t("copied") }),
              () => tell({ text: t("copyFailed") }),
            )
          }
        >
          {t("copy")}
        </button>
        <button type="button" class="button small danger" onClick={() => forget({ since: line.at, until: new Date(Date.parse(line.at) + 1).toISOString() })}>
          <Icon name="forget" size={14} /> {t("line.forget")}
        </button>
      </div>
    </div>
  );
}
