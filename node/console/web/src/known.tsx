// A market named by a link: the node contacts no unknown address before the wearer agrees.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { t } from "./i18n";
import { Icon } from "./icons";
import { Failure, T, useLoaded, Waiting } from "./widgets";

/** Addresses that the wearer typed, or agreed to, in this tab. */
const agreed = new Set<string>();

/** agree records that the wearer named an address, not only a link. */
export const agree = (market: string) => void agreed.add(market.trim());

/** plain is an address as a browser writes it, in which letters that look alike are encoded. */
function plain(address: string): string {
  try {
    return new URL(address).origin;
  } catch {
    return "";
  }
}

/** Known shows its children once the market may be contacted. */
export function Known({ market, children }: { market: string; children: ComponentChildren }) {
  const ask = market !== "" && !agreed.has(market);
  const { value, error } = useLoaded<{ market: string; known: boolean }>(ask ? "/v1/market/known?market=" + encodeURIComponent(market) : null);
  const [, again] = useState(0);
  if (!ask || value?.known) return <>{children}</>;
  if (!value && !error) return <Waiting />;
  const other = value ? plain(value.market) : "";
  return (
    <div class="page sharing shop">
      <header class="page-head">
        <h1>{t("known.title")}</h1>
      </header>
      {error && <Failure error={error} />}
      {value && (
        <section class="panel known">
          <p>{t("known.says")}</p>
          <p>
            <code class="address">
              <T text={value.market} most={2000} />
            </code>
          </p>
          {other !== value.market && other && (
            <p class="notice warn">
              <Icon name="warn" />
              <span>
                {t("known.looks")} <code>{other}</code>
              </span>
            </p>
          )}
          <p class="muted">{t("known.tells")}</p>
          <div class="actions">
            <button type="button" class="button solid" data-act="agree" onClick={() => (agree(market), again((n) => n + 1))}>
              {t("known.do")}
            </button>
            <a class="button" href="/market">
              {t("known.not")}
            </a>
          </div>
        </section>
      )}
      {error && (
        <p>
          <a class="button" href="/market">
            {t("known.not")}
          </a>
        </p>
      )}
    </div>
  );
}
