// What this home sells, and who ordered it.

import { useState } from "preact/hooks";
import { call, get, post } from "./api";
import { moment, said, shortDay, t } from "./i18n";
import { saveFrom } from "./save";
import { Code } from "./shop";
import { changes, Dialog, Failure, T, tell, tellError, useLoaded } from "./widgets";

export interface Listing {
  id: string;
  number: number; // of its newest version
  market: string;
  title: string;
  price: string;
  items: number;
  approve?: boolean;
  unmarked?: boolean; // the seller said so
  created: string;
  withdrawn?: string;
  why?: string;
}

interface Sale {
  order: string;
  title: string;
  buyer: string;
  phase: string;
  price: string;
  paid?: string;
  waits?: boolean;
  question?: string;
  answer?: string[]; // the memories that the buyer would read
  deadline?: string;
  reason?: string;
}

export function MarketPanel() {
  const listings = useLoaded<{ listings: Listing[] }>("/v1/market/listings");
  const [sales, set] = useState<Sale[]>();
  const [ending, ask] = useState<{ listing?: Listing; sale?: Sale }>();
  const [busy, work] = useState(false);
  if (listings.error?.is("unsupported")) return null;
  const list = listings.value?.listings ?? [];
  const run = (f: () => Promise<unknown>, done?: string) => {
    work(true);
    f()
      .then(() => {
        ask(undefined);
        changes();
        if (done) tell({ text: done });
      }, tellError)
      .finally(() => work(false));
  };
  const look = () => run(async () => set((await get<{ sales: Sale[] }>("/v1/market/sales")).sales));
  const settle = async (s: Sale, act: "deliver" | "refund", reason?: string) => {
    const now = await post<Sale>("/v1/market/sales/" + s.order, { act, reason });
    set((all) => all?.map((x) => (x.order === now.order ? now : x)));
  };
  const end = (e: SubmitEvent) => {
    e.preventDefault();
    const reason = ((e.currentTarget as HTMLFormElement).elements.namedItem("reason") as HTMLInputElement).value.trim();
    const { listing, sale } = ending!;
    if (listing) run(() => call("DELETE", `/v1/market/listings/${listing.id}?reason=${encodeURIComponent(reason)}`), t("market.withdrawn"));
    else run(() => settle(sale!, "refund", reason), t("market.refunded"));
  };
  return (
    <section class="panel market">
      <h2>{t("market.title")}</h2>
      <p class="muted">{t("market.says")}</p>
      {listings.error && <Failure error={listings.error} />}
      {listings.value && !list.length && <p>{t("market.none")}</p>}
      <ul class="rows">
        {list.map((l) => (
          <li key={l.id}>
            <span class="rows-text">
              <strong>
                <T text={l.title} most={120} />
              </strong>{" "}
              {l.withdrawn && <span class="badge warn">{t("market.over")}</span>} {l.number > 1 && <span class="badge">{t("market.version", { n: l.number })}</span>}
              <span class="row-says muted">
                <T text={[l.price, t("out.memories", { n: l.items }), l.market.replace(/^https?:\/\//, ""), shortDay(l.withdrawn ?? l.created), l.why ?? ""].filter(Boolean).join(" · ")} most={300} />
              </span>
            </span>
            {!l.withdrawn && (
              <a class="button small" data-does="publishListing" href={"/market/sell?replaces=" + l.id} aria-label={`${t("sell.next")}: ${l.title.slice(0, 60)}`}>
                {t("sell.next")}
              </a>
            )}
            {!l.withdrawn && (
              <button type="button" class="button small" data-does="listingFile" title={t("car.says")} aria-label={`${t("car.save")}: ${l.title.slice(0, 60)}`} onClick={() => void saveFrom(`/v1/market/listings/${l.id}/car`, l.id.slice(0, 10) + ".car").catch(tellError)}>
                {t("car.save")}
              </button>
            )}
            {!l.withdrawn && (
              <button type="button" class="button small danger" data-does="withdrawListing" aria-label={`${t("market.withdraw")}: ${l.title.slice(0, 60)}`} onClick={() => ask({ listing: l })}>
                {t("market.withdraw")}
              </button>
            )}
          </li>
        ))}
      </ul>
      {list.length > 0 && (
        <div class="actions">
          <button type="button" class="button" data-act="sales" disabled={busy} onClick={look}>
            {t("market.look")}
          </button>
        </div>
      )}
      {sales && !sales.length && <p class="muted">{t("market.unsold")}</p>}
      {!!sales?.length && (
        <ul class="rows sales">
          {sales.map((s) => (
            <li key={s.order}>
              <span class="rows-text">
                <strong>
                  <T text={s.title} most={80} />
                </strong>{" "}
                <span class={`badge${s.waits ? " warn" : ""}`}>{s.waits ? t("market.waits") : said("phase", s.phase)}</span>
                <span class="row-says muted">
                  <T
                    text={[
                      t("market.order", { id: s.order.slice(0, 8), buyer: s.buyer.slice(0, 8) }),
                      s.price,
                      s.paid ? t("market.paid", { sum: s.paid }) : "",
                      s.deadline ? t("market.until", { at: moment(s.deadline) }) : "",
                      s.reason ?? "",
                    ].filter(Boolean).join(" · ")}
                    most={400}
                  />
                </span>
                {s.question && (
                  <span class="row-says">
                    {t("market.asks")} <T text={s.question} most={1000} />
                  </span>
                )}
                {s.answer?.map((text) => (
                  <span key={text} class="row-says">
                    {t("market.answers")} <T text={text} most={1000} />
                  </span>
                ))}
                {s.waits && s.question && !s.answer?.length && <span class="row-says">{t("market.nothing")}</span>}
              </span>
              {s.waits && (!s.question || !!s.answer?.length) && (
                <button type="button" class="button small" data-does="settleSale" disabled={busy} onClick={() => run(() => settle(s, "deliver"), t(s.question ? "market.sent" : "market.delivered"))}>
                  {t("market.deliver")}
                </button>
              )}
              {["funded", "delivered", "disputed"].includes(s.phase) && (
                <button type="button" class="button small danger" data-does="settleSale" disabled={busy} onClick={() => ask({ sale: s })}>
                  {t("market.refund")}
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {list.length > 0 && <Earned markets={[...new Set(list.map((l) => l.market))]} busy={busy} run={run} />}
      {ending && (
        <Dialog title={ending.listing ? t("market.withdraw") : t("market.refund")} close={() => ask(undefined)}>
          <form class="edit" onSubmit={end}>
            <p>
              <T text={(ending.listing ?? ending.sale)!.title} most={120} />
            </p>
            <p>{ending.listing ? t("market.withdrawSays") : t("market.refundSays", { price: ending.sale!.price })}</p>
            <label>
              {t("market.reason")} <input name="reason" maxLength={200} autocomplete="off" autofocus />
            </label>
            <footer>
              <button type="button" class="button" onClick={() => ask(undefined)}>
                {t("cancel")}
              </button>
              <button class="button danger solid" disabled={busy}>
                {ending.listing ? t("market.withdraw") : t("market.refund")}
              </button>
            </footer>
          </form>
        </Dialog>
      )}
    </section>
  );
}

/** Earned shows what a market has of the payments of buyers, and withdraws it as a voucher. */
function Earned({ markets, busy, run }: { markets: string[]; busy: boolean; run: (f: () => Promise<unknown>) => void }) {
  const [code, show] = useState("");
  const [has, tell] = useState<string[]>();
  const ask = (body: { market: string; amount?: string }) => post<{ voucher?: string; earned?: string[] }>("/v1/market/payouts", body).then((v) => (tell(v.earned), v));
  const look = (market: string) => (tell(undefined), ask({ market }).catch(() => {})); // the form works without the sum
  const take = (e: SubmitEvent) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    run(() => ask({ amount: String(form.get("amount")).trim(), market: String(form.get("market")) }).then((v) => show(v.voucher ?? "")));
  };
  return (
    <details onToggle={(e) => e.currentTarget.open && void look(e.currentTarget.querySelector("select")!.value)}>
      <summary data-act="payout">{t("market.payout")}</summary>
      {has && <p class="sum earned">{has.length ? <strong>{has.join(" · ")}</strong> : t("purse.none")}</p>}
      <form class="inline" data-does="payOutSales" onSubmit={take}>
        <select name="market" aria-label={t("shop.at")} onChange={(e) => void look(e.currentTarget.value)}>
          {markets.map((m) => (
            <option key={m} value={m}>
              {m.replace(/^https?:\/\//, "").slice(0, 80)}
            </option>
          ))}
        </select>
        <input name="amount" required maxLength={40} aria-label={t("purse.amount")} placeholder={has?.[0] ?? "4.50 EUR"} autocomplete="off" />
        <button class="button" disabled={busy}>
          {t("purse.takeDo")}
        </button>
      </form>
      {code && <Code code={code} />}
    </details>
  );
}
