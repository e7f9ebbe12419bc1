// The texts in the browser's language. Only that language is loaded: first the texts of the first page, then the rest together with the other pages.
// Each text has a key in en or enMore; zh and zhMore have the same keys.

import { type Problem, reachable } from "./api";
import { renew, took } from "./parts";
import type { enMore } from "./more.en";
import type { en } from "./words.en";

export type Word = keyof typeof en | keyof typeof enMore;
export type Lang = "en" | "zh";

const langName = "locket.lang";

function choose(): Lang {
  const own = localStorage.getItem(langName);
  if (own === "en" || own === "zh") return own;
  for (const l of navigator.languages) {
    if (l.startsWith("zh")) return "zh";
    if (l.startsWith("en")) return "en";
  }
  return "en";
}

export let lang: Lang;
/** The language and region that numbers and dates are written in. */
export let locale: string;
let words: Record<string, string>;
let all = false; // the texts of the other pages are loaded, too
let plain: Intl.NumberFormat | undefined;
const formats = new Map<string, Intl.DateTimeFormat>();

async function speak(l: Lang) {
  const [first, rest] = await Promise.all([l === "zh" ? import("./words.zh").then((m) => ({ ...m.zh, ...m.problems })) : import("./words.en").then((m) => m.en), all ? more(l) : {}]);
  words = { ...first, ...rest };
  took("words");
  lang = l;
  locale = navigator.languages.find((x) => x.startsWith(l)) ?? (l === "zh" ? "zh-CN" : "en-GB");
  plain = undefined;
  formats.clear();
  document.documentElement.lang = l === "zh" ? "zh-Hans" : "en";
}
/** more loads the texts of the pages that are loaded after the first one. */
const more = (l: Lang): Promise<Record<string, string>> => (l === "zh" ? import("./more.zh").then((m) => m.zhMore) : import("./more.en").then((m) => m.enMore));

/** loadMore loads the texts of the other pages. */
export const loadMore = () => more(lang).then((m) => ((all = true), (words = { ...words, ...m })));

await speak(choose()).catch((e) => {
  if (!renew("words")) throw e;
  return new Promise(() => undefined); // nothing is drawn until then
});

/** Bidirectional control characters. They are removed from names within a sentence. */
const turns = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** t returns a text. {name} stands for a value; {n|one|many} chooses by number. */
export function t(word: Word, values: Record<string, string | number> = {}): string {
  return (words[word] ?? word).replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (_, name: string, one?: string, many?: string) => {
    const v = values[name] ?? "";
    if (one === undefined) return typeof v === "number" ? number(v) : v.replace(turns, "");
    return v === 1 ? one : many!;
  });
}

/** said returns the text whose key is prefix.part, or the part itself if there is no such text. */
export function said(prefix: string, part: string): string {
  const word = `${prefix}.${part}`;
  return word in words ? words[word as Word] : part.replaceAll("_", " ");
}

/** reasonOf returns the reason of a failure: this language's text for the kind of problem if there is one, else the API's message. */
export function reasonOf(p: Problem): string {
  if (p.status === 0) return t("error.unreachable");
  if (p.is("changed")) return t("error.changed");
  if (p.is("wrong-passphrase")) return t("unlock.wrong");
  const own = `problem.${p.kind}`;
  return own in words ? t(own as Word, { why: p.message }) : p.message;
}

/** switchLang switches to the other language. The page has to be drawn again afterwards. */
export async function switchLang() {
  const next = lang === "zh" ? "en" : "zh";
  await speak(next).catch((e) => reachable().then((is) => {
    if (!is) throw e;
  })); // the texts of another build come with the page, which is reloaded
  localStorage.setItem(langName, next);
}

/** number formats a number. It creates the Intl format only when needed, because that takes longer than all other formatting of the first page. */
export const number = (n: number) => (Number.isInteger(n) && n >= 0 && n < 1000 ? String(n) : (plain ??= new Intl.NumberFormat(locale)).format(n));

let zone: string | undefined;

/** inZone sets the time zone in which times are shown: that of the node. */
export function inZone(name: string) {
  const next = name === "Local" || name === "" ? undefined : name;
  if (next !== zone) formats.clear();
  zone = next;
}

function format(name: string, o: Intl.DateTimeFormatOptions, own?: string, as = locale): Intl.DateTimeFormat {
  let f = formats.get(name);
  if (!f) formats.set(name, (f = new Intl.DateTimeFormat(as, { ...o, timeZone: own ?? zone })));
  return f;
}

export const clock = (at: string | number | Date) => format("clock", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(new Date(at));
export const seconds = (at: string | Date) =>
  format("seconds", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }).format(new Date(at));
export const shortDay = (at: string | Date) => format("short", { weekday: "short", day: "numeric", month: "short" }).format(new Date(at));
export const moment = (at: string | Date) =>
  format("moment", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(new Date(at));

/** A date such as 2026-09-14 is a day without a zone. */
const noon = (date: string) => new Date(date + "T12:00:00Z");
export const longDate = (date: string) =>
  format("date", { weekday: "long", day: "numeric", month: "long", year: "numeric" }, "UTC").format(noon(date));
export const mediumDate = (date: string) => format("medium", { day: "numeric", month: "short", year: "numeric" }, "UTC").format(noon(date));
export const monthOf = (date: string) => format("month", { month: "long", year: "numeric" }, "UTC").format(noon(date));
export const monthName = (date: string) => format("monthName", { month: "long" }, "UTC").format(noon(date));
export const weekday = (date: string) => format("weekday", { weekday: "short" }, "UTC").format(noon(date));
export const dayNumber = (date: string) => String(noon(date).getUTCDate());

export function addDays(date: string, n: number): string {
  const d = noon(date);
  d.setUTCDate(d.getUTCDate() + n);
  return d.toISOString().slice(0, 10);
}

/** mondayOf is the first day of the week of a date. */
export const mondayOf = (date: string) => addDays(date, -((noon(date).getUTCDay() + 6) % 7));

/** dateOf is the day on which a moment was, in the node's zone. */
export function dateOf(at: string | Date): string {
  if (!zone) { // the browser's own zone needs no Intl format
    const d = new Date(at);
    return [d.getFullYear(), d.getMonth() + 1, d.getDate()].map((n) => String(n).padStart(2, "0")).join("-");
  }
  return format("iso", { year: "numeric", month: "2-digit", day: "2-digit" }, undefined, "en-CA").format(new Date(at)).slice(0, 10);
}

/** hours returns the number of hours from one moment to another. */
export const hours = (from: string, at: string) => (Date.parse(at) - Date.parse(from)) / 3600e3;

export function lasting(ms: number): string {
  const min = Math.round(ms / 60e3);
  if (min < 1) return t("time.seconds", { n: Math.max(1, Math.round(ms / 1e3)) });
  if (min < 60) return t("time.minutes", { n: min });
  const h = Math.floor(min / 60);
  return min % 60 ? t("time.hoursMinutes", { h, m: min % 60 }) : t("time.hours", { n: h });
}

export function size(bytes: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
  let i = 0;
  for (; bytes >= 1000 && i < units.length - 1; i++) bytes /= 1000;
  return new Intl.NumberFormat(locale, { style: "unit", unit: units[i], unitDisplay: "short", maximumFractionDigits: bytes < 10 ? 1 : 0 }).format(bytes);
}
