// The filter of a question: its parts as chips, and the whole expression as text.

import { useEffect, useRef } from "preact/hooks";
import { reasonOf, said, t } from "./i18n";
import { Icon } from "./icons";
import type { Kind } from "./types";
import { T, useLoaded, type Loaded } from "./widgets";

const kinds: Kind[] = ["episodic", "semantic", "procedural", "resource", "core", "vault"];

interface Part {
  line: string;
  field?: string;
  op?: string;
  values?: string[];
}

/** A filter expression as the node parses it. */
export interface FilterLine {
  line: string;
  filters: unknown; // in the form that other requests take
  parts: Part[];
}

/** useFilter parses an expression; an empty one is no filter. */
export const useFilter = (line: string): Loaded<FilterLine> => useLoaded<FilterLine>(line ? "/v1/filter?line=" + encodeURIComponent(line) : null);

const joined = (lines: string[]) => lines.filter(Boolean).join(" and ");
const chooses = (field: string) => (p: Part) => p.field === field && (p.op === "eq" || p.op === "in");

/** onlyWho adds a speaker to a filter expression. */
export const onlyWho = (parts: Part[], who: string) => joined([...parts.filter((p) => !chooses("speaker")(p)).map((p) => p.line), "speaker = " + JSON.stringify(who)]);

export function Chips({ line, read, change }: { line: string; read: Loaded<FilterLine>; change: (line: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const last = useRef<Part[]>([]); // of the last valid expression, while another is parsed or is invalid
  if (!line || read.value) last.current = (line && read.value?.parts) || [];
  const parts = last.current;
  const shown = read.value?.line ?? line;
  useEffect(() => {
    field.current!.value = shown;
  }, [shown]);
  /** toggle adds a value to the part of a field, or removes it. */
  const toggle = (name: string, value: string, several: boolean) => {
    const now = parts.find(chooses(name))?.values ?? [];
    const next = now.includes(value) ? now.filter((v) => v !== value) : several ? [...now, value] : [value];
    const part = next.length > 1 ? `${name} in (${next.join(", ")})` : next.length ? `${name} = ${next[0]}` : "";
    change(joined([...parts.filter((p) => !chooses(name)(p)).map((p) => p.line), part]));
  };
  const chip = (name: string, value: string, word: string, several = false) => (
    <button key={value} type="button" class="chip" aria-pressed={parts.some((p) => chooses(name)(p) && p.values!.includes(value))} onClick={() => toggle(name, value, several)}>
      {word}
    </button>
  );
  const others = parts.filter((p) => !chooses("type")(p) && !chooses("kind")(p));
  return (
    <>
      <div class="chips" role="group" aria-label={t("filter.label")}>
        {chip("kind", "memory", t("filter.memories"))}
        {chip("kind", "utterance", t("filter.utterances"))}
        <span class="chip-gap" />
        {kinds.map((k) => chip("type", k, t(`kind.${k}`), true))}
        {others.map((p) => (
          <button key={p.line} type="button" class="chip part" aria-pressed="true" title={t("filter.remove", { part: p.line.slice(0, 400) })} onClick={() => change(joined(parts.filter((x) => x !== p).map((x) => x.line)))}>
            {p.field && p.op === "eq" && ["speaker", "tags", "place"].includes(p.field) ? (
              <>
                {said("filterBy", p.field)} <T text={p.values![0]} most={40} />
              </>
            ) : (
              <T text={p.line} most={80} />
            )}{" "}
            <Icon name="close" size={12} />
          </button>
        ))}
      </div>
      <form
        class="filter-line"
        onSubmit={(e) => {
          e.preventDefault();
          change(field.current!.value.trim());
        }}
      >
        <label>
          <span>{t("filter.line")}</span>
          <input ref={field} name="filter" defaultValue={shown} placeholder="speaker = Tomasz and said >= 2026-09-01" spellcheck={false} autocomplete="off" autocapitalize="off" aria-invalid={!!read.error} aria-describedby="filter-says" />
        </label>
        <button class="button small">{t("filter.do")}</button>
        <p id="filter-says" class={read.error ? "bad" : "muted"} role={read.error ? "alert" : undefined}>
          {read.error ? <T text={reasonOf(read.error)} most={300} /> : t("filter.fields")}
        </p>
      </form>
    </>
  );
}
