// Import: a file or a folder is read and shown first, and nothing is added before the wearer confirms.

import { useRef, useState } from "preact/hooks";
import { call, sendFile } from "./api";
import { dateOf, mediumDate, number, reasonOf, said, t } from "./i18n";
import { Icon } from "./icons";
import { TakeOut } from "./takeout";
import { asProblem, changes, T } from "./widgets";

const systems = ["mem0", "chatgpt", "claude", "notes", "whatsapp", "telegram", "mbox", "calendar", "locations", "mirix", "letta", "omi", "screenpipe", "basic-memory"];

interface Add {
  text: string;
  at?: string;
  infer?: boolean;
  undated?: boolean;
  ends?: boolean; // it adds nothing, and ends what an earlier import added
  speaker?: string;
  fields?: { resource?: { title?: string }; episodic?: { details?: string } };
}

interface Read {
  from: string;
  adds: Add[]; // what is imported. A text may be a secret: display `shown` instead
  shown: { text: string; secret?: boolean }[];
  skipped: { where: string; reason: string }[];
  ends?: Add[]; // to be sent after adds
}

/** What an import would add: texts of another system, or records of a Locket export. */
type Plan = { read: Read } | { file: File; records: Record<string, number> };

interface Count {
  done: number;
  of: number;
  added: number;
  there: number;
  failed: string[];
  over?: boolean;
}

const inFolders = ["notes", "basic-memory", "locations"]; // as foreign.Folders
const most = 64 << 20; // bytes of a file, as serve.MaxForeign
const heads = 64 << 10; // bytes read from the start of a file to detect an export
const inBatch = 200; // texts
const bytesInBatch = 400_000;

export function ImportPage() {
  const [plan, set] = useState<Plan>();
  const [busy, work] = useState(false);
  const [bad, fail] = useState("");
  const [count, show] = useState<Count>();
  const [folder, name] = useState("");
  const form = useRef<HTMLFormElement>(null);
  const run = (f: () => Promise<unknown>) => {
    work(true);
    fail("");
    f()
      .catch((e) => fail(typeof e === "string" || e instanceof DOMException ? String(e) : reasonOf(asProblem(e))))
      .finally(() => work(false));
  };
  const look = (e: SubmitEvent) => {
    e.preventDefault();
    set(undefined);
    show(undefined);
    const data = new FormData(form.current!);
    const value = (name: string) => String(data.get(name) ?? "").trim();
    const file = data.get("file") as File | null;
    run(async () => {
      if (!folder && !file?.size) throw t("import.which");
      if (folder && !value("from")) throw t("import.folderKind");
      if (!folder && file!.size > most) throw t("import.large", { n: most >> 20 });
      if (!folder && !value("from") && (await own(file!))) return set({ file: file!, records: await recordsOf(file!) });
      const query = Object.entries({ from: value("from"), me: value("me"), dates: value("dates"), ...(folder ? { folder } : { name: file!.name }) }).filter(([, v]) => v);
      set({ read: await sendFile<Read>("/v1/foreign?" + new URLSearchParams(query), folder ? new Blob() : file!, "application/octet-stream") });
    });
  };
  const take = () =>
    run(async () => {
      if ("read" in plan!) return addAll([...plan.read.adds, ...(plan.read.ends ?? [])], show);
      const r = await sendFile<{ taken: number; skipped: number; refused: number }>("/v1/import", (plan as { file: File }).file, "application/jsonl");
      show({ done: 1, of: 1, added: r.taken, there: r.skipped, failed: r.refused ? [t("import.refused", { n: r.refused })] : [], over: true });
      changes();
    });
  return (
    <div class="page import">
      <a class="back" href="/memories">
        <Icon name="left" size={14} /> {t("nav.memories")}
      </a>
      <header class="page-head">
        <h1>{t("import.title")}</h1>
        <p class="muted">{t("import.says")}</p>
      </header>
      <form class="panel fields" ref={form} onSubmit={look}>
        <label>
          {t("import.file")}
          <input name="file" data-act="import" type="file" />
        </label>
        <label>
          {t("import.folder")}
          <input name="folder" value={folder} onInput={(e) => name(e.currentTarget.value.trim())} placeholder="/home/mei/Notes" spellcheck={false} autocomplete="off" />
        </label>
        <label>
          {t("import.from")}
          <select name="from">
            <option value="">{t(folder ? "import.say" : "import.found")}</option>
            {(folder ? inFolders : systems).map((s) => (
              <option key={s} value={s}>
                {said("from", s)}
              </option>
            ))}
          </select>
        </label>
        <details>
          <summary>{t("import.chat")}</summary>
          <div class="fields">
            <label>
              {t("import.me")}
              <input name="me" maxLength={80} autocomplete="off" />
            </label>
            <label>
              {t("import.dates")}
              <select name="dates">
                <option value="">{t("import.datesTell")}</option>
                <option value="dmy">31.12.2026</option>
                <option value="mdy">12/31/2026</option>
                <option value="ymd">2026-12-31</option>
              </select>
            </label>
          </div>
        </details>
        <div class="actions">
          <button class={`button${plan ? "" : " solid"}`} disabled={busy}>
            {busy && !plan ? t("wait") : t("import.look")}
          </button>
        </div>
      </form>
      {bad && (
        <p class="notice bad" role="alert">
          <Icon name="warn" />
          <T text={bad} most={400} />
        </p>
      )}
      {plan && <Shown plan={plan} />}
      {plan && !count && (
        <div class="actions">
          <button type="button" class="button solid" data-act="take" disabled={busy || ("read" in plan && !plan.read.adds.length)} onClick={take}>
            {busy ? t("wait") : t("import.do")}
          </button>
        </div>
      )}
      {count && <Progress of={count} />}
      <TakeOut />
    </div>
  );
}

/** own reports whether a file is a Locket export, which has one record per line. */
async function own(file: File): Promise<boolean> {
  const first = (await file.slice(0, heads).text()).split("\n")[0];
  return first.startsWith("{") && first.includes('"kind":"header"');
}

/** recordsOf counts the records of an export by the kind at the start of each line. */
async function recordsOf(file: File): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [, kind] of (await file.text()).matchAll(/^\{"kind":"(utterance|assertion|blob)"/gm)) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** addAll adds texts in batches, in order. What is there already is not added again. */
async function addAll(adds: Add[], show: (c: Count) => void) {
  const c: Count = { done: 0, of: adds.length, added: 0, there: 0, failed: [] };
  show(c);
  while (c.done < adds.length) {
    let n = 0;
    for (let size = 0; n < inBatch && c.done + n < adds.length && (n === 0 || size < bytesInBatch); n++) size += 2 * JSON.stringify(adds[c.done + n]).length;
    const part = adds.slice(c.done, c.done + n);
    const got = await call<{ results: { added?: { repeated?: boolean }; problem?: { type?: string; detail?: string; title?: string } }[] }>("POST", "/v1/memories/batch", { operations: part.map((add) => ({ add })) });
    for (const [i, r] of got.results.entries()) {
      const notes = part[i].fields?.episodic?.details;
      if (notes && r.problem?.type?.endsWith(":secret")) { // as foreign.DropNotes
        const add = { ...part[i], fields: { episodic: { ...part[i].fields?.episodic, details: undefined } } };
        got.results[i] = (await call<typeof got>("POST", "/v1/memories/batch", { operations: [{ add }] })).results[0];
      }
    }
    for (const [i, r] of got.results.entries()) {
      if (r.problem) c.failed.push(r.problem.detail ?? r.problem.title ?? "");
      else if (!part[i].ends) r.added?.repeated ? c.there++ : c.added++;
    }
    c.done += n;
    show({ ...c, over: c.done === adds.length });
  }
  changes();
}

/** Shown lists what would be imported, what goes to the vault, and what is left out. */
function Shown({ plan }: { plan: Plan }) {
  if ("file" in plan)
    return (
      <section class="panel plan">
        <h2>{t("import.own")}</h2>
        <ul class="plain-list">
          {Object.entries(plan.records).map(([kind, n]) => (
            <li key={kind}>
              {said("record", kind)}: {number(n)}
            </li>
          ))}
        </ul>
        <p class="muted">{t("import.ownSays")}</p>
      </section>
    );
  const { adds, shown, skipped, from } = plan.read;
  const vault = shown.filter((s) => s.secret).length;
  const said_ = adds.filter((a, i) => a.infer !== false && !shown[i].secret).length;
  const kept = adds.length - said_ - vault;
  const times = adds.flatMap((a) => (a.at && !a.at.startsWith("0001") ? [a.at] : [])).sort();
  return (
    <section class="panel plan">
      <h2>{t("import.would", { n: adds.length, from: said("from", from) })}</h2>
      <ul class="plain-list">
        {kept > 0 && <li>{t("import.kept", { n: kept })}</li>}
        {said_ > 0 && <li>{t("import.said", { n: said_ })}</li>}
        {times.length > 0 && <li>{t("import.period", { from: mediumDate(dateOf(times[0])), to: mediumDate(dateOf(times[times.length - 1])) })}</li>}
        {adds.length > times.length && <li>{t("import.undated", { n: adds.length - times.length })}</li>}
        {vault > 0 && <li>{t("import.vault", { n: vault })}</li>}
        {said_ > 0 && <li>{t("import.secrets")}</li>}
        {kept > 0 && <li>{t("import.refuses")}</li>}
        {skipped.length > 0 && <li>{t("import.skipped", { n: skipped.length })}</li>}
      </ul>
      <ul class="rows">
        {adds.slice(0, 10).map((a, i) => (
          <li key={i}>
            <span class="rows-text">
              {a.speaker && (
                <strong>
                  <T text={a.speaker} most={60} />{" "}
                </strong>
              )}
              <T text={(!shown[i].secret && a.fields?.resource?.title) || shown[i].text} most={200} />
            </span>
          </li>
        ))}
      </ul>
      {adds.length > 10 && <p class="muted">{t("import.more", { n: adds.length - 10 })}</p>}
      {skipped.length > 0 && (
        <details>
          <summary>{t("import.why")}</summary>
          <ul class="rows">
            {skipped.slice(0, 100).map((s, i) => (
              <li key={i}>
                <span class="rows-text">
                  <T text={s.where} most={120} />
                  <span class="row-says muted">
                    <T text={s.reason} most={200} />
                  </span>
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function Progress({ of: c }: { of: Count }) {
  return (
    <section class="panel progress" role="status">
      {!c.over && <progress class="track" max={c.of} value={c.done} aria-label={t("import.progress")} />}
      <p>
        {c.over ? <Icon name="check" size={16} /> : null} {c.over ? t("import.done", { added: c.added, there: c.there }) : t("import.at", { done: c.done, of: c.of })}
      </p>
      {c.over && !c.added && !c.failed.length && <p class="muted">{t("import.same")}</p>}
      {c.failed.length > 0 && <p class="bad">{t("import.failed", { n: c.failed.length })} <T text={c.failed[0]} most={200} /></p>}
      {c.over && (
        <div class="actions">
          <a class="button" href="/memories">
            {t("nav.memories")}
          </a>
        </div>
      )}
    </section>
  );
}
