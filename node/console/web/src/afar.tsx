// Operations that are not available from another machine: where they are done, and by which command.

import { may } from "./api";
import { t } from "./i18n";
import { Empty } from "./widgets";

/** Afar is shown instead of the controls of an operation that this page may not call. It names the command that does it. */
export function Afar({ does, by }: { does: string; by: string }) {
  if (may(does)) return null;
  return (
    <p class="muted afar">
      {t("afar.how")} <code>{by}</code>
    </p>
  );
}

/** AfarPage replaces a page that is only available on the node's own machine. */
export const AfarPage = () => (
  <Empty icon="lock" title={t("afar.none")}>
    <p>{t("afar.says")}</p>
    <pre>locket open</pre>
  </Empty>
);
