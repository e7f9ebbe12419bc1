// What is not done from another machine: where, and by which command it is.

import { may } from "./api";
import { t } from "./i18n";
import { Empty } from "./widgets";

/** Afar stands by what does an operation, which is hidden where the page may not, and says where one does it then. */
export function Afar({ does, by }: { does: string; by: string }) {
  if (may(does)) return null;
  return (
    <p class="muted afar">
      {t("afar.how")} <code>{by}</code>
    </p>
  );
}

/** AfarPage stands in place of a page that is for the node's own machine alone. */
export const AfarPage = () => (
  <Empty icon="lock" title={t("afar.none")}>
    <p>{t("afar.says")}</p>
    <pre>locket open</pre>
  </Empty>
);
