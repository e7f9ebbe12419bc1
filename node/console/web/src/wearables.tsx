// The list of wearables, and credentials for a new one.

import { useState } from "preact/hooks";
import { Afar } from "./afar";
import { call, post } from "./api";
import { clock, dateOf, lasting, moment, t } from "./i18n";
import { Icon } from "./icons";
import { QR } from "./qr";
import type { Span, Status } from "./types";
import { Dialog, Failure, T, tell, tellError, useLoaded, Waiting } from "./widgets";

interface Wearable {
  name: string;
  last_seen?: string;
  connected: boolean;
  events: number;
  battery?: number; // %
}

interface Credentials {
  name: string;
  broker: string;
  username: string;
  password: string;
  client_id: string;
  topics: string;
  page?: string; // the recorder page, which makes a phone or laptop the wearable
}

/** The text that a wearable or its app scans: mqtt://USER:PASSWORD@HOST:PORT, or mqtts. */
const linkOf = (c: Credentials) =>
  c.broker.replace(/^(\w+):\/\//, (_, scheme: string) => `${scheme === "tcp" ? "mqtt" : scheme === "ssl" || scheme === "tls" ? "mqtts" : scheme}://${encodeURIComponent(c.username)}:${encodeURIComponent(c.password)}@`);

interface Lost {
  devices: { device: string; times: number; more?: boolean }[];
  gaps: { device: string; at: string; from?: number; to?: number; why?: string }[];
  pauses: Span[];
}

/** What a wearable lost in the last days. */
function Gaps({ lost, device }: { lost: Lost; device: string }) {
  const of = lost.devices.find((d) => d.device === device);
  if (!of) return null;
  const gaps = lost.gaps.filter((g) => g.device === device);
  return (
    <details class="row-says gaps">
      <summary class="muted">
        <Icon name="warn" size={14} /> {t("lost.times", { n: of.times })}
      </summary>
      <ul>
        {gaps.map((g, i) => (
          <li key={i}>
            <a href={"/day/" + dateOf(g.at)}>{moment(g.at)}</a> {g.from !== undefined && g.to !== undefined ? t("lost.messages", { n: g.to - g.from + 1 }) : t("lost.some")}
            {g.why && (
              <>
                : <T text={g.why} most={200} />
              </>
            )}
          </li>
        ))}
        {of.more && <li class="muted">{t("lost.more", { n: of.times - gaps.length })}</li>}
      </ul>
    </details>
  );
}

/** What removed wearables lost. */
function Former({ lost, here }: { lost: Lost; here: Wearable[] }) {
  const names = lost.devices.map((d) => d.device).filter((name) => !here.some((d) => d.name === name));
  if (!names.length) return null;
  return (
    <ul class="rows">
      {names.map((name) => (
        <li key={name}>
          <span class="dot-off">{t("lost.former")}</span>
          <span class="rows-text">
            <T text={name} most={60} />
            <Gaps lost={lost} device={name} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The pauses of all wearables. */
function Pauses({ pauses }: { pauses: Span[] }) {
  if (!pauses.length) return <p class="muted">{t("lost.noPause")}</p>;
  return (
    <details class="gaps">
      <summary class="muted">
        <Icon name="pause" size={14} /> {t("lost.pauses", { n: pauses.length })}
      </summary>
      <ul>
        {pauses.toReversed().map((p, i) => (
          <li key={i}>
            {p.to ? t("day.paused", { from: moment(p.from), to: clock(p.to), long: lasting(Date.parse(p.to) - Date.parse(p.from)) }) : t("day.pausedOn", { from: moment(p.from) })}
            {p.why && (
              <span class="muted">
                {" "}
                <T text={p.why} most={100} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

export function Wearables({ status, closed }: { status: Status; closed?: () => void }) {
  const { value, error, again } = useLoaded<{ devices: Wearable[] }>("/v1/devices");
  const lost = useLoaded<Lost>("/v1/lost").value;
  const [given, give] = useState<Credentials>();
  const [leaving, ask] = useState<Wearable>();
  const [busy, work] = useState(false);
  async function add(e: SubmitEvent) {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    const name = (form.elements.namedItem("wearable") as HTMLInputElement).value.trim();
    if (!name) return;
    work(true);
    try {
      give(await post<Credentials>("/v1/devices", { name }));
      form.reset();
      again();
    } catch (e) {
      tellError(e);
    } finally {
      work(false);
    }
  }
  const remove = (d: Wearable) =>
    call("DELETE", "/v1/devices/" + encodeURIComponent(d.name)).then(() => {
      ask(undefined);
      tell({ text: t("wearables.removed") });
      again();
    }, tellError);
  return (
    <section class="panel wearables">
      <h2>{t("wearables.title")}</h2>
      {error ? <Failure error={error} /> : !value ? <Waiting /> : value.devices.length === 0 ? (
        <p class="muted">{t("wearables.none")}</p>
      ) : (
        <ul class="rows">
          {value.devices.map((d) => (
            <li key={d.name}>
              <span class={d.connected ? "dot-on" : "dot-off"}>{d.connected ? t("wearables.on") : t("wearables.off")}</span>
              <span class="rows-text">
                <T text={d.name} most={60} />
                {status.pause.paused && <span class="badge warn">{status.pause.until ? t("state.pausedUntil", { at: clock(status.pause.until) }) : t("state.paused")}</span>}
                {lost && <Gaps lost={lost} device={d.name} />}
              </span>
              {d.battery !== undefined && <span class={d.battery < 20 ? "badge warn" : "badge"}>{t("wearables.battery", { n: d.battery })}</span>}
              <span class="muted">{d.last_seen ? moment(d.last_seen) : t("wearables.never")}</span>
              {(d.events > 0 || !d.last_seen) && <span class="count">{t("wearables.events", { n: d.events })}</span>}
              <button type="button" class="plain" data-does="removeDevice" aria-label={t("wearables.remove", { name: d.name.slice(0, 60) })} title={t("wearables.remove", { name: d.name.slice(0, 60) })} onClick={() => ask(d)}>
                <Icon name="close" size={14} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div>
        {/* in an element of their own: as siblings of the form, they would make Preact move it, and it would lose the focus */}
        {lost && value && <Former lost={lost} here={value.devices} />}
        {lost && <Pauses pauses={lost.pauses} />}
      </div>
      <Afar does="addDevice" by="locket wearable" />
      <form class="inline" data-does="addDevice" onSubmit={add}>
        <input name="wearable" data-act="wearable" required maxLength={64} aria-label={t("wearables.name")} placeholder={t("wearables.hint")} autocomplete="off" spellcheck={false} />
        <button class="button" disabled={busy}>
          {t("wearables.add")}
        </button>
      </form>
      {status.broker.url && <p class="muted">{t("wearables.broker")} <code><T text={status.broker.url} most={300} /></code></p>}
      {given && (
        <Dialog title={t("wearables.given", { name: given.name })} close={() => (give(undefined), closed && setTimeout(closed))}>
          <p class="notice warn">
            <Icon name="warn" /> {t("wearables.once")}
          </p>
          <div class="pair">
            <QR text={linkOf(given)} label={t("wearables.qr")} />
            <p class="muted">{t("wearables.qrSays")}</p>
          </div>
          {given.page && (
            <div class="pair">
              <QR text={given.page} label={t("wearables.page")} />
              <p class="muted">{t("wearables.pageSays")}</p>
            </div>
          )}
          <dl class="given">
            {([["wearables.url", given.broker], ["wearables.user", given.username], ["wearables.password", given.password], ["wearables.client", given.client_id], ["wearables.topics", given.topics]] as const).map(([word, v]) => (
              <div key={word}>
                <dt>{t(word)}</dt>
                <dd>
                  <code><T text={v} most={300} /></code>
                  <button type="button" class="button small" aria-label={`${t("copy")}: ${t(word)}`} onClick={() => navigator.clipboard.writeText(v).then(() => tell({ text: t("copied") }), () => tell({ text: t("copyFailed") }))}>
                    {t("copy")}
                  </button>
                </dd>
              </div>
            ))}
          </dl>
          <p class="muted">{t("wearables.next")}</p>
        </Dialog>
      )}
      {leaving && (
        <Dialog title={t("wearables.remove", { name: leaving.name.slice(0, 60) })} close={() => ask(undefined)}>
          <p>{t("wearables.removeSays")}</p>
          <div class="actions">
            <button type="button" class="button danger solid" onClick={() => remove(leaving)}>
              {t("wearables.removeDo")}
            </button>
            <button type="button" class="button" onClick={() => ask(undefined)}>
              {t("cancel")}
            </button>
          </div>
        </Dialog>
      )}
    </section>
  );
}
