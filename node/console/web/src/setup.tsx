// Setup: the page that creates a home, before there is an API; then it continues with
// what locket setup asks. The node deletes what was created if the page is left before the words are checked.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { get, leave, type Problem } from "./api";
import { Engines } from "./engines";
import { inZone, lang, switchLang, t, type Word } from "./i18n";
import { Mark } from "./icons";
import { go } from "./router";
import { Login, Say } from "./setupfirst";
import { Check, Making, type State, Words } from "./setuphome";
import { useTheme } from "./theme";
import type { Status } from "./types";
import { Wearables } from "./wearables";
import { asProblem, Failure, tellError, Toasts, useLoaded, Waiting } from "./widgets";

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
      (e) => (asProblem(e).status === 404 ? go("/", true) : fail(asProblem(e))), // there is already a home
    );
  }, []);
  useLayoutEffect(() => {
    // Before the step is visible: later it would take the focus from a field that is being typed into.
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

/** WithHome shows the steps that need a home, once the node answers. */
function WithHome({ step, login, next, later, skipped }: { step: Step; login?: string; next: () => void; later: () => void; skipped: Step[] }) {
  const { value: status, error, again } = useLoaded<Status>("/v1/status");
  useEffect(() => {
    if (status) return inZone(status.zone);
    const timer = setTimeout(again, 400); // the node is starting
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
