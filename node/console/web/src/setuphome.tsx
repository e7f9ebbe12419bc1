// The steps of setup that create a home: its owner, how it is opened, and the words, which are shown and then checked.

import { useState } from "preact/hooks";
import { call, post } from "./api";
import { lang, reasonOf, t, type Word } from "./i18n";
import { Icon } from "./icons";
import { asProblem, T } from "./widgets";

/** The state of creating a home. */
export interface State {
  state: "new" | "words" | "made";
  ask?: number[];
  offer: { home: string; wearer: string; zone: string; languages: string[] | null; login?: string };
  words?: string[];
}

interface Answers {
  wearer: string;
  zone: string;
  languages: string; // codes separated by commas
  way: "passphrase" | "keyring" | "key-file";
  passphrase: string;
  words?: "en" | "zh"; // absent: the page's language
}

/** The browser's time zone, if the settings name none. */
const zoneHere = (zone: string) => (zone && zone !== "Local" ? zone : Intl.DateTimeFormat().resolvedOptions().timeZone);

/** The language codes in a text. */
const codes = (typed: string) => typed.split(/[\s,，、;；]+/).filter(Boolean);

/** The names of those languages that the browser knows, in the page's language. */
function named(typed: string): string {
  const names = new Intl.DisplayNames([lang], { type: "language", fallback: "none" });
  const name = (code: string) => {
    try {
      return names.of(code);
    } catch {
      return undefined; // not a code
    }
  };
  return codes(typed).map(name).filter(Boolean).join(" · ");
}

/** Making asks for the owner of the home and how it is opened, and creates it. */
export function Making({ s, step, to, made }: { s: State; step: "you" | "open"; to: (step: "you" | "open") => void; made: (v: State) => void }) {
  const [a, set] = useState<Answers>({ wearer: s.offer.wearer, zone: zoneHere(s.offer.zone), languages: (s.offer.languages ?? [navigator.languages[0]?.split("-")[0] ?? "en"]).join(", "), way: "passphrase", passphrase: "" });
  const [again, repeat] = useState("");
  const [wrong, say] = useState<{ field: string; text: string }>();
  const [busy, work] = useState(false);
  const change = (c: Partial<Answers>) => set((was) => ({ ...was, ...c }));
  const text = (name: "wearer" | "zone" | "languages") => (e: Event) => change({ [name]: (e.currentTarget as HTMLInputElement).value });
  const bad = (field: string) => wrong?.field === field && { "aria-invalid": true, "aria-describedby": "setup-wrong" };
  async function make() {
    if (a.way === "passphrase" && a.passphrase !== again) return say({ field: "passphrase", text: t("setup.differ") });
    work(true);
    say(undefined);
    try {
      const v = await post<State>("/setup/home", { ...a, words: a.words ?? lang, wearer: a.wearer.trim(), zone: a.zone.trim(), languages: codes(a.languages), passphrase: a.way === "passphrase" ? a.passphrase : "" });
      change({ passphrase: "" });
      repeat("");
      made(v);
    } catch (e) {
      const p = asProblem(e);
      const known = p.field === "zone" || p.field === "languages" || p.field === "way";
      say({ field: p.field ?? "", text: known ? t(`setup.wrong.${p.field}` as Word) : reasonOf(p) });
      if (["wearer", "zone", "languages"].includes(p.field ?? "")) to("you");
    } finally {
      work(false);
    }
  }
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    if (step === "you") to("open");
    else void make();
  };
  return (
    <form class="panel fields" onSubmit={submit}>
      {step === "you" ? (
        <>
          <p>
            {t("setup.says")} <code><T text={s.offer.home} most={300} /></code>
          </p>
          <label>
            {t("setup.name")}
            <input name="wearer" value={a.wearer} onInput={text("wearer")} maxLength={100} autocomplete="name" {...bad("wearer")} />
          </label>
          <label>
            {t("setup.zone")}
            <input name="zone" value={a.zone} onInput={text("zone")} list="zones" maxLength={64} autocomplete="off" spellcheck={false} {...bad("zone")} />
          </label>
          <datalist id="zones">{(Intl.supportedValuesOf?.("timeZone") ?? []).map((z) => <option key={z} value={z} />)}</datalist>
          <label>
            {t("setup.spoken")}
            <input name="languages" value={a.languages} onInput={text("languages")} maxLength={100} autocomplete="off" autocapitalize="off" spellcheck={false} placeholder="en, de" {...bad("languages")} />
          </label>
          <p class="muted setup-note">
            {named(a.languages) && <b>{named(a.languages)}. </b>}
            {t("setup.spokenSays")}
          </p>
        </>
      ) : (
        <>
          <fieldset class="setup-ways">
            <legend class="sr">{t("setup.open")}</legend>
            {(["passphrase", "keyring", "key-file"] as const).map((way) => (
              <label key={way} class="check">
                <input type="radio" name="way" value={way} checked={a.way === way} onChange={() => change({ way })} {...bad("way")} />
                <span>
                  {t(`setup.way.${way}` as Word)}
                  <span class="muted setup-note">{t(`setup.says.${way}` as Word)}</span>
                </span>
              </label>
            ))}
          </fieldset>
          {a.way === "passphrase" && (
            <>
              <label>
                {t("setup.passphrase")}
                <input type="password" name="passphrase" required minLength={8} value={a.passphrase} onInput={(e) => change({ passphrase: e.currentTarget.value })} autocomplete="new-password" {...bad("passphrase")} />
              </label>
              <label>
                {t("setup.again")}
                <input type="password" name="again" required value={again} onInput={(e) => repeat(e.currentTarget.value)} autocomplete="new-password" />
              </label>
            </>
          )}
          <label>
            {t("setup.language")}
            <select name="words" value={a.words ?? lang} onChange={(e) => change({ words: e.currentTarget.value as "en" | "zh" })}>
              <option value="en" lang="en">English</option>
              <option value="zh" lang="zh-Hans">中文</option>
            </select>
          </label>
        </>
      )}
      {wrong && (
        <p id="setup-wrong" role="alert" class="bad">
          <T text={wrong.text} most={300} />
        </p>
      )}
      <footer class="actions">
        {step === "open" && (
          <button type="button" class="button" onClick={() => to("you")}>
            {t("sharer.back")}
          </button>
        )}
        <button class="button solid" disabled={busy}>
          {busy ? t("wait") : step === "open" ? t("setup.make") : t("sharer.next")}
        </button>
      </footer>
    </form>
  );
}

/** The words, which are shown only once. */
export function Words({ words, next }: { words: string[]; next: () => void }) {
  return (
    <section class="panel">
      <p class="notice warn">
        <Icon name="warn" /> {t("setup.wordsSays")}
      </p>
      <ol class="setup-words" translate={false}>
        {words.map((w, i) => (
          <li key={i}>{w}</li>
        ))}
      </ol>
      <p class="muted">{t("setup.vault")}</p>
      <div class="actions">
        <button type="button" class="button solid" onClick={next}>
          {t("setup.written")}
        </button>
      </div>
    </section>
  );
}

/** Check asks for some of the words, then puts the home in place. */
export function Check({ s, back, again, kept }: { s: State; back?: () => void; again: (v: State) => void; kept: (v: State, unchecked: boolean) => void }) {
  const [wrong, say] = useState<{ at: number; text: string }>();
  const [busy, work] = useState(false);
  const ask = s.ask ?? [];
  const run = (f: () => Promise<unknown>) => {
    work(true);
    f()
      .catch((e) => {
        const p = asProblem(e);
        const at = p.field?.startsWith("words.") ? Number(p.field.slice(6)) : -1;
        say({ at, text: at >= 0 ? t("setup.wrongWord", { n: ask[at] }) : reasonOf(p) });
        document.querySelector<HTMLInputElement>(`[name=word${at}]`)?.select();
      })
      .finally(() => work(false));
  };
  const check = (skip: boolean, words: string[] = []) => run(() => post<State>("/setup/check", { words, skip }).then((v) => kept(v, skip)));
  return (
    <form
      class="panel fields"
      onSubmit={(e) => {
        e.preventDefault();
        const form = e.currentTarget as HTMLFormElement;
        check(false, ask.map((_, i) => (form.elements.namedItem("word" + i) as HTMLInputElement).value));
      }}
    >
      <p>{t("setup.checkSays")}</p>
      {ask.map((n, i) => (
        <label key={n}>
          {t("setup.word", { n })}
          <input name={"word" + i} required autocomplete="off" autocapitalize="off" spellcheck={false} aria-invalid={wrong?.at === i || undefined} aria-describedby={wrong?.at === i ? "setup-wrong" : undefined} />
        </label>
      ))}
      {wrong && (
        <p id="setup-wrong" role="alert" class="bad">
          <T text={wrong.text} most={300} />
        </p>
      )}
      <footer class="actions">
        {back ? (
          <button type="button" class="button" onClick={back}>
            {t("setup.show")}
          </button>
        ) : (
          <button type="button" class="button" disabled={busy} onClick={() => run(() => call<State>("DELETE", "/setup/home").then(again))}>
            {t("setup.anew")}
          </button>
        )}
        <button class="button solid" disabled={busy}>
          {busy ? t("wait") : t("setup.check")}
        </button>
        <button type="button" class="plain" disabled={busy} onClick={() => check(true)}>
          {t("setup.skipCheck")}
        </button>
      </footer>
    </form>
  );
}
