// Engines: they transcribe recordings, read photos and run a language model. Shows their state and queues.

import { useState } from "preact/hooks";
import { call, get, post } from "./api";
import { reasonOf, t, type Word } from "./i18n";
import { Icon } from "./icons";
import { Instructions } from "./instructions";
import { Parked } from "./parked";
import { asProblem, changes, Failure, T, tell, tellError, useLoaded } from "./widgets";

type Kind = "ears" | "eyes" | "mind";

interface Engine {
  kind: Kind;
  engine: string;
  name: string;
  url?: string;
  model?: string;
  local: boolean;
  config: boolean;
  waiting: number;
  parked: number;
  done: number;
  trouble?: string;
  sample?: { text: string; error?: string };
}

interface Found {
  kind: Kind;
  name: string;
  address: string;
  model?: string;
}

export function Engines() {
  const { value, error, again } = useLoaded<{ engines: Engine[] }>("/v1/engines");
  return (
    <section class="panel">
      <h2 data-act="engines" tabIndex={-1}>
        {t("engines.title")}
      </h2>
      <p class="muted">{t("engines.says")}</p>
      {error && <Failure error={error} />}
      {(["ears", "eyes", "mind"] as const).map((kind) => (
        <OfKind key={kind} kind={kind} list={value?.engines.filter((e) => e.kind === kind) ?? []} again={again} />
      ))}
      {value && <Parked />}
      {value && <Instructions />}
    </section>
  );
}

function OfKind({ kind, list, again }: { kind: Kind; list: Engine[]; again: () => void }) {
  const [found, show] = useState<Found[]>();
  const [misheard, warn] = useState<{ of: Found; why: string }>(); // its answer to the sample is far from what the sample says
  const [busy, work] = useState(false);
  const run = (f: () => Promise<unknown>) => {
    work(true);
    f()
      .then(() => (again(), changes()), tellError)
      .finally(() => work(false));
  };
  const look = () => run(() => get<{ engines: Found[] }>("/v1/engines/found?kind=" + kind).then((f) => show(f.engines)));
  const use = (f: Found) =>
    run(() =>
      post("/v1/engines", { kind, address: f.address, model: f.model, anyway: misheard?.of === f }).then(
        () => (show(undefined), tell({ text: t("engines.used", { name: f.name }) })),
        (e) => {
          if (!asProblem(e).is("misheard")) throw e;
          warn({ of: f, why: reasonOf(asProblem(e)).replace("engine: ", "") });
        },
      ),
    );
  const remove = (e: Engine) => run(() => call("DELETE", `/v1/engines/${kind}?name=${encodeURIComponent(e.url || e.engine)}`));
  const useWord = (f: Found) => t(misheard?.of === f ? "engines.anyway" : "engines.use");
  return (
    <div class="engine-kind">
      <h3>{t(`engine.${kind}` as Word)}</h3>
      <ul class="rows">
        {list.map((e) => (
          <li key={e.name + e.url}>
            <span class={e.trouble || e.sample?.error ? "dot-off" : "dot-on"}>{e.trouble || e.sample?.error ? t("engines.bad") : t("engines.good")}</span>
            <span class="rows-text">
              <T text={e.name} most={60} /> {!e.local && <span class="badge warn">{t("engines.away")}</span>}
              <span class="row-says muted">
                {t("engines.waits", { n: e.waiting, done: e.done })}
                {e.parked > 0 && ` · ${t("engines.parked", { n: e.parked })}`}
                {(e.trouble || e.sample?.error) && (
                  <>
                    {" · "}
                    <T text={(e.trouble || e.sample?.error)!} most={200} />
                  </>
                )}
              </span>
            </span>
            {!e.config && (
              <button type="button" class="plain" data-does="removeEngine" disabled={busy} aria-label={t("engines.remove", { name: e.name.slice(0, 60) })} title={t("engines.remove", { name: e.name.slice(0, 60) })} onClick={() => remove(e)}>
                <Icon name="close" size={14} />
              </button>
            )}
          </li>
        ))}
        {found?.map((f) => (
          <li key={f.address + f.model}>
            <span class="rows-text">
              <T text={f.name} most={60} />
              <span class="row-says muted">
                <T text={f.model ? `${f.address} · ${f.model}` : f.address} most={120} />
              </span>
              <span class="row-says" role="status">{misheard?.of === f && <T text={misheard.why} most={400} />}</span>
            </span>
            <button type="button" class="button small" disabled={busy} aria-label={`${useWord(f)}: ${f.name.slice(0, 60)}`} onClick={() => use(f)}>
              {busy ? t("wait") : useWord(f)}
            </button>
          </li>
        ))}
      </ul>
      {found?.length === 0 && <p class="muted">{t("engines.nothing")}</p>}
      {!list.length && !found && (
        <button type="button" class="button small" data-does="addEngine" disabled={busy} onClick={look} aria-label={`${t("engines.look")}: ${t(`engine.${kind}` as Word)}`}>
          {busy ? t("wait") : t("engines.look")}
        </button>
      )}
    </div>
  );
}
