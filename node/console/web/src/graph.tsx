// The graph: people, places and things, and the connections between them.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { AsOf, dayIn, noonOf } from "./asof";
import { Quote } from "./ask";
import { NamesOf } from "./names";
import { mediumDate, dateOf, said, t } from "./i18n";
import { Icon } from "./icons";
import { place, type Box, type Point } from "./layout";
import { go } from "./router";
import type { Entry, Graph, Memory } from "./types";
import { WholeGraph } from "./whole";
import { Empty, Failure, T, useLoaded, Waiting } from "./widgets";

/** What is drawn; it is part of the page's address. */
export interface Choice {
  all: boolean; // every name in one picture
  around: string; // a name; empty: the names in most memories
  at: string; // the name that is opened
  asOf: string;
  past: boolean;
}

function addressOf(c: Choice): string {
  const p = new URLSearchParams();
  if (c.all) p.set("all", "1");
  if (c.around) p.set("around", c.around);
  if (c.at) p.set("at", c.at);
  if (c.asOf) p.set("asof", c.asOf);
  if (c.past) p.set("past", "1");
  return "/graph" + (p.size ? "?" + p : "");
}

export function GraphPage({ query }: { query: URLSearchParams }) {
  const choice: Choice = { all: query.has("all"), around: query.get("around") ?? "", at: query.get("at") ?? "", asOf: dayIn(query.get("asof")), past: query.has("past") };
  const change = (c: Partial<Choice>, fresh = false) => go(addressOf({ ...choice, ...c }), !fresh);
  return choice.all ? <WholeGraph choice={choice} change={change} /> : <Foremost choice={choice} change={change} />;
}

/** The names in most memories, or those around one name, as signs that the keyboard reaches. */
function Foremost({ choice, change }: { choice: Choice; change: (c: Partial<Choice>, fresh?: boolean) => void }) {
  const narrow = innerWidth < 760;
  const ask = new URLSearchParams({ limit: narrow ? "24" : "60" });
  if (choice.around) ask.set("entity", choice.around);
  if (choice.asOf) ask.set("as_of", noonOf(choice.asOf)!);
  if (choice.past) ask.set("past", "true");
  const { value, error } = useLoaded<Graph>("/v1/graph?" + ask);
  const [last, keep] = useState<Graph>(); // shown until the next one is loaded, so that the slider does not flicker
  useEffect(() => value && keep(value), [value]);
  const graph = value ?? last;
  return (
    <div class="page graph">
      <header class="page-head">
        <h1>{choice.around ? t("graph.around", { name: plain(choice.around, 80) }) : t("graph.title")}</h1>
        <p class="muted">
          {t("graph.says")} <span class="keys">{t("graph.keys")}</span>
        </p>
      </header>
      <div class="graph-tools">
        {choice.around && (
          <button type="button" class="button small" onClick={() => change({ around: "" }, true)}>
            <Icon name="left" size={14} /> {t("graph.all")}
          </button>
        )}
        <button type="button" class="chip" aria-pressed={choice.past} onClick={() => change({ past: !choice.past })} disabled={!!choice.asOf}>
          {t("graph.past")}
        </button>
        {!choice.around && (
          <button type="button" class="chip" onClick={() => change({ all: true, asOf: "", past: false }, true)}>
            {t("sky.all")}
          </button>
        )}
        <AsOf label={t("asof.label")} name="asof" value={choice.asOf} change={(asOf) => change({ asOf })} />
      </div>
      {error ? <Failure error={error} /> : !graph ? <Waiting /> : graph.entities.length === 0 ? (
        <Empty icon="graph" title={choice.around ? t("graph.unknown", { name: plain(choice.around, 80) }) : t("graph.empty")}>
          <p>{t("list.emptyHow")}</p>
        </Empty>
      ) : (
        <Whole graph={graph} choice={choice} change={change} />
      )}
    </div>
  );
}

interface Tie {
  a: number;
  b: number;
  word?: string; // the relation; none: they are only mentioned together
  over?: boolean;
}

/** tiesOf returns the lines between names: one for each pair, preferring a stated relation to being mentioned together. */
function tiesOf(g: Graph): Tie[] {
  const at = new Map(g.entities.map((e, i) => [e.id, i]));
  const ties = new Map<string, Tie>();
  const add = (x: string, y: string, word?: string, over?: boolean) => {
    const [a, b] = [at.get(x), at.get(y)];
    if (a === undefined || b === undefined || a === b) return;
    const key = Math.min(a, b) + " " + Math.max(a, b);
    const known = ties.get(key);
    if (!known || (known.over && !over)) ties.set(key, { a, b, word, over });
  };
  g.relations.forEach((r) => add(r.subject, r.object, r.predicate, r.state !== "active"));
  g.beside.forEach((b) => add(b.a, b.b));
  return [...ties.values()];
}

function Whole({ graph, choice, change }: { graph: Graph; choice: Choice; change: (c: Partial<Choice>, fresh?: boolean) => void }) {
  const ties = useMemo(() => tiesOf(graph), [graph]);
  const tied = useMemo(() => new Set(ties.flatMap((x) => [x.a, x.b])), [ties]);
  const alone = graph.entities.filter((_, i) => !tied.has(i));
  const opened = graph.entities.find((e) => e.name === choice.at) ?? (choice.around ? graph.entities.find((e) => e.id === graph.meant[0]) : undefined);
  const panel = useRef<HTMLElement>(null);
  const open = (e: Entry) => {
    change({ at: e.name });
    if (innerWidth < 1040) requestAnimationFrame(() => panel.current?.scrollIntoView({ block: "nearest", behavior: "smooth" }));
  };
  return (
    <div class="graph-grid">
      <div>
        {tied.size > 0 && <Drawing graph={graph} ties={ties} tied={tied} opened={opened} open={open} />}
        {tied.size > 0 && (
          <p class="graph-key muted">
            <i class="key-person" /> {t("entity.person")} <i class="key-place" /> {t("entity.place")} <i class="key-thing" /> {t("entity.thing")} <i class="key-tie" /> {t("graph.related")} <i class="key-beside" /> {t("graph.beside")}
          </p>
        )}
        {alone.length > 0 && (
          <section class="graph-alone">
            <h2>{t("graph.alone")}</h2>
            <div class="chips">
              {alone.map((e) => (
                <button key={e.id} type="button" class="chip" aria-pressed={e === opened} onClick={() => open(e)}>
                  <T text={e.name} most={40} /> <span class="count">{e.memories}</span>
                </button>
              ))}
            </div>
          </section>
        )}
        {graph.more && <p class="muted">{t("graph.more")}</p>}
      </div>
      <aside ref={panel} class="graph-panel panel" aria-live="polite" aria-label={t("graph.panel")}>
        {opened ? <Opened key={opened.id} entry={opened} graph={graph} choice={choice} change={change} open={open} /> : <p class="muted">{t("graph.choose")}</p>}
      </aside>
    </div>
  );
}

/** plain returns a name for places where no element can isolate it: shortened, and without bidirectional control characters. */
export const plain = (name: string, most: number) => {
  const letters = [...name.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")];
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : letters.join("");
};
const shortened = (name: string) => plain(name, 19);
const hueOf = (community: string | undefined, all: { id: string }[]) => (community ? all.findIndex((c) => c.id === community) % 8 : -1);
const sizeOf = (e: Entry) => Math.min(17, 5.5 + 2.2 * Math.sqrt(e.memories));

/** The names as signs with lines between them. The arrows go to the next name in their direction, Enter opens it. */
function Drawing({ graph, ties, tied, opened, open }: { graph: Graph; ties: Tie[]; tied: Set<number>; opened?: Entry; open: (e: Entry) => void }) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, measure] = useState(0);
  useEffect(() => {
    const look = new ResizeObserver(() => measure(frame.current?.clientWidth ?? 0));
    look.observe(frame.current!);
    return () => look.disconnect();
  }, []);
  const shown = useMemo(() => [...tied].sort((a, b) => a - b), [tied]); // indexes in graph.entities, the names in most memories first
  const height = Math.round(Math.max(340, Math.min(620, 180 + shown.length * 15)) * (width < 500 ? 1.15 : 1));
  const at = useMemo(() => {
    if (!width) return new Map<number, Point>();
    const of = new Map(shown.map((e, i) => [e, i]));
    const boxes: Box[] = shown.map((i) => {
      const e = graph.entities[i];
      const label = [...shortened(e.name)].reduce((w, c) => w + (c > "\u2e80" ? 12 : 6.6), 0);
      return { w: Math.max(label / 2, sizeOf(e)) + 3, h: sizeOf(e) + 10 };
    });
    const points = place(boxes, ties.map((x) => [of.get(x.a)!, of.get(x.b)!]), width, height);
    return new Map(shown.map((e, i) => [e, { x: points[i].x, y: points[i].y - 8 }])); // the label is below the sign
  }, [graph, ties, shown, width, height]);
  const from = shown.find((i) => graph.entities[i] === opened) ?? shown[0];
  const near = new Set(opened ? ties.filter((x) => x.a === from || x.b === from).flatMap((x) => [x.a, x.b]) : []);

  function walk(e: KeyboardEvent) {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    const here = at.get(Number((e.target as Element).closest("[data-at]")?.getAttribute("data-at")));
    if (!by || !here) return;
    e.preventDefault();
    let best: number | undefined;
    let least = Infinity;
    for (const [i, p] of at) {
      const along = (p.x - here.x) * by[0] + (p.y - here.y) * by[1];
      const aside = Math.abs((p.x - here.x) * by[1]) + Math.abs((p.y - here.y) * by[0]);
      if (along > 1 && along + 2 * aside < least) [best, least] = [i, along + 2 * aside];
    }
    if (best !== undefined) frame.current!.querySelector<SVGElement>(`[data-at="${best}"]`)?.focus();
  }

  return (
    <div ref={frame} class="graph-frame">
      {at.size > 0 && (
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label={t("graph.drawing")} onKeyDown={walk} class={opened && near.size ? "has-open" : ""}>
          <g aria-hidden="true">
            {ties.map((x) => {
              const [p, q] = [at.get(x.a)!, at.get(x.b)!];
              const on = !!opened && (x.a === from || x.b === from);
              const [o, f] = x.a === from ? [p, q] : [q, p]; // the relation's label is nearer to the far end, where there is room
              return (
                <g key={x.a + " " + x.b} class={`tie${x.word ? "" : " beside-tie"}${x.over ? " over" : ""}${on ? " on" : ""}`}>
                  <line x1={p.x} y1={p.y} x2={q.x} y2={q.y} />
                  {on && x.word && besideBoth(said("relation", x.word), p, q) && (
                    <text x={o.x + (f.x - o.x) * along} y={o.y + (f.y - o.y) * along + 4} class="tie-word">
                      {said("relation", x.word)}
                    </text>
                  )}
                </g>
              );
            })}
          </g>
          {shown.map((i) => {
            const e = graph.entities[i];
            const p = at.get(i)!;
            const r = sizeOf(e);
            const hue = hueOf(e.community, graph.communities);
            const kind = e.kind === "person" || e.kind === "place" ? e.kind : "thing";
            return (
              <g
                key={e.id}
                data-at={i}
                role="button"
                tabindex={i === from ? 0 : -1}
                aria-pressed={e === opened}
                aria-label={t("graph.node", { name: shortened(e.name), kind: t(`entity.${kind}`), n: e.memories })}
                class={`node node-${kind}${hue >= 0 ? ` hue-${hue}` : ""}${e === opened ? " open" : ""}${near.has(i) ? " near" : ""}`}
                onClick={() => open(e)}
                onKeyDown={(k) => {
                  if (k.key !== "Enter" && k.key !== " ") return;
                  k.preventDefault();
                  open(e);
                }}
              >
                <title>{plain(e.name, 120)}</title>
                <rect x={p.x - 22} y={p.y - 22} width={44} height={44} class="node-reach" />
                {kind === "person" ? <circle cx={p.x} cy={p.y} r={r} /> : kind === "place" ? <rect x={p.x - r} y={p.y - r} width={2 * r} height={2 * r} rx={3} /> : <path d={`M${p.x} ${p.y - r - 1}l${r + 1} ${r + 1}l${-r - 1} ${r + 1}l${-r - 1} ${-r - 1}z`} />}
                <text x={p.x} y={p.y + r + 14}>
                  {shortened(e.name)}
                </text>
              </g>
            );
          })}
        </svg>
      )}
    </div>
  );
}

/** Where on its line a relation's label is. */
const along = 0.58;

/** Whether a label on the line between two nodes lies under neither. Its width is estimated. */
function besideBoth(label: string, p: { x: number; y: number }, q: { x: number; y: number }) {
  const width = [...label].reduce((sum, c) => sum + (c > "\u2e7f" ? 12 : 6.5), 0);
  return Math.abs(p.x - q.x) * (1 - along) > width / 2 + 16 || Math.abs(p.y - q.y) * (1 - along) > 28;
}

/** What is known of a name: its connections, and the memories that they come from. */
export function Opened({ entry: e, graph, choice, change, open }: { entry: Entry; graph: Graph; choice: Choice; change: (c: Partial<Choice>, fresh?: boolean) => void; open: (e: Entry) => void }) {
  const byID = new Map(graph.entities.map((x) => [x.id, x]));
  const among = graph.communities.find((c) => c.id === e.community);
  const relations = graph.relations.filter((r) => r.subject === e.id || r.object === e.id);
  const told = new Set(relations.flatMap((r) => [r.subject, r.object]));
  const beside = graph.beside.filter((b) => (b.a === e.id && !told.has(b.b)) || (b.b === e.id && !told.has(b.a)));
  const ask = new URLSearchParams({ limit: "6", filters: JSON.stringify({ entities: e.name }) });
  const { value } = useLoaded<{ memories: Memory[] }>("/v1/memories?" + ask);
  const name = (x: Entry | undefined) =>
    x && (
      <button type="button" class="plain link" onClick={() => open(x)}>
        <T text={x.name} most={60} />
      </button>
    );
  return (
    <>
      <h2>
        <T text={e.name} most={120} />
      </h2>
      <p class="muted">
        {e.kind && said("entity", e.kind)} {t("graph.in", { n: e.memories })}
        {e.aliases.length > 0 && (
          <>
            {" · "}
            {t("graph.aliases")} <T text={e.aliases.join(", ")} most={120} />
          </>
        )}
      </p>
      <div class="actions">
        {choice.around !== e.name && (
          <button type="button" class="button small" onClick={() => change({ all: false, around: e.name, at: "" }, true)}>
            <Icon name="graph" size={14} /> {t("graph.only")}
          </button>
        )}
        <a class="button small" href={`/ask?q=${encodeURIComponent(e.name)}`}>
          <Icon name="ask" size={14} /> {t("graph.ask")}
        </a>
      </div>
      {among?.summary && (
        <a class="community" href={`/memory/${among.memory}`}>
          <strong>{t("graph.among")}</strong> <T text={among.summary} most={600} />
        </a>
      )}
      <NamesOf key={e.id} entry={e} all={graph.entities} />
      {(relations.length > 0 || beside.length > 0) && <h3>{t("graph.with")}</h3>}
      <ul class="ties">
        {relations.map((r) => (
          <li key={r.memory + r.subject + r.object} class={`is-${r.state}`}>
            {name(byID.get(r.subject === e.id ? r.object : r.subject))}
            <a href={`/memory/${r.memory}`}>
              <span class="rows-text">
                <T text={r.text} most={160} />
              </span>
            </a>
            {(r.true_from || r.true_to) && (
              <span class="muted">
                {r.true_from && t("graph.since", { day: mediumDate(dateOf(r.true_from)) })} {r.true_to && t("graph.until", { day: mediumDate(dateOf(r.true_to)) })}
              </span>
            )}
          </li>
        ))}
        {beside.map((b) => (
          <li key={b.a + b.b}>
            {name(byID.get(b.a === e.id ? b.b : b.a))}
            <span class="muted">{t("graph.together", { n: b.count })}</span>
          </li>
        ))}
      </ul>
      {value && value.memories.length > 0 && (
        <>
          <h3>{t("memory.evidence")}</h3>
          <ul class="ties">
            {value.memories.map((m) => (
              <li key={m.id}>
                <a href={`/memory/${m.id}`}>
                  <T text={m.text} most={200} />
                </a>
                {m.evidence?.[0]?.excerpt && <Quote evidence={m.evidence[0]} text={m.evidence[0].excerpt} />}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
