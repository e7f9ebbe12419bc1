// A slider over the last year, which chooses a day.

import { useEffect, useState } from "preact/hooks";
import { addDays, dateOf, mediumDate, t } from "./i18n";

/** dayIn returns the day in an address, or an empty text. */
export const dayIn = (text: string | null) => (text && /^\d{4}-\d{2}-\d{2}$/.test(text) && !isNaN(Date.parse(text)) ? text : "");

/** noonOf is the moment that stands for a day in requests; undefined: now. */
export const noonOf = (date: string) => (date ? date + "T12:00:00Z" : undefined);

/** AsOf chooses a day of the last year; the empty text means today. */
export function AsOf({ label, name, value, change }: { label: string; name: string; value: string; change: (date: string) => void }) {
  const today = dateOf(new Date());
  const [date, slide] = useState(value);
  useEffect(() => slide(value), [value]);
  const before = date ? Math.min(365, Math.max(0, Math.round((Date.parse(today) - Date.parse(date)) / 864e5))) : 0;
  const dateAt = (n: string) => (Number(n) ? addDays(today, Number(n)) : "");
  const shown = date ? mediumDate(date) : t("asof.now");
  return (
    <label class="as-of">
      <span>{label}</span>
      <input type="range" name={name} min={-365} max={0} value={-before} aria-valuetext={shown} onInput={(e) => slide(dateAt(e.currentTarget.value))} onChange={(e) => change(dateAt(e.currentTarget.value))} />
      <output>{shown}</output>
    </label>
  );
}
