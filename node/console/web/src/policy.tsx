// The rules about what may be given to whom: shown in words, tested as somebody, and changed after a preview of the difference.

import { useState } from "preact/hooks";
import { Afar } from "./afar";
import { call, get, may, post } from "./api";
import { number, t } from "./i18n";
import { Icon } from "./icons";
import type { Kind } from "./types";
import { asProblem, changes, Failure, T, tell, tellError, useLoaded, Waiting } from "./widgets";

interface Rule {
  name: string;
  forbids: boolean;
  words: string;
}

interface Rules {
  text: string;
  mine: boolean;
  rules: Rule[];
  never: string[];
  conflicts?: string[];
  trouble?: string;
}

interface Passed {
  id: string;
  type: Kind;
  text: string;
  by: string;
}

interface Tested {
  as: string;
  passes: Passed[];
  held: number;
  why?: { why: string; memories: number }[];
}

interface Diff {
  policy: Rules;
  changes: { as: string; opens?: Passed[]; closes?: Passed[] }[];
}

/** The texts of the rules: more than one if devices set them without knowing of each other. */
const textsOf = (p: Rules) => [p.text, ...(p.conflicts ?? [])];

/** set replaces the rules that were read; if they have changed since, the problem is "changed". */
const set = (text: string, read: Rules) => call<Rules>("PUT", "/v1/policy", { text, was: textsOf(read) });

function RuleList({ rules }: { rules: Rule[] }) {
  return (
    <ul class="rows">
      {rules.map((r) => (
        <li key={r.name}>
          <span class={`badge${r.forbids ? " warn" : ""}`}>{r.forbids ? t("policy.forbids") : t("policy.permits")}</span>
          <span class="rows-text">
            <T text={r.words} most={300} />
          </span>
        </li>
      ))}
    </ul>
  );
}

export function Policy() {
  const { value: p, error, again } = useLoaded<Rules>("/v1/policy");
  if (error) return <Failure error={error} />;
  if (!p) return <Waiting />;
  return (
    <section class="panel policy">
      <h2>{t("policy.title")}</h2>
      {p.trouble ? (
        <p class="notice bad">
          <Icon name="warn" /> {t("policy.trouble")} <T text={p.trouble} most={200} />
        </p>
      ) : (
        <p class="muted">{p.mine ? t("policy.mine") : t("policy.none")}</p>
      )}
      {!!p.conflicts?.length && (
        <p class="notice warn">
          <Icon name="warn" /> {t("policy.conflicts")}
        </p>
      )}
      {p.mine && <RuleList rules={p.rules} />}
      <Never policy={p} again={again} />
      <div class="actions">
        <Test />
        <Change policy={p} again={again} />
      </div>
    </section>
  );
}

/** The words that are never given out. */
function Never({ policy: p, again }: { policy: Rules; again: () => void }) {
  const put = (words: string[], was: string[]) => call<Rules>("PUT", "/v1/policy/never", { words, was });
  // What is shown may be old: the word is added to, or removed from, the list as it is now.
  const save = async (change: (words: string[]) => string[]) => {
    try {
      const { never: was } = await get<Rules>("/v1/policy");
      const { never: now } = await put(change(was), was);
      tell({ text: t("policy.saved"), undo: () => put(was, now) });
    } catch (e) {
      tellError(e);
    }
    again();
  };
  return (
    <>
      <h3>{t("never.title")}</h3>
      <div class="chips">
        {p.never.map((w) => (
          <button key={w} type="button" class="chip" disabled={!may("setNever")} aria-label={t("never.remove", { word: w.slice(0, 60) })} onClick={() => save((all) => all.filter((x) => x !== w))}>
            <T text={w} most={60} /> <Icon name="close" size={12} />
          </button>
        ))}
      </div>
      <Afar does="setNever" by="locket policy" />
      <form
        class="inline"
        data-does="setNever"
        onSubmit={(e) => {
          e.preventDefault();
          const field = (e.currentTarget as HTMLFormElement).elements.namedItem("never") as HTMLInputElement;
          const word = field.value.trim();
          if (word && !p.never.includes(word)) save((all) => [...all, word]).then(() => (field.value = ""));
        }}
      >
        <input name="never" data-act="never" maxLength={200} aria-label={t("never.add")} placeholder={t("never.hint")} autocomplete="off" />
        <button class="button">{t("never.add")}</button>
      </form>
    </>
  );
}

/** What the current rules would let somebody see. */
function Test() {
  const shares = useLoaded<{ shares: { readers: { name: string }[]; revoked?: string }[] }>("/v1/shares");
  const apps = useLoaded<{ apps: { name: string; revoked?: string }[] }>("/v1/apps");
  const grants = useLoaded<{ grants: { name: string; removed?: string }[] }>("/v1/grants");
  const [as, choose] = useState("");
  const [tested, put] = useState<Tested>();
  const parties: [string, string][] = [
    ...[...new Set((shares.value?.shares ?? []).filter((s) => !s.revoked).flatMap((s) => s.readers.map((r) => r.name)))].map((n): [string, string] => ["reader:" + n, `${n} (${t("party.person")})`]),
    ...(apps.value?.apps ?? []).filter((a) => !a.revoked).map((a): [string, string] => ["app:" + a.name, `${a.name} (${t("party.app")})`]),
    ...(grants.value?.grants ?? []).filter((g) => !g.removed && g.name).map((g): [string, string] => ["worker:" + g.name, `${g.name} (${t("party.worker")})`]),
    ["reader:" + t("test.somebody"), t("test.newReader")],
    ["app:new", t("test.newApp")],
  ];
  const test = (who: string) => {
    choose(who);
    put(undefined);
    if (who) post<Tested>("/v1/policy/test", { as: who }).then(put, tellError);
  };
  return (
    <details class="policy-part">
      <summary data-act="test">{t("test.title")}</summary>
      <label class="field">
        {t("test.as")}
        <select name="as" value={as} onChange={(e) => test(e.currentTarget.value)}>
          <option value="">{t("test.choose")}</option>
          {parties.map(([id, name]) => (
            <option key={id} value={id}>
              {name.slice(0, 80)}
            </option>
          ))}
        </select>
      </label>
      {tested && (
        <div role="status">
          <p>{t("test.result", { n: tested.passes.length, held: tested.held })}</p>
          <p class="muted">{t("test.means")}</p>
          {tested.why?.map((w) => (
            <p key={w.why} class="muted">
              {number(w.memories)} × <T text={w.why} most={200} />
            </p>
          ))}
          <Items list={tested.passes} />
        </div>
      )}
    </details>
  );
}

function Items({ list }: { list: Passed[] }) {
  return (
    <ul class="rows policy-items">
      {list.slice(0, 60).map((m) => (
        <li key={m.id}>
          <a class="rows-text" href={`/memory/${m.id}`}>
            <T text={m.text} most={200} />
          </a>
          <span class="muted">
            <T text={m.by} most={60} />
          </span>
        </li>
      ))}
      {list.length > 60 && <li class="muted">{t("forget.andMore", { n: list.length - 60 })}</li>}
    </ul>
  );
}

const parties = ["Reader", "App", "Worker"] as const;
const quote = (s: string) => '"' + s.replace(/[\\"]/g, "\\$&").replace(/\s+/g, " ") + '"';

/** ruleOf returns a forbidding rule in Cedar. */
function ruleOf(whom: string, by: string, value: string): string {
  const what = by === "name" ? `resource.entities.contains(${quote(value)})` : by === "tag" ? `resource.tags.contains(${quote(value)})` : "resource.sensitivity >= 2";
  const head = whom ? `principal is ${whom}` : "principal";
  return `@id(${quote(`not ${by} ${value} for ${whom || "anybody"}`.replace(/\s+/g, " "))})\nforbid (${head}, action, resource) when { ${what} };\n`;
}

function Change({ policy: p, again }: { policy: Rules; again: () => void }) {
  const [read, begin] = useState(p); // the rules on which the text is based
  const [text, write] = useState(p.text);
  const [typed, type] = useState(p.text); // the text without the rule of the form that is previewed
  const [diff, show] = useState<Diff>();
  const same = String(textsOf(p)) === String(textsOf(read));
  const changed = !same && text !== read.text && text !== p.text;
  const take = () => (begin(p), write(p.text), type(p.text), show(undefined));
  if (!same && !changed) take(); // nothing is written here that would be lost
  const look = (to: string) => {
    begin(p);
    write(to);
    show(undefined);
    post<Diff>("/v1/policy/diff", { text: to }).then(show, tellError);
  };
  function add(e: SubmitEvent) {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement;
    const field = (name: string) => (form.elements.namedItem(name) as HTMLInputElement).value.trim();
    if (field("by") !== "private" && !field("value")) return;
    look(typed.trimEnd() + "\n" + ruleOf(field("whom"), field("by"), field("by") === "private" ? "" : field("value")));
  }
  const save = () =>
    set(text, read).then((now) => {
      begin(now);
      write(now.text);
      type(now.text);
      show(undefined);
      again();
      changes();
      tell({ text: t("policy.saved"), undo: () => set(read.mine ? read.text : "", now) });
    }, (e) => {
      if (asProblem(e).is("changed")) again(); // the present text is shown beside what was written here
      else tellError(e);
    });
  return (
    <details class="policy-part" data-does="setPolicy">
      <summary data-act="rule">{t("policy.change")}</summary>
      <form class="rule-form" onSubmit={add}>
        <label>
          {t("rule.never")}
          <select name="whom">
            <option value="">{t("rule.anybody")}</option>
            {parties.map((w) => (
              <option key={w} value={w}>
                {t(`rule.${w}`)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t("rule.what")}
          <select name="by">
            <option value="name">{t("rule.name")}</option>
            <option value="tag">{t("rule.tag")}</option>
            <option value="private">{t("rule.private")}</option>
          </select>
        </label>
        <label>
          {t("rule.value")}
          <input name="value" maxLength={100} autocomplete="off" />
        </label>
        <button class="button">{t("rule.look")}</button>
      </form>
      <p class="muted">{t("rule.says")}</p>
      <details>
        <summary>{t("policy.text")}</summary>
        <p class="muted">{t("policy.textSays")}</p>
        <label class="field">
          <span class="sr">{t("policy.text")}</span>
          <textarea rows={8} spellcheck={false} class="code" value={text} onInput={(e) => (write(e.currentTarget.value), type(e.currentTarget.value))} />
        </label>
        <button type="button" class="button" onClick={() => look(text)}>
          {t("rule.look")}
        </button>
      </details>
      {changed && (
        <div class="notice bad meanwhile" role="alert">
          <Icon name="warn" />
          <div>
            <strong>{t("edit.changed")}</strong>
            <dl>
              <dt>{t("edit.theirs")}</dt>
              {textsOf(p).map((x) => (
                <dd key={x}>
                  <T text={x} most={6000} />
                </dd>
              ))}
              <dt>{t("edit.mine")}</dt>
              <dd>
                <T text={text} most={6000} />
              </dd>
            </dl>
            <div class="actions">
              <button type="button" class="button" onClick={() => look(text)}>
                {t("rule.look")}
              </button>
              <button type="button" class="button" onClick={take}>
                {t("edit.takeTheirs")}
              </button>
            </div>
          </div>
        </div>
      )}
      {diff && !changed && (
        <div class="policy-diff" role="status">
          {diff.policy.trouble ? (
            <p class="notice bad">
              <Icon name="warn" /> <T text={diff.policy.trouble} most={300} />
            </p>
          ) : (
            <>
              <h3>{t("diff.title")}</h3>
              <RuleList rules={diff.policy.rules} />
              {!diff.changes.length && <p>{t("diff.none")}</p>}
              {diff.changes.map((c) => (
                <div key={c.as}>
                  <p>
                    <strong>
                      <T text={c.as.replace(/^\w+:/, "")} most={60} />
                    </strong>{" "}
                    {t("diff.counts", { opens: c.opens?.length ?? 0, closes: c.closes?.length ?? 0 })}
                  </p>
                  <Items list={[...(c.opens ?? []), ...(c.closes ?? [])]} />
                </div>
              ))}
              <button type="button" class="button solid" onClick={save}>
                {t("policy.save")}
              </button>
            </>
          )}
        </div>
      )}
    </details>
  );
}
