// Checks a market's log: whether it is one history, and whether it contains what was bought and sold.

import { useState } from "preact/hooks";
import { post, type Problem } from "./api";
import { dateOf, t } from "./i18n";
import { Icon } from "./icons";
import { CheckSays } from "./offer";
import { save } from "./save";
import { at, type ReviewCheck } from "./shop";
import { asProblem, Failure, T } from "./widgets";

interface Log {
  market: string;
  key: string;
  log: string;
  size: number;
  before: number;
  witnesses: { name: string; address: string; signed: boolean; size?: number; error?: string }[];
  orders: { order: string; title: string; sold?: boolean; receipt?: boolean; waits?: boolean; hidden?: boolean; review?: "shown" | "deleted"; why?: string }[];
  listings: { listing: string; title: string; reviews: ReviewCheck }[];
  note: string;
  hides?: boolean;
  missing?: string[];
  unkept?: string;
  evidence?: string;
  file?: string;
}

/** The largest file, in bytes, of what another buyer was shown. */
const maxNote = 64 << 10;

export function LogPage({ market }: { market: string }) {
  const [log, set] = useState<Log>();
  const [error, fail] = useState<Problem>();
  const [busy, work] = useState(false);
  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    const file = form.get("with") as File | null;
    work(true);
    fail(undefined);
    set(undefined);
    try {
      const witnesses = String(form.get("witnesses") ?? "").split("\n").map((w) => w.trim()).filter(Boolean);
      const shown = file?.size ? await file.slice(0, maxNote).text() : undefined;
      set(await post<Log>("/v1/market/verifications", { market: market || undefined, witnesses: witnesses.length ? witnesses : undefined, with: shown }));
    } catch (e) {
      fail(asProblem(e));
    } finally {
      work(false);
    }
  };
  return (
    <div class="page sharing shop log">
      <a class="back" href={"/market" + at(market)}>
        <Icon name="left" size={14} /> {t("shop.title")}
      </a>
      <header class="page-head">
        <h1>{t("log.title")}</h1>
        <p class="muted">{t("log.says")}</p>
        {market && (
          <p class="muted">
            <T text={market} most={300} />
          </p>
        )}
      </header>
      <section class="panel">
        <form class="fields" onSubmit={submit}>
          <details>
            <summary>{t("log.more")}</summary>
            <div class="fields">
              <label>
                {t("log.with")}
                <input name="with" type="file" />
              </label>
              <label>
                {t("log.witness")}
                <textarea name="witnesses" class="code" rows={2} maxLength={2000} spellcheck={false} placeholder="https://relay.example other.example+2f7a…" />
              </label>
            </div>
          </details>
          <div class="actions">
            <button class="button solid" data-act="verify" disabled={busy}>
              {busy ? t("wait") : t("log.do")}
            </button>
          </div>
        </form>
      </section>
      {error && <Failure error={error} />}
      {log && <Found log={log} />}
    </div>
  );
}

/** Found shows the result of a check, the worst first. */
function Found({ log }: { log: Log }) {
  if (log.evidence)
    return (
      <section class="panel found">
        <h2>{t("log.forked")}</h2>
        <p class="notice bad" role="alert">
          <Icon name="warn" />
          <span>{t("log.forkedSays", { log: log.log.slice(0, 200) })}</span>
        </p>
        <Operator log={log} />
        <p class="muted">
          {t(log.unkept ? "log.unkept" : "log.kept")} <T text={log.unkept ?? log.file ?? ""} most={500} />
        </p>
        <div class="actions">
          <button type="button" class="button" onClick={() => save(`${log.key.slice(0, 16)}.fork.json`, new Blob([log.evidence!], { type: "application/json" }))}>
            {t("log.evidence")}
          </button>
        </div>
      </section>
    );
  const bad = log.hides || !!log.missing?.length;
  return (
    <section class="panel found">
      <h2>{t("log.found")}</h2>
      {log.size < log.before ? (
        <p class="notice bad" role="alert">
          <Icon name="warn" /> <span>{t("log.shrank", { n: log.size, before: log.before })}</span>
        </p>
      ) : (
        log.hides && (
          <p class="notice bad" role="alert">
            <Icon name="warn" /> <span>{t("log.hides")}</span>
          </p>
        )
      )}
      {log.missing?.map((name) => (
        <p key={name} class="notice bad" role="alert">
          <Icon name="warn" />
          <span>
            {t("log.unsigned")} <T text={name} most={200} />
          </span>
        </p>
      ))}
      {!bad && (
        <p class="notice good">
          <Icon name="check" /> <span>{log.before ? t("log.goesOn", { n: log.size, before: log.before }) : t("log.first", { n: log.size })}</span>
        </p>
      )}
      {!log.orders.length && <p class="muted">{t("log.noOrders")}</p>}
      <ul class="rows">
        {log.orders.map((o) => (
          <li key={o.order}>
            <span class="rows-text">
              <strong>
                <T text={o.title} most={120} />
              </strong>{" "}
              <span class={`badge${o.hidden ? " warn" : ""}`}>{t(o.hidden ? "log.hidden" : o.waits ? "log.waits" : o.receipt ? "log.receipt" : "log.in")}</span>
              <span class="row-says muted">
                {t(o.sold ? "log.sold" : "log.bought")} · {o.order.slice(0, 10)}
                {o.review && (
                  <>
                    {" · "}
                    <T text={t(`log.review.${o.review}`, { why: o.why ?? "" })} most={600} />
                  </>
                )}
              </span>
            </span>
          </li>
        ))}
      </ul>
      {log.listings
        .filter((l) => l.reviews.error || l.reviews.unproven || l.reviews.hidden || l.reviews.deleted)
        .map((l) => (
          <div key={l.listing}>
            <h3>
              <T text={l.title} most={120} />
            </h3>
            <CheckSays check={l.reviews} />
          </div>
        ))}
      <h3>{t("log.watched")}</h3>
      {!log.witnesses.length && <p class="muted">{t("log.nobody")}</p>}
      <ul class="rows">
        {log.witnesses.map((w) => (
          <li key={w.name + w.address}>
            <span class="rows-text">
              <strong>
                <T text={w.name} most={120} />
              </strong>{" "}
              <span class={`badge${w.signed ? "" : " warn"}`}>{t(w.signed ? "log.signed" : "log.notSigned")}</span>
              <span class="row-says muted">
                <T text={[w.address, w.size ? t("log.saw", { n: w.size }) : "", w.error ? t("log.unasked", { why: w.error }) : ""].filter(Boolean).join(" · ")} most={400} />
              </span>
            </span>
          </li>
        ))}
      </ul>
      {bad && <Operator log={log} />}
      <p class="muted">{t("log.compare")}</p>
      <div class="actions">
        <button type="button" class="button" data-act="save-note" onClick={() => save(`market-${log.key.slice(0, 16)}-${dateOf(new Date())}.txt`, new Blob([log.note], { type: "text/plain" }))}>
          {t("log.save")}
        </button>
      </div>
    </section>
  );
}

/** Whose key it is. */
function Operator({ log }: { log: Log }) {
  const says: [string, string][] = [
    [t("log.name"), log.log],
    [t("shop.at"), log.market],
    [t("log.key"), log.key],
  ];
  return (
    <div class="terms">
      <dl>
        {says.map(([name, text]) => [
          <dt key={name}>{name}</dt>,
          <dd key={name + "="}>
            <T text={text} most={300} />
          </dd>,
        ])}
      </dl>
    </div>
  );
}
