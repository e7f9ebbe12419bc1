// The form of a share, a sale, or something shared with a community: what to include, and what to leave out.

import { t } from "./i18n";
import { listingOf, type Sale } from "./sell";
import type { Kind, Memory } from "./types";

export const kinds: Kind[] = ["semantic", "episodic", "procedural", "resource", "core"];

/** The input of the form. */
export interface Form {
  query: string;
  kinds: Kind[];
  since: string;
  until: string; // the last day
  tags: string;
  title: string;
  to: { name: string; key: string }[];
  names: boolean;
  places: boolean;
  times: "" | "times" | "times=month";
  words: string[];
  quotes: boolean;
  private: boolean;
  days: number;
  atLeast: number;
  without: { id: string; text: string }[];
  sale?: Sale; // set if it is sold, not shared
  pool?: { id: string; name: string }; // set if it goes to a community
}

export interface Preview {
  memories: { of: string; type: Kind; text: string; was?: string; or?: string; copy: Pick<Memory, "text" | "fields"> }[];
  readers: { name: string; words: string }[];
  left_out: number;
  marks?: { spots: number; marked: boolean; robust: boolean; least: number }; // of a bundle for sale
  few?: number;
  risks: { kind: string; of?: string; what: string }[];
  held?: { why: string; memories: number }[];
  confirm: string;
}

export const empty: Form = { query: "", kinds: [], since: "", until: "", tags: "", title: "", to: [{ name: "", key: "" }], names: true, places: false, times: "", words: [], quotes: false, private: false, days: 30, atLeast: 0, without: [] };

/** words splits a list at commas. */
const words = (text: string) => text.split(/[,，、]/).map((w) => w.trim()).filter(Boolean);

/** chooses reports whether anything is chosen, by words, kinds or tags. */
export const chooses = (f: Form) => !!f.query.trim() || f.kinds.length > 0 || words(f.tags).length > 0;

/** midnight returns the local start of a day, or of one some days later. */
function midnight(day: string, later = 0): string {
  const d = new Date(day + "T00:00:00");
  d.setDate(d.getDate() + later);
  return d.toISOString();
}

export function requestOf(f: Form, confirm?: string): unknown {
  const tags = words(f.tags);
  const bundle = {
    query: f.query.trim() || undefined,
    types: f.kinds,
    tags: tags.length ? tags : undefined,
    since: f.since ? midnight(f.since) : undefined,
    until: f.until ? midnight(f.until, 1) : undefined,
    title: f.title.trim() || undefined,
    to: f.to.filter((r) => r.key.trim()).map((r) => (r.name.trim() ? `${r.name.trim().replaceAll("=", " ")}=` : "") + r.key.replace(/\s+/g, "")),
    redact: [...(f.names ? ["names"] : []), ...(f.places ? ["places"] : []), ...(f.times ? [f.times] : []), ...f.words],
    quotes: f.quotes || undefined,
    sensitivity: f.private ? "private" : undefined,
    at_least: f.atLeast || undefined,
    without: f.without.length ? f.without.map((m) => m.id) : undefined,
    expires: f.days ? new Date(Math.floor(Date.now() / 1000) * 1000 + f.days * 864e5).toISOString() : undefined,
    confirm,
  };
  if (f.pool) return { ...bundle, to: [], title: undefined, expires: undefined, at_least: undefined };
  return f.sale ? listingOf(f.title, f.sale, bundle) : bundle;
}

export interface Part {
  form: Form;
  change: (c: Partial<Form> | ((f: Form) => Partial<Form>)) => void;
}

/** The choice of memories. A choice for answers has no search words, because the question takes their place. */
export function What({ form, change, answers }: Part & { answers?: boolean }) {
  return (
    <>
      {!answers && (
        <label>
          {t("sharer.query")}
          <input name="query" value={form.query} maxLength={300} placeholder={t("sharer.queryHint")} onInput={(e) => change({ query: e.currentTarget.value })} autocomplete="off" />
        </label>
      )}
      <div role="group" aria-label={t("sharer.kinds")}>
        <p class="field-name">{t("sharer.kinds")}</p>
        <div class="chips">
          {kinds.map((k) => (
            <button key={k} type="button" class="chip" aria-pressed={form.kinds.includes(k)} onClick={() => change({ kinds: form.kinds.includes(k) ? form.kinds.filter((x) => x !== k) : [...form.kinds, k] })}>
              {t(`kind.${k}`)}
            </button>
          ))}
        </div>
        <p class="muted">{t("sharer.never")}</p>
      </div>
      <label>
        {t("sharer.tags")}
        <input name="tags" value={form.tags} maxLength={300} placeholder={t("sharer.tagsHint")} onInput={(e) => change({ tags: e.currentTarget.value })} autocomplete="off" />
      </label>
      <label>
        {t("sharer.since")}
        <input name="since" type="date" value={form.since} max={form.until || undefined} onInput={(e) => change({ since: e.currentTarget.value })} />
      </label>
      <label>
        {t("sharer.until")}
        <input name="until" type="date" value={form.until} min={form.since || undefined} onInput={(e) => change({ until: e.currentTarget.value })} />
      </label>
      {!form.sale && !form.pool && !answers && (
        <label>
          {t("sharer.title")}
          <input name="title" value={form.title} maxLength={120} placeholder={t("sharer.titleHint")} onInput={(e) => change({ title: e.currentTarget.value })} autocomplete="off" />
        </label>
      )}
    </>
  );
}

function Check({ on, set, name, says }: { on: boolean; set: (on: boolean) => void; name: string; says?: string }) {
  return (
    <label class="check">
      <input type="checkbox" checked={on} onChange={(e) => set(e.currentTarget.checked)} />
      <span>
        {name}
        {says && <span class="row-says muted">{says}</span>}
      </span>
    </label>
  );
}

export function Out({ form, change }: Part) {
  return (
    <>
      <Check on={form.names} set={(names) => change({ names })} name={t("sharer.names")} says={t("sharer.namesSays")} />
      <Check on={form.places} set={(places) => change({ places })} name={t("sharer.places")} />
      <label>
        {t("sharer.times")}
        <select name="times" value={form.times} onChange={(e) => change({ times: e.currentTarget.value as Form["times"] })}>
          <option value="">{t("sharer.timesExact")}</option>
          <option value="times=month">{t("sharer.timesMonth")}</option>
          <option value="times">{t("sharer.timesNone")}</option>
        </select>
      </label>
      <label>
        {t("sharer.words")}
        <input name="words" value={form.words.join(", ")} placeholder={t("sharer.wordsHint")} onChange={(e) => change({ words: words(e.currentTarget.value) })} autocomplete="off" />
      </label>
      <details>
        <summary>{t("sharer.more")}</summary>
        <div class="fields">
          <Check on={form.quotes} set={(quotes) => change({ quotes })} name={t("sharer.quotes")} says={t("sharer.quotesSays")} />
          <Check on={form.private} set={(p) => change({ private: p })} name={t("sharer.private")} says={t("sharer.privateSays")} />
          {!form.pool && (
            <label>
              {t("sharer.atLeast")}
              <input type="number" min={0} max={100} value={form.atLeast} onInput={(e) => change({ atLeast: Number(e.currentTarget.value) || 0 })} />
            </label>
          )}
        </div>
      </details>
    </>
  );
}
