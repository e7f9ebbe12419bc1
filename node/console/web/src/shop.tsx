// The market: what others sell, the wearer's orders, and the wearer's balance.

import { useEffect, useState } from "preact/hooks";
import { get, may, post } from "./api";
import { moment, number, said, t } from "./i18n";
import { Disputes } from "./disputes";
import { Icon } from "./icons";
import { agree, Known } from "./known";
import { LogPage } from "./logpage";
import { MarketPanel } from "./market";
import { More } from "./more";
import { MovePage } from "./moving";
import { NextVersion } from "./nextversion";
import { OfferPage } from "./offer";
import { OrderPage } from "./order";
import { go } from "./router";
import { noSale } from "./sell";
import { Sharer } from "./sharer";
import { Subscriptions } from "./subscribe";
import { changes, Failure, T, tell, tellError, useLoaded, Waiting } from "./widgets";

/** A listing as buyers see it. */
export interface Offer {
  id: string;
  version: string;
  state?: string;
  why?: string;
  title: string;
  price: string;
  seller: string;
  items: number;
  sold: number;
  reviews: number;
  stars?: number;
  description?: string;
  categories: string[];
  languages: string[];
  counts: Record<string, number>;
  sample?: string[];
  licence: string;
  terms?: string;
  redaction?: string[];
  since?: string;
  until?: string;
  deliver_days: number;
  accept_days: number;
  every_days?: number; // of a subscription
  marks?: number; // places where each buyer's copy differs
  answers?: { each: number; all: number }; // it sells answers, each at the price; the most memories that they may show
  before?: { market: string; sold: number; reviews: number; stars?: number }[]; // the markets where it was before
  said?: { stars: number; text?: string; by: string; at: string; unproven?: string }[];
  check?: ReviewCheck; // the node's check of the reviews in said
}

/** The node's check of a listing's reviews. With an error, nothing was checked. */
export interface ReviewCheck {
  proven: number;
  unproven?: number;
  hidden?: number;
  deleted?: string[]; // the operator's reasons
  error?: string;
}

export interface Order {
  order: string;
  listing: string;
  title: string;
  phase: string;
  price: string;
  back?: string;
  market: string;
  deadline?: string;
  reason?: string;
  page?: string;
  reviewable?: boolean;
  items?: { type: string; text: string }[];
  answer?: boolean; // items answer a question
  broken?: string;
  item?: number;
}

export interface Funds {
  has: string[];
  pays: string[];
  voucher?: string;
}

/** at returns the query that names a market; empty stands for the node's relay. */
export const at = (market: string, mark = "?") => (market ? `${mark}market=${encodeURIComponent(market)}` : "");

export function ShopPage({ path, query }: { path: string[]; query: URLSearchParams }) {
  const market = query.get("market") ?? "";
  switch (path[0] ?? "") {
    case "sell":
      return query.get("replaces") ? <NextVersion id={query.get("replaces")!} /> : <Sharer begin={{ title: "", sale: noSale() }} />;
    case "order":
      return <OrderPage key={path[1]} id={path[1] ?? ""} />;
    case "move":
      return <MovePage />;
  }
  return (
    <Known key={market} market={market}>
      {!path[0] ? <Front query={query} market={market} /> : path[0] === "log" ? <LogPage market={market} /> : <OfferPage key={path[0]} id={path[0]} market={market} />}
    </Known>
  );
}

function Front({ query, market }: { query: URLSearchParams; market: string }) {
  return (
    <div class="page sharing shop">
      <header class="page-head with-button">
        <div>
          <h1>{t("shop.title")}</h1>
          <p class="muted">{t("shop.says")}</p>
        </div>
        <a class="button" data-does="publishListing" href="/market/sell">
          <Icon name="share" size={16} /> {t("sell.new")}
        </a>
      </header>
      <Find query={query} market={market} />
      <Disputes market={market} />
      <Orders />
      <Subscriptions />
      <div class="actions market-more">
        <a class="button" data-does="verifyMarket" href={"/market/log" + at(market)}>
          <Icon name="check" size={16} /> {t("log.go")}
        </a>
        <a class="button" data-does="moveListings" href="/market/move">
          <Icon name="sync" size={16} /> {t("move.title")}
        </a>
      </div>
      <div class="columns">
        {may("changeFunds") && <Purse market={market} />}
        <MarketPanel />
      </div>
    </div>
  );
}

const page = 20;

/** Find searches for listings. Its form is stored in the address, so that going back shows the same results. */
function Find({ query, market }: { query: URLSearchParams; market: string }) {
  const asked = ["q", "category", "language", "most", "newest"].filter((k) => query.get(k)).map((k) => `${k}=${encodeURIComponent(query.get(k)!)}`);
  const [more, show] = useState(1);
  const path = `/v1/market/offers?limit=${page * Math.min(more, 2.5)}&` + asked.join("&") + at(market, "&");
  const { value, error } = useLoaded<{ offers: Offer[]; facets: { kind: string; value: string; count: number }[]; total: number }>(path, { of: asked.join("&") + at(market, "&"), asks: true });
  const lead = (change: Record<string, string>) => {
    const q = new URLSearchParams(query);
    for (const [k, v] of Object.entries(change)) v ? q.set(k, v) : q.delete(k);
    show(1);
    go("/market" + (q.size ? "?" + q : ""));
  };
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    agree(String(form.get("market") ?? ""));
    lead(Object.fromEntries(["q", "most", "market"].map((k) => [k, String(form.get(k) ?? "").trim()])));
  };
  return (
    <section class="panel">
      <h2>{t("shop.find")}</h2>
      <form onSubmit={submit} key={query.toString()}>
        <div class="inline">
          <input name="q" data-act="market" type="search" defaultValue={query.get("q") ?? ""} maxLength={200} aria-label={t("shop.words")} placeholder={t("shop.words")} autocomplete="off" />
          <button class="button solid">{t("shop.do")}</button>
        </div>
        <details open={!!(query.get("most") || market || error)}>
          <summary>{t("shop.more")}</summary>
          <div class="fields">
            <label>
              {t("shop.most")}
              <input name="most" defaultValue={query.get("most") ?? ""} placeholder="5.00 EUR" autocomplete="off" />
            </label>
            <label>
              {t("shop.at")}
              <input name="market" type="url" defaultValue={market} placeholder={t("shop.atHint")} spellcheck={false} autocomplete="off" />
            </label>
          </div>
        </details>
      </form>
      {error &&
        (error.is("unsupported") || error.is("not-found") ? (
          <p class="notice">
            <Icon name="share" />
            {t(market || error.is("not-found") ? "shop.noMarket" : "shop.none")}
          </p>
        ) : (
          <Failure error={error} />
        ))}
      {!value && !error && <Waiting />}
      {value && (
        <div class="chips facets">
          {value.facets
            .filter((f) => f.kind !== "currency")
            .slice(0, 24)
            .map((f) => {
              const on = query.get(f.kind) === f.value;
              return (
                <button key={f.kind + f.value} type="button" class="chip" aria-pressed={on} onClick={() => lead({ [f.kind]: on ? "" : f.value })}>
                  <T text={f.value} most={40} /> <span class="count">{number(f.count)}</span>
                </button>
              );
            })}
          {value.total > 1 && (
            <button type="button" class="chip" aria-pressed={!!query.get("newest")} onClick={() => lead({ newest: query.get("newest") ? "" : "true" })}>
              {t("shop.newest")}
            </button>
          )}
        </div>
      )}
      {value && !value.total && <p class="muted">{t("shop.nothing")}</p>}
      <ul class="rows offers">
        {value?.offers.map((o) => (
          <li key={o.id}>
            <a href={`/market/${o.id}` + at(market)}>
              <span class="rows-text">
                <strong>
                  <T text={o.title} most={120} />
                </strong>
                <span class="row-says muted">
                  <T text={[o.answers && t("shop.answers"), o.every_days && t("shop.every", { n: o.every_days }), t("out.memories", { n: o.items }), o.categories.join(", "), stars(o), t("shop.sold", { n: o.sold }), t("shop.by", { key: o.seller.slice(0, 8) })].filter(Boolean).join(" · ")} most={300} />
                </span>
              </span>
              <strong class="price">{o.price}</strong>
            </a>
          </li>
        ))}
      </ul>
      {value && value.total > value.offers.length && (more < 3 ? (
        <More show={() => show(more + 1)}>
          {t("more")} <span class="count">{number(value.total - value.offers.length)}</span>
        </More>
      ) : (
        <p class="muted">{t("shop.narrow", { n: value.total - value.offers.length })}</p>
      ))}
    </section>
  );
}

export const stars = (o: { reviews: number; stars?: number }) => (o.reviews ? t("shop.stars", { n: (o.stars ?? 0).toFixed(1), by: o.reviews }) : "");

/** The next step of an order, and who has to take it. */
export const nextOf = (o: Order) => said("next", o.phase);

function Orders() {
  const { value, error, again } = useLoaded<{ orders: Order[] }>("/v1/market/orders");
  const [late, fail] = useState<string[]>([]);
  const [busy, work] = useState(false);
  const look = () => {
    work(true);
    get<{ failed?: string[] }>("/v1/market/orders?look=true")
      .then((r) => (fail(r.failed ?? []), again()), tellError)
      .finally(() => work(false));
  };
  useEffect(look, []);
  const list = value?.orders ?? [];
  return (
    <section class="panel orders">
      <h2 data-act="orders" tabIndex={-1}>
        {t("orders.title")}
      </h2>
      {error && <Failure error={error} />}
      {value && !list.length && <p class="muted">{t("orders.none")}</p>}
      <ul class="rows">
        {list.map((o) => (
          <li key={o.order}>
            <a href={"/market/order/" + o.order}>
              <span class="rows-text">
                <strong>
                  <T text={o.title} most={100} />
                </strong>{" "}
                <span class={`badge${["ordered", "delivered"].includes(o.phase) ? " warn" : ""}`}>{said("phase", o.phase)}</span>
                <span class="row-says muted">{[nextOf(o), o.deadline && t("market.until", { at: moment(o.deadline) }), o.back && t("orders.back", { sum: o.back })].filter(Boolean).join(" · ")}</span>
              </span>
              <strong class="price">{o.price}</strong>
            </a>
          </li>
        ))}
      </ul>
      {late.map((l) => (
        <p key={l} class="muted">
          {t("orders.late")} <T text={l} most={300} />
        </p>
      ))}
      {list.length > 0 && (
        <div class="actions">
          <button type="button" class="button" disabled={busy} onClick={look}>
            {busy ? t("wait") : t("orders.look")}
          </button>
        </div>
      )}
    </section>
  );
}

/** The wearer's balance at the market, paid in and out by vouchers. */
function Purse({ market }: { market: string }) {
  const [funds, set] = useState<Funds>();
  const [error, fail] = useState(false);
  const [busy, work] = useState(false);
  const ask = (change: { voucher?: string; amount?: string }) => post<Funds>("/v1/market/funds", { market: market || undefined, ...change });
  useEffect(() => {
    ask({}).then(set, () => fail(true));
  }, [market]);
  const submit = (done: string) => (e: SubmitEvent) => {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    work(true);
    ask(Object.fromEntries([...new FormData(form)].map(([k, v]) => [k, String(v).trim()])))
      .then((f) => {
        form.reset();
        set(f);
        tell({ text: done });
      }, tellError)
      .finally(() => work(false));
  };
  if (error) return null;
  return (
    <section class="panel given-panel purse">
      <h2>{t("purse.title")}</h2>
      <p class="muted">{t("purse.says")}</p>
      {funds && <p class="sum">{funds.has.length ? <strong>{funds.has.join(" · ")}</strong> : t("purse.none")}</p>}
      {funds?.voucher && <Code code={funds.voucher} />}
      <details>
        <summary>{t("purse.put")}</summary>
        <form class="inline" data-does="changeFunds" onSubmit={submit(t("purse.isIn"))}>
          <input name="voucher" data-act="voucher" required maxLength={200} aria-label={t("pay.voucher")} placeholder="7K3QF-0M9ZT-…" spellcheck={false} autocomplete="off" />
          <button class="button" disabled={busy}>
            {t("purse.putDo")}
          </button>
        </form>
      </details>
      {!!funds?.has.length && (
        <details>
          <summary>{t("purse.take")}</summary>
          <form class="inline" data-does="changeFunds" onSubmit={submit(t("purse.isOut"))}>
            <input name="amount" required maxLength={40} aria-label={t("purse.amount")} placeholder={funds.has[0]} autocomplete="off" />
            <button class="button" disabled={busy}>
              {t("purse.takeDo")}
            </button>
          </form>
        </details>
      )}
    </section>
  );
}

/** A voucher's code, which is worth money. */
export function Code({ code }: { code: string }) {
  return (
    <div class="notice warn">
      <Icon name="key" />
      <div>
        <p>{t("purse.code")}</p>
        <code>{code}</code>
      </div>
    </div>
  );
}

/** moved takes a step of an order, and shows an error if it fails. */
export const moveOrder = (id: string, step: Record<string, unknown>) => post<Order>(`/v1/market/orders/${id}`, step).then((o) => (changes(), o));
