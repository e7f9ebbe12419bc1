// The last action on the Review page, which can be undone by the button of its notice or the key u.

import { useEffect } from "preact/hooks";
import { t } from "./i18n";
import { changes, tell, tellError } from "./widgets";

let last: (() => Promise<boolean>) | undefined; // it returns false if it was already undone

/** did announces an action, with the function that undoes it. */
export function did(text: string, undo: () => Promise<unknown>) {
  let used = false;
  let close: () => void;
  const until = new Promise<void>((done) => (close = done));
  const once = async () => {
    if (used) return false;
    used = true;
    try {
      await undo();
      if (last === once) last = undefined;
      close();
      return true;
    } catch (e) {
      used = false;
      throw e;
    }
  };
  last = once;
  tell({ text, undo: once, until });
}

/** typing reports whether a key press belongs to the focused element and not to the page. */
export const typing = (e: KeyboardEvent, beside = "") => e.ctrlKey || e.metaKey || e.altKey || !!(e.target as Element).closest("input, textarea, select, label, summary, dialog" + beside);

/** useUndo listens for the key u while a page is shown. */
export function useUndo() {
  useEffect(() => {
    const on = (e: KeyboardEvent) => {
      if (e.key !== "u" || !last || typing(e)) return;
      e.preventDefault();
      if (e.repeat) return;
      last().then((undone) => {
        if (!undone) return;
        tell({ text: t("review.undone") });
        changes();
      }, tellError);
    };
    addEventListener("keydown", on);
    return () => {
      removeEventListener("keydown", on);
      last = undefined;
    };
  }, []);
}
