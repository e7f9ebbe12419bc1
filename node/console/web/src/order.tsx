// An order: its status, what was delivered, and the next step.

import { useState } from "preact/hooks";
import { moment, said, t } from "./i18n";
import { Icon } from "./icons";
import { More } from "./more";
import { pageOf, pay, Ways, type Way } from "./offer";
import { saveFrom } from "./save";
import { at, moveOrder, nextOf, type Order } from "./shop";
import { Dialog, DialogEnd, Failure, T, tell, tellError, useLoaded, Waiting } from "./widgets";

type Step = "accept" | "dispute" | "cancel" | "review";

export function OrderPage({ id }: { id: string }) {
  const { value: o, error, again } = useLoaded<Order>("/v1/market/orders/" + encodeURIComponent(id), { asks: true });
  const [step, ask] = useState<Step>();
  const [way, choose] = useState<Way>("funds");
  const [busy, work] = useState(false);
  const [more, show] = useState(false);
  const [page, open] = useState(pageOf(id));
  if (error) return <Failure error={error} />;
  if (!o) return <Waiting />;
  const run = (f: () => Promise<Order>, done: string) => {
    work(true);
    f()
      .then((now) => {
        ask(undefined);
        open(now.page ?? "");
        if (!now.page) tell({ text: done });
        again();
      }, tellError)
      .finally(() => work(false));
  };
  const paying = (e: SubmitEvent) => {
    e.preventDefault();
    const voucher = String(new FormData(e.currentTarget as HTMLFormElement).get("voucher") ?? "").trim();
    run(() => pay(o.order, way, voucher), t("offer.bought"));
  };
  const key = !!o.items || !!o.broken;
  return (
    <div class="page sharing shop order">
      <a class="back" href="/market">
        <Icon name="left" size={14} /> {t("shop.title")}
      </a>
      <header class="page-head">
        <h1>
          <T text={o.title} most={200} />
        </h1>
        <p>
          <span class={`badge${["ordered", "delivered"].includes(o.phase) ? " warn" : ""}`}>{said("phase", o.phase)}</span>{" "}
          <span class="muted">
            <T text={[o.price, o.back && t("orders.back", { sum: o.back }), o.market.replace(/^https?:\/\//, "")].filter(Boolean).join(" · ")} most={300} />
          </span>
        </p>
      </header>
      <section class="panel next">
        <h2>{t("order.next")}</h2>
        <p>
          {nextOf(o)} {o.deadline && <span class="muted">({t("market.until", { at: moment(o.deadline) })})</span>}
        </p>
        {o.reason && (
          <p class="muted">
            {t("order.reason")} <T text={o.reason} most={400} />
          </p>
        )}
        {o.phase === "ordered" && (
          <form class="fields" data-does="moveOrder" onSubmit={paying}>
            {!page && <Ways market={o.market} way={way} choose={choose} />}
            {page && (
              <p>
                <a class="button solid" href={page} target="_blank" rel="noopener noreferrer">
                  {t("pay.page")}
                </a>
              </p>
            )}
            <p class="muted">{t("pay.undo")}</p>
            <div class="actions">
              {!page && (
                <button class="button solid" disabled={busy}>
                  {t("offer.pay", { price: o.price })}
                </button>
              )}
              <button type="button" class="button danger" data-does="moveOrder" onClick={() => ask("cancel")}>
                {t("order.cancel")}
              </button>
            </div>
          </form>
        )}
        {o.broken && (
          <p class="notice bad" role="alert">
            <Icon name="warn" />
            <span>
              {o.item ? t("order.brokenItem", { n: o.item }) : t("order.broken")} <T text={o.broken} most={300} />
            </span>
          </p>
        )}
        {o.items && (
          <p class="notice good">
            <Icon name="check" /> {o.answer ? t("order.answered") : t("order.checked", { n: o.items.length })}
          </p>
        )}
        <div class="actions">
          {o.items && ["delivered", "disputed"].includes(o.phase) && (
            <button type="button" class="button solid" data-does="moveOrder" onClick={() => ask("accept")}>
              {t("order.accept")}
            </button>
          )}
          {key && o.phase === "delivered" && (
            <button type="button" class="button danger" data-does="moveOrder" onClick={() => ask("dispute")}>
              {t("order.dispute")}
            </button>
          )}
          {o.reviewable && (
            <button type="button" class="button" data-does="moveOrder" onClick={() => ask("review")}>
              {t("order.review")}
            </button>
          )}
          {o.items && !o.answer && (
            <button type="button" class="button" data-does="orderFile" data-act="car" title={t("car.says")} onClick={() => void saveFrom(`/v1/market/orders/${o.order}/car`, o.order.slice(0, 10) + ".car").catch(tellError)}>
              {t("car.save")}
            </button>
          )}
          <a class="button" href={`/market/${o.listing}` + at(o.market)}>
            {t("order.listing")}
          </a>
        </div>
      </section>
      {o.items && (
        <section class="panel">
          <h2>{t("order.came", { n: o.items.length })}</h2>
          <p class="muted">{t("order.cameSays")}</p>
          <ol class="rows came">
            {o.items.slice(0, more ? undefined : 100).map((m, i) => (
              <li key={i}>
                <span class="count">{i + 1}</span>
                <span class="rows-text">
                  <T text={m.text} most={1000} />
                  <span class="row-says muted">{said("kind", m.type)}</span>
                </span>
              </li>
            ))}
          </ol>
          {o.items.length > 100 && !more && (
            <More show={() => show(true)}>
              {t("more")} <span class="count">{o.items.length - 100}</span>
            </More>
          )}
        </section>
      )}
      {step && <Ask order={o} step={step} busy={busy} close={() => ask(undefined)} run={(body) => run(() => moveOrder(o.order, { act: step, ...body }), t(`order.${step}Done`))} />}
    </div>
  );
}

/** The input of a step, and what it can't undo. */
function Ask({ order: o, step, busy, close, run }: { order: Order; step: Step; busy: boolean; close: () => void; run: (body: Record<string, unknown>) => void }) {
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    const body: Record<string, unknown> = {};
    for (const [k, v] of form) body[k] = k === "item" || k === "stars" ? Number(v) : String(v).trim();
    run(body);
  };
  return (
    <Dialog title={t(`order.${step}`)} close={close}>
      <form class="fields" onSubmit={submit}>
        <p>{step === "dispute" && o.answer ? t("order.disputeAnswerSays") : t(`order.${step}Says`, { price: o.price })}</p>
        {step === "dispute" && (
          <>
            {!o.answer && (o.items || o.item) ? (
              <label>
                {t("order.item")}
                <input name="item" type="number" required min={1} max={o.items?.length ?? 100000} defaultValue={o.item ? String(o.item) : "1"} />
              </label>
            ) : null}
            <label>
              {t("order.why")}
              <textarea name="reason" rows={3} required maxLength={400} />
            </label>
          </>
        )}
        {step === "review" && (
          <>
            <label>
              {t("order.stars")}
              <select name="stars" defaultValue="5">
                {[5, 4, 3, 2, 1].map((n) => (
                  <option key={n} value={String(n)}>
                    {t("offer.ofFive", { n })}
                  </option>
                ))}
              </select>
            </label>
            <label>
              {t("order.text")}
              <textarea name="text" rows={3} maxLength={400} />
            </label>
          </>
        )}
        <DialogEnd close={close} busy={busy} danger={step === "dispute" || step === "cancel"} word={step === "accept" ? t("order.acceptDo", { price: o.price }) : t(`order.${step}`)} />
      </form>
    </Dialog>
  );
}
