// What waits for the node, in this browser's database, and how it is sent. The page and its
// service worker share it. A message is kept until the node says that it is on its disk.
"use strict";

self.locketQueue = (() => {
  let db;
  const open = () =>
    (db ??= new Promise((yes, no) => {
      const r = indexedDB.open("locket-recorder", 1);
      r.onupgradeneeded = () => {
        r.result.createObjectStore("waiting", { autoIncrement: true }); // {leaf, message}
        r.result.createObjectStore("kept"); // credentials, and since when it has recorded
      };
      r.onsuccess = () => yes(r.result);
      r.onerror = () => no(r.error);
    }));

  // at runs one transaction, and gives the result of its last request once it is on disk.
  const at = async (store, mode, ask) => {
    const t = (await open()).transaction(store, mode, { durability: "strict" });
    return new Promise((yes, no) => {
      const r = ask(t.objectStore(store));
      t.oncomplete = () => yes(r?.result);
      t.onabort = t.onerror = () => no(t.error ?? r?.error);
    });
  };

  const kept = (name) => at("kept", "readonly", (s) => s.get(name));
  const keep = (name, value) => at("kept", "readwrite", (s) => (value === undefined ? s.delete(name) : s.put(value, name)));
  const waiting = () => at("waiting", "readonly", (s) => s.count());

  // clear forgets the pairing, and what waits.
  const clear = async () => {
    await at("waiting", "readwrite", (s) => s.clear());
    await at("kept", "readwrite", (s) => s.clear());
  };

  const oldest = async () => {
    const t = (await open()).transaction("waiting").objectStore("waiting");
    return new Promise((yes, no) => {
      const r = t.openCursor();
      r.onsuccess = () => yes(r.result && { key: r.result.key, ...r.result.value });
      r.onerror = () => no(r.error);
    });
  };
  const drop = (key) => at("waiting", "readwrite", (s) => s.delete(key));

  // add keeps a message. Where the browser gives no more room, the oldest go, and a gap
  // stands for each run of them.
  async function add(leaf, message) {
    for (;;) {
      try {
        return await at("waiting", "readwrite", (s) => s.add({ leaf, message }));
      } catch (e) {
        if (e?.name !== "QuotaExceededError" || !(await shed())) throw e;
      }
    }
  }

  const shedAtOnce = 50;
  async function shed() {
    let lost;
    for (let n = 0; n < shedAtOnce; n++) {
      const m = await oldest();
      if (!m || m.leaf === "gap" || (lost && lost.boot !== m.message.boot)) break;
      await drop(m.key);
      lost = { boot: m.message.boot, at: Date.now(), from: lost?.from ?? m.message.seq, to: m.message.seq, seq: m.message.seq };
    }
    // Its own number is that of the last it stands for, which is free.
    if (lost) await at("waiting", "readwrite", (s) => s.add({ leaf: "gap", message: { ...lost, reason: "the browser gave no more room for what waits" } }));
    return lost !== undefined;
  }

  const base64 = (bytes) => {
    if (bytes.toBase64) return bytes.toBase64();
    let text = "";
    for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
    return btoa(text);
  };

  // ask makes a request as the wearable: without a message it asks for commands alone.
  function ask(who, m) {
    const headers = { Authorization: "Basic " + btoa(`${who.name}:${who.password}`) };
    const init = { headers, cache: "no-store", credentials: "omit", redirect: "error", signal: AbortSignal.timeout(30000) };
    if (!m) return fetch("/wear/v1", init);
    headers["Content-Type"] = "application/json";
    const body = m.message.data ? { ...m.message, data: base64(m.message.data) } : m.message;
    return fetch("/wear/v1/" + m.leaf, { ...init, method: "POST", body: JSON.stringify(body) });
  }

  // send sends what waits, the oldest first, and says how that ended: "empty", "away" (the
  // node can't be reached), "later" (it takes nothing now), "unknown" (it does not know this
  // wearable), or "busy" (another tab or the service worker does it). told is given each answer.
  async function send(told = () => {}) {
    return navigator.locks.request("locket-send", { ifAvailable: true }, async (lock) => {
      if (!lock) return "busy";
      const who = await kept("who");
      for (;;) {
        const m = await oldest();
        if (!m) return "empty";
        if (!who) return "unknown";
        let r, answer;
        try {
          r = await ask(who, m);
          if (r.ok) answer = await r.json();
        } catch {
          return "away";
        }
        if (r.status === 401) return "unknown";
        if (r.status === 413 || r.status === 415) await drop(m.key); // it will never be taken
        else if (!r.ok) return "later";
        else {
          await told(answer);
          const ack = answer.ack.find((a) => (a.seqs ?? [a.seq]).includes(m.message.seq) && a.boot === m.message.boot) ?? answer.ack.find((a) => a.kind === m.leaf);
          if (!ack || (ack.error && ack.retry)) return "later";
          await drop(m.key);
        }
      }
    });
  }

  return { add, ask, clear, keep, kept, send, waiting };
})();
