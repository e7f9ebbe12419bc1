// What a Locket plugin in AssemblyScript needs: the event as it is read,
// candidates as they are written. index.ts has the exports.
//
// What is read is checked as docs/wasm.md has it: a bad message is answered
// with its error code before extract is called.

export const VERSION: i32 = 1;

const MAX_INPUT: u32 = 4 << 20;
const MAX_STATE: u32 = 64 << 10;
const MAX_TEXT: u32 = 64 << 10;
const MAX_NAME: u32 = 256;
const MAX_CANDIDATES: i32 = 64;
const MAX_OUTPUT: u32 = 256 << 10;
const MAX_DEPTH: i32 = 8;
const MAX_COUNT: u64 = 0x7fffffff;

// Error codes.
export const OK: i32 = 0;
export const PLUGIN: i32 = 1; // your own: you could not do your work
const TRUNCATED: i32 = 2;
const TRAILING: i32 = 3;
const TYPE: i32 = 4;
const FORM: i32 = 5;
const LIMIT: i32 = 6;
const UTF8: i32 = 7;
const DUPLICATE: i32 = 8;
const NUMBER: i32 = 10;
const OTHER_VERSION: i32 = 11;

// Something said earlier.
export class Turn {
  id: string = "";
  at: i64 = 0;
  speaker: string = "";
  text: string = "";
}

// Something that the wearer has by now.
export class Memory {
  id: string = "";
  type: string = "";
  at: i64 = 0; // when it was learnt, in ms since 1970-01-01 UTC
  text: string = "";
}

// Bytes of the event: they are overwritten by the next call.
export class Bytes {
  constructor(public ptr: usize = 0, public length: u32 = 0) {}
  at(i: u32): u8 {
    return i < this.length ? load<u8>(this.ptr + i) : 0;
  }
}

// An event; what the host did not send is empty or zero.
export class Event {
  id: string = "";
  kind: string = "";
  at: i64 = 0; // ms since 1970-01-01 UTC
  zone: string = "";
  offset: i64 = 0; // seconds east of UTC
  lang: string = "";
  speaker: string = "";
  wearer: string = "";
  text: string = "";
  pcm: Bytes = new Bytes();
  rate: u32 = 0;
  last: bool = false;
  width: u32 = 0;
  height: u32 = 0;
  gray: Bytes = new Bytes();
  rgb: Bytes = new Bytes();
  name: string = "";
  values: f64[] = [];
  before: Turn[] = [];
  state: Bytes = new Bytes();
  memories: Memory[] = []; // what bears on the event, best first
}

// A memory that the plugin proposes; what is left empty is not sent.
export class Candidate {
  type: string = "";
  text: string = "";
  lang: string = "";
  kind: string = "";
  subject: string = ""; // of the slot; empty: no slot
  attribute: string = "";
  value: string = "";
  many: bool = false;
  confidence: f64 = 0;
  sensitivity: string = "";
  trueFrom: i64 = 0;
  trueTo: i64 = 0;
  from: i32 = 0; // the evidence, as places in event.text
  to: i32 = 0;
}

// ---- reading CBOR ----

class Reader {
  i: u32 = 0;
  err: i32 = OK;
  major: u32 = 0; // of the head that was read last
  info: u32 = 0;
  n: u64 = 0;

  constructor(public ptr: usize, public length: u32) {}

  fail(code: i32): void {
    if (this.err == OK) this.err = code;
  }

  left(): u32 {
    return this.length - this.i;
  }

  head(): bool {
    if (this.err != OK) return false;
    if (this.i >= this.length) {
      this.fail(TRUNCATED);
      return false;
    }
    const c: u32 = load<u8>(this.ptr + this.i);
    this.major = c >> 5;
    this.info = c & 0x1f;
    if (this.info < 24) {
      this.i++;
      this.n = this.info;
      return true;
    }
    if (this.info > 27) {
      this.fail(FORM);
      return false;
    }
    const size: u32 = 1 << (this.info - 24);
    if (this.left() - 1 < size) {
      this.fail(TRUNCATED);
      return false;
    }
    let n: u64 = 0;
    for (let k: u32 = 0; k < size; k++) n = (n << 8) | load<u8>(this.ptr + this.i + 1 + k);
    const least: u64 = size == 1 ? 24 : (<u64>1) << (4 * size);
    if (n < least && this.major != 7) {
      this.fail(FORM);
      return false;
    }
    this.n = n;
    this.i += 1 + size;
    return true;
  }

  want(major: u32): u64 {
    if (this.head() && this.major != major) this.fail(this.major == 6 ? FORM : TYPE);
    return this.err == OK ? this.n : 0;
  }

  // A number of items, of at least each bytes, before anything is made of them.
  count(n: u64, each: u32, most: u64): u32 {
    if (this.err != OK) return 0;
    if (n > most) this.fail(LIMIT);
    else if (n > this.left() / each) this.fail(TRUNCATED);
    return this.err == OK ? <u32>n : 0;
  }

  take(n: u64): usize {
    if (this.err == OK && n > this.left()) this.fail(TRUNCATED);
    if (this.err != OK) return 0;
    const p = this.ptr + this.i;
    this.i += <u32>n;
    return p;
  }

  bytes(most: u32): Bytes {
    const n = this.want(2);
    if (n > most) this.fail(LIMIT);
    const p = this.take(n);
    return this.err == OK ? new Bytes(p, <u32>n) : new Bytes();
  }

  text(): string {
    const n = this.want(3);
    if (n > MAX_INPUT) this.fail(LIMIT);
    const p = this.take(n);
    if (this.err == OK && !isUTF8(p, <u32>n)) this.fail(UTF8);
    return this.err == OK ? String.UTF8.decodeUnsafe(p, <usize>n) : "";
  }

  int(): i64 {
    if (!this.head()) return 0;
    if (this.major > 1) {
      this.fail(TYPE);
      return 0;
    }
    if (this.n >> 63 != 0) {
      this.fail(NUMBER);
      return 0;
    }
    return this.major == 1 ? ~(<i64>this.n) : <i64>this.n;
  }

  size(): u32 {
    const v = this.int();
    if (v < 0 || v > 0x7fffffff) {
      this.fail(NUMBER);
      return 0;
    }
    return <u32>v;
  }

  flag(): bool {
    if (this.head() && (this.major != 7 || (this.info != 20 && this.info != 21))) this.fail(TYPE);
    return this.err == OK && this.info == 21;
  }

  real(): f64 {
    if (!this.head()) return 0;
    let v: f64 = 0;
    const most: u64 = (<u64>1) << 53;
    if (this.major == 0 && this.n <= most) v = <f64>this.n;
    else if (this.major == 1 && this.n < most) v = -1 - <f64>this.n;
    else if (this.major <= 1) this.fail(NUMBER);
    else if (this.major != 7) this.fail(TYPE);
    else if (this.info == 27) v = reinterpret<f64>(this.n);
    else if (this.info == 26) v = <f64>reinterpret<f32>(<u32>this.n);
    else if (this.info == 25) v = half(<u32>this.n);
    else this.fail(TYPE);
    if (this.err == OK && !isFinite(v)) this.fail(NUMBER);
    return this.err == OK ? v : 0;
  }

  key(seen: u64): u64 {
    const k = this.want(0);
    if (this.err == OK && k < 64 && ((seen >> k) & 1) == 1) this.fail(DUPLICATE);
    return k;
  }

  // Passes over one item that a later version may have put there.
  skip(depth: i32): void {
    if (!this.head()) return;
    const n = this.n;
    switch (this.major) {
      case 0:
      case 1:
        break;
      case 2:
        this.take(n);
        break;
      case 3: {
        const p = this.take(n);
        if (this.err == OK && !isUTF8(p, <u32>n)) this.fail(UTF8);
        break;
      }
      case 4:
      case 5: {
        const each: u32 = this.major - 3;
        if (depth >= MAX_DEPTH) {
          this.fail(LIMIT);
          return;
        }
        for (let c: u64 = <u64>this.count(n, each, MAX_COUNT) * each; c > 0 && this.err == OK; c--) this.skip(depth + 1);
        break;
      }
      case 7:
        if (this.info < 20 || this.info == 23 || this.info == 24) this.fail(FORM);
        break;
      default:
        this.fail(FORM);
    }
  }
}

// Widens an IEEE 754 binary16 (RFC 8949, appendix D).
function half(h: u32): f64 {
  const exp: u32 = (h >> 10) & 0x1f;
  const mant = <f64>(h & 0x3ff);
  let v: f64 = NaN; // or infinite: neither is taken
  if (exp == 0) v = mant * reinterpret<f64>((<u64>(1023 - 24)) << 52);
  else if (exp != 31) v = (mant + 1024) * reinterpret<f64>((<u64>(exp + 998)) << 52);
  return (h & 0x8000) != 0 ? -v : v;
}

// RFC 3629: no surrogates, nothing over-long, nothing past U+10FFFF.
function isUTF8(p: usize, n: u32): bool {
  let i: u32 = 0;
  while (i < n) {
    const c: u32 = load<u8>(p + i);
    if (c < 0x80) {
      i++;
      continue;
    }
    const more: u32 = c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : 9;
    if (more == 9 || n - i - 1 < more) return false;
    for (let k: u32 = 1; k <= more; k++) {
      if ((load<u8>(p + i + k) & 0xc0) != 0x80) return false;
    }
    if (more >= 2) {
      const d: u32 = load<u8>(p + i + 1);
      if ((c == 0xe0 && d < 0xa0) || (c == 0xed && d >= 0xa0) || (c == 0xf0 && d < 0x90) || (c == 0xf4 && d >= 0x90)) return false;
    }
    i += 1 + more;
  }
  return true;
}

function noted(seen: u64, k: u64): u64 {
  return k < 64 ? seen | ((<u64>1) << k) : seen;
}

function readTurn(r: Reader): Turn {
  const t = new Turn();
  let seen: u64 = 0;
  for (let n = r.count(r.want(5), 2, MAX_COUNT); n > 0 && r.err == OK; n--) {
    const k = r.key(seen);
    seen = noted(seen, k);
    if (r.err != OK) break;
    if (k == 1) t.id = r.text();
    else if (k == 2) t.at = r.int();
    else if (k == 3) t.speaker = r.text();
    else if (k == 4) t.text = r.text();
    else r.skip(3);
  }
  return t;
}

function readMemory(r: Reader): Memory {
  const m = new Memory();
  let seen: u64 = 0;
  for (let n = r.count(r.want(5), 2, MAX_COUNT); n > 0 && r.err == OK; n--) {
    const k = r.key(seen);
    seen = noted(seen, k);
    if (r.err != OK) break;
    if (k == 1) m.id = r.text();
    else if (k == 2) m.type = r.text();
    else if (k == 3) m.at = r.int();
    else if (k == 4) m.text = r.text();
    else r.skip(3);
  }
  return m;
}

// Reads an event into e, and gives an error code.
export function read(ptr: usize, length: u32, e: Event): i32 {
  if (length > MAX_INPUT) return LIMIT;
  const r = new Reader(ptr, length);
  let seen: u64 = 0;
  for (let c = r.count(r.want(5), 2, MAX_COUNT); c > 0 && r.err == OK; c--) {
    const k = r.key(seen);
    seen = noted(seen, k);
    if (r.err != OK) break;
    switch (<i32>min<u64>(k, 63)) {
      case 0:
        if (r.int() != VERSION) r.fail(OTHER_VERSION);
        break;
      case 1: e.id = r.text(); break;
      case 2: e.kind = r.text(); break;
      case 3: e.at = r.int(); break;
      case 4: e.zone = r.text(); break;
      case 5: e.lang = r.text(); break;
      case 6: e.speaker = r.text(); break;
      case 7: e.wearer = r.text(); break;
      case 8: e.text = r.text(); break;
      case 9: e.pcm = r.bytes(MAX_INPUT); break;
      case 10: e.rate = r.size(); break;
      case 11: e.last = r.flag(); break;
      case 12: e.width = r.size(); break;
      case 13: e.height = r.size(); break;
      case 14: e.gray = r.bytes(MAX_INPUT); break;
      case 15: e.rgb = r.bytes(MAX_INPUT); break;
      case 16: e.name = r.text(); break;
      case 17:
        for (let n = r.count(r.want(4), 1, 64); n > 0 && r.err == OK; n--) e.values.push(r.real());
        break;
      case 18:
        for (let n = r.count(r.want(4), 1, 8); n > 0 && r.err == OK; n--) e.before.push(readTurn(r));
        break;
      case 19: e.state = r.bytes(MAX_STATE); break;
      case 20: e.offset = r.int(); break;
      case 21:
        for (let n = r.count(r.want(4), 1, 16); n > 0 && r.err == OK; n--) e.memories.push(readMemory(r));
        break;
      default: r.skip(1);
    }
  }
  if (r.err == OK && (seen & 1) == 0) r.fail(OTHER_VERSION);
  if (r.err == OK && r.i != length) r.fail(TRAILING);
  return r.err;
}

// ---- writing CBOR ----

// What the plugin has found.
export class Output {
  count: i32 = 0;
  b: u8[] = [];

  constructor(private text: string) {}

  // Adds a candidate; false where there is no room for it in the answer.
  add(c: Candidate): bool {
    const slot = c.subject.length > 0;
    if (this.count == MAX_CANDIDATES || tooLong(c)) return false;
    const m = new Fields();
    m.text(1, c.type);
    m.text(2, c.text);
    m.text(3, c.lang);
    m.text(4, c.kind);
    if (slot) {
      const s = new Fields();
      s.text(1, c.subject);
      s.text(2, c.attribute);
      s.text(3, c.value);
      if (c.many) {
        s.key(4);
        s.b.push(0xf5);
      }
      m.key(5);
      s.end(m.b);
    }
    if (c.confidence != 0) {
      m.key(7);
      m.b.push(0xfb);
      fixed(m.b, reinterpret<u64>(c.confidence), 8);
    }
    m.text(8, c.sensitivity);
    m.int(9, c.trueFrom);
    m.int(10, c.trueTo);
    if (c.to > c.from) {
      m.key(12);
      m.b.push(0x81);
      m.b.push(0x83);
      m.b.push(0x00);
      head(m.b, 0, bytesOf(this.text, 0, c.from));
      head(m.b, 0, bytesOf(this.text, 0, c.to));
    }
    if (<u32>(this.b.length + m.b.length) + 16 > MAX_OUTPUT) return false;
    m.end(this.b);
    this.count++;
    return true;
  }
}

function tooLong(c: Candidate): bool {
  return size(c.type) > MAX_NAME || size(c.lang) > MAX_NAME || size(c.kind) > MAX_NAME || size(c.sensitivity) > MAX_NAME ||
    size(c.subject) > MAX_NAME || size(c.attribute) > MAX_NAME || size(c.text) > MAX_TEXT || size(c.value) > MAX_TEXT;
}

function size(s: string): u32 {
  return <u32>String.UTF8.byteLength(s);
}

// How many bytes of UTF-8 the characters from, up to to, of s take: evidence
// is told in bytes, and strings count in UTF-16.
function bytesOf(s: string, from: i32, to: i32): u64 {
  return <u64>String.UTF8.byteLength(s.substring(from, to));
}

// A map that is being written: its fields are counted as they come.
class Fields {
  b: u8[] = [];
  n: u32 = 0;

  key(k: u64): void {
    head(this.b, 0, k);
    this.n++;
  }

  text(k: u64, s: string): void {
    if (s.length == 0) return;
    const bytes = Uint8Array.wrap(String.UTF8.encode(s));
    this.key(k);
    head(this.b, 3, bytes.length);
    for (let i = 0; i < bytes.length; i++) this.b.push(bytes[i]);
  }

  int(k: u64, v: i64): void {
    if (v == 0) return;
    this.key(k);
    head(this.b, v < 0 ? 1 : 0, v < 0 ? ~v : v);
  }

  end(to: u8[]): void {
    head(to, 5, this.n);
    for (let i = 0; i < this.b.length; i++) to.push(this.b[i]);
  }
}

export function head(b: u8[], major: u8, n: u64): void {
  const m: u8 = major << 5;
  if (n < 24) {
    b.push(m | <u8>n);
    return;
  }
  const power: u8 = n <= 0xff ? 0 : n <= 0xffff ? 1 : n <= 0xffffffff ? 2 : 3;
  b.push(m | (24 + power));
  fixed(b, n, 1 << power);
}

function fixed(b: u8[], n: u64, size: i32): void {
  for (let k = size - 1; k >= 0; k--) b.push(<u8>(n >> (8 * k)));
}
