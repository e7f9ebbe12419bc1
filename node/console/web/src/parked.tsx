// Lines for which the language model gave no usable answer, each with the reason.

import { useState } from "preact/hooks";
import { post } from "./api";
import { dateOf, moment, t } from "./i18n";
import { changes, T, tell, tellError, useLoaded } from "./widgets";

interface Line {
  utterance: string;
  at: string;
  speaker?: string;
  text: string;
  tries: number;
  reason: string;
}

const most = 100;

export function Parked() {
  const { value, again } = useLoaded<{ messages: Line[] }>(`/v1/llm/parked?limit=${most}`);
  const [busy, work] = useState(false);
  const lines = value?.messages ?? [];
  if (!lines.length) return null;
  const retry = () => {
    work(true);
    post("/v1/llm/retry")
      .then(() => (again(), changes(), tell({ text: t("act.parkedDone") })), tellError)
      .finally(() => work(false));
  };
  return (
    <div class="parked">
      <h3 data-act="parked" tabIndex={-1}>
        {t("parked.title")}
      </h3>
      <p class="muted">{t("parked.says")}</p>
      <ul class="rows">
        {lines.map((l) => (
          <li key={l.utterance}>
            <span class="rows-text">
              <a href={`/day/${dateOf(l.at)}?line=${l.utterance}`}>
                <T text={l.speaker ? `${l.speaker}: ${l.text}` : l.text} most={200} />
              </a>
              <span class="row-says muted">
                {moment(l.at)} · {t("parked.tries", { n: l.tries })} · <T text={l.reason} most={200} />
              </span>
            </span>
          </li>
        ))}
      </ul>
      {lines.length === most && <p class="muted">{t("parked.first", { n: most })}</p>}
      <button type="button" class="button small" data-does="retryParked" disabled={busy} onClick={retry}>
        {busy ? t("wait") : t("remedy.retryParked")}
      </button>
    </div>
  );
}
