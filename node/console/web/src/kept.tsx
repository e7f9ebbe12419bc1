// Retention: the rules of the settings, and what they would erase now.

import { useState } from "preact/hooks";
import { t } from "./i18n";
import { Failure, T, useLoaded, Waiting } from "./widgets";

interface Ending {
  id: string;
  text: string;
  why: string; // the rule
}

interface Retention {
  rules: string[];
  memories: Ending[];
  utterances: Ending[];
}

/** Kept loads only when it is opened, because the node reads all memories for it. */
export function Kept() {
  const [open, opened] = useState(false);
  return (
    <section class="panel kept">
      <h2 data-act="kept" tabIndex={-1}>
        {t("kept.title")}
      </h2>
      <p class="muted">{t("kept.says")}</p>
      <details onToggle={(e) => e.currentTarget.open && opened(true)}>
        <summary>{t("kept.look")}</summary>
        {open && <Rules />}
      </details>
      <p class="muted">
        {t("room.set")} <code>retention.rules</code>
      </p>
    </section>
  );
}

const most = 20;

function Rules() {
  const { value: r, error } = useLoaded<Retention>("/v1/retention");
  if (error) return <Failure error={error} />;
  if (!r) return <Waiting />;
  const ends = [...r.memories, ...r.utterances];
  return (
    <>
      {r.rules.length ? (
        <ol class="plain-list">
          {r.rules.map((rule) => (
            <li key={rule}>
              <code>
                <T text={rule} most={200} />
              </code>
            </li>
          ))}
        </ol>
      ) : (
        <p>{t("kept.none")}</p>
      )}
      {r.rules.length > 0 && <p>{t("kept.ends", { memories: r.memories.length, lines: r.utterances.length })}</p>}
      <ul class="rows">
        {ends.slice(0, most).map((e) => (
          <li key={e.id}>
            <span class="rows-text">
              <T text={e.text} most={160} />
              <span class="row-says muted">
                <T text={e.why} most={160} />
              </span>
            </span>
          </li>
        ))}
      </ul>
      {ends.length > most && <p class="muted">{t("parked.first", { n: most })}</p>}
    </>
  );
}
