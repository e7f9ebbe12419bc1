// The listing of a bundle: the step of a sale that replaces the choice of a share's readers.

import { post } from "./api";
import { lang, t } from "./i18n";
import { Icon } from "./icons";
import { agree } from "./known";
import { go } from "./router";
import { at } from "./shop";
import { changes, tell, useLoaded } from "./widgets";

/** The input of a sale beyond that of a share. */
export interface Sale {
  description: string;
  categories: string;
  languages: string;
  sample: string;
  price: string;
  licence: string;
  market: string;
  approve: boolean;
  deliver: number;
  accept: number;
  every: number; // days of a period; 0: it is sold once
  unmarked: boolean; // all copies are the same
  answers: boolean; // questions are answered, and no copy is sold
  each: number; // percent of the memories that one buyer is shown at most
  all: number; // … and all buyers together
  replaces?: string; // a listing of which it is the next version
}

/** noSale is an empty sale, in the page's language. */
export const noSale = (): Sale => ({ description: "", categories: "", languages: lang === "zh" ? "zh-Hans" : "en", sample: "", price: "", licence: "", market: "", approve: false, deliver: 7, accept: 3, every: 0, unmarked: false, answers: false, each: 10, all: 50 });

const list = (text: string) => text.split(/[,，]/).map((w) => w.trim()).filter(Boolean);

/** listingOf is the request for a listing of a bundle. */
export function listingOf(title: string, s: Sale, bundle: Record<string, unknown>): unknown {
  return {
    bundle: { ...bundle, to: undefined, title: undefined, expires: undefined },
    market: s.market.trim(),
    title: title.trim(),
    description: s.description.trim() || undefined,
    categories: list(s.categories).map((c) => c.toLowerCase().replace(/\s+/g, "-")),
    languages: list(s.languages),
    sample: s.sample.split(/\n\s*\n/).map((p) => p.trim()).filter(Boolean),
    price: s.price.trim(),
    licence: s.licence.trim() || undefined,
    approve: s.approve || undefined,
    deliver_days: s.deliver,
    accept_days: s.accept,
    every_days: (!s.answers && s.every) || undefined,
    unmarked: (!s.answers && s.unmarked) || undefined,
    answers: s.answers ? { each: s.each, all: s.all } : undefined,
    replaces: s.replaces,
  };
}

/** listed shows the seller what they sell. */
export async function listed(body: unknown) {
  await post("/v1/market/listings", body);
  const { market } = body as { market: string };
  agree(market);
  changes();
  go("/market" + at(market));
  tell({ text: t("sell.listed") });
}

export function Listing({ title, sale, retitle, change }: { title: string; sale: Sale; retitle: (title: string) => void; change: (c: Partial<Sale>) => void }) {
  const text = (name: "categories" | "languages" | "price" | "licence" | "market", most: number, hint: string, required = false) => (
    <label>
      {t(`sell.${name}`)}
      <input name={name} value={sale[name]} required={required} maxLength={most} placeholder={hint} onInput={(e) => change({ [name]: e.currentTarget.value })} autocomplete="off" />
    </label>
  );
  const days = (name: "deliver" | "accept") => (
    <label>
      {t(`sell.${name}`)}
      <input name={name} type="number" min={1} max={30} value={sale[name]} onInput={(e) => change({ [name]: Number(e.currentTarget.value) || 1 })} />
    </label>
  );
  const percent = (name: "each" | "all") => (
    <label>
      {t(`sell.${name}`)}
      <input name={name} type="number" min={1} max={100} value={sale[name]} onInput={(e) => change({ [name]: Number(e.currentTarget.value) || 1 })} />
    </label>
  );
  const alone = useLoaded<{ relay: string }>(sale.replaces ? null : "/v1/sync").value?.relay === "";
  return (
    <>
      {alone && (
        <>
          <p class="notice">
            <Icon name="share" /> {t("shop.none")}
          </p>
          {text("market", 300, "https://relay.example", true)}
        </>
      )}
      {sale.replaces && (
        <p class="notice">
          <Icon name="archive" /> {t("sell.nextSays")}
        </p>
      )}
      <p class="muted">{t("sell.public")}</p>
      <label>
        {t("sell.title")}
        <input name="title" value={title} required maxLength={120} onInput={(e) => retitle(e.currentTarget.value)} autocomplete="off" />
      </label>
      <label>
        {t("sell.description")}
        <textarea name="description" rows={3} maxLength={2000} value={sale.description} onInput={(e) => change({ description: e.currentTarget.value })} />
      </label>
      {text("categories", 200, t("sell.categoriesHint"), true)}
      {text("languages", 60, "en, zh-Hans", true)}
      <label>
        {t("sell.sample")}
        <textarea name="sample" rows={4} maxLength={4000} value={sale.sample} placeholder={t("sell.sampleHint")} onInput={(e) => change({ sample: e.currentTarget.value })} />
      </label>
      {text("price", 30, "5.00 EUR", true)}
      {!sale.replaces && (
        <label class="check">
          <input type="checkbox" name="answers" checked={sale.answers} onChange={(e) => change({ answers: e.currentTarget.checked })} />
          <span>
            {t("sell.answers")}
            <span class="row-says muted">{t("sell.answersSays")}</span>
          </span>
        </label>
      )}
      {sale.answers && (
        <div class="fields">
          {percent("each")}
          {percent("all")}
        </div>
      )}
      {!sale.answers && (
        <label class="check">
          <input type="checkbox" name="unmarked" checked={sale.unmarked} onChange={(e) => change({ unmarked: e.currentTarget.checked })} />
          <span>
            {t("sell.same")}
            <span class="row-says muted">{t("sell.sameSays")}</span>
          </span>
        </label>
      )}
      <label class="check">
        <input type="checkbox" name="approve" checked={sale.approve} onChange={(e) => change({ approve: e.currentTarget.checked })} />
        <span>
          {t("sell.approve")}
          <span class="row-says muted">{t("sell.approveSays")}</span>
        </span>
      </label>
      <details>
        <summary>{t("sharer.more")}</summary>
        <div class="fields">
          {text("licence", 300, t("sell.licenceHint"))}
          {!sale.replaces && !alone && text("market", 300, t("shop.atHint"))}
          {days("deliver")}
          {days("accept")}
          {!sale.replaces && !sale.answers && (
            <>
              <label>
                {t("sell.every")}
                <input name="every" type="number" min={0} max={366} value={sale.every} onInput={(e) => change({ every: Number(e.currentTarget.value) || 0 })} />
              </label>
              <p class="muted">{t("sell.everySays")}</p>
            </>
          )}
        </div>
      </details>
    </>
  );
}
