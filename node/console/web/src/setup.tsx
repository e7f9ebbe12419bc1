// Setup: the page that makes a home where there is none, before there is an API; then it goes on with
// what locket setup asks. What it has made before the words are checked, the node takes back when the page leaves.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { call, get, leave, post, type Problem } from "./api";
import { Engines } from "./engines";
import { inZone, lang, reasonOf, switchLang, t, type Word } from "./i18n";
import { Icon, Mark } from "./icons";
import { go } from "./router";
import { useTheme } from "./theme";
import type { Found, Status } from "./types";
import { Wearables } from "./wearables";
import { asProblem, changes, Failure, T, tellError, Toasts, useLoaded, Waiting } from "./widgets";

interface State {
  state: "new" | "words" | "made";
  ask?: number[];
  offer: { home: string; wearer: string; zone: string; languages: string[] | null; login?: string };
  words?: string[];
}

interface Answers {
  wearer: string;
  zone: string;
  languages: string; // codes with commas between them
  way: "passphrase" | "keyring" | "key-file";
  passphrase: string;
  words?: "en" | "zh"; // absent: as the page is
}

const steps = ["you", "open", "words", "check", "wear", "engines", "login", "say", "done"] as const;
type Step = (typeof steps)[number];

export function SetupPage() {
  const [s, set] = useState<State>();
  const [error, fail] = useState<Problem>();
  const [step, to] = useState<Step>("you");
  const [skipped, skip] = useState<Step[]>([]);
  const [shown, draw] = useState(lang);
  const title = useRef<HTMLHeadingElement>(null);
  useTheme();
  useEffect(() => {
    document.title = t("setup.title") + " · Locket";
  }, [shown]);
  useEffect(() => {
    get<State>("/setup/state").then(
      (v) => {
        set(v);
        if (v.state !== "new") to(v.state === "made" ? "wear" : "check");
      },
      (e) => (asProblem(e).status === 404 ? go("/", true) : fail(asProblem(e))), // there was a home before
    );
  }, []);
  useLayoutEffect(() => {
    // Before the step is seen: later it would take the focus from a field that is typed into.
    if (step !== "you") title.current?.focus();
    scrollTo(0, 0);
  }, [step]);
  if (error || !s) return <main class="setup page">{error ? <Failure error={error} /> : <Waiting />}</main>;
  const next = () => to(steps[steps.indexOf(step) + 1]);
  const later = () => (skip((l) => [...l.filter((x) => x !== step), step]), next());
  const body = () => {
    switch (step) {
      case "you":
      case "open":
        return <Making s={s} step={step} to={to} made={(v) => (set(v), to("words"))} />;
      case "words":
        return <Words words={s.words ?? []} next={next} />;
      case "check":
        return <Check s={s} back={s.words && (() => to("words"))} again={(v) => (set(v), to("you"))} kept={(v, unchecked) => (set(v), unchecked ? later() : next())} />;
    }
    return <WithHome step={step} login={s.offer.login} next={next} later={later} skipped={skipped} />;
  };
  return (
    <main class="setup page">
      <p class="setup-brand">
        <Mark /> <span>Locket</span>
        <button type="button" class="button small" data-act="lang" lang={shown === "zh" ? "en" : "zh-Hans"} onClick={() => switchLang().then(() => draw(lang), tellError)}>
          {shown === "zh" ? "English" : "中文"}
        </button>
      </p>
      <p class="muted" role="status">
        {t("setup.step", { n: steps.indexOf(step) + 1, of: steps.length })}
      </p>
      <progress max={steps.length} value={steps.indexOf(step) + 1} aria-hidden="true" />
      <h1 ref={title} tabIndex={-1}>
        {t(`setup.${step}` as Word)}
      </h1>
      {body()}
      {s.state !== "made" && (
        <p class="setup-end muted">
          <button type="button" class="plain" onClick={() => void leave("unmade")}>
            {t("setup.end")}
          </button>
        </p>
      )}
      <Toasts />
    </main>
  );
}

/** The zone of the browser, where the settings name none. */
const zoneHere = (zone: string) => (zone && zone !== "Local" ? zone : Intl.DateTimeFormat().resolvedOptions().timeZone);

/** The codes in what was typed. */
const codes = (typed: string) => typed.split(/[\s,，、;；]+/).filter(Boolean);

/** The names of languages, of those that the browser knows, as the page's reader calls them. */
function named(typed: string): string {
  const names = new Intl.DisplayNames([lang], { type: "language", fallback: "none" });
  const name = (code: string) => {
    try {
      return names.of(code);
    } catch {
      return undefined; // no code
    }
  };
  return codes(typed).map(name).filter(Boolean).join(" · ");
}

/** Making asks whose the home is and how it is opened, and makes it. */
function Making({ s, step, to, made }: { s: State; step: "you" | "open"; to: (step: Step) => void; made: (v: State) => void }) {
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

/** The words, which are shown this once. */
function Words({ words, next }: { words: string[]; next: () => void }) {
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

/** Check asks for some of the words; then the home is there. */
function Check({ s, back, again, kept }: { s: State; back?: () => void; again: (v: State) => void; kept: (v: State, unchecked: boolean) => void }) {
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

/** WithHome goes through the steps that a home is needed for, once the node answers. */
function WithHome({ step, login, next, later, skipped }: { step: Step; login?: string; next: () => void; later: () => void; skipped: Step[] }) {
  const { value: status, error, again } = useLoaded<Status>("/v1/status");
  useEffect(() => {
    if (status) return inZone(status.zone);
    const timer = setTimeout(again, 400); // it begins
    return () => clearTimeout(timer);
  }, [status, error]);
  if (!status) return error && error.status !== 503 ? <Failure error={error} /> : <Waiting />;
  const on = (
    <footer class="actions">
      <button type="button" class="button solid" onClick={next}>
        {t("sharer.next")}
      </button>
      <button type="button" class="plain" onClick={later}>
        {t("setup.later")}
      </button>
    </footer>
  );
  switch (step) {
    case "wear":
      return <><p class="muted">{t("welcome.wearableHow")}</p><Wearables status={status} />{on}</>;
    case "engines":
      return <><Engines />{on}</>;
    case "login":
      return <Login login={login} on={on} />;
    case "say":
      return <Say wearer={status.wearer} on={on} />;
  }
  return (
    <section class="panel">
      <p>{t("setup.ready")}</p>
      {skipped.length > 0 && (
        <>
          <p class="muted">{t("setup.skipped")}</p>
          <ul class="plain-list">
            {skipped.map((s) => (
              <li key={s}>{t(`setup.later.${s}` as Word)}</li>
            ))}
          </ul>
        </>
      )}
      <p class="muted">{t("setup.backup")}</p>
      <pre class="pair-line">locket backup DIR</pre>
      <div class="actions">
        <a class="button solid" href="/">
          {t("setup.go")}
        </a>
      </div>
    </section>
  );
}

function Login({ login, on }: { login?: string; on: preact.JSX.Element }) {
  const [done, set] = useState<{ file: string; now: string }>();
  const [error, fail] = useState<Problem>();
  return (
    <>
      <section class="panel">
        <p>{t("setup.loginSays")}</p>
        {error && <Failure error={error} />}
        {done ? (
          <div class="notice good" role="status">
            <Icon name="check" />
            <div>
              {t("setup.loginDone")} <code><T text={done.file} most={300} /></code>
              <p class="muted">{t("setup.loginNow")}</p>
              <pre class="pair-line">{done.now}</pre>
            </div>
          </div>
        ) : login ? (
          <div class="actions">
            <button type="button" class="button" data-act="login" onClick={() => post<{ file: string; now: string }>("/setup/login").then(set, (e) => fail(asProblem(e)))}>
              {t("setup.loginDo")}
            </button>
          </div>
        ) : (
          <p class="muted">{t("setup.loginNone")}</p>
        )}
      </section>
      {on}
    </>
  );
}

/** A first line comes back as an answer. */
function Say({ wearer, on }: { wearer: string; on: preact.JSX.Element }) {
  const [found, set] = useState<string>();
  const [error, fail] = useState<Problem>();
  const [busy, work] = useState(false);
  async function say(e: SubmitEvent) {
    e.preventDefault();
    const text = ((e.currentTarget as HTMLFormElement).elements.namedItem("text") as HTMLInputElement).value.trim();
    if (!text) return;
    work(true);
    fail(undefined);
    try {
      await post("/v1/memories", { text, speaker: wearer, keep: true });
      const { hits } = await post<Found>("/v1/search", { query: text, k: 1 });
      set(hits[0]?.memory?.text ?? hits[0]?.utterance?.text ?? hits[0]?.text ?? "");
      changes();
    } catch (e) {
      fail(asProblem(e));
    } finally {
      work(false);
    }
  }
  return (
    <>
      <section class="panel">
        <p>{t("welcome.tryHow")}</p>
        <form class="inline" onSubmit={say}>
          <input name="text" required maxLength={2000} aria-label={t("welcome.try")} placeholder={t("welcome.hint")} autocomplete="off" />
          <button class="button" disabled={busy}>
            {t("welcome.do")}
          </button>
        </form>
        {error && <Failure error={error} />}
        {found !== undefined && (
          <p class="notice good" role="status">
            <Icon name="check" />
            <span>
              {t("setup.found")} <T text={found} most={300} />
            </span>
          </p>
        )}
      </section>
      {on}
    </>
  );
}
