// Devices: the wearables, the wearer's other devices, and the health of this one.

import { useState } from "preact/hooks";
import { call, get, may, post } from "./api";
import { number, size, t } from "./i18n";
import { Icon, type IconName } from "./icons";
import type { Status } from "./types";
import { Engines } from "./engines";
import { Kept } from "./kept";
import { Members } from "./members";
import { Plugins } from "./plugins";
import { Relays } from "./relays";
import { Room } from "./room";
import { asProblem, changes, Failure, T, tell, tellError } from "./widgets";
import { VoicesPanel } from "./voices";
import { Wearables } from "./wearables";
import { Zones } from "./zones";
import type { Problem } from "./api";

interface Finding {
  check: string;
  level: "ok" | "warning" | "error";
  detail: string;
  advice?: string;
  command?: string;
  does?: string; // an operation of the API
  of?: string;
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
        <Room />
        <Kept />
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

/** Functions for the API operations that findings name. */
const remedies: Record<string, (of: string) => Promise<unknown>> = {
  resume: () => post("/v1/resume"),
  syncNow: () => post("/v1/sync"),
  retryParked: () => post("/v1/llm/retry"),
  enablePlugin: (of) => call("PATCH", "/v1/plugins/" + encodeURIComponent(of), { enabled: true }),
  addDevice: () => Promise.resolve(document.querySelector<HTMLElement>("[data-act=wearable]")?.focus()),
};

/** The remedy of a finding: a button if the page can do it, and a command to copy. */
function Remedy({ f, again }: { f: Finding; again: () => void }) {
  const [busy, work] = useState(false);
  const does = f.does && may(f.does) ? remedies[f.does] : undefined;
  if (!f.command) return null;
  const run = () => {
    work(true);
    return does!(f.of ?? "")
      .then(() => {
        if (f.does === "addDevice") return;
        changes();
        again();
      }, tellError)
      .finally(() => work(false));
  };
  const copy = () => navigator.clipboard.writeText(f.command!).then(() => tell({ text: t("copied") }), () => tell({ text: t("copyFailed") }));
  return (
    <div class="actions">
      {does && (
        <button type="button" class="button small solid" disabled={busy} onClick={run}>
          {t(`remedy.${f.does as "resume"}`)}
        </button>
      )}
      <code>
        <T text={f.command} most={300} />
      </code>
      <button type="button" class="button small" aria-label={`${t("copy")}: ${f.command.slice(0, 80)}`} onClick={copy}>
        {t("copy")}
      </button>
    </div>
  );
}

function Doctor() {
  const [report, set] = useState<{ ok: boolean; findings: Finding[] } | null>(null);
  const [error, fail] = useState<Problem>();
  const [busy, work] = useState(false);
  const [whole, verify] = useState(false);
  const look = (whole: boolean) => {
    verify(whole);
    work(true);
    fail(undefined);
    get<{ ok: boolean; findings: Finding[] }>("/v1/doctor?verify=" + whole)
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
      {report?.findings.filter((f) => f.level !== "ok" || f.command).map((f) => (
        <div key={f.check + f.detail} class={`notice ${f.level === "error" ? "bad" : f.level === "ok" ? "" : "warn"}`}>
          <Icon name={f.level === "ok" ? "check" : "warn"} />
          <div>
            <T text={f.detail} most={300} />
            {f.advice && (
              <p class="muted">
                <T text={f.advice} most={300} />
              </p>
            )}
            <Remedy f={f} again={() => look(whole)} />
          </div>
        </div>
      ))}
    </section>
  );
}
