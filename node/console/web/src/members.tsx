// The wearer's other devices: what each has of the memory, as far as this one knows, and sync with them.

import { useState } from "preact/hooks";
import { Afar } from "./afar";
import { post } from "./api";
import { moment, said, t } from "./i18n";
import { Icon } from "./icons";
import { Pair } from "./pair";
import { Failure, T, tellError, useLoaded } from "./widgets";

interface Member {
  id: string;
  role: string;
  name?: string;
  here?: boolean;
  platform?: string;
  added: string;
  last_heard?: string;
  sent: number;
  reach?: { has: number; behind: number; at: string; by: "said" | "met" };
}

interface Sync {
  relay: string;
  apart?: boolean;
  lan?: boolean;
  synced?: string;
  pending: number;
  error?: string;
  busy?: boolean;
}

/** The memories, photos and recordings on this device. */
interface Tiers {
  hot: number;
  cold: number;
  media: number;
  cold_media: number;
}

/** Reports whether a member is the wearer's own device, not a worker or reader. */
const isDevice = (m: Member) => m.role === "owner" || m.role === "writer";

/** Describes what another device is known to have. */
function Has({ of: m }: { of: Member }) {
  const r = m.reach;
  return (
    <>
      {isDevice(m) && t(!r ? "members.unknown" : r.behind ? "members.behind" : r.by === "met" ? "members.allMet" : "members.allSaid", r && { has: r.has, behind: r.behind, all: r.has + r.behind, at: moment(r.at) })}{" "}
      {m.sent > 0 && t("members.sent", { n: m.sent })} {m.last_heard ? t("where.heard", { at: moment(m.last_heard) }) : t("members.silent", { at: moment(m.added) })}
    </>
  );
}

/** Describes what this device has. */
function Held() {
  const { value: n } = useLoaded<Tiers>("/v1/tiers");
  if (!n) return null;
  return (
    <>
      {t("members.hot", { n: n.hot })} {n.cold > 0 && t("members.cold", { n: n.cold })} {n.media + n.cold_media > 0 && t("members.media", { n: n.media })} {n.cold_media > 0 && t("members.coldMedia", { n: n.cold_media })}
    </>
  );
}

export function Members() {
  const members = useLoaded<{ members: Member[] }>("/v1/members");
  const sync = useLoaded<Sync>("/v1/sync");
  const [busy, work] = useState(false);
  const [pairing, pair] = useState(false);
  const s = sync.value;
  const none = s && !s.relay && !s.apart && !s.lan;
  const now = () => {
    work(true);
    post("/v1/sync").then(sync.again, tellError).finally(() => work(false));
  };
  return (
    <section class="panel members">
      <h2>{t("members.title")}</h2>
      {s && (
        <div class={`notice ${s.error ? "bad" : "good"}`}>
          <Icon name={s.error ? "warn" : none ? "lock" : "sync"} />
          <div>
            {none ? t("sync.none") : s.error ? <T text={s.error} most={200} /> : s.synced ? t("sync.at", { at: moment(s.synced) }) : t("sync.never")}
            {!none && s.pending > 0 && <p class="muted">{t("sync.pending", { n: s.pending })}</p>}
          </div>
          {!none && (
            <button type="button" class="button small" disabled={busy || s.busy} onClick={now}>
              {t("act.sync")}
            </button>
          )}
        </div>
      )}
      {members.error ? (
        members.error.is("unsupported") ? null : <Failure error={members.error} />
      ) : (
        <ul class="rows">
          {members.value?.members.map((m) => (
            <li key={m.id}>
              <Icon name="devices" size={16} />
              <span class="rows-text">
                <T text={m.name || m.platform || t("members.unnamed")} most={60} /> {m.here && <span class="badge">{t("members.here")}</span>}
                <span class="row-says muted">{m.here ? <Held /> : <Has of={m} />}</span>
              </span>
              <span class="muted">{said("role", m.role)}</span>
            </li>
          ))}
        </ul>
      )}
      {members.value?.members.some((m) => !m.here && isDevice(m)) && <p class="muted">{t("members.onlyIt")}</p>}
      <Afar does="pairInvite" by="locket pair" />
      <div class="actions">
        <button type="button" class="button" data-does="pairInvite" data-act="pair" onClick={() => pair(true)}>
          <Icon name="link" size={16} /> {t("pair.do")}
        </button>
      </div>
      {pairing && <Pair close={() => (pair(false), members.again())} />}
    </section>
  );
}
