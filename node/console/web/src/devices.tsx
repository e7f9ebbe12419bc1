// Devices: the wearables that send, the wearer's other devices, and how this one is.

import { useState } from "preact/hooks";
import { get, post } from "./api";
import { moment, number, said, size, t } from "./i18n";
import { Icon, type IconName } from "./icons";
import type { Status } from "./types";
import { Engines } from "./engines";
import { Pair } from "./pair";
import { Plugins } from "./plugins";
import { Relays } from "./relays";
import { asProblem, Failure, T, tellError, useLoaded } from "./widgets";
import { VoicesPanel } from "./voices";
import { Wearables } from "./wearables";
import { Zones } from "./zones";
import type { Problem } from "./api";

interface Member {
  id: string;
  role: string;
  name?: string;
  here?: boolean;
  platform?: string;
  added: string;
  last_heard?: string;
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

interface Finding {
  check: string;
  level: "ok" | "warning" | "error";
  detail: string;
  advice?: string;
}

export function DevicesPage({ status }: { status: Status }) {
  return (
    <div class="page devices">
      <header class="page-head">
        <h1>{t("nav.devices")}</h1>
        <p class="muted">{t("devices.says")}</p>
      </header>
      <div class="tiles">
        <Tile icon="memories" name={t("tile.memories")} value={number(Object.values(status.memories).reduce((a, b) => a + b, 0))} />
        <Tile icon="sound" name={t("tile.lines")} value={number(status.utterances)} />
        <Tile icon="event" name={t("tile.waiting")} value={number(status.journal.waiting)} note={status.journal.transcribe ? t("tile.transcribe", { n: status.journal.transcribe }) : undefined} />
        <Tile icon="archive" name={t("tile.disk")} value={size(status.disk.used)} note={t("tile.free", { size: size(status.disk.free) })} />
      </div>
      <div class="columns">
        <Wearables status={status} />
        <Zones />
        <Members />
        <Relays />
        <Engines />
        <VoicesPanel />
        <Plugins />
        <Doctor />
      </div>
    </div>
  );
}

function Tile({ icon, name, value, note }: { icon: IconName; name: string; value: string; note?: string }) {
  return (
    <div class="stat panel">
      <Icon name={icon} size={18} />
      <strong>{value}</strong>
      <span>{name}</span>
      {note && <span class="muted">{note}</span>}
    </div>
  );
}

function Members() {
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
    <section class="panel">
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
                <T text={m.name || m.platform || m.id.slice(0, 8)} most={60} /> {m.here && <span class="badge">{t("members.here")}</span>}
              </span>
              <span class="muted">{said("role", m.role)}</span>
            </li>
          ))}
        </ul>
      )}
      <div class="actions">
        <button type="button" class="button" data-act="pair" onClick={() => pair(true)}>
          <Icon name="link" size={16} /> {t("pair.do")}
        </button>
      </div>
      {pairing && <Pair close={() => (pair(false), members.again())} />}
    </section>
  );
}

function Doctor() {
  const [report, set] = useState<{ ok: boolean; findings: Finding[] } | null>(null);
  const [error, fail] = useState<Problem>();
  const [busy, work] = useState(false);
  const look = (verify: boolean) => {
    work(true);
    fail(undefined);
    get<{ ok: boolean; findings: Finding[] }>("/v1/doctor?verify=" + verify)
      .then(set, (e) => fail(asProblem(e)))
      .finally(() => work(false));
  };
  const bad = report?.findings.filter((f) => f.level !== "ok") ?? [];
  return (
    <section class="panel">
      <h2>{t("doctor.title")}</h2>
      <p class="muted">{t("doctor.says")}</p>
      <div class="actions">
        <button type="button" class="button" data-act="doctor" disabled={busy} onClick={() => look(false)}>
          {busy ? t("wait") : t("doctor.look")}
        </button>
        <button type="button" class="button" disabled={busy} onClick={() => look(true)}>
          {t("doctor.verify")}
        </button>
      </div>
      {error && <Failure error={error} />}
      {report && !bad.length && <p class="notice good"><Icon name="check" /> {t("doctor.good", { n: report.findings.length })}</p>}
      {bad.map((f) => (
        <div key={f.check + f.detail} class={`notice ${f.level === "error" ? "bad" : "warn"}`}>
          <Icon name="warn" />
          <div>
            <T text={f.detail} most={300} />
            {f.advice && (
              <p class="muted">
                <T text={f.advice} most={300} />
              </p>
            )}
          </div>
        </div>
      ))}
    </section>
  );
}
