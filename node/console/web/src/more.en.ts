// English, for the pages that are loaded after the first one.

import { enDeal } from "./words.deal.en";
import { enHeld } from "./words.held.en";
import { enKeep } from "./words.keep.en";
import { enMatch } from "./words.match.en";
import { enOwn } from "./words.own.en";
import { enPool } from "./words.pool.en";
import { enSet } from "./words.set.en";
import { enShop } from "./words.shop.en";

export const enMore = {
  ...enSet,
  ...enShop,
  ...enDeal,
  ...enOwn,
  ...enHeld,
  ...enKeep,
  ...enPool,
  ...enMatch,
} as const satisfies Record<string, string>;
