// Plugins: what each sees and may do, in plain words, and whether it runs.

import { useState } from "preact/hooks";
import { Afar } from "./afar";
import { call, post } from "./api";
import { number, said, t } from "./i18n";
import { Icon } from "./icons";
import type { Kind } from "./types";
import { changes, Failure, kindIcon, T, tell, tellError, useLoaded } from "./widgets";

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
      <h2 data-act="plugins" tabIndex={-1}>
        {t("plugins.title")}
      </h2>
      <Afar does="enablePlugin" by="locket plugin" />
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
          {p.state === "runs" && p.kinds.includes("text") && <Try plugin={p} />}
          <button type="button" class="button small" data-does="enablePlugin" disabled={busy} aria-label={`${t(p.state === "runs" ? "plugins.turnOff" : "plugins.turnOn")}: ${said("by", p.id)}`} onClick={() => turn(p, p.state !== "runs")}>
            {t(p.state === "runs" ? "plugins.turnOff" : "plugins.turnOn")}
          </button>
        </details>
      ))}
    </section>
  );
}

interface Tried {
  shown: string;
  left?: string;
  memories: { type: Kind; text: string; label?: string; slot?: { attribute: string; value: string } }[];
  refusals: { kind: string; reason: string }[];
  error?: string;
  ms: number;
}

/** Try runs a plugin on a line and shows the result. Nothing is stored. */
function Try({ plugin }: { plugin: Plugin }) {
  const [text, set] = useState("");
  const [got, show] = useState<{ text: string; tried: Tried }>();
  const [busy, work] = useState(false);
  const go = (e: SubmitEvent) => {
    e.preventDefault();
    work(true);
    post<Tried>(`/v1/plugins/${encodeURIComponent(plugin.id)}/try`, { text: text.trim() })
      .then((tried) => show({ text: text.trim(), tried }), tellError)
      .finally(() => work(false));
  };
  const r = got?.tried;
  return (
    <form class="try" data-does="tryPlugin" onSubmit={go}>
      <label>
        {t("try.label")}
        <span class="inline">
          <input name="try" value={text} maxLength={1000} placeholder={t("try.hint")} onInput={(e) => set(e.currentTarget.value)} autocomplete="off" />
          <button class="button small" disabled={busy || !text.trim()}>
            {t("try.do")}
          </button>
        </span>
      </label>
      <div class="try-result" role="status">
        {r && (
          <>
            {r.shown !== got.text && <p class="muted">{t("try.shown")} <T text={r.shown} most={600} /></p>}
            {r.left !== undefined && <p>{t("try.left")} <T text={r.left} most={600} /></p>}
            {r.error && <p class="bad">{t("try.failed")} <T text={r.error} most={300} /></p>}
            <ul class="rows">
              {r.memories.map((m, i) => (
                <li key={i}>
                  <Icon name={kindIcon[m.type] ?? "fact"} size={16} />
                  <span class="rows-text">
                    <T text={m.label ? `${m.text} (${m.label})` : m.text} most={300} />
                    <span class="row-says muted">{said("kind", m.type)}{m.slot && <> · <T text={`${m.slot.attribute.replaceAll("_", " ")}: ${m.slot.value}`} most={100} /></>}</span>
                  </span>
                </li>
              ))}
            </ul>
            {r.refusals.map((x, i) => (
              <p key={i} class="muted"><T text={x.reason || x.kind} most={200} /></p>
            ))}
            {!r.error && !r.memories.length && r.left === undefined && <p>{t("try.nothing")}</p>}
            <p class="muted">{t("try.kept", { ms: number(Math.round(r.ms * 10) / 10) })}</p>
          </>
        )}
      </div>
    </form>
  );
}
