// The vault: secrets, each shown for half a minute, and the log of who looked.

import { useEffect, useRef, useState } from "preact/hooks";
import { get, post, Problem } from "./api";
import { moment, reasonOf, said, shortDay, t } from "./i18n";
import { Icon } from "./icons";
import type { Memory } from "./types";
import { asProblem, changes, Dialog, Empty, Failure, T, tell, tellError, useLoaded, useSteady, Waiting } from "./widgets";

/** How long a secret is shown, in seconds. */
const shownFor = 30;

interface Read {
  at: string;
  id: string;
  label: string;
  by: { plugin?: string; device?: string };
}

export function Vault() {
  const { value, error } = useLoaded<{ memories: Memory[] }>("/v1/memories?type=vault&limit=500");
  const log = useLoaded<{ reads: Read[]; exported?: string }>("/v1/vault/log?limit=20");
  const sync = useLoaded<{ relay: string; apart?: boolean }>("/v1/sync");
  const [shown, show] = useState<{ id: string; secret: string } | null>(null);
  const [ask, wait] = useState<string | null>(null);
  const secrets = useSteady(value?.memories ?? [], (m) => m.id);
  async function reveal(id: string) {
    try {
      const { secret } = await get<{ secret: string }>(`/v1/vault/${id}`);
      if (!document.hidden) show({ id, secret });
      log.again();
    } catch (e) {
      if (!(e instanceof Problem && e.is("vault-locked"))) return tellError(e);
      try {
        await post("/v1/vault/unlock", { ttl: "5m" });
        await reveal(id);
      } catch (e) {
        if (e instanceof Problem && e.is("wrong-passphrase")) wait(id);
        else tellError(e);
      }
    }
  }
  if (error) return <Failure error={error} />;
  if (!value) return <Waiting />;
  if (!value.memories.length) {
    return (
      <Empty icon="key" title={t("vault.empty")}>
        <p>{t("vault.emptyHow")}</p>
        {(sync.value?.relay || sync.value?.apart) && <p>{t("vault.elsewhere")}</p>}
      </Empty>
    );
  }
  return (
    <div class="vault">
      <ul class="secrets">
        {secrets.map((m) => (
          <li key={m.id} class="panel">
            <span class="card-icon kind-vault">
              <Icon name="key" size={16} />
            </span>
            <div class="secret-name">
              <a href={`/memory/${m.id}`}>
                <T text={m.text} most={120} />
              </a>
              <span class="muted">
                {said("secret", m.fields?.vault?.entry_type ?? "secret")} · {shortDay(m.evidence?.[0]?.at ?? m.learnt)}
              </span>
            </div>
            {shown?.id === m.id ? (
              <Shown secret={shown.secret} hide={() => show(null)} />
            ) : (
              <button type="button" class="button" onClick={() => reveal(m.id)}>
                {t("vault.show")}
              </button>
            )}
          </li>
        ))}
      </ul>
      <section class="panel">
        <h2>{t("vault.log")}</h2>
        {log.value?.reads.length ? (
          <ul class="log">
            {log.value.reads.map((r) => (
              <li key={r.at + r.id}>
                <T text={r.label} most={80} />{" "}
                <span class="muted">
                  {r.by.plugin === "app" ? <T text={r.by.device?.replace(/^app:/, "") ?? ""} most={40} /> : said("by", r.by.plugin ?? "")} · {moment(r.at)}
                </span>
              </li>
            ))}
          </ul>
        ) : (
          <p class="muted">{t("vault.logEmpty")}</p>
        )}
        {log.value?.exported && <p class="muted">{t("vault.exported", { when: moment(log.value.exported) })}</p>}
      </section>
      {ask && (
        <Passphrase
          close={() => wait(null)}
          done={() => {
            const id = ask;
            wait(null);
            void reveal(id);
          }}
        />
      )}
    </div>
  );
}

/** A secret that hides itself when its time is over or the page is no longer visible. */
function Shown({ secret, hide }: { secret: string; hide: () => void }) {
  const [left, set] = useState(shownFor);
  const end = useRef(Date.now() + shownFor * 1000);
  useEffect(() => {
    const timer = setInterval(() => {
      const n = Math.ceil((end.current - Date.now()) / 1000);
      if (n <= 0) hide();
      else set(n);
    }, 250);
    const away = () => document.hidden && hide();
    document.addEventListener("visibilitychange", away);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", away);
    };
  }, []);
  return (
    <div class="secret">
      <output class="secret-value">{secret}</output>
      <span class="secret-left" role="timer" aria-label={t("vault.left", { n: left })}>
        {left}
      </span>
      <button
        type="button"
        class="button small"
        onClick={() => navigator.clipboard.writeText(secret).then(() => tell({ text: t("copied") }), () => tell({ text: t("copyFailed") }))}
      >
        {t("copy")}
      </button>
      <button type="button" class="button small" onClick={hide}>
        {t("vault.hide")}
      </button>
    </div>
  );
}

export function Passphrase({ close, done }: { close: () => void; done: () => void }) {
  const [error, fail] = useState<Problem>();
  const [busy, work] = useState(false);
  async function open(e: SubmitEvent) {
    e.preventDefault();
    const field = (e.currentTarget as HTMLFormElement).elements.namedItem("passphrase") as HTMLInputElement;
    work(true);
    try {
      await post("/v1/vault/unlock", { passphrase: field.value, ttl: "5m" });
      changes();
      done();
    } catch (e) {
      fail(asProblem(e));
      work(false);
    } finally {
      field.value = "";
    }
  }
  return (
    <Dialog title={t("vault.open")} close={close}>
      <form class="unlock" onSubmit={open}>
        <label>
          {t("unlock.passphrase")}
          <input type="password" name="passphrase" autocomplete="current-password" autofocus required />
        </label>
        {error && <p role="alert" class="bad">{reasonOf(error)}</p>}
        <footer>
          <button type="button" class="button" onClick={close}>
            {t("cancel")}
          </button>
          <button class="button solid" disabled={busy}>
            {t("vault.do")}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
