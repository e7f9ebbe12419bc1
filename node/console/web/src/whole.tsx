// The whole graph: every name as a sign in one picture, with a slider over the time in which connections began and ended.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { reachable } from "./api";
import { Opened, plain, type Choice } from "./graph";
import { dateOf, mediumDate, t } from "./i18n";
import { Icon } from "./icons";
import { renew, took } from "./parts";
import type { Line, Sky, Star } from "./sky";
import { skyScript, trusted } from "./trusted";
import type { Entry, Graph } from "./types";
import { Empty, Failure, T, useLoaded, Waiting } from "./widgets";

/** How many names are drawn at most. */
const most = 5000;

const days = (time: string | undefined, otherwise: number) => (time ? Date.parse(time) / 864e5 : otherwise);
const always = 1e6;

/** starsOf returns what is drawn: the names, and the connections between them with their times. */
function starsOf(g: Graph): { stars: Star[]; lines: Line[]; first: number } {
  const at = new Map(g.entities.map((e, i) => [e.id, i]));
  const community = new Map(g.communities.map((c, i) => [c.id, i]));
  const stars = g.entities.map((e): Star => {
    const group = e.community === undefined ? -1 : (community.get(e.community) ?? -1);
    return { name: plain(e.name, 24), size: Math.min(14, 2.5 + 1.3 * Math.sqrt(e.memories)), hue: group < 0 ? -1 : group % 8, shape: e.kind === "person" ? 0 : e.kind === "place" ? 1 : 2, group: group < 0 ? g.communities.length : group };
  });
  const lines: Line[] = [];
  const told = new Set<string>();
  const add = (x: string, y: string, from: number, to: number, faint: boolean) => {
    const [a, b] = [at.get(x), at.get(y)];
    if (a === undefined || b === undefined || a === b) return;
    const pair = Math.min(a, b) + " " + Math.max(a, b);
    if (faint && told.has(pair)) return;
    told.add(pair);
    lines.push({ a, b, from, to, faint });
  };
  for (const r of g.relations) add(r.subject, r.object, days(r.true_from, -always), days(r.true_to, r.state === "active" ? always : days(r.unlearnt, -always)), false);
  for (const b of g.beside) add(b.a, b.b, -always, always, true);
  const first = lines.reduce((m, l) => (l.from > -always ? Math.min(m, l.from) : m), Date.now() / 864e5 - 30);
  return { stars, lines, first: Math.floor(first) };
}

export function WholeGraph({ choice, change }: { choice: Choice; change: (c: Partial<Choice>, fresh?: boolean) => void }) {
  const { value: graph, error } = useLoaded<Graph>(`/v1/graph?limit=${most}&past=true`);
  return (
    <div class="page graph whole">
      <header class="page-head">
        <h1>{t("graph.title")}</h1>
        <p class="muted">{t("sky.about")}</p>
      </header>
      <div class="graph-tools">
        <button type="button" class="button small" onClick={() => change({ all: false }, true)}>
          <Icon name="left" size={14} /> {t("sky.few")}
        </button>
      </div>
      {error ? <Failure error={error} /> : !graph ? <Waiting /> : graph.entities.length === 0 ? <Empty icon="graph" title={t("graph.empty")}><p>{t("list.emptyHow")}</p></Empty> : <Picture graph={graph} choice={choice} change={change} />}
    </div>
  );
}

function Picture({ graph, choice, change }: { graph: Graph; choice: Choice; change: (c: Partial<Choice>, fresh?: boolean) => void }) {
  const { stars, lines, first } = useMemo(() => starsOf(graph), [graph]);
  const today = Math.floor(Date.now() / 864e5);
  const [date, slide] = useState(today);
  const [plays, play] = useState(false);
  const [settled, settle] = useState(false);
  const [bad, fail] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const sky = useRef<Sky>();
  const former = useRef<{ sky: Sky; names: Map<string, number> }>(); // the last picture: the next one goes on from it
  const opened = graph.entities.findIndex((e) => e.name === choice.at);
  const moment = date === today ? Date.now() / 864e5 : date + 0.5; // noon, as everywhere
  const count = useMemo(() => lines.reduce((n, l) => n + (!l.faint && l.from <= moment && moment < l.to ? 1 : 0), 0), [lines, date]);
  const open = useRef<(i: number) => void>(() => undefined);
  open.current = (i) => change({ at: graph.entities[i]?.name ?? "" });
  const list = useMemo(() => <AllNames all={graph.entities} opened={opened} open={(i) => open.current(i)} />, [graph, opened]); // not redrawn while the slider moves
  const state = useRef({ moment, opened });
  state.current = { moment, opened };

  useEffect(() => {
    let gone = false;
    const path = skyScript; // not a literal, which would be bundled
    (import(path) as Promise<typeof import("./sky")>)
      .then(
        (sky) => (took("graph"), sky),
        async (e) => {
          if (!(await reachable()) || !renew("graph")) throw e;
          return new Promise<never>(() => undefined);
        },
      )
      .then(({ Sky }) => {
        if (gone) return;
        const from = former.current?.sky.kept(graph.entities.map((e) => former.current!.names.get(e.id) ?? -1));
        sky.current = new Sky(box.current!, () => trusted(skyScript), stars, lines, state.current.moment, { opened: (i) => open.current(i), settled: () => settle(true) }, from);
        former.current = { sky: sky.current, names: new Map(graph.entities.map((e, i) => [e.id, i])) };
        sky.current.choose(state.current.opened, !from);
      })
      .catch(() => gone || fail(true));
    return () => {
      gone = true;
      sky.current?.close();
      sky.current = undefined;
    };
  }, [stars, lines]);
  useEffect(() => void sky.current?.on(moment), [date]);
  useEffect(() => sky.current?.choose(opened), [graph.entities[opened]?.id]); // the same name may have another place in a new graph
  useEffect(() => {
    if (!plays) return;
    const step = Math.max(1, Math.round((today - first) / 300));
    const timer = setInterval(() => slide((d) => (d >= today ? (play(false), today) : Math.min(today, d + step))), 50);
    return () => clearInterval(timer);
  }, [plays]);

  function keys(e: KeyboardEvent) {
    const by = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[e.key];
    if (by) sky.current?.move(by[0], by[1]);
    else if (e.key === "+" || e.key === "=") sky.current?.zoom(1.3);
    else if (e.key === "-") sky.current?.zoom(1 / 1.3);
    else if (e.key === "0") sky.current?.whole();
    else return;
    e.preventDefault();
  }

  const shown = date === today ? t("asof.now") : mediumDate(dateOf(new Date((date + 0.5) * 864e5)));
  return (
    <>
      <div class="graph-tools sky-time">
        <button type="button" class="button small" aria-pressed={plays} onClick={() => (plays || (date === today && slide(first)), play(!plays))}>
          <Icon name={plays ? "stop" : "play"} size={14} /> {t(plays ? "sky.stop" : "sky.play")}
        </button>
        <label class="as-of">
          <span>{t("asof.label")}</span>
          <input type="range" name="day" min={first} max={today} value={date} aria-valuetext={shown} onInput={(e) => slide(Number(e.currentTarget.value))} />
          <output>{shown}</output>
        </label>
        <p class="muted sky-count" data-relations={count}>
          {t("sky.count", { names: stars.length, n: count })}
        </p>
      </div>
      <div class="graph-grid">
        <div>
          {bad && <p class="notice bad">{t("sky.none")}</p>}
          <div class="sky-frame">
            <div ref={box} class="sky" role="group" tabIndex={0} aria-label={t("sky.drawing", { n: stars.length })} data-settled={settled} onKeyDown={keys} />
            <div class="sky-tools">
              <button type="button" class="button icon" aria-label={t("sky.in")} title={t("sky.in")} onClick={() => sky.current?.zoom(1.5)}>+</button>
              <button type="button" class="button icon" aria-label={t("sky.out")} title={t("sky.out")} onClick={() => sky.current?.zoom(1 / 1.5)}>−</button>
              <button type="button" class="button icon" aria-label={t("sky.whole")} title={t("sky.whole")} onClick={() => sky.current?.whole()}>⤢</button>
            </div>
          </div>
          <p class="graph-key muted">
            <i class="key-person" /> {t("entity.person")} <i class="key-place" /> {t("entity.place")} <i class="key-thing" /> {t("entity.thing")} <i class="key-tie" /> {t("graph.related")}
          </p>
        </div>
        <aside class="graph-panel panel" aria-label={t("graph.panel")}>
          {opened >= 0 && <Opened key={graph.entities[opened].id} entry={graph.entities[opened]} graph={graph} choice={choice} change={change} open={(e) => change({ at: e.name })} />}
          {list}
        </aside>
      </div>
    </>
  );
}

/** The height of a name in the list, in px. Only visible names are in the page. */
const rowHeight = 34;

/** All names as a list, to search them, and for people who can't use the picture. */
function AllNames({ all, opened, open }: { all: Entry[]; opened: number; open: (i: number) => void }) {
  const [part, find] = useState("");
  const [top, scroll] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const some = useMemo(() => {
    const p = part.trim().toLowerCase();
    return all.flatMap((e, i) => (!p || [e.name, ...e.aliases].some((n) => n.toLowerCase().includes(p)) ? [i] : []));
  }, [all, part]);
  const from = Math.max(0, Math.floor(top / rowHeight) - 6);
  const shown = some.slice(from, from + 28);
  function walk(e: KeyboardEvent) {
    const by = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    const at = Number((e.target as HTMLElement).dataset.n);
    if (!by || isNaN(at)) return;
    e.preventDefault();
    const to = Math.min(some.length - 1, Math.max(0, at + by));
    list.current!.scrollTop = Math.min(to * rowHeight, Math.max(list.current!.scrollTop, (to + 1) * rowHeight - list.current!.clientHeight));
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-n="${to}"]`)?.focus());
  }
  return (
    <section class="sky-names">
      <h3>
        {t("sky.names")} <span class="count">{some.length}</span>
      </h3>
      <input type="search" value={part} placeholder={t("sky.find")} aria-label={t("sky.find")} onInput={(e) => (find(e.currentTarget.value), scroll(0), (list.current!.scrollTop = 0))} />
      <div ref={list} class="sky-list" onScroll={(e) => scroll(e.currentTarget.scrollTop)} onKeyDown={walk}>
        <ul style={{ height: some.length * rowHeight + "px" }}>
          {shown.map((i, n) => (
            <li key={all[i].id} aria-setsize={some.length} aria-posinset={from + n + 1} style={{ top: (from + n) * rowHeight + "px" }}>
              <button type="button" class="plain" data-n={from + n} aria-pressed={i === opened} onClick={() => open(i)}>
                <T text={all[i].name} most={60} /> <span class="count">{all[i].memories}</span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
