// Plugins: what each sees and may do, in plain words, and whether it runs.

import { useState } from "preact/hooks";
import { call } from "./api";
import { number, said, t } from "./i18n";
import { changes, Failure, T, tell, tellError, useLoaded } from "./widgets";

interface Plugin {
  id: string;
  title?: string;
  source: string;
  state: "runs" | "off" | "faulted" | "broken";
  error?: string;
  kinds: string[];
  types: string[];
  capabilities: string[];
  calls: number;
  seconds: number;
  waiting?: number;
  worker?: string;
}

export function Plugins() {
  const { value, error, again } = useLoaded<{ plugins: Plugin[] }>("/v1/plugins");
  const [busy, work] = useState(false);
  const turn = (p: Plugin, enabled: boolean) => {
    const put = (on: boolean) => call("PATCH", "/v1/plugins/" + encodeURIComponent(p.id), { enabled: on });
    work(true);
    put(enabled)
      .then(() => {
        again();
        changes();
        tell({ text: t(enabled ? "plugins.turnedOn" : "plugins.turnedOff", { name: said("by", p.id) }), undo: () => put(!enabled) });
      }, tellError)
      .finally(() => work(false));
  };
  return (
    <section class="panel plugins">
      <h2>{t("plugins.title")}</h2>
      {error && <Failure error={error} />}
      {value?.plugins.map((p) => (
        <details key={p.id}>
          <summary>
            <span class={p.state === "runs" ? "dot-on" : "dot-off"}>{said("plugin", p.state)}</span>{" "}
            <T text={said("by", p.id)} most={60} /> <span class="muted">{t("plugins.calls", { n: p.calls })}</span>
          </summary>
          {p.title && <p><T text={said("does", p.id) === p.id ? p.title : said("does", p.id)} most={300} /></p>}
          {p.error && <p class="bad"><T text={p.error} most={300} /></p>}
          <ul class="plain-list">
            <li>{t("plugins.sees", { what: p.kinds.map((k) => said("sees", k)).join(", ") })}</li>
            <li>{p.types.length ? t("plugins.proposes", { what: p.types.map((k) => said("kind", k)).join(", ") }) : t("plugins.proposesNone")}</li>
            {p.capabilities.includes("redact") && <li>{t("plugins.redacts")}</li>}
            <li>{p.source === "built-in" ? t("plugins.builtin") : t("plugins.confined")}</li>
            {p.calls > 0 && <li>{t("plugins.takes", { ms: number(Math.round((p.seconds / p.calls) * 1e5) / 100) })}</li>}
            {!!p.waiting && <li>{t("plugins.waits", { n: p.waiting })}</li>}
          </ul>
          <button type="button" class="button small" disabled={busy} aria-label={`${t(p.state === "runs" ? "plugins.turnOff" : "plugins.turnOn")}: ${said("by", p.id)}`} onClick={() => turn(p, p.state !== "runs")}>
            {t(p.state === "runs" ? "plugins.turnOff" : "plugins.turnOn")}
          </button>
        </details>
      ))}
    </section>
  );
}
