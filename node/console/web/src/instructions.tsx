// The wearer's own instructions for a language model: what it should keep, and what it should leave out.

import { useEffect, useRef, useState } from "preact/hooks";
import { Afar } from "./afar";
import { call, get, Problem } from "./api";
import { t } from "./i18n";
import { Icon } from "./icons";
import { Failure, T, tell, tellError, useLoaded, Waiting } from "./widgets";

const most = 4096; // bytes of UTF-8: serve.MaxInstructions

interface Text {
  text: string;
}

const path = "/v1/instructions";
const set = (text: string) => call<Text>("PUT", path, { text });

export function Instructions() {
  const [open, show] = useState(false);
  const { value, error, again } = useLoaded<Text>(open ? path : null);
  return (
    <details class="instructions" onToggle={(e) => show(e.currentTarget.open)}>
      <summary data-act="instructions">{t("instructions.title")}</summary>
      {error ? <Failure error={error} /> : !value ? open && <Waiting /> : <Form now={value.text} again={again} />}
    </details>
  );
}

/** Form edits the node's current instructions. A change elsewhere neither discards what the wearer wrote nor is overwritten unseen. */
function Form({ now, again }: { now: string; again: () => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const seen = useRef(now); // the node's text that the wearer has seen
  const [theirs, changed] = useState<string>(); // the node's text if it was changed elsewhere
  const [busy, work] = useState(false);
  useEffect(() => {
    if (field.current!.value === seen.current) field.current!.value = seen.current = now;
  }, [now]);
  const check = (field: HTMLTextAreaElement) => {
    const over = new TextEncoder().encode(field.value.trim()).length - most;
    field.setCustomValidity(over > 0 ? t("instructions.long", { n: over }) : "");
  };
  const save = async (text: string) => {
    const was = (await get<Text>(path)).text;
    if (was !== seen.current && was !== text) return (seen.current = was), changed(was);
    await set(text);
    seen.current = field.current!.value = text;
    changed(undefined);
    const undo = async () => {
      if ((await get<Text>(path)).text !== text) throw new Problem(409, "/changed", t("error.changed"));
      await set(was);
      again();
    };
    tell({ text: t(text ? "instructions.kept" : "instructions.none"), undo });
    again();
  };
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    work(true);
    save(field.current!.value.trim()).catch(tellError).finally(() => work(false));
  };
  return (
    <form class="fields" onSubmit={submit}>
      <label>
        {t("instructions.says")}
        <textarea name="instructions" rows={4} placeholder={t("instructions.hint")} defaultValue={now} ref={field} onInput={(e) => check(e.currentTarget)} />
      </label>
      {theirs !== undefined && (
        <div class="notice bad" role="alert">
          <Icon name="warn" />
          <div>
            <strong>{t(theirs ? "instructions.now" : "instructions.none")}</strong>
            {theirs && <p><T text={theirs} most={most} /></p>}
            <p>{t("instructions.over")}</p>
          </div>
        </div>
      )}
      <div class="actions">
        <button class="button" data-does="setInstructions" disabled={busy}>{t("edit.save")}</button>
        <Afar does="setInstructions" by="locket llm" />
      </div>
    </form>
  );
}
