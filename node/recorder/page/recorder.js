// The page: pairing, the switches, and what is sent of them.
import { Pictures } from "./pictures.js";
import { Sound } from "./sound.js";
import { t, translate } from "./words.js";

const queue = self.locketQueue;
const $ = (id) => document.getElementById(id);

const boot = crypto.getRandomValues(new Uint32Array(1))[0] * 2 ** 20 + (crypto.getRandomValues(new Uint32Array(1))[0] & 0xfffff); // under 2⁵³
let seq = 0;
let who; // {name, password}; undefined: not paired
let sound, camera, screenshots, place; // what is on
let silence = ""; // "paused" or "private": nothing is recorded
let reach = "empty"; // how sending ended last
let waiting = 0;
let asked = 0; // when Ask was pressed; 0: nothing is asked

// ---- what is sent ----

async function tell(leaf, fields) {
  const m = { boot, seq: seq++, at: Date.now(), zone: Intl.DateTimeFormat().resolvedOptions().timeZone, ...fields };
  try {
    await queue.add(leaf, m);
    waiting++;
  } catch (e) {
    trouble(t("room", { why: e.message }));
  }
  void flush();
}

const gap = (reason) => tell("gap", { from: seq, to: seq, reason });

async function hello() {
  const battery = await navigator.getBattery?.().catch(() => undefined);
  const model = navigator.userAgentData?.platform || navigator.platform || "browser";
  await tell("hello", { model: model.slice(0, 64), firmware: "recorder 1", codecs: ["opus", "ulaw"], tells: true, mic: Boolean(sound), ...(battery && { battery: Math.round(100 * battery.level) }) });
}

let sending, again, retry, wait = 1000;
async function flush() {
  again = true;
  if (sending || !who) return;
  sending = true;
  clearTimeout(retry);
  while (again) {
    again = false;
    const before = reach;
    reach = await queue.send(heard).catch(() => "later");
    if (before === "away" && reach === "empty") await hello(); // it may have begun anew
  }
  sending = false;
  waiting = await queue.waiting();
  show();
  if (reach === "empty") wait = 1000;
  else {
    retry = setTimeout(flush, wait);
    wait = Math.min(2 * wait, 60000);
    const sw = await navigator.serviceWorker?.getRegistration();
    await sw?.sync?.register("locket-send").catch(() => {}); // a browser without that sends when the page is open
  }
}

// heard does what the node says.
function heard(answer) {
  lastHeard = Date.now();
  for (const c of answer.cmd) {
    if (c.cmd === "pause") hush(c.why === "private" ? "private" : "paused");
    else if (c.cmd === "resume") hush("");
    else if (c.cmd === "capture" && c.what === "photo") void camera?.take(true);
    else if (c.cmd === "say") {
      asked = 0;
      $("answer").textContent = c.text;
    }
  }
}

function hush(why) {
  if (silence === why) return;
  silence = why;
  for (const s of [sound, camera, screenshots]) if (s) s.quiet = Boolean(why);
  if (sound) void tell("status", { state: why ? "muted" : "recording" });
  show();
}

// ---- the switches ----

function trouble(text) {
  $("trouble").textContent = text;
}

const why = (e) => (e.name === "NotAllowedError" || e.code === 1 ? t("denied") : e.name === "NotFoundError" || e.name === "NotReadableError" ? t("missing") : t("failed", { why: e.message }));

// turn has a switch begin and end something, one after the other.
function turn(id, begin, end) {
  const box = $(id);
  box.addEventListener("change", async () => {
    trouble("");
    box.disabled = true;
    try {
      await (box.checked ? begin() : end());
    } catch (e) {
      box.checked = false;
      trouble(`${t(id)}: ${why(e)}`);
    }
    box.disabled = false;
    show();
  });
  return async (text) => {
    if (!box.checked) return;
    box.checked = false;
    await end();
    trouble(text);
    show();
  };
}

const stopSound = turn(
  "microphone",
  async () => {
    const s = new Sound({
      tell: (m) => void tell("audio", m),
      lost: (ms) => void gap(`the browser gave no sound for ${Math.round(ms / 1000)} s`),
      level: (x) => ($("level").style.transform = `scaleX(${x})`),
      ended: () => void stopSound(t("ended")).then(() => gap("the browser took the microphone away")),
    });
    s.quiet = Boolean(silence);
    await s.start();
    sound = s;
    await keepAlive();
    await tell("status", { state: silence ? "muted" : "recording" });
    await wake();
  },
  async () => {
    await sound?.stop();
    sound = undefined;
    $("level").style.transform = "";
    await queue.keep("alive");
    await tell("status", { state: "online" });
    await wake();
  },
);

const stopCamera = turn(
  "camera",
  async () => {
    const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment", width: { ideal: 1600 } } });
    $("camera-more").hidden = false;
    camera = new Pictures($("view"), { tell: (m) => void tell("photo", m), ended: () => void stopCamera(t("ended")) });
    camera.quiet = Boolean(silence);
    await camera.start(stream, Number($("every").value));
    await wake();
  },
  async () => {
    camera?.stop();
    camera = undefined;
    $("camera-more").hidden = true;
    await wake();
  },
);
$("every").addEventListener("change", () => camera?.every(Number($("every").value)));
$("photo").addEventListener("click", () => void camera?.take(true));

const stopScreen = turn(
  "screen",
  async () => {
    const stream = await navigator.mediaDevices.getDisplayMedia({ video: { frameRate: 2 }, audio: false });
    const video = document.createElement("video");
    video.muted = true;
    screenshots = new Pictures(video, { tell: (m) => void tell("photo", m), ended: () => void stopScreen("") });
    screenshots.quiet = Boolean(silence);
    await screenshots.start(stream, 10);
  },
  async () => {
    screenshots?.stop();
    screenshots = undefined;
  },
);

const far = 50; // metres
const often = 5 * 60_000; // ms
const stopPlace = turn(
  "location",
  () =>
    new Promise((yes, no) => {
      let last;
      const id = navigator.geolocation.watchPosition(
        ({ coords: c, timestamp }) => {
          yes();
          const moved = last && 111_195 * Math.hypot(c.latitude - last.lat, (c.longitude - last.lon) * Math.cos((c.latitude * Math.PI) / 180));
          if (last && moved < far && timestamp - last.at < often) return;
          last = { lat: c.latitude, lon: c.longitude, at: timestamp };
          void tell("location", { at: Math.round(timestamp), lat: c.latitude, lon: c.longitude, acc: c.accuracy });
        },
        (e) => {
          no(e);
          if (e.code === 1) void stopPlace(t("denied"));
        },
        { maximumAge: 60_000 },
      );
      place = id;
    }),
  async () => {
    navigator.geolocation.clearWatch(place);
    place = undefined;
  },
);

$("ask").addEventListener("click", async () => {
  asked = Date.now();
  $("answer").textContent = t("asking");
  await tell("button", { gesture: "single", name: "ask" });
});

// ---- screen, sleep, and what was missed ----

let lock;
async function wake() {
  const want = $("awake").checked && (sound || camera) && !document.hidden;
  if (want && (!lock || lock.released)) lock = await navigator.wakeLock?.request("screen").catch(() => undefined); // as when the battery is low
  if (!want && lock) {
    await lock.release();
    lock = undefined;
  }
}
$("awake").addEventListener("change", () => void wake());
document.addEventListener("visibilitychange", () => {
  void wake();
  if (document.hidden) return;
  sound?.again();
  void flush();
});
addEventListener("online", () => {
  wait = 1000;
  void flush();
});

// keepAlive notes that it records, so that the next page knows what a browser ended.
const keepAlive = () => queue.keep("alive", Date.now());

let lastHeard = Date.now();
const pollEvery = 15_000; // ms
const pollPaused = 5_000; // ms, while nothing is recorded that would bring an answer
const answerTime = 30_000; // ms, how long an answer is waited for
async function tick() {
  if (sound && sound.silentFor() < 5000) await keepAlive();
  if (sound?.silentFor() > 3000) sound.again();
  if (asked && Date.now() - asked > answerTime) {
    asked = 0;
    $("answer").textContent = t("noAnswer");
  }
  if (who && !sending && Date.now() - lastHeard > (asked ? 0 : silence ? pollPaused : pollEvery)) {
    lastHeard = Date.now();
    const r = await queue.ask(who).catch(() => undefined);
    if (r?.ok) heard(await r.json());
    else if (r?.status === 401) reach = "unknown";
  }
  show();
}

// ---- what is shown ----

function show() {
  const on = sound || camera || screenshots || place !== undefined;
  const dumb = sound && !silence && sound.silentFor() > 3000;
  $("says").textContent = silence ? t(silence) : dumb ? t("silent") : sound ? t("recording") : on ? t("watching") : t("off");
  $("state").classList.toggle("on", Boolean(on && !silence && !dumb));
  $("waits").textContent = reach === "unknown" ? t("unknown") : reach === "away" || reach === "later" ? t(reach, { n: waiting }) : waiting ? t("waits", { n: waiting }) : t("waitsNone");
  $("ask-row").hidden = !sound;
  document.body.dataset.waiting = waiting;
}

function showWho() {
  $("pair").hidden = Boolean(who);
  $("record").hidden = !who;
  $("name").textContent = who?.name ?? "";
}

// read reads a link of locket wearable add; undefined: it is none.
function read(text) {
  const hash = text.includes("#") ? text.slice(text.indexOf("#") + 1) : "";
  const q = new URLSearchParams(hash);
  const next = { name: q.get("name") ?? "", password: q.get("password") ?? "" };
  if (!/^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/.test(next.name) || !/^[\x21-\x7e]{8,256}$/.test(next.password)) return undefined;
  return next;
}

// pair keeps credentials once the node has accepted them, and says what is wrong otherwise.
async function pair(next) {
  const r = await queue.ask(next).catch(() => undefined);
  if (!r?.ok) return t(r?.status === 401 ? "pairRefused" : "pairAway");
  await queue.keep("who", next);
  return "";
}

// askAnew asks whether other credentials are to replace those that are kept.
function askAnew(was, next) {
  const names = { was: was.name, next: next.name };
  $("repair-says").textContent = t("repairSays", names);
  $("repair-no").textContent = t("repairNo", names);
  $("repair-yes").textContent = t("repairYes", names);
  $("repair-no").addEventListener("click", () => location.reload());
  $("repair-yes").addEventListener("click", async () => {
    $("repair-yes").disabled = true;
    const wrong = await pair(next);
    if (!wrong) return location.reload();
    $("repair-yes").disabled = false;
    $("repair-wrong").textContent = wrong;
  });
  $("repair").hidden = false;
}

$("pair-form").addEventListener("submit", async (e) => {
  e.preventDefault();
  const next = read($("link").value.trim());
  const wrong = next ? await pair(next) : t("pairWrong");
  if (wrong) $("pair-wrong").textContent = wrong;
  else location.reload();
});

$("leave").addEventListener("click", async () => {
  const n = await queue.waiting();
  if (n && !confirm(t("leaveSure", { n }))) return;
  who = undefined;
  for (const stop of [stopSound, stopCamera, stopScreen, stopPlace]) await stop("");
  await queue.clear();
  location.reload();
});

addEventListener("beforeinstallprompt", (e) => {
  e.preventDefault();
  $("install").hidden = false;
  $("install").onclick = () => e.prompt();
});

async function keepOffline() {
  const names = self.trustedTypes?.createPolicy("locket-scripts", {
    createScriptURL: (s) => {
      if (s !== "sw.js") throw new TypeError(s);
      return s;
    },
  });
  try {
    await navigator.serviceWorker.register(names ? names.createScriptURL("sw.js") : "sw.js");
    $("offline").textContent = t("offlineYes");
  } catch {
    $("offline").textContent = t("offlineNo");
  }
  await navigator.storage?.persist?.();
}

async function main() {
  translate();
  const agent = navigator.userAgent;
  $("locked").textContent = t(/iPhone|iPad|iPod/.test(agent) || (/Macintosh/.test(agent) && navigator.maxTouchPoints > 1) ? "lockedIOS" : /Android/.test(agent) ? "lockedAndroid" : "lockedDesktop");
  $("awake-row").hidden = !navigator.wakeLock;
  $("screen-row").hidden = !navigator.mediaDevices?.getDisplayMedia;
  const link = location.hash;
  if (link) history.replaceState(null, "", location.pathname); // the password goes from the address
  const next = read(link);
  const was = await queue.kept("who");
  void keepOffline();
  // Any site can open a link here, so it replaces nothing unasked.
  if (was && next && (was.name !== next.name || was.password !== next.password)) return askAnew(was, next);
  if (!was && next) {
    $("pair-wrong").textContent = await pair(next);
    if ($("pair-wrong").textContent) $("link").value = link; // to try again
  }
  who = await queue.kept("who");
  showWho();
  if (!who) return;
  const alone = await new Promise((yes) => navigator.locks.request("locket-page", { ifAvailable: true }, (l) => (yes(Boolean(l)), l ? new Promise(() => {}) : undefined)));
  if (!alone) {
    $("senses").hidden = true;
    return trouble(t("tab"));
  }
  navigator.serviceWorker?.addEventListener("message", (e) => heard(e.data));
  const alive = await queue.kept("alive");
  await hello();
  if (alive) {
    await gap(`the browser ended the recorder: nothing was recorded for ${Math.round((Date.now() - alive) / 1000)} s`);
    await queue.keep("alive");
  }
  show();
  setInterval(() => void tick(), 1000);
}

void main();
