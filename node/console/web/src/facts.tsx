// The facts as a tree: by category, then by owner and attribute. A branch is loaded when it is opened.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { said, t } from "./i18n";
import { List } from "./memories";
import { More } from "./more";
import { Failure, T, useLoaded, Waiting } from "./widgets";

interface Slot {
  subject: string;
  attribute: string;
  memories: number;
}

export function FactTree() {
  const { value, error } = useLoaded<{ categories: { name: string; memories: number }[] }>("/v1/facts?limit=1");
  const cold = useLoaded<{ cold?: number }>("/v1/memories?type=semantic&limit=1").value?.cold ?? 0;
  if (error) return <Failure error={error} />;
  if (!value) return <Waiting />;
  if (!value.categories.length) return <List kind="semantic" category="" state="active" />;
  return (
    <div class="tree">
      {value.categories.map((c) => (
        <Branch key={c.name} name={said("category", c.name)} n={c.memories}>
          {() => <Slots category={c.name} all={c.memories} />}
        </Branch>
      ))}
      {cold > 0 && <p class="muted">{t("facts.cold", { n: cold })}</p>}
    </div>
  );
}

/** Branch shows its content once it has been opened. */
function Branch({ name, of, n, children }: { name: string; of?: string; n: number; children: () => ComponentChildren }) {
  const [open, show] = useState(false);
  return (
    <details onToggle={(e) => e.target === e.currentTarget && show(e.currentTarget.open)}>
      <summary>
        <span class="rows-text">
          <T text={name} most={80} />
          {of && (
            <span class="muted">
              {" · "}
              <T text={of} most={80} />
            </span>
          )}
        </span>
        <span class="count">{n}</span>
      </summary>
      {open && <div class="tree-in">{children()}</div>}
    </details>
  );
}

const few = 500;
const many = 5000;

/** nameOf returns the name of an attribute: "appointment:dentist" has a qualifier, and not_X denies X. */
function nameOf(attribute: string): string {
  if (attribute.startsWith("not_")) return t("facts.not", { what: nameOf(attribute.slice(4)) });
  const at = attribute.indexOf(":");
  if (at < 0) return said("slot", attribute);
  return said("slot", attribute.slice(0, at)) + ": " + attribute.slice(at + 1).replaceAll("_", " ");
}

/** whose returns the owner of a property: the wearer, a relative ("user's sister"), or somebody by name. */
function whose(subject: string): string {
  if (subject === "user") return t("facts.you");
  const [first, ...kin] = subject.split(/'s |的/);
  if (first !== "user" || !kin.length) return subject;
  return t("facts.your", { who: kin.map((k) => said("slot", k).toLowerCase()).join(t("facts.of")) });
}

function Slots({ category, all }: { category: string; all: number }) {
  const [limit, set] = useState(few);
  const { value, error } = useLoaded<{ slots: Slot[]; loose: number; more?: boolean }>(`/v1/facts?limit=${limit}&category=${encodeURIComponent(category)}`, { of: category });
  if (error) return <Failure error={error} />;
  if (!value) return <Waiting />;
  const left = all - value.loose - value.slots.reduce((n, s) => n + s.memories, 0);
  const only = (by: object) => ({ AND: [{ categories: category }, by] });
  return (
    <>
      {value.slots.map((s) => (
        <Branch key={s.subject + "\0" + s.attribute} name={nameOf(s.attribute)} of={whose(s.subject)} n={s.memories}>
          {() => <List kind="semantic" category="" state="active" by={only({ subject: s.subject, attribute: s.attribute })} />}
        </Branch>
      ))}
      {value.more && value.slots.length < many && (
        <More show={() => set(many)}>{t("more")}</More>
      )}
      {value.more && value.slots.length >= many && left > 0 && <p class="muted">{t("facts.left", { n: left })}</p>}
      {value.loose > 0 && (
        <Branch name={t("facts.loose")} n={value.loose}>
          {() => <List kind="semantic" category="" state="active" by={only({ subject: { exists: false } })} />}
        </Branch>
      )}
    </>
  );
}
