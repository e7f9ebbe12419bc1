// 中文，首页之外的页面。

import type { enMore } from "./more.en";
import { zhDeal } from "./words.deal.zh";
import { zhHeld } from "./words.held.zh";
import { zhKeep } from "./words.keep.zh";
import { zhMatch } from "./words.match.zh";
import { zhOwn } from "./words.own.zh";
import { zhPool } from "./words.pool.zh";
import { zhSet } from "./words.set.zh";
import { zhShop } from "./words.shop.zh";

export const zhMore: Record<keyof typeof enMore, string> = {
  ...zhSet,
  ...zhShop,
  ...zhDeal,
  ...zhOwn,
  ...zhHeld,
  ...zhKeep,
  ...zhPool,
  ...zhMatch,
};
