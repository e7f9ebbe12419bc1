// Removing what an app wrote or workers said: what would go is shown first, and it can be undone.

import { useEffect, useState } from "preact/hooks";
import { post, type Problem } from "./api";
import { t } from "./i18n";
import { asProblem, changes, Dialog, Failure, T, tell, tellError, Waiting } from "./widgets";

interface Reverted {
  id?: string; // to undo it
  claims: number;
  lines?: number; // that workers heard: undo does not restore them
  memories: { memory: string; text: string }[];
}

/** Whose words are removed: those of an app, by its name, or those of all workers. */
export type Author = { app: string } | { source: "worker" };

export const titleOf = (of: Author) => ("app" in of ? t("revert.title", { app: of.app.slice(0, 60) }) : t("revert.workers"));

export function Revert({ of, close }: { of: Author; close: () => void }) {
  const [plan, set] = useState<Reverted>();
  const [error, fail] = useState<Problem>();
  const [busy, work] = useState(false);
  useEffect(() => {
    post<Reverted>("/v1/revert", { ...of, plan: true }).then(set, (e) => fail(asProblem(e)));
  }, []);
  async function confirm() {
    work(true);
    try {
      const done = await post<Reverted>("/v1/revert", of);
      close();
      changes();
      tell({ text: t("revert.done", { n: done.memories.length }), undo: done.id ? () => post("/v1/revert", { undo: done.id }) : undefined });
    } catch (e) {
      tellError(e);
      close();
    }
  }
  const nothing = plan && !plan.claims && !plan.lines;
  return (
    <Dialog title={titleOf(of)} close={close} wide>
      {error ? <Failure error={error} /> : !plan ? <Waiting /> : nothing ? <p>{t("revert.nothing")}</p> : (
        <section class="forget-part">
          <p>{t("revert.says", { n: plan.memories.length })}</p>
          {!!plan.lines && <p>{t("revert.lines", { n: plan.lines })}</p>}
          <ul>
            {plan.memories.slice(0, 50).map((m) => (
              <li key={m.memory}>
                <T text={m.text} most={240} />
              </li>
            ))}
          </ul>
          {plan.memories.length > 50 && <p class="muted">{t("forget.andMore", { n: plan.memories.length - 50 })}</p>}
        </section>
      )}
      <footer>
        <button type="button" class="button" onClick={close} autofocus>
          {nothing ? t("close") : t("cancel")}
        </button>
        {plan && !nothing && (
          <button type="button" class="button danger solid" disabled={busy} onClick={confirm}>
            {t("revert.do")}
          </button>
        )}
      </footer>
    </Dialog>
  );
}
