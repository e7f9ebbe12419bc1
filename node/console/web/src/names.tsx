// Names: merging two, splitting one, and undoing that.

import { call, post } from "./api";
import { moment, t } from "./i18n";
import { Icon } from "./icons";
import type { Entry } from "./types";
import { changes, Failure, T, tell, tellError, useLoaded, useSteady } from "./widgets";

interface Decision {
  memory: string;
  a: string;
  b: string;
  same: boolean;
  rank: number;
  learnt?: string;
}

interface Names {
  decisions: Decision[];
  suggestions: { a: string; b: string; reason: string; weight: number }[];
}

const pair = (s: { a: string; b: string }) => s.a + "\n" + s.b;

const takeBack = (id: string) => call("DELETE", "/v1/entities/decisions/" + id);

/** decide stores whether two names are the same. It can be undone. */
function decide(same: boolean, a: string, b: string): Promise<unknown> {
  return post<{ id: string }>(`/v1/entities/${same ? "merge" : "split"}`, { a, b }).then((d) => {
    changes();
    tell({ text: t(same ? "names.merged" : "names.parted", { a, b }), undo: () => takeBack(d.id) });
  }, tellError);
}

/** The names that may be the same, for the Review page, and past decisions. */
export function NamesReview() {
  const { value, error } = useLoaded<Names>("/v1/entities");
  const suggestions = useSteady(value?.suggestions ?? [], pair);
  if (error) return <Failure error={error} />;
  if (!value) return null;
  const mine = value.decisions.filter((d) => d.rank >= 3);
  return (
    <section class="names">
      <h2>
        {t("names.title")} <span class="count">{suggestions.length}</span>
      </h2>
      <p class="muted">{suggestions.length ? t("names.says") : t("names.none")}</p>
      {suggestions.slice(0, 20).map((s) => (
        <article key={pair(s)} class="panel conflict" aria-label={t("names.may", { a: s.a.slice(0, 60), b: s.b.slice(0, 60) })}>
          <h3>
            <T text={t("names.may", { a: s.a, b: s.b })} most={200} />
          </h3>
          <p class="muted">
            <T text={s.reason} most={200} />
          </p>
          <div class="actions">
            <button type="button" class="button small" onClick={() => decide(true, s.a, s.b)}>
              {t("names.one")}
            </button>
            <button type="button" class="button small" onClick={() => decide(false, s.a, s.b)}>
              {t("names.two")}
            </button>
          </div>
        </article>
      ))}
      {mine.length > 0 && (
        <ul class="rows">
          {mine.slice(0, 30).map((d) => (
            <li key={d.memory}>
              <span class="rows-text">
                <T text={t(d.same ? "names.is" : "names.isNot", { a: d.a, b: d.b })} most={200} />
                {d.learnt && <span class="row-says muted">{moment(d.learnt)}</span>}
              </span>
              <button type="button" class="button small" aria-label={`${t("names.back")}: ${d.a.slice(0, 40)}, ${d.b.slice(0, 40)}`} onClick={() => takeBack(d.memory).then(changes, tellError)}>
                {t("names.back")}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The other names of the name that is open in the graph, with a field to add one. */
export function NamesOf({ entry: e, all }: { entry: Entry; all: Entry[] }) {
  return (
    <details class="names-of">
      <summary>{t("names.edit")}</summary>
      {e.aliases.length > 0 && (
        <div class="chips">
          {e.aliases.map((a) => (
            <button key={a} type="button" class="chip" aria-label={t("names.part", { a: a.slice(0, 60), b: e.name.slice(0, 60) })} title={t("names.part", { a: a.slice(0, 60), b: e.name.slice(0, 60) })} onClick={() => decide(false, e.name, a)}>
              <T text={a} most={60} /> <Icon name="close" size={12} />
            </button>
          ))}
        </div>
      )}
      <form
        class="inline"
        onSubmit={(ev) => {
          ev.preventDefault();
          const form = ev.currentTarget as HTMLFormElement;
          const other = (form.elements.namedItem("alias") as HTMLInputElement).value.trim();
          if (other && other !== e.name) void decide(true, e.name, other).then(() => form.reset());
        }}
      >
        <input name="alias" list="names-known" maxLength={120} aria-label={t("names.add")} placeholder={t("names.add")} autocomplete="off" />
        <datalist id="names-known">
          {all.slice(0, 200).map((x) => x !== e && <option key={x.id} value={x.name.slice(0, 120)} />)}
        </datalist>
        <button class="button">{t("names.merge")}</button>
      </form>
    </details>
  );
}
