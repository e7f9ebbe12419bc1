// Which devices and relays store a memory, as far as this device knows.

import { moment, said, t } from "./i18n";
import { Icon } from "./icons";
import { Failure, T, useLoaded, Waiting } from "./widgets";

type Holds = "all" | "stub" | "offered" | "part" | "unknown";

interface Where {
  cold: boolean;
  waits: number;
  media?: "here" | "held" | "away";
  members: { id: string; role?: string; name?: string; platform?: string; here?: boolean; last_heard?: string; said?: boolean; holds: Holds }[];
  relays: { url: string; kind: "house" | "mirror"; holds: Holds }[];
}

export function WhereIs({ id }: { id: string }) {
  const { value: w, error } = useLoaded<Where>(`/v1/memories/${encodeURIComponent(id)}/where`);
  if (error?.status === 404) return null; // it belongs to somebody else
  return (
    <section class="where-is">
      <h2>{t("where.title")}</h2>
      {error ? <Failure error={error} /> : !w ? <Waiting /> : (
        <>
          {w.waits > 0 && (
            <p class="notice warn">
              <Icon name="sync" /> <span>{t("where.waits", { n: w.waits })}</span>
            </p>
          )}
          <ul class="rows">
            {w.members.map((m) => (
              <li key={m.id}>
                <Icon name="devices" size={16} />
                <span class="rows-text">
                  <T text={m.name || m.platform || (m.here ? t("where.thisDevice") : m.id.slice(0, 8))} most={60} /> {m.here && <span class="badge">{t("members.here")}</span>}
                  <span class="row-says muted">
                    {t(m.here ? (w.cold ? "where.stub" : "where.whole") : m.holds === "all" ? "where.whole" : m.said && !w.media ? "where.said" : `where.${m.holds}`)}
                    {m.here && w.media && " " + t(`where.media.${w.media}`)}
                    {!m.here && m.last_heard && " " + t("where.heard", { at: moment(m.last_heard) })}
                  </span>
                </span>
                {m.role && <span class="muted">{said("role", m.role)}</span>}
              </li>
            ))}
            {w.relays.map((r) => (
              <li key={r.url}>
                <Icon name="link" size={16} />
                <span class="rows-text">
                  <T text={r.url} most={120} />
                  <span class="row-says muted">{t(r.holds === "all" ? "where.sealed" : r.holds === "part" ? "where.part" : "where.unknown")}</span>
                </span>
                <span class="muted">{t("where.relay")}</span>
              </li>
            ))}
          </ul>
          {w.members.length < 2 && !w.relays.length && <p class="muted">{t("where.alone")}</p>}
        </>
      )}
    </section>
  );
}
