// Giving access to an app or a worker, each with its rights, and the log of what they did.

import { useState } from "preact/hooks";
import { Afar } from "./afar";
import { post } from "./api";
import { moment, said, t } from "./i18n";
import { Icon } from "./icons";
import { QR } from "./qr";
import { changes, Dialog, Failure, T, tell, tellError, useLoaded, Waiting } from "./widgets";

const rights = ["read", "add", "update", "forget", "chat"] as const;
const kinds = ["core", "episodic", "semantic", "procedural", "resource"] as const;

/** The ticked boxes of a form. */
const ticked = (form: HTMLFormElement, name: string) => [...form.querySelectorAll<HTMLInputElement>(`[name=${name}]:checked`)].map((x) => x.value);
const text = (form: HTMLFormElement, name: string) => (form.elements.namedItem(name) as HTMLInputElement).value.trim();

function Boxes({ name, title, of, on = [] }: { name: string; title: string; of: [value: string, says: string][]; on?: readonly string[] }) {
  return (
    <fieldset class="boxes">
      <legend class="field-name">{title}</legend>
      {of.map(([value, says]) => (
        <label key={value} class="check">
          <input type="checkbox" name={name} value={value} defaultChecked={on.includes(value)} /> <span>{says}</span>
        </label>
      ))}
    </fieldset>
  );
}

interface Given {
  title: string;
  says: string;
  shown: string; // only once
  command?: string;
  qr?: boolean;
}

export function LetIn() {
  const [given, give] = useState<Given>();
  const [busy, work] = useState(false);
  const run = (f: (form: HTMLFormElement) => Promise<Given>) => (e: SubmitEvent) => {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    work(true);
    f(form)
      .then((g) => {
        form.reset();
        give(g);
        changes();
      }, tellError)
      .finally(() => work(false));
  };
  const app = run((form) =>
    post<{ app: { name: string }; key: string }>("/v1/apps", {
      name: text(form, "app"), can: ticked(form, "can"), types: ticked(form, "sees"), ends: new Date(Date.now() + Number(text(form, "days")) * 864e5).toISOString(),
    }).then((made) => ({ title: t("letin.key", { name: made.app.name }), says: t("letin.keySays"), shown: made.key, qr: true })),
  );
  const worker = run((form) => {
    const how = ticked(form, "how");
    const feed = how.includes("feed");
    return post<{ name: string; welcome: string; relay: string }>("/v1/grants", {
      key: text(form, "workerkey"), name: text(form, "worker") || undefined, types: ticked(form, "adds"), feed, recordings: feed && how.includes("recordings"), transcribe: how.includes("transcribe"),
    }).then((g) => ({ title: t("letin.welcome", { name: g.name }), says: t("letin.welcomeSays"), shown: g.welcome, command: `locket-cloud worker join --home DIR --relay ${g.relay} WELCOME` }));
  });
  return (
    <section class="panel letin">
      <h2>{t("letin.title")}</h2>
      <Afar does="addApp" by="locket app" />
      <details data-does="addApp">
        <summary data-act="app">{t("letin.app")}</summary>
        <form class="fields" onSubmit={app}>
          <p class="muted">{t("letin.appSays")}</p>
          <label>
            {t("letin.name")}
            <input name="app" required maxLength={64} autocomplete="off" spellcheck={false} placeholder="assistant" />
          </label>
          <Boxes name="can" title={t("letin.can")} of={rights.map((r) => [r, said("can", r)])} on={["read"]} />
          <Boxes name="sees" title={t("letin.sees")} of={kinds.map((k) => [k, t(`kind.${k}`)])} on={["core", "semantic", "episodic", "procedural"]} />
          <label>
            {t("sharer.days")}
            <select name="days">
              {[1, 7, 30, 90, 365].map((n) => (
                <option key={n} value={n} selected={n === 90}>{t("letin.days", { n })}</option>
              ))}
            </select>
          </label>
          <button class="button" disabled={busy}>
            {t("letin.do")}
          </button>
        </form>
      </details>
      <details data-does="addGrant">
        <summary data-act="worker">{t("letin.worker")}</summary>
        <form class="fields" onSubmit={worker}>
          <p class="muted">{t("letin.workerSays")}</p>
          <label>
            {t("letin.workerKey")}
            <textarea name="workerkey" class="code" required rows={3} spellcheck={false} autocomplete="off" />
          </label>
          <label>
            {t("letin.workerName")}
            <input name="worker" maxLength={64} autocomplete="off" />
          </label>
          <Boxes name="adds" title={t("letin.adds")} of={kinds.filter((k) => k !== "core").map((k) => [k, t(`kind.${k}`)])} on={["resource"]} />
          <Boxes name="how" title={t("letin.how")} of={(["feed", "recordings", "transcribe"] as const).map((h) => [h, t(`letin.${h}`)])} on={["feed"]} />
          <button class="button" disabled={busy}>
            {t("letin.do")}
          </button>
        </form>
      </details>
      {given && (
        <Dialog title={given.title} close={() => give(undefined)}>
          <p class="notice warn">
            <Icon name="warn" /> {given.says}
          </p>
          <div class="pair">
            {given.qr && <QR text={given.shown} label={t("letin.qr")} />}
            <div>
              <pre class="pair-line once">{given.shown}</pre>
              {given.command && <pre class="pair-line">{given.command}</pre>}
              <button type="button" class="button small" onClick={() => navigator.clipboard.writeText(given.shown).then(() => tell({ text: t("copied") }), () => tell({ text: t("copyFailed") }))}>
                {t("copy")}
              </button>
            </div>
          </div>
        </Dialog>
      )}
    </section>
  );
}

interface Use {
  at: string;
  did: string;
  shown?: string[];
  wrote?: string[];
  refused?: string;
}

interface Read {
  at: string;
  kind: string;
  engine: string;
  to?: string;
}

/** Looks opens the log of an app, or the report of a worker. */
export function Looks({ app, worker, name }: { app?: string; worker?: string; name: string }) {
  const [open, show] = useState(false);
  return (
    <>
      <button type="button" class="button small looks" aria-label={`${t("letin.log")}: ${name.slice(0, 60)}`} onClick={() => show(true)}>
        {t("letin.log")}
      </button>
      {open && (
        <Dialog title={t("letin.logOf", { name: name.slice(0, 60) })} close={() => show(false)} wide>
          {app !== undefined ? <Uses app={app} /> : <Reads worker={worker ?? ""} />}
        </Dialog>
      )}
    </>
  );
}

function Uses({ app }: { app: string }) {
  const { value, error } = useLoaded<{ entries: Use[] }>(`/v1/apps/${encodeURIComponent(app)}/log`);
  if (!value) return error ? <Failure error={error} /> : <Waiting />;
  if (!value.entries.length) return <p class="muted">{t("letin.logNone")}</p>;
  return (
    <ul class="rows">
      {value.entries.map((u, i) => (
        <Entry key={i} at={u.at} did={u.did}>
          {u.refused ? <T text={u.refused} most={200} /> : [u.shown?.length ? t("letin.shown", { n: u.shown.length }) : "", u.wrote?.length ? t("letin.wrote", { n: u.wrote.length }) : ""].filter(Boolean).join(", ")}
        </Entry>
      ))}
    </ul>
  );
}

function Reads({ worker }: { worker: string }) {
  const { value, error } = useLoaded<{ reads: Read[]; work: { kind: string; waiting: number; done: number }[] }>(`/v1/grants/${encodeURIComponent(worker)}/log`);
  if (!value) return error ? <Failure error={error} /> : <Waiting />;
  return (
    <>
      <p class="muted">{t("letin.claims")}</p>
      {value.work.map((w) => (
        <p key={w.kind}>
          <T text={w.kind} most={60} /> · {t("engines.waits", { n: w.waiting, done: w.done })}
        </p>
      ))}
      {!value.reads.length && <p class="muted">{t("letin.logNone")}</p>}
      <ul class="rows">
        {value.reads.map((r, i) => (
          <Entry key={i} at={r.at} did={r.kind}>
            <T text={r.to ? `${r.engine} → ${r.to}` : r.engine} most={120} />
          </Entry>
        ))}
      </ul>
    </>
  );
}

function Entry({ at, did, children }: { at: string; did: string; children: preact.ComponentChildren }) {
  return (
    <li>
      <span class="rows-text">
        <T text={said("op", did)} most={80} />
        <span class="row-says muted">{children}</span>
      </span>
      <span class="muted">{moment(at)}</span>
    </li>
  );
}
