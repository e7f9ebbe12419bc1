// A year: its months as calendars. The more was heard on a day, the darker it is.

import { useRef } from "preact/hooks";
import { addDays, dateOf, dayNumber, longDate, mediumDate, mondayOf, monthName, number, t, weekday } from "./i18n";
import { Icon } from "./icons";
import { go } from "./router";
import type { Days } from "./types";
import { Failure, useLoaded, Waiting } from "./widgets";

/** The shade of a day, 0 to 4: by the square root of its share of the fullest day, so that a quiet day differs from an empty one. */
const shade = (n: number, most: number) => (n === 0 ? 0 : Math.max(1, Math.ceil(4 * Math.sqrt(n / most))));

export function YearPage({ year }: { year: string }) {
  const today = dateOf(new Date());
  const shown = /^\d{4}$/.test(year) ? Number(year) : Number(today.slice(0, 4));
  const { value, error } = useLoaded<Days>(`/v1/days?from=${shown}-01-01&to=${shown}-12-31`);
  const count = new Map(value?.days.map((d) => [d.date, d.lines]));
  const most = Math.max(1, ...count.values());
  const fullest = value?.days.reduce<Days["days"][number] | undefined>((a, d) => (a && a.lines >= d.lines ? a : d), undefined);
  const total = [...count.values()].reduce((a, n) => a + n, 0);
  const start = fullest?.date ?? (String(shown) === today.slice(0, 4) ? today : `${shown}-01-01`); // the day that Tab focuses
  return (
    <div class="page today">
      <header class="day-head">
        <div>
          <h1>{shown}</h1>
          {value && (
            <p class="muted">
              {fullest ? t("year.summary", { days: value.days.length, lines: total }) : t("year.empty")}{" "}
              {fullest && <a class="link" href={`/day/${fullest.date}`}>{t("year.fullest", { day: mediumDate(fullest.date), n: fullest.lines })}</a>}
            </p>
          )}
        </div>
        <div class="day-tools">
          <a class="button icon" href={`/year/${shown - 1}`} aria-label={t("year.before")} title={t("year.before")}>
            <Icon name="left" />
          </a>
          <a class="button icon" href={`/year/${shown + 1}`} aria-label={t("year.next")} title={t("year.next")}>
            <Icon name="right" />
          </a>
          {value?.last && !fullest && (
            <a class="button" href={`/year/${value.last.slice(0, 4)}`}>
              {t("week.last", { day: mediumDate(value.last) })}
            </a>
          )}
        </div>
      </header>
      {error ? <Failure error={error} /> : !value ? <Waiting /> : (
        <>
          <Calendars year={shown} today={today} count={count} most={most} start={start} />
          <p class="year-key muted">
            {t("year.less")} {[0, 1, 2, 3, 4].map((s) => <i key={s} class={`shade-${s}`} />)} {t("year.more")}
          </p>
        </>
      )}
    </div>
  );
}

interface Shown {
  year: number;
  today: string;
  count: Map<string, number>;
  most: number;
  start: string;
}

/** The arrow keys move by a day or a week, Enter opens the day. */
function Calendars({ year, today, count, most, start }: Shown) {
  const all = useRef<HTMLDivElement>(null);
  function walk(e: KeyboardEvent) {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[e.key];
    const here = (e.target as HTMLElement).dataset.date;
    if (!by || !here) return;
    e.preventDefault();
    const to = addDays(here, by);
    if (to > today) return;
    const cell = all.current!.querySelector<HTMLElement>(`[data-date="${to}"]`);
    if (cell) cell.focus();
    else go(`/year/${to.slice(0, 4)}`);
  }
  return (
    <div ref={all} class="year" onKeyDown={walk}>
      {Array.from({ length: 12 }, (_, m) => `${year}-${String(m + 1).padStart(2, "0")}-01`).map((first) => (
        <section key={first} aria-label={monthName(first)}>
          <h2>{monthName(first)}</h2>
          <div class="month">
            {Array.from({ length: 7 }, (_, i) => addDays(mondayOf(first), i)).map((d) => (
              <span key={"name" + d} class="month-name" aria-hidden="true">
                {weekday(d).slice(0, weekday(d).startsWith("周") ? 2 : 1).replace("周", "")}
              </span>
            ))}
            {daysOf(first).map((d) => {
              const n = count.get(d) ?? 0;
              return d > today ? (
                <span key={d} class="month-day" style={{ gridColumn: columnOf(d) }} aria-hidden="true">
                  {dayNumber(d)}
                </span>
              ) : (
                <a key={d} data-date={d} href={`/day/${d}`} tabIndex={d === start ? 0 : -1} class={`month-day shade-${shade(n, most)}`} style={{ gridColumn: columnOf(d) }} aria-label={t("day.cell", { day: longDate(d), n })} title={t("day.cell", { day: longDate(d), n: number(n) })} aria-current={d === today ? "date" : undefined}>
                  {dayNumber(d)}
                </a>
              );
            })}
          </div>
        </section>
      ))}
    </div>
  );
}

/** columnOf is the day of the week, 1 for Monday. */
const columnOf = (date: string) => Math.round((Date.parse(date) - Date.parse(mondayOf(date))) / 864e5) + 1;

function daysOf(first: string): string[] {
  const out: string[] = [];
  for (let d = first; d.slice(0, 7) === first.slice(0, 7); d = addDays(d, 1)) out.push(d);
  return out;
}
