// How much of the memory is on this disk, and what is only at the relay.

import { useEffect, useRef, useState } from "preact/hooks";
import { Afar } from "./afar";
import { get, post } from "./api";
import { number, size, t } from "./i18n";
import { Icon } from "./icons";
import { asProblem, changes, Failure, T, tell, tellError, useLoaded } from "./widgets";

interface Tiers {
  budget: { records: number; bytes: number };
  hot: number;
  hot_bytes?: number;
  cold: number;
  media: number;
  media_bytes?: number;
  cold_media: number;
  cold_media_bytes?: number;
  packed_bytes: number;
  blocked?: string;
  missing?: string;
}

interface Moved extends Tiers {
  back: number;
  cooled: number;
  left: string[];
}

interface Resource {
  id: string;
  fields: { resource?: { blob?: string } };
}

/** used returns the number of items, with their size if it is known. */
const used = (n: number, bytes?: number) => (bytes ? `${number(n)} (${size(bytes)})` : number(n));

export function Room() {
  const { value: n, error, again } = useLoaded<Tiers>("/v1/tiers");
  const [busy, work] = useState(false);
  if (error?.is("unsupported")) return null;
  const move = (what: "cool" | "all") => {
    work(true);
    post<Moved>("/v1/tiers", { [what]: true })
      .then((m) => {
        again();
        changes();
        tell({ text: what === "cool" ? t("room.cooled", { n: m.cooled }) : m.left.length ? t("room.left", { n: m.back, left: m.left.length }) : t("room.back", { n: m.back }) });
      }, tellError)
      .finally(() => work(false));
  };
  const limits = n && [n.budget.records && t("room.records", { n: n.budget.records }), n.budget.bytes && size(n.budget.bytes)].filter(Boolean).join(", ");
  return (
    <section class="panel room">
      <h2 data-act="room" tabIndex={-1}>
        {t("room.title")}
      </h2>
      <p class="muted">{t("room.says")}</p>
      {error && <Failure error={error} />}
      {n && (
        <>
          <dl>
            <dt>{t("room.budget")}</dt>
            <dd>
              {limits || t("room.none")} <span class="muted">{t("room.set")}</span> <code>hot.records</code> <code>hot.bytes</code>
            </dd>
            <dt>{t("room.hot")}</dt>
            <dd>{used(n.hot, n.hot_bytes)}</dd>
            <dt>{t("room.cold")}</dt>
            <dd>{used(n.cold, n.packed_bytes)}</dd>
            <dt>{t("room.media")}</dt>
            <dd>{used(n.media, n.media_bytes)}</dd>
            <dt>{t("room.coldMedia")}</dt>
            <dd>{used(n.cold_media, n.cold_media_bytes)}</dd>
          </dl>
          {[n.blocked, n.missing].map(
            (why, i) =>
              why && (
                <p key={i} class="notice warn">
                  <Icon name="warn" />
                  <span>
                    {t(i ? "room.missing" : "room.blocked")} <T text={why} most={200} />
                  </span>
                </p>
              ),
          )}
          <Afar does="moveTiers" by="locket tiers" />
          <div class="actions">
            {limits && (
              <button type="button" class="button small" data-does="moveTiers" disabled={busy} onClick={() => move("cool")}>
                {busy ? t("wait") : t("room.keep")}
              </button>
            )}
            {n.cold > 0 && (
              <button type="button" class="button small" data-does="moveTiers" disabled={busy} onClick={() => move("all")}>
                {busy ? t("wait") : t("room.all")}
              </button>
            )}
            <Photos again={again} />
          </div>
        </>
      )}
    </section>
  );
}

/** Photos copies all photos and recordings here, one after the other. Leaving the page stops it; what was copied stays. */
function Photos({ again }: { again: () => void }) {
  const [at, set] = useState<{ n: number; of: number }>();
  const gone = useRef(false);
  useEffect(() => () => void (gone.current = true), []);
  const copy = async () => {
    set({ n: 0, of: 0 });
    const all: Resource[] = [];
    for (let next: string | undefined = ""; next !== undefined; ) {
      const page: { memories: Resource[]; next?: string } = await get("/v1/memories?type=resource&state=all&limit=500" + (next && `&cursor=${encodeURIComponent(next)}`));
      all.push(...page.memories.filter((m) => m.fields.resource?.blob));
      next = page.next || undefined;
    }
    let fresh = 0;
    let missing = 0;
    for (const [i, m] of all.entries()) {
      if (gone.current) return;
      set({ n: i, of: all.length });
      try {
        if ((await post<{ new?: boolean }>(`/v1/memories/${m.id}/fetch`)).new) fresh++;
      } catch (e) {
        if (!asProblem(e).is("not-found")) throw e;
        missing++;
      }
    }
    again();
    changes();
    tell({ text: missing ? t("room.photosLeft", { n: fresh, left: missing }) : t("room.photosHere", { n: fresh }) });
  };
  return (
    <button type="button" class="button small" data-does="fetchBlob" data-act="photos" disabled={!!at} onClick={() => copy().catch(tellError).finally(() => set(undefined))}>
      {at ? <span role="status">{t("room.photosAt", at)}</span> : t("room.photos")}
    </button>
  );
}
