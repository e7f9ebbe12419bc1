// The palette: every action, found by typing a part of its name.

import { useEffect, useRef, useState } from "preact/hooks";
import { ended, leave, may, post } from "./api";
import { backUp } from "./backup";
import { forget } from "./forget";
import { addDays, dateOf, mediumDate, switchLang, t } from "./i18n";
import { Icon, type IconName } from "./icons";
import { go } from "./router";
import { switchTheme } from "./theme";
import type { ForgetAnswer, Status } from "./types";
import { changes, Dialog, tell, tellError } from "./widgets";

interface Action {
  name: string;
  icon: IconName;
  does?: string; // the operation of the API that it does or leads to, as docs/openapi.yaml names it
  run: () => unknown;
}

/** press opens a page, then the element in it with a data-act: a button is pressed, anything else is focused. */
export function press(path: string, act: string) {
  go(path);
  const until = Date.now() + 5000;
  const look = () => {
    const part = document.querySelector<HTMLElement>(`#main [data-act="${act}"]`);
    if (!part) return void (Date.now() < until && setTimeout(look, 50));
    const closed = part.closest("details");
    if (closed) closed.open = true;
    part.scrollIntoView({ block: "center" });
    part.focus();
    if (part instanceof HTMLButtonElement) part.click();
  };
  setTimeout(look); // once the previous page is gone, which may have such an element, too
}

/** done announces the result of a request. */
const done = <V,>(asked: Promise<V>, text: (v: V) => string) => asked.then((v) => (changes(), tell({ text: text(v) })), tellError);

/** remember adds a text as if it had been said, and can undo that. */
const remember = (text: string) =>
  post<{ changes: unknown[]; line?: string }>("/v1/memories", { text, keep: true }).then((r) => {
    changes();
    const undo = async () => {
      const plan = await post<ForgetAnswer>("/v1/forget", { ids: [r.line], plan: true });
      await post("/v1/forget", { confirm: plan.confirm });
    };
    tell({ text: t("act.remembered", { n: r.changes.length }), undo: r.line ? undo : undefined });
  }, tellError);

function actions(status: Status): Action[] {
  const today = dateOf(new Date());
  const pause = (long: string, name: string): Action => ({
    name,
    icon: "pause",
    does: "pause",
    run: () => post("/v1/pause", long ? { for: long } : {}).then(() => (changes(), tell({ text: t("pause.begun"), undo: () => post("/v1/resume") })), tellError),
  });
  return [
    { name: t("nav.today"), icon: "day", run: () => go("/") },
    { name: t("act.yesterday"), icon: "day", run: () => go("/day/" + addDays(today, -1)) },
    { name: t("act.week"), icon: "event", run: () => go("/week/" + today) },
    { name: t("act.year"), icon: "event", run: () => go("/year/" + today.slice(0, 4)) },
    { name: t("nav.ask"), icon: "ask", does: "ask", run: () => go("/ask") },
    { name: t("nav.memories"), icon: "memories", run: () => go("/memories") },
    { name: t("kind.core"), icon: "you", run: () => go("/memories/core") },
    { name: t("kind.semantic"), icon: "fact", run: () => go("/memories/semantic") },
    { name: t("kind.episodic"), icon: "event", run: () => go("/memories/episodic") },
    { name: t("kind.procedural"), icon: "how", run: () => go("/memories/procedural") },
    { name: t("kind.resource"), icon: "photo", run: () => go("/memories/resource") },
    { name: t("kind.vault"), icon: "key", does: "unlockVault", run: () => go("/memories/vault") },
    { name: t("graph.title"), icon: "graph", run: () => go("/graph") },
    { name: t("nav.review"), icon: "review", does: "settle", run: () => go("/review") },
    { name: t("nav.sharing"), icon: "share", does: "revokeShare", run: () => go("/sharing") },
    { name: t("nav.devices"), icon: "devices", run: () => go("/devices") },
    ...(status.pause.paused
      ? [{ name: t("pause.end"), icon: "play" as IconName, does: "resume", run: () => post("/v1/resume").then(changes, tellError) }]
      : [pause("10m", t("act.pause10")), pause("1h", t("act.pause60")), pause("", t("act.pause"))]),
    { name: t("act.forget10"), icon: "forget", does: "forget", run: () => forget({ last: "10m" }) },
    { name: t("act.forget60"), icon: "forget", does: "forget", run: () => forget({ last: "1h" }) },
    { name: t("share.new"), icon: "share", does: "createShare", run: () => go("/sharing/new") },
    { name: t("given.open"), icon: "share", does: "openGiven", run: () => press("/sharing", "given") },
    { name: t("given.key"), icon: "key", does: "givenKey", run: () => press("/sharing", "key") },
    { name: t("shop.title"), icon: "share", does: "findOffers", run: () => press("/market", "market") },
    { name: t("orders.title"), icon: "share", does: "moveOrder", run: () => press("/market", "orders") },
    { name: t("purse.put"), icon: "key", does: "changeFunds", run: () => press("/market", "voucher") },
    { name: t("subscriptions.title"), icon: "sync", does: "renewSubscriptions", run: () => press("/market", "subscriptions") },
    { name: t("move.title"), icon: "sync", does: "moveListings", run: () => go("/market/move") },
    { name: t("log.title"), icon: "check", does: "verifyMarket", run: () => go("/market/log") },
    { name: t("sell.new"), icon: "share", does: "publishListing", run: () => go("/market/sell") },
    { name: t("pool.title"), icon: "you", run: () => go("/communities") },
    { name: t("pool.new"), icon: "you", does: "newCommunity", run: () => press("/communities", "found") },
    { name: t("pool.join"), icon: "link", does: "joinCommunity", run: () => press("/communities", "join") },
    { name: t("match.title"), icon: "you", does: "chooseInterests", run: () => press("/interests", "interest") },
    { name: t("match.ask"), icon: "you", does: "askInterests", run: () => press("/interests", "compare") },
    { name: t("match.open"), icon: "link", does: "openInterests", run: () => press("/interests", "matched") },
    { name: t("never.add"), icon: "words", does: "setNever", run: () => press("/sharing", "never") },
    { name: t("policy.change"), icon: "review", does: "setPolicy", run: () => press("/sharing", "rule") },
    { name: t("test.title"), icon: "you", does: "testPolicy", run: () => press("/sharing", "test") },
    { name: t("dream.look"), icon: "review", does: "planDream", run: () => press("/review", "tidy") },
    { name: t("wearables.add"), icon: "devices", does: "addDevice", run: () => press("/devices", "wearable") },
    { name: t("pair.do"), icon: "link", does: "pairInvite", run: () => press("/devices", "pair") },
    { name: t("room.title"), icon: "archive", does: "moveTiers", run: () => press("/devices", "room") },
    { name: t("kept.title"), icon: "archive", run: () => press("/devices", "kept") },
    { name: t("room.photos"), icon: "photo", does: "fetchBlob", run: () => press("/devices", "photos") },
    { name: t("zones.add"), icon: "lock", does: "addZone", run: () => press("/devices", "zone") },
    { name: t("relays.add"), icon: "sync", does: "addRelay", run: () => press("/devices", "relay") },
    { name: t("letin.app"), icon: "link", does: "addApp", run: () => press("/sharing", "app") },
    { name: t("letin.worker"), icon: "how", does: "addGrant", run: () => press("/sharing", "worker") },
    { name: t("engines.title"), icon: "sound", does: "addEngine", run: () => press("/devices", "engines") },
    { name: t("instructions.title"), icon: "words", does: "setInstructions", run: () => press("/devices", "instructions") },
    { name: t("voices.title"), icon: "sound", does: "nameVoice", run: () => press("/devices", "voices") },
    { name: t("voices.learn"), icon: "sound", does: "enrolVoice", run: () => press("/devices", "enrol") },
    { name: t("plugins.title"), icon: "how", does: "enablePlugin", run: () => press("/devices", "plugins") },
    { name: t("doctor.title"), icon: "check", run: () => press("/devices", "doctor") },
    { name: t("import.title"), icon: "archive", does: "importAll", run: () => press("/import", "import") },
    { name: t("export.title"), icon: "archive", does: "exportAll", run: () => press("/import", "export") },
    { name: t("backup.do"), icon: "archive", does: "syncFolder", run: backUp },
    { name: t("act.sync"), icon: "sync", does: "syncNow", run: () => done(post("/v1/sync"), () => t("sync.done")) },
    { name: t("act.model"), icon: "words", does: "runModel", run: () => done(post("/v1/llm/run"), () => t("act.modelDone")) },
    { name: t("act.parked"), icon: "words", does: "retryParked", run: () => done(post("/v1/llm/retry"), () => t("act.parkedDone")) },
    { name: t("act.rescan"), icon: "why", does: "rescan", run: () => done(post<{ texts: number; left: number }>("/v1/refusals/retry"), (r) => t("act.rescanned", { n: r.texts - r.left, left: r.left })) },
    { name: t("act.theme"), icon: "theme", run: switchTheme },
    { name: t("act.lang"), icon: "words", run: () => switchLang().then(() => location.reload(), tellError) },
    { name: t("act.lock"), icon: "lock", does: "lock", run: () => post("/v1/lock").then(ended, tellError) },
    { name: t("act.leave"), icon: "close", run: () => leave() },
  ];
}

export function Palette({ status, close }: { status: Status; close: () => void }) {
  const [text, set] = useState("");
  const [at, move] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const entered = useRef(false); // Enter was pressed here and is still down
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = actions(status).filter((a) => (!a.does || may(a.does)) && words.every((w) => a.name.toLowerCase().includes(w)));
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text.trim()) && !isNaN(Date.parse(text.trim())) ? text.trim() : null;
  if (date) found.unshift({ name: t("act.day", { day: mediumDate(date) }), icon: "day", run: () => go("/day/" + date) });
  found.push({ name: text.trim() ? t("act.remember", { text: text.trim().slice(0, 60) }) : t("act.rememberHow"), icon: "mark", does: "addMemory", run: () => text.trim() && remember(text.trim()) });
  if (text.trim()) found.push({ name: t("act.ask", { text: text.trim().slice(0, 60) }), icon: "ask", run: () => go("/ask?q=" + encodeURIComponent(text.trim())) });
  const chosen = Math.min(at, found.length - 1);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen, text]);
  const run = (a: Action) => {
    if (a.does === "addMemory" && !text.trim()) return; // it needs a text
    close();
    void a.run();
  };
  return (
    <Dialog title={t("palette.title")} close={close}>
      <input
        class="palette-field"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length ? "palette-" + chosen : undefined}
        aria-label={t("palette.hint")}
        placeholder={t("palette.hint")}
        autofocus
        value={text}
        onInput={(e) => (set(e.currentTarget.value), move(0))}
        onKeyDown={(e) => {
          if (e.isComposing || e.keyCode === 229) return; // the key belongs to the input method
          if (e.key === "ArrowDown" || e.key === "ArrowUp") {
            e.preventDefault();
            move((chosen + (e.key === "ArrowDown" ? 1 : found.length - 1)) % Math.max(1, found.length));
          } else if (e.key === "Enter") {
            e.preventDefault();
            entered.current = true;
          }
        }}
        onKeyUp={(e) => {
          // Only on release: otherwise releasing the key would press the focused button of a dialog that the action opens.
          if (e.key !== "Enter" || !entered.current) return;
          entered.current = false;
          if (found[chosen]) run(found[chosen]);
        }}
      />
      <ul class="palette-list" id="palette-list" role="listbox" aria-label={t("palette.title")} ref={list}>
        {found.map((a, i) => (
          <li key={a.name} id={"palette-" + i} role="option" aria-selected={i === chosen} data-does={a.does} onClick={() => run(a)} onMouseMove={() => move(i)}>
            <Icon name={a.icon} size={16} /> <bdi>{a.name}</bdi>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
