// A week: its days, one below the other.

import { useMemo } from "preact/hooks";
import { rowsOf } from "./day";
import { addDays, longDate, mediumDate, mondayOf, t } from "./i18n";
import { Icon } from "./icons";
import { Ribbon } from "./ribbon";
import { go } from "./router";
import type { Day, Days } from "./types";
import { Card, Empty, Failure, useLoaded, Waiting } from "./widgets";

/** A week: its days, one below the other, each as a ribbon with what was remembered. */
export function WeekPage({ date }: { date: string }) {
  const monday = mondayOf(date);
  const { value, error } = useLoaded<Days>(`/v1/days?from=${monday}&to=${addDays(monday, 6)}`);
  return (
    <div class="page today">
      <header class="day-head">
        <h1>{t("week.title", { from: mediumDate(monday), to: mediumDate(addDays(monday, 6)) })}</h1>
        <div class="day-tools">
          <a class="button icon" href={`/week/${addDays(monday, -7)}`} aria-label={t("week.before")}>
            <Icon name="left" />
          </a>
          <a class="button icon" href={`/week/${addDays(monday, 7)}`} aria-label={t("week.next")}>
            <Icon name="right" />
          </a>
          <a class="button" href={`/day/${date}`}>
            {t("week.day")}
          </a>
          <a class="button" href={`/year/${date.slice(0, 4)}`}>
            {t("day.year")}
          </a>
        </div>
      </header>
      {error ? <Failure error={error} /> : !value ? <Waiting /> : value.days.length === 0 ? (
        <Empty icon="day" title={t("week.empty")}>
          {value.last && (
            <a class="button" href={`/week/${value.last}`}>
              {t("week.last", { day: mediumDate(value.last) })}
            </a>
          )}
        </Empty>
      ) : (
        value.days.map((d) => <WeekDay key={d.date} date={d.date} />)
      )}
    </div>
  );
}

function WeekDay({ date }: { date: string }) {
  const { value: day } = useLoaded<Day>(`/v1/days/${date}`);
  const rows = useMemo(() => (day ? rowsOf(day) : []), [day]);
  return (
    <section class="week-day">
      <h2>
        <a href={`/day/${date}`}>{longDate(date)}</a>
      </h2>
      {!day ? <Waiting /> : rows.length > 0 && (
        <>
          <Ribbon day={day} rows={rows} jump={() => go(`/day/${date}`)} />
          <div class="cards">
            {day.memories.filter((m) => m.type !== "resource" && m.state === "active" && !m.tags?.includes("visit") && !m.tags?.includes("bookmark")).slice(0, 6).map((m) => (
              <Card key={m.id} memory={m} most={110} />
            ))}
          </div>
        </>
      )}
    </section>
  );
}
