// A listing of the market, and buying it.

import { useEffect, useState } from "preact/hooks";
import { post, Problem } from "./api";
import { dateOf, mediumDate, said, t } from "./i18n";
import { Icon } from "./icons";
import { go } from "./router";
import { at, moveOrder, stars, type Funds, type Offer, type Order, type ReviewCheck } from "./shop";
import { Subscribe } from "./subscribe";
import { asProblem, changes, Dialog, DialogEnd, Failure, T, tell, tellError, useLoaded, Waiting } from "./widgets";

export function OfferPage({ id, market }: { id: string; market: string }) {
  const { value: o, error, again } = useLoaded<Offer>("/v1/market/offers/" + encodeURIComponent(id) + at(market), { asks: true });
  const [buying, buy] = useState(false);
  const [subscribing, subscribe] = useState(false);
  const [wrong, report] = useState(false);
  if (error) return <Failure error={error} />;
  if (!o) return <Waiting />;
  const live = !o.state || o.state === "live";
  const says: [string, string | undefined][] = [
    [t("offer.holds"), Object.entries(o.counts).map(([k, n]) => `${said("kind", k)}: ${n}`).join(", ")],
    [t("offer.period"), o.since || o.until ? [o.since, o.until].map((d) => (d ? mediumDate(dateOf(d)) : "…")).join(" – ") : ""],
    [t("offer.categories"), o.categories.join(", ")],
    [t("offer.languages"), o.languages.join(", ")],
    [t("offer.out"), o.redaction?.map((r) => said("redaction", r)).join(", ")],
    [t("offer.licence"), o.licence],
    [t("offer.terms"), o.terms],
    [t("offer.seller"), o.seller],
    [t("offer.delivery"), t("offer.deliveryDays", { n: o.deliver_days, accept: o.accept_days })],
    [t("offer.before"), o.before?.map((b) => [t("offer.marketOf", { key: b.market.slice(0, 8) }), stars(b), t("shop.sold", { n: b.sold })].filter(Boolean).join(", ")).join("; ")],
  ];
  return (
    <div class="page sharing shop offer">
      <a class="back" href={"/market" + at(market)}>
        <Icon name="left" size={14} /> {t("shop.title")}
      </a>
      <header class="page-head with-button">
        <div>
          <h1>
            <T text={o.title} most={200} />
          </h1>
          <p class="muted">{[t("out.memories", { n: o.items }), stars(o), t("shop.sold", { n: o.sold })].filter(Boolean).join(" · ")}</p>
        </div>
        {live && (
          <button type="button" class="button solid" data-does="orderOffer" data-act="buy" onClick={() => buy(true)}>
            {t(o.answers ? "offer.ask" : "offer.buy", { price: o.price })}
          </button>
        )}
      </header>
      {o.answers && (
        <p class="notice">
          <Icon name="ask" />
          <span>{t("offer.answers", o.answers)}</span>
        </p>
      )}
      {!!o.marks && (
        <p class="notice">
          <Icon name="why" />
          <span>{t("offer.marks", { n: o.marks })}</span>
        </p>
      )}
      {!live && (
        <p class="notice warn">
          <Icon name="warn" /> {t("offer.ended")} <T text={o.why ?? ""} most={300} />
        </p>
      )}
      {!!o.every_days && (
        <p class="notice subscription">
          <Icon name="sync" />
          <span>
            {t("offer.every", { n: o.every_days })}
          </span>
          {live && (
            <button type="button" class="button" data-does="subscribe" data-act="subscribe" onClick={() => subscribe(true)}>
              {t("subscribe.open")}
            </button>
          )}
        </p>
      )}
      {o.description && (
        <p class="content">
          <T text={o.description} most={4000} />
        </p>
      )}
      {!!o.sample?.length && (
        <section class="panel">
          <h2>{t("offer.sample")}</h2>
          <p class="muted">{t("offer.sampleSays")}</p>
          {o.sample.map((s) => (
            <blockquote key={s}>
              <T text={s} most={2000} />
            </blockquote>
          ))}
        </section>
      )}
      <section class="panel terms">
        <h2>{t("offer.about")}</h2>
        <dl>
          {says.map(([name, text]) => text && [<dt key={name}>{name}</dt>, <dd key={name + "="}><T text={text} most={1000} /></dd>])}
        </dl>
      </section>
      <section class="panel">
        <h2>{t("offer.reviews")}</h2>
        <CheckSays check={o.check} />
        {!o.said?.length && <p class="muted">{t("offer.noReviews")}</p>}
        <ul class="rows">
          {o.said?.map((r) => (
            <li key={r.by + r.at}>
              <span class="rows-text">
                <strong>{t("offer.ofFive", { n: r.stars })}</strong>{" "}
                {o.check && !o.check.error && <span class={`badge${r.unproven ? " warn" : ""}`}>{r.unproven ? said("unproven", r.unproven) : t("offer.checked")}</span>} <T text={r.text ?? ""} most={1000} />
                <span class="row-says muted">{[t("offer.buyer", { key: r.by.slice(0, 8) }), mediumDate(dateOf(r.at))].join(" · ")}</span>
              </span>
            </li>
          ))}
        </ul>
      </section>
      <div class="actions">
        <button type="button" class="button small" data-does="reportOffer" onClick={() => report(true)}>
          {t("offer.report")}
        </button>
      </div>
      {buying && <Buy offer={o} market={market} close={() => buy(false)} again={again} />}
      {subscribing && <Subscribe offer={o} market={market} close={() => subscribe(false)} />}
      {wrong && <Report offer={o} market={market} close={() => report(false)} />}
    </div>
  );
}

/** CheckSays shows what was wrong with the reviews of a listing. If nothing was, each review is marked as checked. */
export function CheckSays({ check: c }: { check?: ReviewCheck }) {
  const says = !c
    ? []
    : c.error
      ? [`${t("offer.unchecked")} ${c.error}`]
      : [c.unproven && t("offer.unproven", { n: c.unproven }), c.hidden && t("offer.hidden", { n: c.hidden }), ...(c.deleted ?? []).map((why) => `${t("offer.deleted")} ${why}`)];
  return (
    <>
      {says.map(
        (text) =>
          text && (
            <p key={text} class="notice warn">
              <Icon name="warn" />{" "}
              <span>
                <T text={text} most={600} />
              </span>
            </p>
          ),
      )}
    </>
  );
}

/** Ways to pay for an order: from the balance, by voucher, or on the provider's page. */
export type Way = "funds" | "voucher" | "card";

export function Ways({ market, way, choose }: { market: string; way: Way; choose: (w: Way) => void }) {
  const [funds, set] = useState<Funds>();
  useEffect(() => {
    post<Funds>("/v1/market/funds", { market: market || undefined }).then((f) => {
      set(f);
      if (!f.has.length) choose("voucher");
    }, tellError);
  }, [market]);
  const ways: Way[] = ["funds", "voucher", ...(funds?.pays.includes("stripe") ? (["card"] as const) : [])];
  return (
    <fieldset class="field">
      <legend>{t("pay.how")}</legend>
      {ways.map((w) => (
        <label key={w} class="check">
          <input type="radio" name="way" value={w} checked={way === w} onChange={() => choose(w)} />
          <span>
            {t(`pay.${w}`)}
            {w === "funds" && <span class="row-says muted">{funds ? funds.has.join(" · ") || t("purse.none") : t("wait")}</span>}
            {w === "card" && <span class="row-says muted">{t("pay.cardSays")}</span>}
          </span>
        </label>
      ))}
      {way === "voucher" && <input name="voucher" required maxLength={200} aria-label={t("pay.voucher")} placeholder="7K3QF-0M9ZT-…" spellcheck={false} autocomplete="off" />}
    </fieldset>
  );
}

/** The provider's payment pages that this tab received, by order. An address from the URL could be anybody's. */
const pages = new Map<string, string>();
export const pageOf = (order: string) => pages.get(order) ?? "";

/** pay pays for an order. By card nothing is paid yet: it returns the payment page. */
export async function pay(id: string, way: Way, voucher: string): Promise<Order> {
  const now = await moveOrder(id, way === "card" ? { act: "card" } : { act: "pay", voucher: way === "voucher" ? voucher : undefined });
  if (way !== "card") return now;
  if (!now.page?.startsWith("https://")) throw new Problem(502, "", t("pay.noPage"));
  pages.set(id, now.page);
  return now;
}

function Buy({ offer: o, market, close, again }: { offer: Offer; market: string; close: () => void; again: () => void }) {
  const [way, choose] = useState<Way>("funds");
  const [busy, work] = useState(false);
  async function submit(e: SubmitEvent) {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    const [voucher, question] = ["voucher", "question"].map((k) => String(form.get(k) ?? "").trim());
    work(true);
    try {
      const made = await post<Order>("/v1/market/orders", { market: market || undefined, version: o.version, price: o.price, question: question || undefined });
      try {
        const paid = await pay(made.order, way, voucher);
        if (!paid.page) tell({ text: t("offer.bought") });
        go("/market/order/" + made.order);
      } catch (e) {
        changes();
        go("/market/order/" + made.order); // the order exists, and can be paid there
        tellError(e);
      }
    } catch (e) {
      if (asProblem(e).is("conflict")) again();
      tellError(e);
      work(false);
    }
  }
  return (
    <Dialog title={t(o.answers ? "offer.ask" : "offer.buy", { price: o.price })} close={close}>
      <form class="fields buy" onSubmit={submit}>
        <p>
          <strong>
            <T text={o.title} most={120} />
          </strong>
        </p>
        {o.answers && (
          <label>
            {t("offer.question")}
            <textarea name="question" rows={3} required maxLength={300} autofocus />
            <span class="row-says muted">{t("offer.questionSays")}</span>
          </label>
        )}
        <Ways market={market} way={way} choose={choose} />
        <p class="notice warn">
          <Icon name="warn" />
          <span>{t("pay.undo")}</span>
        </p>
        <DialogEnd close={close} busy={busy} word={t("offer.pay", { price: o.price })} />
      </form>
    </Dialog>
  );
}

function Report({ offer: o, market, close }: { offer: Offer; market: string; close: () => void }) {
  const send = (e: SubmitEvent) => {
    e.preventDefault();
    const reason = String(new FormData(e.currentTarget as HTMLFormElement).get("reason")).trim();
    post("/v1/market/reports", { market: market || undefined, id: o.id, reason }).then(() => (close(), tell({ text: t("offer.reported") })), tellError);
  };
  return (
    <Dialog title={t("offer.report")} close={close}>
      <form class="edit" onSubmit={send}>
        <label>
          {t("offer.reportWhy")} <input name="reason" required maxLength={200} autocomplete="off" autofocus />
        </label>
        <DialogEnd close={close} word={t("offer.reportDo")} />
      </form>
    </Dialog>
  );
}
