// A day as a timeline: the rows to show, made from the node's answer.

import type { Day, Line, Memory, Refusal, Span } from "./types";
import { isPhoto, isSound } from "./widgets";

export type Row =
  | { kind: "line"; at: number; line: Line; memories: Memory[]; marked: boolean; sound?: { memory: Memory; from: number }; first: boolean; minute: boolean }
  | { kind: "photo"; at: number; memories: Memory[] }
  | { kind: "sound"; at: number; memory: Memory }
  | { kind: "memory"; at: number; memory: Memory }
  | { kind: "place"; at: number; memory: Memory }
  | { kind: "quiet"; at: number; to: number }
  | { kind: "pause"; at: number; to?: number; why?: string }
  | { kind: "lost"; at: number; refusal: Refusal };

/** The shortest silence that is shown; a silence of this length ends a session. */
const quietTime = 30 * 60e3;

const eventType = (m: Memory) => m.fields?.episodic?.event_type;
export const isVisit = (m: Memory) => m.type === "episodic" && eventType(m) === "visit";
const isMark = (m: Memory) => m.type === "episodic" && eventType(m) === "bookmark";

/** The time of a memory's first evidence on this day. */
function when(m: Memory, day: Day): number {
  const from = Date.parse(day.from);
  const to = Date.parse(day.to);
  let least = Infinity;
  for (const e of m.evidence ?? []) {
    const at = Date.parse(e.at);
    if (at >= from && at < to) least = Math.min(least, at);
  }
  return least === Infinity ? Date.parse(m.learnt) : least;
}

/** rowsOf returns the rows of a day in order. */
export function rowsOf(day: Day): Row[] {
  const byID = new Map(day.memories.map((m) => [m.id, m]));
  const sounds = day.memories.filter(isSound);
  const besideLine = new Set<string>();
  const rows: Row[] = [];
  for (const line of day.lines) {
    const all = (line.memories ?? []).map((id) => byID.get(id)).filter((m) => m !== undefined);
    all.forEach((m) => besideLine.add(m.id));
    rows.push({
      kind: "line",
      at: Date.parse(line.at),
      line,
      memories: all.filter((m) => !isMark(m)),
      marked: all.some(isMark),
      sound: soundOf(line, sounds),
      first: false,
      minute: false,
    });
  }
  for (const m of day.memories) {
    const at = when(m, day);
    if (isVisit(m)) rows.push({ kind: "place", at, memory: m });
    else if (isPhoto(m)) rows.push({ kind: "photo", at, memories: [m] });
    else if (isSound(m)) rows.push({ kind: "sound", at, memory: m });
    else if (!besideLine.has(m.id)) rows.push({ kind: "memory", at, memory: m });
  }
  for (const r of day.refusals) if (r.kind === "gap") rows.push({ kind: "lost", at: Date.parse(r.at), refusal: r });
  for (const p of day.pauses) rows.push(pauseRow(p, day));
  const order = { pause: 0, place: 1, lost: 2, sound: 3, line: 4, memory: 5, photo: 6, quiet: 7 };
  rows.sort((a, b) => a.at - b.at || order[a.kind] - order[b.kind]);
  return tidy(rows);
}

function pauseRow(p: Span, day: Day): Row {
  return { kind: "pause", at: Math.max(Date.parse(p.from), Date.parse(day.from)), to: p.to ? Math.min(Date.parse(p.to), Date.parse(day.to)) : undefined, why: p.why };
}

/** soundOf finds the recording that a line is heard in. */
function soundOf(line: Line, sounds: Memory[]): { memory: Memory; from: number } | undefined {
  const at = Date.parse(line.at);
  for (const m of sounds) {
    const from = Date.parse(m.true_from ?? m.evidence?.[0]?.at ?? "");
    const to = Date.parse(m.true_to ?? "");
    const same = m.evidence?.some((e) => e.event === line.event);
    if (same || (at >= from && at < to)) return { memory: m, from: Math.max(0, (at - from) / 1000) };
  }
  return undefined;
}

/** tidy groups consecutive photos, adds silences, and marks where a speaker begins. */
function tidy(rows: Row[]): Row[] {
  const out: Row[] = [];
  let speaker: string | undefined;
  let end = 0;
  let minute = NaN;
  for (const row of rows) {
    const last = out[out.length - 1];
    if (last && row.at - end >= quietTime && row.kind !== "pause" && last.kind !== "pause") {
      out.push({ kind: "quiet", at: end, to: row.at });
      speaker = undefined;
    }
    end = Math.max(end, row.at, row.kind === "pause" && row.to ? row.to : 0);
    if (row.kind === "photo" && last?.kind === "photo" && row.at - last.at < quietTime) {
      last.memories.push(...row.memories);
      continue;
    }
    if (row.kind === "line") {
      row.first = last?.kind !== "line" || speaker !== (row.line.speaker ?? "");
      row.minute = Math.floor(row.at / 60e3) !== minute;
      minute = Math.floor(row.at / 60e3);
      speaker = row.line.speaker ?? "";
    } else speaker = undefined;
    out.push(row);
  }
  return out;
}

/** speakersOf counts the lines of each speaker, the most first. */
export function speakersOf(day: Day): [name: string, lines: number][] {
  const count = new Map<string, number>();
  for (const l of day.lines) count.set(l.speaker ?? "", (count.get(l.speaker ?? "") ?? 0) + 1);
  return [...count].sort((a, b) => b[1] - a[1]);
}

/** The colour of a speaker on this day, 0 to 7. Those who say most always have different colours. */
export function huesOf(speakers: [string, number][], wearer: string): Map<string, number> {
  const hues = new Map<string, number>();
  let next = 1;
  for (const [name] of speakers) hues.set(name, name === wearer ? 0 : 1 + (next++ - 1) % 7);
  return hues;
}

/** placesOf returns the places where the wearer was, each with its start and end in ms. */
export function placesOf(day: Day): { name: string; from: number; to: number }[] {
  const out: { name: string; from: number; to: number }[] = [];
  const add = (name: string, at: number) => {
    const last = out[out.length - 1];
    if (last?.name === name) last.to = Math.max(last.to, at);
    else out.push({ name, from: at, to: at });
  };
  const seen: [string, number][] = [];
  for (const l of day.lines) if (l.place) seen.push([l.place, Date.parse(l.at)]);
  for (const m of day.memories) if (isVisit(m) && m.fields!.episodic!.place) seen.push([m.fields!.episodic!.place, when(m, day)]);
  seen.sort((a, b) => a[1] - b[1]).forEach(([name, at]) => add(name, at));
  return out;
}

/** Stop is an arrival at a place whose position is known. */
export interface Stop {
  name: string;
  lat: number;
  lon: number;
  at: number; // of the arrival, in ms
  stay: number; // ms until the next arrival; 0 for the last one
}

/** visitsOf returns the day's arrivals in order. */
export function visitsOf(day: Day): Stop[] {
  const out: Stop[] = [];
  for (const m of day.memories) {
    const [lat, lon] = (m.metadata?.position ?? "").split(",").map(Number);
    const name = m.fields?.episodic?.place;
    if (isVisit(m) && name && Math.abs(lat) <= 90 && Math.abs(lon) <= 180) out.push({ name, lat, lon, at: when(m, day), stay: 0 });
  }
  out.sort((a, b) => a.at - b.at);
  for (const [i, s] of out.entries()) if (i + 1 < out.length) s.stay = out[i + 1].at - s.at;
  return out;
}
