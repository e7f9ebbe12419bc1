// Adding another device of the wearer's: a code, also as a QR code, then five words to compare.

import { useEffect, useRef, useState } from "preact/hooks";
import { get, post } from "./api";
import { reasonOf, t } from "./i18n";
import { Icon } from "./icons";
import { QR } from "./qr";
import { asProblem, changes, Dialog, T, Waiting } from "./widgets";

interface Pairing {
  state: "waiting" | "compare" | "done" | "failed";
  code: string;
  link: string;
  words?: string[];
  name?: string;
  platform?: string;
  error?: string;
}

export function Pair({ close }: { close: () => void }) {
  const [p, set] = useState<Pairing>();
  const [error, fail] = useState("");
  const [busy, work] = useState(false);
  const [ask, asks] = useState<string>();
  const passphrase = useRef<HTMLInputElement>(null);
  const stop = useRef(new AbortController());
  useEffect(() => {
    const { signal } = stop.current;
    const failed = (e: unknown) => {
      const problem = asProblem(e);
      if (!signal.aborted) fail(problem.is("unsupported") ? t("pair.alone") : reasonOf(problem));
    };
    post<Pairing>("/v1/pairing", undefined, signal)
      .then((made) => {
        set(made);
        return get<Pairing>("/v1/pairing", signal).then((met) => set({ ...made, ...met }));
      })
      .catch(failed);
    return () => stop.current.abort();
  }, []);
  const say = (same: boolean) => {
    work(true);
    post<Pairing>("/v1/pairing/confirm", { same, code: p!.code, passphrase: passphrase.current?.value })
      .then((end) => {
        set({ ...p!, ...end });
        changes();
      }, (e) => {
        const problem = asProblem(e);
        if (problem.is("wrong-passphrase")) asks(ask === undefined ? "" : t("unlock.wrong"));
        else fail(reasonOf(problem));
      })
      .finally(() => {
        if (passphrase.current) passphrase.current.value = "";
        work(false);
      });
  };
  const parsed = p && new URLSearchParams(p.link.replace(/^locket:pair\?/, ""));
  const relay = parsed?.get("relay");
  return (
    <Dialog title={t("pair.title")} close={close}>
      {error || p?.state === "failed" ? (
        <p class="notice bad" role="alert">
          <Icon name="warn" /> <T text={error || p?.error || t("error.failed")} most={300} />
        </p>
      ) : !p ? (
        <Waiting />
      ) : p.state === "done" ? (
        <p class="notice good" role="status">
          <Icon name="check" /> {t("pair.done")}
        </p>
      ) : p.state === "compare" ? (
        <div role="status">
          <p>{t("pair.same", { name: (p.name || p.platform || "").slice(0, 60) })}</p>
          <ol class="pair-words">
            {p.words?.map((w) => (
              <li key={w}>{w}</li>
            ))}
          </ol>
          <p class="muted">{t("pair.sameSays")}</p>
          <form id="pair-same" onSubmit={(e) => (e.preventDefault(), say(true))}>
            {ask !== undefined && (
              <label>
                {t("pair.passphrase")}
                <input ref={passphrase} type="password" name="passphrase" autocomplete="current-password" autofocus required />
              </label>
            )}
          </form>
          {ask && <p role="alert" class="bad">{ask}</p>}
        </div>
      ) : (
        <div class="pair">
          <QR text={p.link} label={t("pair.qr")} />
          <div>
            <p>{t("pair.how")}</p>
            <pre class="pair-line">{`locket pair --join ${p.code}${relay ? ` --relay ${relay}` : ""}`}</pre>
            <p class="muted">{t("pair.waits")}</p>
          </div>
        </div>
      )}
      <footer>
        <button type="button" class="button" onClick={() => (p?.state === "compare" ? say(false) : close())} disabled={busy}>
          {p?.state === "compare" && !error ? t("pair.no") : t("close")}
        </button>
        {p?.state === "compare" && !error && (
          <button form="pair-same" class="button solid" disabled={busy}>
            {busy ? t("wait") : t("pair.yes")}
          </button>
        )}
      </footer>
    </Dialog>
  );
}
