// Subscriptions: subscribing to a listing that grows, and the state of each subscription.

import { useState } from "preact/hooks";
import { call, post } from "./api";
import { addDays, dateOf, mediumDate, said, t, type Word } from "./i18n";
import { Icon } from "./icons";
import { press } from "./palette";
import { at, type Offer } from "./shop";
import { changes, Dialog, DialogEnd, Failure, T, tell, tellError, useLoaded } from "./widgets";

interface Subscription {
  listing: string;
  title: string;
  market: string;
  most: string;
  periods: number;
  paid: number;
  until?: string;
  every_days: number;
  last?: "wait" | "buy" | "settle" | "lapse" | "end";
  why?: string;
  ended?: string;
}

interface Answer {
  subscriptions: Subscription[];
  failed?: string[];
}

/** The node's reasons after a check, and the text for each. */
const whys: Record<string, Word> = {
  "you ended it": "because.ended",
  "its time is over": "because.over",
  "the listing is another than the one that you subscribed to": "because.other",
  "it costs more than you allow": "because.dear",
  "it was not paid in time": "because.late",
  "its price came back": "because.back",
  "this period is paid": "because.paid",
  "the periods come faster than the listing says": "because.fast",
  "the listing is withdrawn": "because.withdrawn",
  "the listing is removed": "because.removed",
};

/** reason explains the result of a check. If money is missing, the node names the order; the order's page shows it. */
function reason(s: Subscription): string {
  const why = s.why ?? "";
  if (whys[why]) return t(whys[why]);
  if (/^\d+ periods are paid$/.test(why)) return t("because.all", { n: s.paid });
  if (why.includes("is not paid")) return t("because.money");
  return why;
}

/** Subscribe asks how much to pay for a listing, how often and until when. */
export function Subscribe({ offer: o, market, close }: { offer: Offer; market: string; close: () => void }) {
  const [busy, work] = useState(false);
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    const until = String(form.get("until") ?? "");
    work(true);
    post<Subscription>("/v1/market/subscriptions", {
      market: market || undefined,
      listing: o.id,
      most: String(form.get("most")).trim(),
      periods: Number(form.get("periods")),
      until: until ? new Date(until + "T00:00:00").toISOString() : undefined,
    })
      .then((s) => {
        changes();
        close();
        tell({ text: said("subscribed", s.last ?? "wait") + " " + reason(s) });
        press("/market" + at(market), "subscriptions");
      }, tellError)
      .finally(() => work(false));
  };
  return (
    <Dialog title={t("subscribe.title")} close={close}>
      <form class="fields" onSubmit={submit}>
        <p>
          <strong>
            <T text={o.title} most={120} />
          </strong>
        </p>
        <p>{t("subscribe.says", { n: o.every_days ?? 0 })}</p>
        <label>
          {t("subscribe.most")}
          <input name="most" required maxLength={40} defaultValue={o.price} autocomplete="off" />
        </label>
        <label>
          {t("subscribe.periods")}
          <input name="periods" type="number" required min={1} max={1000} defaultValue="12" />
        </label>
        <label>
          {t("subscribe.until")}
          <input name="until" type="date" min={addDays(dateOf(new Date()), 1)} />
        </label>
        <p class="notice warn">
          <Icon name="warn" />
          <span>{t("pay.undo")}</span>
        </p>
        <DialogEnd close={close} busy={busy} word={t("subscribe.do")} />
      </form>
    </Dialog>
  );
}

/** Subscriptions lists them, each with its last result and the reason. */
export function Subscriptions() {
  const { value, error } = useLoaded<Answer>("/v1/market/subscriptions");
  const [ending, end] = useState<Subscription>();
  const [renewed, fail] = useState<string[]>();
  const [busy, work] = useState(false);
  if (error?.is("unsupported")) return null;
  const list = value?.subscriptions ?? [];
  const run = (f: () => Promise<unknown>, done: string) => {
    work(true);
    f()
      .then(() => {
        end(undefined);
        changes();
        tell({ text: done });
      }, tellError)
      .finally(() => work(false));
  };
  const renew = () => run(() => post<Answer>("/v1/market/renewals").then((r) => fail(r.failed ?? [])), t("subscriptions.renewed"));
  return (
    <section class="panel subscriptions">
      <h2 data-act="subscriptions" tabIndex={-1}>
        {t("subscriptions.title")}
      </h2>
      <p class="muted">{t("subscriptions.says")}</p>
      {error && <Failure error={error} />}
      {value && !list.length && <p class="muted">{t("subscriptions.none")}</p>}
      <ul class="rows">
        {list.map((s) => (
          <li key={s.listing}>
            <span class="rows-text">
              <a href={`/market/${s.listing}` + at(s.market)}>
                <strong>
                  <T text={s.title} most={100} />
                </strong>
              </a>{" "}
              <span class={`badge${s.last === "lapse" || s.last === "settle" ? " warn" : ""}`}>{s.ended ? t("renewal.end") : said("renewal", s.last ?? "none")}</span>
              <span class="row-says">
                <T text={reason(s)} most={300} />
              </span>
              <span class="row-says muted">
                {[t("subscriptions.limits", { most: s.most, paid: s.paid, periods: s.periods }), t("shop.every", { n: s.every_days }), s.until && t("subscriptions.until", { day: mediumDate(dateOf(s.until)) })].filter(Boolean).join(" · ")}
              </span>
            </span>
            {!s.ended && (
              <button type="button" class="button small danger" data-does="endSubscription" aria-label={`${t("subscriptions.end")}: ${s.title.slice(0, 60)}`} onClick={() => end(s)}>
                {t("subscriptions.end")}
              </button>
            )}
          </li>
        ))}
      </ul>
      {[...(value?.failed ?? []), ...(renewed ?? [])].map((f) => (
        <p key={f} class="notice warn">
          <Icon name="warn" /> <T text={f} most={500} />
        </p>
      ))}
      {list.some((s) => !s.ended) && (
        <div class="actions">
          <button type="button" class="button" data-does="renewSubscriptions" data-act="renew" disabled={busy} onClick={renew}>
            {busy ? t("wait") : t("subscriptions.renew")}
          </button>
        </div>
      )}
      {ending && (
        <Dialog title={t("subscriptions.end")} close={() => end(undefined)}>
          <p>
            <T text={ending.title} most={120} />
          </p>
          <p>{t("subscriptions.endSays")}</p>
          <footer>
            <button type="button" class="button" onClick={() => end(undefined)}>
              {t("cancel")}
            </button>
            <button type="button" class="button danger solid" disabled={busy} onClick={() => run(() => call("DELETE", `/v1/market/subscriptions/${ending.listing}`), t("subscriptions.ended"))}>
              {t("subscriptions.end")}
            </button>
          </footer>
        </Dialog>
      )}
    </section>
  );
}
