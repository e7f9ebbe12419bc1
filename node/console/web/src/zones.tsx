// Private zones: times and places in which the node keeps nothing.

import { useState } from "preact/hooks";
import { Afar } from "./afar";
import { call, post } from "./api";
import { number, t, type Word } from "./i18n";
import { Icon } from "./icons";
import { changes, Failure, T, tell, tellError, useLoaded, Waiting } from "./widgets";

interface Zone {
  name: string;
  window?: string;
  lat?: number;
  lon?: number;
  radius?: number;
  place?: string;
}

/** Describes what a zone covers; a time window is written as the node parses it. */
function covers(z: Zone): string {
  const when = z.window?.replace(/daily|weekdays|weekends/, (days) => t(`zones.${days}` as Word));
  const where = z.place ? t("zones.at", { place: z.place }) : z.radius ? t("zones.around", { at: `${z.lat ?? 0}, ${z.lon ?? 0}`, n: number(z.radius) }) : "";
  return [when, where].filter(Boolean).join(" · ");
}

export function Zones() {
  const { value, error, again } = useLoaded<{ zones: Zone[] }>("/v1/zones");
  const [days, on] = useState("daily");
  const [where, at] = useState("");
  const [busy, work] = useState(false);
  const add = (e: SubmitEvent) => {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    const field = (name: string) => (form.elements.namedItem(name) as HTMLInputElement | null)?.value.trim() ?? "";
    const z: Zone = { name: field("zone") };
    if (days) z.window = `${days} ${field("from")}-${field("to")}`;
    if (where === "place" || (!days && !where)) z.place = field("place");
    if (where === "circle") Object.assign(z, { lat: Number(field("lat")), lon: Number(field("lon")), radius: Number(field("radius")) });
    work(true);
    post<Zone>("/v1/zones", z)
      .then((made) => {
        form.reset();
        tell({ text: t("zones.made", { name: made.name }) });
        again();
        changes();
      }, tellError)
      .finally(() => work(false));
  };
  const remove = (z: Zone) =>
    call("DELETE", "/v1/zones/" + encodeURIComponent(z.name)).then(() => {
      tell({ text: t("zones.removed", { name: z.name }), undo: () => post("/v1/zones", z) });
      again();
    }, tellError);
  return (
    <section class="panel zones">
      <h2>{t("zones.title")}</h2>
      <p class="muted">{t("zones.says")}</p>
      {error ? <Failure error={error} /> : !value ? <Waiting /> : (
        <ul class="rows">
          {value.zones.map((z) => (
            <li key={z.name}>
              <Icon name="lock" size={16} />
              <span class="rows-text">
                <T text={z.name} most={60} />
                <span class="row-says muted">
                  <T text={covers(z)} most={120} />
                </span>
              </span>
              <button type="button" class="plain" data-does="removeZone" aria-label={t("zones.remove", { name: z.name.slice(0, 60) })} title={t("zones.remove", { name: z.name.slice(0, 60) })} onClick={() => remove(z)}>
                <Icon name="close" size={14} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <Afar does="addZone" by="locket zone" />
      <details data-does="addZone">
        <summary data-act="zone">{t("zones.add")}</summary>
        <form class="fields" onSubmit={add}>
          <label>
            {t("zones.name")}
            <input name="zone" required maxLength={64} autocomplete="off" placeholder={t("zones.hint")} />
          </label>
          <label>
            {t("zones.when")}
            <select name="days" value={days} onChange={(e) => on(e.currentTarget.value)}>
              {(["daily", "weekdays", "weekends"] as const).map((d) => (
                <option key={d} value={d}>{t(`zones.${d}`)}</option>
              ))}
              <option value="">{t("zones.always")}</option>
            </select>
          </label>
          {days && (
            <div class="zone-span">
              <label>
                {t("zones.from")}
                <input type="time" name="from" required defaultValue="22:00" />
              </label>
              <label>
                {t("zones.to")}
                <input type="time" name="to" required defaultValue="07:00" />
              </label>
            </div>
          )}
          <label>
            {t("zones.where")}
            <select name="where" value={where} onChange={(e) => at(e.currentTarget.value)}>
              {days && <option value="">{t("zones.anywhere")}</option>}
              <option value="place">{t("zones.place")}</option>
              <option value="circle">{t("zones.circle")}</option>
            </select>
          </label>
          {(where === "place" || (!days && !where)) && (
            <label>
              {t("zones.placeName")}
              <input name="place" required maxLength={64} autocomplete="off" />
            </label>
          )}
          {where === "circle" && (
            <div class="zone-span">
              {([["lat", -90, 90], ["lon", -180, 180], ["radius", 1, 100000]] as const).map(([name, min, max]) => (
                <label key={name}>
                  {t(`zones.${name}`)}
                  <input type="number" name={name} required step="any" min={min} max={max} />
                </label>
              ))}
            </div>
          )}
          <button class="button" disabled={busy}>
            {t("zones.do")}
          </button>
        </form>
      </details>
    </section>
  );
}
