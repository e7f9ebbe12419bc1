// Keeping a copy elsewhere: in a folder of this machine, such as a stick.

import { useEffect, useState } from "preact/hooks";
import { post, type Problem } from "./api";
import { t } from "./i18n";
import { asProblem, changes, Dialog, Failure } from "./widgets";

const asked = new EventTarget();

/** backUp asks the wearer where to put a copy. */
export const backUp = () => void asked.dispatchEvent(new Event("backup"));

export function BackingUp() {
  const [open, set] = useState(false);
  useEffect(() => {
    const on = () => set(true);
    asked.addEventListener("backup", on);
    return () => asked.removeEventListener("backup", on);
  }, []);
  return open ? <Places close={() => set(false)} /> : null;
}

function Places({ close }: { close: () => void }) {
  const [busy, work] = useState(false);
  const [error, fail] = useState<Problem>();
  const [carried, set] = useState<{ took: number; gave: number; blobs: number }>();
  async function exchange(e: SubmitEvent) {
    e.preventDefault();
    const folder = ((e.currentTarget as HTMLFormElement).elements.namedItem("folder") as HTMLInputElement).value.trim();
    work(true);
    fail(undefined);
    try {
      set(await post("/v1/sync/folder", { folder }));
      changes();
    } catch (e) {
      fail(asProblem(e));
    } finally {
      work(false);
    }
  }
  return (
    <Dialog title={t("backup.title")} close={close} wide>
      <h3>{t("backup.whole")}</h3>
      <p>{t("backup.wholeSays")}</p>
      <pre class="pair-line">{"locket backup DIR"}</pre>
      <h3>{t("backup.folder")}</h3>
      <p>{t("backup.folderSays")}</p>
      <form class="inline" onSubmit={exchange}>
        <input name="folder" required autofocus aria-label={t("backup.name")} placeholder="/media/stick/locket" spellcheck={false} autocomplete="off" />
        <button class="button solid" disabled={busy}>
          {busy ? t("wait") : t("backup.exchange")}
        </button>
      </form>
      {error && <Failure error={error} />}
      {carried && (
        <p class="notice good" role="status">
          {t("backup.carried", carried)}
        </p>
      )}
      <footer>
        <button type="button" class="button" onClick={close}>
          {t("close")}
        </button>
      </footer>
    </Dialog>
  );
}
