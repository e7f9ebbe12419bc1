// The palette: every action, by typing a part of its name.

import { useEffect, useRef, useState } from "preact/hooks";
import { leave, post } from "./api";
import { forget } from "./forget";
import { addDays, dateOf, mediumDate, switchLang, t } from "./i18n";
import { Icon, type IconName } from "./icons";
import { go } from "./router";
import { switchTheme } from "./theme";
import type { Status } from "./types";
import { changes, Dialog, tell, tellError } from "./widgets";

interface Action {
  name: string;
  icon: IconName;
  run: () => unknown;
}

function actions(status: Status): Action[] {
  const today = dateOf(new Date());
  const pause = (long: string, name: string): Action => ({
    name,
    icon: "pause",
    run: () => post("/v1/pause", long ? { for: long } : {}).then(() => (changes(), tell({ text: t("pause.begun"), undo: () => post("/v1/resume") })), tellError),
  });
  return [
    { name: t("nav.today"), icon: "day", run: () => go("/") },
    { name: t("act.yesterday"), icon: "day", run: () => go("/day/" + addDays(today, -1)) },
    { name: t("act.week"), icon: "event", run: () => go("/week/" + today) },
    { name: t("act.year"), icon: "event", run: () => go("/year/" + today.slice(0, 4)) },
    { name: t("nav.ask"), icon: "ask", run: () => go("/ask") },
    { name: t("nav.memories"), icon: "memories", run: () => go("/memories") },
    { name: t("kind.core"), icon: "you", run: () => go("/memories/core") },
    { name: t("kind.semantic"), icon: "fact", run: () => go("/memories/semantic") },
    { name: t("kind.episodic"), icon: "event", run: () => go("/memories/episodic") },
    { name: t("kind.procedural"), icon: "how", run: () => go("/memories/procedural") },
    { name: t("kind.resource"), icon: "photo", run: () => go("/memories/resource") },
    { name: t("kind.vault"), icon: "key", run: () => go("/memories/vault") },
    { name: t("graph.title"), icon: "graph", run: () => go("/graph") },
    { name: t("nav.review"), icon: "review", run: () => go("/review") },
    { name: t("nav.devices"), icon: "devices", run: () => go("/devices") },
    ...(status.pause.paused
      ? [{ name: t("pause.end"), icon: "play" as IconName, run: () => post("/v1/resume").then(changes, tellError) }]
      : [pause("10m", t("act.pause10")), pause("1h", t("act.pause60")), pause("", t("act.pause"))]),
    { name: t("act.forget10"), icon: "forget", run: () => forget({ last: "10m" }) },
    { name: t("act.sync"), icon: "sync", run: () => post("/v1/sync").then(() => tell({ text: t("sync.done") }), tellError) },
    { name: t("act.theme"), icon: "theme", run: switchTheme },
    { name: t("act.lang"), icon: "words", run: switchLang },
    { name: t("act.lock"), icon: "lock", run: () => post("/v1/lock").catch(tellError) },
    { name: t("act.leave"), icon: "close", run: leave },
  ];
}

export function Palette({ status, close }: { status: Status; close: () => void }) {
  const [text, set] = useState("");
  const [at, move] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = actions(status).filter((a) => words.every((w) => a.name.toLowerCase().includes(w)));
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text.trim()) && !isNaN(Date.parse(text.trim())) ? text.trim() : null;
  if (date) found.unshift({ name: t("act.day", { day: mediumDate(date) }), icon: "day", run: () => go("/day/" + date) });
  if (text.trim()) found.push({ name: t("act.ask", { text: text.trim().slice(0, 60) }), icon: "ask", run: () => go("/ask?q=" + encodeURIComponent(text.trim())) });
  const chosen = Math.min(at, found.length - 1);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen, text]);
  const run = (a: Action) => {
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
          if (e.key === "ArrowDown" || e.key === "ArrowUp") {
            e.preventDefault();
            move((chosen + (e.key === "ArrowDown" ? 1 : found.length - 1)) % Math.max(1, found.length));
          } else if (e.key === "Enter" && found[chosen]) {
            e.preventDefault();
            run(found[chosen]);
          }
        }}
      />
      <ul class="palette-list" id="palette-list" role="listbox" aria-label={t("palette.title")} ref={list}>
        {found.map((a, i) => (
          <li key={a.name} id={"palette-" + i} role="option" aria-selected={i === chosen} onClick={() => run(a)} onMouseMove={() => move(i)}>
            <Icon name={a.icon} size={16} /> <bdi>{a.name}</bdi>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
