// The export of the whole memory as a file.

import { useState } from "preact/hooks";
import { fetchFile } from "./api";
import { dateOf, size, t } from "./i18n";
import { save } from "./save";
import { tell, tellError } from "./widgets";

export function TakeOut() {
  const [busy, work] = useState(false);
  const run = () => {
    work(true);
    fetchFile("/v1/export")
      .then((file) => (save(`locket-${dateOf(new Date())}.jsonl`, file), tell({ text: t("export.done", { size: size(file.size) }) })), tellError)
      .finally(() => work(false));
  };
  return (
    <section class="panel fields">
      <h2 data-act="export" tabIndex={-1}>
        {t("export.title")}
      </h2>
      <p class="muted">{t("export.says")}</p>
      <pre class="pair-line">locket export --help</pre>
      <div class="actions">
        <button type="button" class="button" data-act="export-do" disabled={busy} onClick={run}>
          {t(busy ? "export.busy" : "export.do")}
        </button>
      </div>
    </section>
  );
}
