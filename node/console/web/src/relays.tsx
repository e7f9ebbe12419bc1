// Relays: servers that carry sealed data between the wearer's devices.

import { useEffect, useState } from "preact/hooks";
import { Afar } from "./afar";
import { call, post } from "./api";
import { moment, t } from "./i18n";
import { Icon } from "./icons";
import { changes, Dialog, Failure, T, tell, tellError, useLoaded } from "./widgets";

interface Relay {
  url: string;
  kind: "house" | "mirror" | "peer";
  synced?: string;
  error?: string;
  lacks: number;
  blobs: number;
  busy?: boolean;
  done?: number;
  all?: number;
  trouble: string[];
}

export function Relays() {
  const { value, error, again } = useLoaded<{ relays: Relay[] }>("/v1/relays");
  const [leaving, ask] = useState<Relay>();
  const [busy, work] = useState(false);
  const sending = value?.relays.some((r) => r.busy) ?? false;
  useEffect(() => {
    if (!sending) return;
    const timer = setInterval(again, 1000);
    return () => clearInterval(timer);
  }, [sending]);
  const run = (f: () => Promise<unknown>, says: string) => {
    work(true);
    return f()
      .then(() => {
        tell({ text: says });
        ask(undefined);
        again();
        changes();
      }, tellError)
      .finally(() => work(false));
  };
  const add = (e: SubmitEvent) => {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    const url = (form.elements.namedItem("relay") as HTMLInputElement).value.trim();
    void run(() => post("/v1/relays", { url }).then(() => form.reset()), t("relays.added"));
  };
  return (
    <section class="panel relays">
      <h2>{t("relays.title")}</h2>
      <p class="muted">{t("relays.says")}</p>
      {error && <Failure error={error} />}
      <ul class="rows">
        {value?.relays.map((r) => (
          <li key={r.url}>
            <span class={r.error || r.trouble.length ? "dot-off" : "dot-on"}>{r.error || r.trouble.length ? t("engines.bad") : t("engines.good")}</span>
            <span class="rows-text">
              <T text={r.url} most={120} /> {r.kind === "house" && <span class="badge">{t("relays.first")}</span>}
              <span class="row-says muted">
                {r.busy && r.all ? (
                  <progress max={r.all} value={r.done ?? 0} aria-label={t("relays.sending", { done: r.done ?? 0, all: r.all })} />
                ) : r.lacks + r.blobs > 0 ? (
                  t("sync.pending", { n: r.lacks + r.blobs })
                ) : r.synced ? (
                  t("sync.at", { at: moment(r.synced) })
                ) : (
                  t("sync.never")
                )}
                {[r.error, ...r.trouble].filter(Boolean).map((x) => (
                  <span key={x} class="row-says">
                    <T text={x!} most={200} />
                  </span>
                ))}
              </span>
            </span>
            {r.kind === "mirror" && (
              <button type="button" class="button small" data-does="moveRelay" disabled={busy} aria-label={`${t("relays.move")}: ${r.url.slice(0, 80)}`} onClick={() => void run(() => post("/v1/relays/move", { url: r.url }), t("relays.moved"))}>
                {t("relays.move")}
              </button>
            )}
            {r.kind !== "peer" && (
              <button type="button" class="plain" data-does="removeRelay" disabled={busy} aria-label={t("relays.remove", { url: r.url.slice(0, 80) })} title={t("relays.remove", { url: r.url.slice(0, 80) })} onClick={() => ask(r)}>
                <Icon name="close" size={14} />
              </button>
            )}
          </li>
        ))}
      </ul>
      <Afar does="addRelay" by="locket relay" />
      <form class="inline" data-does="addRelay" onSubmit={add}>
        <input type="url" name="relay" data-act="relay" required maxLength={400} aria-label={t("relays.address")} placeholder="https://relay.example" autocomplete="off" spellcheck={false} />
        <button class="button" disabled={busy}>
          {busy ? t("wait") : t("relays.add")}
        </button>
      </form>
      {leaving && (
        <Dialog title={t("relays.remove", { url: leaving.url.slice(0, 80) })} close={() => ask(undefined)}>
          <p>{t("relays.removeSays")}</p>
          <footer>
            <button type="button" class="button" onClick={() => ask(undefined)} autofocus>
              {t("cancel")}
            </button>
            <button type="button" class="button danger solid" disabled={busy} onClick={() => void run(() => call("DELETE", "/v1/relays", { url: leaving.url }), t("relays.removed"))}>
              {t("relays.removeDo")}
            </button>
          </footer>
        </Dialog>
      )}
    </section>
  );
}
