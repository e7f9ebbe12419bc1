// The console: the frame around every page.

import { render } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { allow, away, begin, call, may, onSession, post, type Problem, type Session } from "./api";
import { BackingUp } from "./backup";
import "./focus";
import { Forgetting } from "./forget";
import { clock, dateOf, inZone, longDate, reasonOf, t } from "./i18n";
import { Icon, Mark, type IconName } from "./icons";
import { Later, loadRest } from "./later";
import "./letin.css";
import { usePlace } from "./router";
import "./setup.css";
import "./style.css";
import { useTheme } from "./theme";
import { pathsOfToday, TodayPage } from "./today";
import { trusted } from "./trusted";
import type { Status } from "./types";
import { asProblem, changes, Empty, Failure, tell, tellError, Toasts, useLive, useLoaded, Waiting } from "./widgets";

const pages: { path: string; icon: IconName; word: "nav.today" | "nav.ask" | "nav.memories" | "nav.graph" | "nav.review" | "nav.sharing" | "nav.devices"; also: string[] }[] = [
  { path: "/", icon: "day", word: "nav.today", also: ["day", "week", "year"] },
  { path: "/ask", icon: "ask", word: "nav.ask", also: [] },
  { path: "/memories", icon: "memories", word: "nav.memories", also: ["memory", "import"] },
  { path: "/graph", icon: "graph", word: "nav.graph", also: [] },
  { path: "/review", icon: "review", word: "nav.review", also: [] },
  { path: "/sharing", icon: "share", word: "nav.sharing", also: ["consents", "market", "communities", "interests"] },
  { path: "/devices", icon: "devices", word: "nav.devices", also: [] },
];

/** How long after its start, in ms, the page loads its other parts and lets the browser store it. */
const afterwards = 3000;

function App() {
  const [session, set] = useState<Session>("starting");
  const place = usePlace();
  useEffect(() => onSession(set), []);
  switch (session) {
    case "starting":
      return <Waiting />;
    case "open":
      return place.path[0] === "setup" ? <Later show={(r) => <r.SetupPage />} /> : <Shell />;
  }
  return (
    <main class="door">
      <Empty icon="lock" title={t(`door.${session}`)}>
        <p>{t(session === "unmade" ? "door.again" : "door.how")}</p>
        <pre>locket open</pre>
      </Empty>
    </main>
  );
}

function Shell() {
  const place = usePlace();
  const status = useLoaded<Status>("/v1/status");
  const alive = useLive();
  const [palette, open] = useState(false);
  const narrow = useMatches("(max-width: 760px)"); // the foot of the sidebar becomes the bar at the top
  useTheme();
  useEffect(() => {
    const timer = setTimeout(() => (keepShell(), loadRest().catch(() => undefined)), afterwards);
    return () => clearTimeout(timer);
  }, []);
  useLayoutEffect(() => { // in the first frame, since keys may be pressed as soon as the page is visible
    const on = (e: KeyboardEvent) => {
      if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
        e.preventDefault();
        open((p) => !p);
      }
    };
    addEventListener("keydown", on);
    return () => removeEventListener("keydown", on);
  }, []);
  const here = place.path[0] ?? "";
  const s = status.value;
  if (s) (inZone(s.zone), allow(s.may));
  const nav = (
    <nav key="nav" aria-label={t("nav.label")}>
      {pages.map((p) => (
        <a key={p.path} href={p.path} aria-current={p.path === "/" + here || p.also.includes(here) ? "page" : undefined}>
          <Icon name={p.icon} size={20} />
          <span>{t(p.word)}</span>
          {p.path === "/sharing" && !!s?.consents && (
            <b class="nav-mark">
              <span aria-hidden="true">{s.consents}</span>
              <span class="sr">{t("consent.mark", { n: s.consents })}</span>
            </b>
          )}
        </a>
      ))}
    </nav>
  );
  const foot = (
    <div key="foot" class="side-foot">
      <button type="button" class="palette-button" onClick={() => open(true)}>
        <Icon name="ask" size={16} />
        <span>{t("palette.button")}</span>
        <kbd>Ctrl K</kbd>
      </button>
      {s && away() && <p class="afar-mark" title={t("afar.says")}>{t("afar.mark")}<span class="sr">. {t("afar.says")}</span></p>}
      {s && <Recording status={s} alive={alive} />}
    </div>
  );
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => (e.preventDefault(), document.getElementById("main")?.focus())}>
        {t("skip")}
      </a>
      <aside class="side">
        <a class="brand" href="/">
          <Mark />
          <span>Locket</span>
        </a>
        {narrow ? [foot, nav] : [nav, foot]}
      </aside>
      <main id="main" tabIndex={-1}>
        {status.error?.status === 0 && !s ? <Away /> : status.error && !s ? <Failure error={status.error} /> : !s ? <Waiting /> : s.locked ? <Unlock /> : <Page place={place} status={s} />}
      </main>
      {palette && s && <Later show={(r) => <r.Palette status={s} close={() => open(false)} />} />}
      <Forgetting />
      <BackingUp />
      <Toasts />
    </>
  );
}

/** Reports whether a media query matches, and updates with it. */
function useMatches(query: string): boolean {
  const [holds, set] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const on = () => set(media.matches);
    media.addEventListener("change", on);
    return () => media.removeEventListener("change", on);
  }, [query]);
  return holds;
}

type Place = ReturnType<typeof usePlace>;

const isDay = (s = "") => /^\d{4}-\d\d-\d\d$/.test(s) && !!Date.parse(s);

function Page({ place, status }: { place: Place; status: Status }) {
  const { path, query } = place;
  const title = pages.find((p) => p.path === "/" + (path[0] ?? "") || p.also.includes(path[0]));
  useEffect(() => {
    document.title = (title ? t(title.word) + " · " : "") + "Locket";
  }, [title]);
  switch (path[0] ?? "") {
    case "":
      return <TodayPage key={"now" + place.times} wearer={status.wearer} />;
    case "day":
      if (isDay(path[1])) return <TodayPage date={path[1]} line={query.get("line") ?? undefined} wearer={status.wearer} />;
  }
  return <Later show={(r) => pageOf(r, place, status)} />;
}

function pageOf(r: typeof import("./rest"), { path, query }: Place, status: Status) {
  const does = { import: "importAll", "sharing/new": "createShare", "market/sell": "publishListing", "market/move": "moveListings", "market/log": "verifyMarket" }[path.slice(0, 2).join("/")];
  if (does && !may(does)) return <r.AfarPage />;
  switch (path[0]) {
    case "week":
      return <r.WeekPage date={isDay(path[1]) ? path[1]! : dateOf(new Date())} />;
    case "year":
      return <r.YearPage year={path[1] ?? ""} />;
    case "ask":
      return <r.AskPage query={query} />;
    case "memories":
      return <r.MemoriesPage view={path[1] ?? ""} query={query} status={status} />;
    case "import":
      return <r.ImportPage />;
    case "memory":
      return <r.MemoryPage key={path[1]} id={path[1] ?? ""} />;
    case "graph":
      return <r.GraphPage query={query} />;
    case "review":
      return <r.ReviewPage />;
    case "sharing":
      return <r.SharingPage at={path[1] ?? ""} status={status} />;
    case "market":
      return <r.ShopPage path={path.slice(1)} query={query} />;
    case "communities":
      return <r.CommunitiesPage path={path.slice(1)} />;
    case "interests":
      return <r.InterestsPage />;
    case "consents":
      return <r.ConsentsPage />;
    case "devices":
      return <r.DevicesPage status={status} />;
  }
  return (
    <Empty icon="why" title={t("page.none")}>
      <a class="button" href="/">
        {t("nav.today")}
      </a>
    </Empty>
  );
}

/** Shows whether the node is listening, with the button that pauses it. */
function Recording({ status: s, alive }: { status: Status; alive: boolean }) {
  const paused = s.pause.paused;
  const toggle = () =>
    post(paused ? "/v1/resume" : "/v1/pause", paused ? undefined : { for: "1h" }).then(() => {
      changes();
      tell(paused ? { text: t("pause.ended") } : { text: t("pause.begun"), undo: () => post("/v1/resume") });
    }, tellError);
  return (
    <div class={`recording${paused ? " paused" : ""}${alive ? "" : " away"}`}>
      <span class="recording-state">
        <i />
        {!alive ? t("state.away") : paused ? (s.pause.until ? t("state.pausedUntil", { at: clock(s.pause.until) }) : t("state.paused")) : t("state.listening")}
      </span>
      <button type="button" class="plain" onClick={toggle} aria-label={paused ? t("pause.end") : t("pause.begin")} title={paused ? t("pause.end") : t("pause.begin")}>
        <Icon name={paused ? "play" : "pause"} size={16} />
      </button>
    </div>
  );
}

/** Shown when the node does not answer and the browser has only the page itself. */
function Away() {
  return (
    <Empty icon="lock" title={t("away.title")}>
      <p>{t("away.says")}</p>
      <pre>{"locket run\nlocket open"}</pre>
    </Empty>
  );
}

/** keepShell lets the browser store the page's own files, and nothing from the node. */
function keepShell() {
  if (!("serviceWorker" in navigator)) return;
  navigator.serviceWorker.register(trusted("/worker.js")).catch(() => undefined); // a browser that stores nothing, such as in a private window
}

/** Unlocks a locked node, by passphrase or whatever else opens it. */
function Unlock() {
  const [error, fail] = useState<Problem>();
  const [busy, work] = useState(false);
  async function unlock(e: SubmitEvent) {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    const field = form.elements.namedItem("passphrase") as HTMLInputElement;
    work(true);
    try {
      await call("POST", "/v1/unlock", field.value ? { passphrase: field.value } : {});
      changes();
    } catch (e) {
      fail(asProblem(e));
    } finally {
      field.value = "";
      work(false);
    }
  }
  return (
    <Empty icon="lock" title={t("unlock.title")}>
      <p>{t("unlock.says")}</p>
      <form class="unlock" onSubmit={unlock}>
        <label>
          {t("unlock.passphrase")}
          <input type="password" name="passphrase" autocomplete="current-password" />
        </label>
        <button class="button solid" disabled={busy}>
          {t("unlock.do")}
        </button>
      </form>
      {error && <p role="alert" class="bad">{reasonOf(error)}</p>}
    </Empty>
  );
}

const first = () => (location.pathname.startsWith("/setup") ? [] : ["/v1/status", ...(location.pathname === "/" ? pathsOfToday() : [])]);
void begin(first, () => void longDate("2026-01-01")); // the first date format of a browser takes long
render(<App />, document.body);
