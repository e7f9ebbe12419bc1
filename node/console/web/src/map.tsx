// Where the wearer was on a day, drawn to scale from their own visits. There are
// no tiles: asking a server for them would tell it where the wearer was.

import { visitsOf, type Stop } from "./day";
import { clock, lasting, number, t } from "./i18n";
import type { Day } from "./types";
import { T } from "./widgets";

const width = 520;
const height = 300;
const margin = 34;

/** How many metres a scale bar may stand for. */
const round = [10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6];

/** DayMap draws the places of a day in the order in which they were visited. Pressing one leads to its lines. */
export function DayMap({ day, jump }: { day: Day; jump: (time: number) => void }) {
  const stops = visitsOf(day);
  const spots = new Map<string, Stop>(); // each place once, with its first visit
  for (const s of stops) if (!spots.has(s.name)) spots.set(s.name, s);
  const all = [...spots.values()];
  if (all.length < 2) return null;
  const north = all.map((s) => s.lat);
  const middle = (Math.min(...north) + Math.max(...north)) / 2;
  const east = Math.max(0.01, Math.cos((middle * Math.PI) / 180));
  // Across the date line the shorter way is drawn.
  const lon = (s: Stop) => ((((s.lon - all[0].lon + 540) % 360) + 360) % 360) - 180;
  const xs = all.map((s) => lon(s) * east);
  const ys = all.map((s) => -s.lat);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const degree = Math.min((width - 2 * margin) / Math.max(1e-5, right - left), (height - 2 * margin) / Math.max(1e-5, bottom - top)); // px
  const x = (s: Stop) => width / 2 + (lon(s) * east - (left + right) / 2) * degree;
  const y = (s: Stop) => height / 2 + (-s.lat - (top + bottom) / 2) * degree;
  const metre = degree / 111195; // px
  const bar = round.findLast((m) => m * metre <= 120) ?? round[0];
  const n = new Map(all.map((s, i) => [s.name, i + 1]));
  const path = stops.map((s) => spots.get(s.name)!);
  return (
    <details class="day-map">
      <summary>{t("map.title", { n: all.length })}</summary>
      <div class="day-map-body">
        <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={t("map.label")}>
          {path.slice(1).map((s, i) => (
            <Way key={i} from={[x(path[i]), y(path[i])]} to={[x(s), y(s)]} />
          ))}
          {all.map((s) => (
            <g key={s.name} class="map-spot" onClick={() => jump(s.at)}>
              <circle cx={x(s)} cy={y(s)} r="12" />
              <text x={x(s)} y={y(s)} dy="0.36em">
                {n.get(s.name)}
              </text>
            </g>
          ))}
          <g class="map-scale">
            <path d={`M${width - margin - bar * metre} ${height - 12}v6h${bar * metre}v-6`} />
            <text x={width - margin - (bar * metre) / 2} y={height - 14}>
              {bar < 1000 ? t("map.metres", { n: bar }) : t("map.kilometres", { n: number(bar / 1000) })}
            </text>
          </g>
          <g class="map-north">
            <path d="M18 30V10m-5 6 5-7 5 7" />
            <text x="18" y="43">
              {t("map.north")}
            </text>
          </g>
        </svg>
        <ol>
          {stops.map((s, i) => (
            <li key={i}>
              <button type="button" class="plain" onClick={() => jump(s.at)}>
                <b>{n.get(s.name)}</b> <time>{clock(s.at)}</time> <T text={s.name} most={80} /> {s.stay > 0 && <span class="muted">{lasting(s.stay)}</span>}
              </button>
            </li>
          ))}
        </ol>
      </div>
    </details>
  );
}

/** Way draws a line from one place to the next with an arrow in its middle. */
function Way({ from, to }: { from: [number, number]; to: [number, number] }) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const turn = (Math.atan2(dy, dx) * 180) / Math.PI;
  return (
    <g class="map-way">
      <path d={`M${from[0]} ${from[1]}l${dx} ${dy}`} />
      {Math.hypot(dx, dy) > 40 && <path class="map-arrow" d="M-4 -5 4 0-4 5" transform={`translate(${from[0] + dx / 2} ${from[1] + dy / 2}) rotate(${turn})`} />}
    </g>
  );
}
