// The disputes that the wearer decides as a market's arbiter. Nobody else sees them.

import { useState } from "preact/hooks";
import { post } from "./api";
import { moment, said, t } from "./i18n";
import { Icon } from "./icons";
import { at } from "./shop";
import { changes, Dialog, DialogEnd, T, tell, tellError, useLoaded } from "./widgets";

interface Dispute {
  order: string;
  title: string;
  listing: string;
  price: string;
  until: string;
  says: string;
  place?: number;
  item?: { type: string; text: string };
  question?: string; // if an answer was bought
  answer?: string[];
  broken?: string;
  nothing?: string;
}

export function Disputes({ market }: { market: string }) {
  const { value } = useLoaded<{ arbiter: boolean; disputes: Dispute[] }>("/v1/market/disputes" + at(market), { asks: true });
  const [of, decide] = useState<Dispute>();
  if (!value?.arbiter) return null;
  return (
    <section class="panel disputes">
      <h2 data-act="disputes" tabIndex={-1}>
        {t("disputes.title")}
      </h2>
      <p class="muted">{t("disputes.says")}</p>
      {!value.disputes.length && <p>{t("disputes.none")}</p>}
      <ul class="rows">
        {value.disputes.map((d) => (
          <li key={d.order}>
            <span class="rows-text">
              <a href={`/market/${d.listing}` + at(market)}>
                <strong>
                  <T text={d.title} most={120} />
                </strong>
              </a>
              <span class="row-says">
                {t("disputes.buyer")} <T text={d.says} most={400} />
              </span>
              {d.item && (
                <span class="row-says">
                  {t("disputes.item", { n: d.place ?? 0, kind: said("kind", d.item.type) })} <T text={d.item.text} most={1000} />
                </span>
              )}
              {d.question && (
                <span class="row-says">
                  {t("disputes.asked")} <T text={d.question} most={1000} />
                </span>
              )}
              {d.answer?.map((text) => (
                <span key={text} class="row-says">
                  {t("disputes.answered")} <T text={text} most={1000} />
                </span>
              ))}
              {d.broken && (
                <span class="row-says bad">
                  {t("disputes.broken")} <T text={d.broken} most={400} />
                </span>
              )}
              {d.nothing && (
                <span class="row-says">
                  {t("disputes.nothing")} <T text={d.nothing} most={400} />
                </span>
              )}
              <span class="row-says muted">{[d.price, t("disputes.until", { at: moment(d.until) }), d.order.slice(0, 10)].join(" · ")}</span>
            </span>
            <button type="button" class="button small" data-does="decideDispute" aria-label={`${t("disputes.decide")}: ${d.title.slice(0, 60)}`} onClick={() => decide(d)}>
              {t("disputes.decide")}
            </button>
          </li>
        ))}
      </ul>
      {of && <Decide dispute={of} market={market} close={() => decide(undefined)} />}
    </section>
  );
}

function Decide({ dispute: d, market, close }: { dispute: Dispute; market: string; close: () => void }) {
  const [share, choose] = useState<"all" | "none" | "part">("all");
  const [busy, work] = useState(false);
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    work(true);
    post(`/v1/market/disputes/${d.order}`, { market: market || undefined, refund: share === "part" ? String(form.get("amount")).trim() : share, reason: String(form.get("reason")).trim() })
      .then(() => {
        close();
        changes();
        tell({ text: t("disputes.done") });
      }, tellError)
      .finally(() => work(false));
  };
  return (
    <Dialog title={t("disputes.decide")} close={close}>
      <form class="fields buy" onSubmit={submit}>
        <p>
          <strong>
            <T text={d.title} most={120} />
          </strong>{" "}
          {d.price}
        </p>
        <fieldset class="field">
          <legend>{t("disputes.who")}</legend>
          {(["all", "none", "part"] as const).map((s) => (
            <label key={s} class="check">
              <input type="radio" name="share" value={s} checked={share === s} onChange={() => choose(s)} />
              <span>{t(s === "none" ? "disputes.seller" : `disputes.${s}`)}</span>
            </label>
          ))}
          {share === "part" && <input name="amount" required maxLength={40} aria-label={t("disputes.amount")} placeholder={d.price} autocomplete="off" />}
        </fieldset>
        <label>
          {t("disputes.reason")}
          <textarea name="reason" rows={3} required maxLength={400} />
        </label>
        <p class="notice warn">
          <Icon name="warn" />
          <span>{t("disputes.undo")}</span>
        </p>
        <DialogEnd close={close} busy={busy} word={t("disputes.do")} />
      </form>
    </Dialog>
  );
}
