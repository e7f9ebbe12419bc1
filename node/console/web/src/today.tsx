// Today: a day as a timeline.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { huesOf, rowsOf, speakersOf, type Row } from "./day";
import { addDays, clock, dateOf, dayNumber, lasting, longDate, mediumDate, mondayOf, monthOf, t, inZone, weekday } from "./i18n";
import { Icon } from "./icons";
import { Later } from "./later";
import { LineRow } from "./line";
import { DayMap } from "./map";
import { MoreNear } from "./more";
import { Ribbon } from "./ribbon";
import { go } from "./router";
import type { Day, Days } from "./types";
import { Card, Empty, Failure, Photo, Sound, T, useLoaded, Waiting } from "./widgets";

/** How many rows are drawn at first (more than fit on a screen), and then at a time. */
const [begin, step] = [24, 60];

const lastWeek = (today: string) => `/v1/days?from=${addDays(today, -6)}&to=${today}`;

/** pathsOfToday are the API paths that the first page requests if something was said today. */
export function pathsOfToday(): string[] {
  const today = dateOf(new Date());
  return [lastWeek(today), `/v1/days/${today}`];
}

/** begun reports whether the wearer has something open or typed that another page would take away. */
const begun = () => !!document.querySelector("main dialog") || !!(document.activeElement as HTMLInputElement | null)?.value;

export function TodayPage({ date, line, wearer }: { date?: string; line?: string; wearer: string }) {
  const today = dateOf(new Date());
  const welcomes = useRef(false);
  const stays = useRef<string>(); // the day that was shown first: another one does not take its place while the wearer reads
  const [, look] = useState(0);
  const recent = useLoaded<Days>(date ? null : lastWeek(today), { of: "recent" });
  if (date) return <DayPage date={date} line={line} wearer={wearer} />;
  if (recent.error) return <Failure error={recent.error} />;
  if (!recent.value) return <Waiting />;
  const { last } = recent.value;
  if (!last || (welcomes.current && begun())) {
    welcomes.current = true;
    return <Later show={(r) => <r.Welcome wearer={wearer} closed={() => look((n) => n + 1)} />} />;
  }
  welcomes.current = false;
  const shown = (stays.current ??= last);
  return <DayPage date={shown} wearer={wearer} last={shown === last && shown < today} newer={shown < last} />;
}

function DayPage({ date, line, wearer, last, newer }: { date: string; line?: string; wearer: string; last?: boolean; newer?: boolean }) {
  const { value: day, error } = useLoaded<Day>(`/v1/days/${date}`);
  if (day) inZone(day.zone);
  return (
    <div class="page today">
      <DayHead date={date} day={day} newer={newer} />
      {last && <p class="muted last-heard">{t("day.last")}</p>}
      <WeekStrip date={date} />
      {error ? <Failure error={error} /> : !day ? <Waiting /> : <DayBody key={day.date} day={day} target={line} wearer={wearer} />}
    </div>
  );
}

function DayHead({ date, day, newer }: { date: string; day?: Day; newer?: boolean }) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <header class="day-head">
      <div>
        <h1>{longDate(date)}</h1>
        {day && day.lines.length > 0 && (
          <p class="muted">
            {t("day.summary", { lines: day.lines.length, people: speakersOf(day).filter(([n]) => n).length, memories: day.memories.length })}
          </p>
        )}
      </div>
      <div class="day-tools">
        {newer && (
          <a class="button solid" href="/">
            {t("nav.today")}
          </a>
        )}
        <a class="button icon" href={`/day/${addDays(date, -1)}`} aria-label={t("day.before")} title={t("day.before")}>
          <Icon name="left" />
        </a>
        <label class="button date">
          <Icon name="event" size={16} />
          <span class="sr">{t("day.jump")}</span>
          <input ref={picker} type="date" value={date} onChange={(e) => e.currentTarget.value && go(`/day/${e.currentTarget.value}`)} />
        </label>
        <a class="button icon" href={`/day/${addDays(date, 1)}`} aria-label={t("day.next")} title={t("day.next")}>
          <Icon name="right" />
        </a>
        <a class="button" href={`/week/${date}`}>
          {t("day.week")}
        </a>
        <a class="button" href={`/year/${date.slice(0, 4)}`}>
          {t("day.year")}
        </a>
      </div>
    </header>
  );
}

function WeekStrip({ date }: { date: string }) {
  const monday = mondayOf(date);
  const { value } = useLoaded<Days>(`/v1/days?from=${monday}&to=${addDays(monday, 6)}`);
  const count = new Map(value?.days.map((d) => [d.date, d.lines]));
  const most = Math.max(1, ...count.values());
  return (
    <nav class="week-strip" aria-label={t("day.strip", { month: monthOf(date) })}>
      {Array.from({ length: 7 }, (_, i) => addDays(monday, i)).map((d) => (
        <a key={d} href={`/day/${d}`} aria-current={d === date ? "date" : undefined} title={t("day.cell", { day: longDate(d), n: count.get(d) ?? 0 })}>
          <span class="strip-name">{weekday(d)}</span>
          <span class="strip-day">{dayNumber(d)}</span>
          <span class="sr">{t("day.count", { n: count.get(d) ?? 0 })}</span>
          <span class="strip-bar">
            <i style={{ width: `${((count.get(d) ?? 0) / most) * 100}%` }} />
          </span>
        </a>
      ))}
    </nav>
  );
}

function DayBody({ day, target, wearer }: { day: Day; target?: string; wearer: string }) {
  const rows = useMemo(() => rowsOf(day), [day]);
  const speakers = useMemo(() => speakersOf(day), [day]);
  const hues = useMemo(() => huesOf(speakers, wearer), [speakers, wearer]);
  const [only, setOnly] = useState<string | null>(null);
  const [kept, setKept] = useState(false);
  const [open, setOpen] = useState<string | undefined>(target);
  const at = target ? rows.findIndex((r) => r.kind === "line" && r.line.id === target) : -1;
  const [most, setMost] = useState(Math.max(begin, at + step));
  const known = useRef<Set<string>>();
  const fresh = useMemo(() => {
    const before = known.current;
    known.current = new Set(day.lines.map((l) => l.id));
    return before ? new Set(day.lines.filter((l) => !before.has(l.id)).map((l) => l.id)) : new Set<string>();
  }, [day]);

  useEffect(() => {
    if (!target) return;
    setOpen(target);
    const el = document.getElementById("l-" + target)?.closest(".row");
    el?.scrollIntoView({ block: "center" });
    el?.querySelector<HTMLElement>("button.about")?.focus({ preventScroll: true });
  }, [target]);

  function jump(time: number) {
    let i = rows.findIndex((r) => r.at >= time);
    if (i < 0) i = rows.length - 1;
    setMost((m) => Math.max(m, i + step));
    requestAnimationFrame(() => document.getElementById("r-" + i)?.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" }));
  }

  if (rows.length === 0) {
    return (
      <Empty icon="day" title={t("day.empty")}>
        <p>{t("day.emptyHow")}</p>
        <div class="actions">
          {day.before && (
            <a class="button" href={`/day/${day.before}`}>
              <Icon name="left" size={16} /> {mediumDate(day.before)}
            </a>
          )}
          {day.next && (
            <a class="button" href={`/day/${day.next}`}>
              {mediumDate(day.next)} <Icon name="right" size={16} />
            </a>
          )}
        </div>
      </Empty>
    );
  }
  const shown = rows.filter((r) => {
    if (only !== null && !(r.kind === "line" && (r.line.speaker ?? "") === only)) return false;
    return !kept || (r.kind === "line" ? r.memories.length > 0 || r.marked : r.kind !== "quiet");
  });
  return (
    <>
      <Ribbon day={day} rows={rows} jump={jump} />
      <DayMap day={day} jump={jump} />
      <div class="chips" role="group" aria-label={t("day.filter")}>
        <button type="button" class="chip" aria-pressed={kept} onClick={() => setKept(!kept)}>
          <Icon name="memories" size={14} /> {t("day.kept")}
        </button>
        {speakers.map(([name, n]) => (
          <button key={name} type="button" class="chip" aria-pressed={only === name} onClick={() => setOnly(only === name ? null : name)}>
            <i class={`swatch hue-${hues.get(name)}`} />
            {name ? <T text={name} most={40} /> : t("speaker.none")} <span class="count">{n}</span>
          </button>
        ))}
      </div>
      <ol class="line" onKeyDown={walk}>
        {shown.slice(0, most).map((row, i) => (
          <RowView key={keyOf(row)} row={row} n={i} hue={row.kind === "line" ? hues.get(row.line.speaker ?? "")! : 0} open={open} setOpen={setOpen} fresh={fresh} />
        ))}
      </ol>
      {shown.length > most && <MoreNear show={() => setMost(most + step)} />}
      {day.more && <p class="muted">{t("day.more")}</p>}
    </>
  );
}

/** j, k and the arrow keys move from line to line. */
function walk(e: KeyboardEvent) {
  const by = e.key === "j" || e.key === "ArrowDown" ? 1 : e.key === "k" || e.key === "ArrowUp" ? -1 : 0;
  if (!by || !(e.target as Element).matches("button.about")) return;
  const all = [...document.querySelectorAll<HTMLElement>("button.about")];
  const next = all[all.indexOf(e.target as HTMLElement) + by];
  if (!next) return;
  e.preventDefault();
  next.focus();
}

function keyOf(r: Row): string {
  switch (r.kind) {
    case "line":
      return r.line.id;
    case "photo":
      return "p" + r.memories[0].id;
    case "sound":
    case "memory":
    case "place":
      return r.kind + r.memory.id;
  }
  return r.kind + r.at;
}

interface RowProps {
  row: Row;
  n: number;
  hue: number;
  open?: string;
  setOpen: (id?: string) => void;
  fresh: Set<string>;
}

function RowView({ row, n, hue, open, setOpen, fresh }: RowProps) {
  const id = "r-" + n;
  switch (row.kind) {
    case "line":
      return <LineRow row={row} id={id} hue={hue} open={open === row.line.id} setOpen={setOpen} fresh={fresh.has(row.line.id)} />;
    case "place":
      return (
        <li id={id} class="row place-row">
          <time>{clock(row.at)}</time>
          <a href={`/memory/${row.memory.id}`}>
            <Icon name="place" size={16} />
            <T text={row.memory.fields!.episodic!.place || row.memory.text} most={120} />
          </a>
        </li>
      );
    case "photo":
      return (
        <li id={id} class="row photo-row">
          <time>{clock(row.at)}</time>
          <div class="photos">
            {row.memories.map((m) => (
              <a key={m.id} href={`/memory/${m.id}`} aria-label={m.text.slice(0, 200)}>
                <Photo memory={m} />
              </a>
            ))}
          </div>
        </li>
      );
    case "sound": {
      const m = row.memory;
      const waits = m.tags?.includes("waiting");
      return (
        <li id={id} class="row sound-row">
          <time>{clock(row.at)}</time>
          <div class="sound-card">
            <Sound memory={m} label={t("sound.play")} />
            <a href={`/memory/${m.id}`}>
              {m.true_to && m.true_from ? t("sound.length", { long: lasting(Date.parse(m.true_to) - Date.parse(m.true_from)) }) : t("sound.title")}
              {waits && <span class="muted"> · {t("sound.waits")}</span>}
            </a>
          </div>
        </li>
      );
    }
    case "memory":
      return (
        <li id={id} class="row memory-row">
          <time>{clock(row.at)}</time>
          <Card memory={row.memory} />
        </li>
      );
    case "quiet":
      return (
        <li id={id} class="row gap-row">
          <span>{t("day.quiet", { long: lasting(row.to - row.at) })}</span>
        </li>
      );
    case "pause":
      return (
        <li id={id} class="row gap-row paused">
          <span>
            <Icon name="pause" size={14} /> {row.to ? t("day.paused", { from: clock(row.at), to: clock(row.to), long: lasting(row.to - row.at) }) : t("day.pausedOn", { from: clock(row.at) })}
            {row.why && <PauseWhy why={row.why} />}
          </span>
        </li>
      );
    case "lost":
      return (
        <li id={id} class="row gap-row lost">
          <span>
            <Icon name="warn" size={14} /> {clock(row.at)} · {t("day.lost")} <T text={row.refusal.reason} most={160} />
          </span>
        </li>
      );
  }
}

/** The cause of a pause: a command said to a wearable. */
function PauseWhy({ why }: { why: string }) {
  const device = /^said to (.+)$/s.exec(why)?.[1];
  return (
    <span class="pause-why">
      {" · "}
      {device ? t("day.pauseSaid", { device: device.slice(0, 60) }) : <T text={why} most={120} />}
    </span>
  );
}
