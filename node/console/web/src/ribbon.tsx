// A day drawn as a strip.

import { placesOf, type Row } from "./day";
import { clock, t } from "./i18n";
import type { Day } from "./types";
import { T } from "./widgets";

/** Ribbon draws the whole day as a strip: places, amount of speech, photos, pauses. */
export function Ribbon({ day, rows, jump }: { day: Day; rows: Row[]; jump?: (time: number) => void }) {
  const first = Math.floor((rows[0].at - Date.parse(day.from)) / 3600e3);
  const lastAt = rows.reduce((m, r) => Math.max(m, r.at, r.kind === "pause" ? (r.to ?? 0) : 0), 0);
  const last = Math.max(first + 1, Math.ceil((lastAt - Date.parse(day.from)) / 3600e3 + 0.01));
  const start = Date.parse(day.from) + first * 3600e3;
  const span = (last - first) * 3600e3;
  const x = (at: number) => `${Math.min(100, Math.max(0, ((at - start) / span) * 100))}%`;
  const slots = 96;
  const bars = new Array<number>(slots).fill(0);
  const kept = new Array<number>(slots).fill(0);
  for (const r of rows) {
    if (r.kind !== "line") continue;
    const i = Math.min(slots - 1, Math.floor(((r.at - start) / span) * slots));
    bars[i]++;
    if (r.memories.length) kept[i]++;
  }
  const most = Math.max(1, ...bars);
  const every = last - first > 12 ? 2 : 1;
  const places = placesOf(day);
  return (
    <div class="ribbon">
      <div class="ribbon-places">
        {places.map((p, i) => (
          <span key={i} class={i % 2 ? "odd" : ""} style={{ left: x(p.from), width: `${(((places[i + 1]?.from ?? Math.max(p.to, lastAt)) - p.from) / span) * 100}%` }} title={p.name}>
            <T text={p.name} most={60} />
          </span>
        ))}
      </div>
      <button
        type="button"
        class="ribbon-bars"
        disabled={!jump}
        aria-label={t("ribbon.label")}
        onClick={(e) => {
          const box = e.currentTarget.getBoundingClientRect();
          jump?.(e.detail === 0 ? rows[0].at : start + ((e.clientX - box.left) / box.width) * span);
        }}
      >
        {rows.map((r, i) => r.kind === "pause" && <i key={"p" + i} class="ribbon-pause" style={{ left: x(r.at), width: `${(((r.to ?? lastAt) - r.at) / span) * 100}%` }} />)}
        {bars.map((n, i) => n > 0 && <i key={i} class="bar" style={{ left: `${(i / slots) * 100}%`, height: `${8 + (n / most) * 70}%` }} />)}
        {kept.map((n, i) => n > 0 && <i key={"k" + i} class="bar kept" style={{ left: `${(i / slots) * 100}%`, height: `${8 + (n / most) * 70}%` }} />)}
        {rows.map((r, i) => r.kind === "photo" && <i key={"f" + i} class="ribbon-photo" style={{ left: x(r.at) }} />)}
        {rows.map((r, i) => r.kind === "lost" && <i key={"l" + i} class="ribbon-lost" style={{ left: x(r.at) }} />)}
      </button>
      <div class="ribbon-hours" aria-hidden="true">
        {Array.from({ length: Math.floor((last - first) / every) + 1 }, (_, i) => first + i * every).map((h) => (
          <span key={h} style={{ left: `${((h - first) / (last - first)) * 100}%` }}>
            {clock(Date.parse(day.from) + h * 3600e3)}
          </span>
        ))}
      </div>
      <p class="ribbon-key" aria-hidden="true">
        <i class="key-kept" /> {t("ribbon.kept")} <i class="key-said" /> {t("ribbon.said")} {rows.some((r) => r.kind === "photo") && <><i class="key-photo" /> {t("ribbon.photo")}</>}{" "}
        {rows.some((r) => r.kind === "pause") && <><i class="key-pause" /> {t("ribbon.pause")}</>}
      </p>
    </div>
  );
}
