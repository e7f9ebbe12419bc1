// The next version of something that the wearer sells: the steps of a sale, filled in from the current version.

import type { Listing } from "./market";
import { noSale } from "./sell";
import { Sharer } from "./sharer";
import { at, type Offer } from "./shop";
import { t } from "./i18n";
import { Empty, Failure, useLoaded, Waiting } from "./widgets";

/** NextVersion loads the current listing from its market. */
export function NextVersion({ id }: { id: string }) {
  const own = useLoaded<{ listings: Listing[] }>("/v1/market/listings");
  const listing = own.value?.listings.find((l) => l.id === id && !l.withdrawn);
  const offer = useLoaded<Offer>(listing ? "/v1/market/offers/" + encodeURIComponent(id) + at(listing.market) : null, { asks: true });
  const error = own.error ?? offer.error;
  if (error) return <Failure error={error} />;
  if (own.value && !listing) return <Empty icon="why" title={t("page.none")} />;
  const o = offer.value;
  if (!listing || !o) return <Waiting />;
  const sale = { ...noSale(), description: o.description ?? "", categories: o.categories.join(", "), languages: o.languages.join(", "), sample: (o.sample ?? []).join("\n\n"), price: o.price, licence: o.licence ?? "",
    market: listing.market, approve: !!listing.approve, unmarked: !!listing.unmarked, deliver: o.deliver_days, accept: o.accept_days, replaces: id };
  return <Sharer key={id} begin={{ title: o.title, sale }} />;
}
