//! What a Locket plugin in Rust needs: the event as it is read, candidates as
//! they are written, and the exports. Nothing but the standard library.
//!
//! What is read is checked as docs/wasm.md has it: a bad message is answered
//! with its error code before `extract` is called.

#![allow(dead_code)]

/// Version of the contract.
pub const VERSION: u32 = 1;

const MAX_INPUT: usize = 4 << 20;
const MAX_STATE: usize = 64 << 10;
const MAX_TEXT: usize = 64 << 10;
const MAX_NAME: usize = 256;
const MAX_CANDIDATES: usize = 64;
const MAX_OUTPUT: usize = 256 << 10;
const MAX_BEFORE: u64 = 8;
const MAX_VALUES: u64 = 64;
const MAX_MEMORIES: u64 = 16;
const MAX_DEPTH: u32 = 8;
const MAX_COUNT: u64 = 0x7fff_ffff;

/// Error codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Code {
    /// Your own: the plugin could not do its work.
    Plugin = 1,
    Truncated = 2,
    Trailing = 3,
    Type = 4,
    Form = 5,
    Limit = 6,
    Utf8 = 7,
    Duplicate = 8,
    Number = 10,
    Version = 11,
}

/// An event; what the host did not send is empty or zero.
#[derive(Default)]
pub struct Event<'a> {
    pub id: &'a str,
    pub kind: &'a str,
    /// ms since 1970-01-01 UTC.
    pub at: i64,
    pub zone: &'a str,
    /// Seconds east of UTC.
    pub offset: i64,
    pub lang: &'a str,
    pub speaker: &'a str,
    pub wearer: &'a str,
    pub text: &'a str,
    pub pcm: &'a [u8],
    pub rate: u32,
    pub last: bool,
    pub width: u32,
    pub height: u32,
    pub gray: &'a [u8],
    pub rgb: &'a [u8],
    pub name: &'a str,
    pub values: Vec<f64>,
    pub before: Vec<Turn<'a>>,
    pub state: &'a [u8],
    /// What the wearer has that bears on the event, best first.
    pub memories: Vec<Memory<'a>>,
}

/// Something said earlier.
#[derive(Default)]
pub struct Turn<'a> {
    pub id: &'a str,
    pub at: i64,
    pub speaker: &'a str,
    pub text: &'a str,
}

/// Something that the wearer has by now.
#[derive(Default)]
pub struct Memory<'a> {
    pub id: &'a str,
    /// Its type: semantic, episodic, …
    pub memory: &'a str,
    /// When it was learnt, in ms since 1970-01-01 UTC.
    pub at: i64,
    pub text: &'a str,
}

/// A memory that the plugin proposes; what is left empty is not sent.
#[derive(Default)]
pub struct Candidate<'a> {
    pub memory: &'a str,
    pub text: &'a str,
    pub lang: &'a str,
    pub kind: &'a str,
    pub slot: Option<Slot<'a>>,
    pub confidence: f64,
    pub sensitivity: &'a str,
    pub true_from: i64,
    pub true_to: i64,
    /// Bytes of the event's text that are the evidence.
    pub span: Option<(usize, usize)>,
}

#[derive(Default)]
pub struct Slot<'a> {
    pub subject: &'a str,
    pub attribute: &'a str,
    pub value: &'a str,
    pub many: bool,
}

// ---- reading CBOR ----

struct Reader<'a> {
    b: &'a [u8],
    i: usize,
}

struct Head {
    major: u8,
    info: u8,
    n: u64,
}

impl<'a> Reader<'a> {
    fn head(&mut self) -> Result<Head, Code> {
        let c = *self.b.get(self.i).ok_or(Code::Truncated)?;
        let (major, info) = (c >> 5, c & 0x1f);
        if info < 24 {
            self.i += 1;
            return Ok(Head { major, info, n: info as u64 });
        }
        if info > 27 {
            return Err(Code::Form);
        }
        let size = 1usize << (info - 24);
        let bytes = self.b.get(self.i + 1..self.i + 1 + size).ok_or(Code::Truncated)?;
        let n = bytes.iter().fold(0u64, |n, b| n << 8 | *b as u64);
        let least = if size == 1 { 24 } else { 1u64 << (4 * size) };
        if n < least && major != 7 {
            return Err(Code::Form);
        }
        self.i += 1 + size;
        Ok(Head { major, info, n })
    }

    fn want(&mut self, major: u8) -> Result<u64, Code> {
        let h = self.head()?;
        match h.major {
            m if m == major => Ok(h.n),
            6 => Err(Code::Form),
            _ => Err(Code::Type),
        }
    }

    /// A number of items, of at least `each` bytes, before anything is made of them.
    fn count(&self, n: u64, each: usize, most: u64) -> Result<usize, Code> {
        if n > most {
            return Err(Code::Limit);
        }
        if n > ((self.b.len() - self.i) / each) as u64 {
            return Err(Code::Truncated);
        }
        Ok(n as usize)
    }

    fn take(&mut self, n: u64) -> Result<&'a [u8], Code> {
        if n > (self.b.len() - self.i) as u64 {
            return Err(Code::Truncated);
        }
        let b = &self.b[self.i..self.i + n as usize];
        self.i += n as usize;
        Ok(b)
    }

    fn raw(&mut self, major: u8, most: usize) -> Result<&'a [u8], Code> {
        let n = self.want(major)?;
        if n > most as u64 {
            return Err(Code::Limit);
        }
        self.take(n)
    }

    fn text(&mut self) -> Result<&'a str, Code> {
        std::str::from_utf8(self.raw(3, MAX_INPUT)?).map_err(|_| Code::Utf8)
    }

    fn bytes(&mut self, most: usize) -> Result<&'a [u8], Code> {
        self.raw(2, most)
    }

    fn int(&mut self) -> Result<i64, Code> {
        let h = self.head()?;
        match h.major {
            0 | 1 if h.n > i64::MAX as u64 => Err(Code::Number),
            0 => Ok(h.n as i64),
            1 => Ok(!(h.n as i64)),
            _ => Err(Code::Type),
        }
    }

    fn size(&mut self) -> Result<u32, Code> {
        match self.int()? {
            v @ 0..=0x7fff_ffff => Ok(v as u32),
            _ => Err(Code::Number),
        }
    }

    fn bool(&mut self) -> Result<bool, Code> {
        match self.head()? {
            Head { major: 7, info: 20, .. } => Ok(false),
            Head { major: 7, info: 21, .. } => Ok(true),
            _ => Err(Code::Type),
        }
    }

    fn real(&mut self) -> Result<f64, Code> {
        let h = self.head()?;
        let v = match (h.major, h.info) {
            (0, _) if h.n <= 1 << 53 => h.n as f64,
            (1, _) if h.n < 1 << 53 => -1.0 - h.n as f64,
            (0, _) | (1, _) => return Err(Code::Number),
            (7, 25) => half(h.n as u16),
            (7, 26) => f32::from_bits(h.n as u32) as f64,
            (7, 27) => f64::from_bits(h.n),
            _ => return Err(Code::Type),
        };
        if v.is_finite() { Ok(v) } else { Err(Code::Number) }
    }

    fn key(&mut self, seen: &mut u64) -> Result<u64, Code> {
        let k = self.want(0)?;
        if k < 64 {
            if *seen >> k & 1 == 1 {
                return Err(Code::Duplicate);
            }
            *seen |= 1 << k;
        }
        Ok(k)
    }

    /// Passes over one item that a later version may have put there.
    fn skip(&mut self, depth: u32) -> Result<(), Code> {
        let h = self.head()?;
        match h.major {
            0 | 1 => {}
            2 => {
                self.take(h.n)?;
            }
            3 => {
                std::str::from_utf8(self.take(h.n)?).map_err(|_| Code::Utf8)?;
            }
            4 | 5 => {
                if depth >= MAX_DEPTH {
                    return Err(Code::Limit);
                }
                let each = h.major as usize - 3;
                for _ in 0..self.count(h.n, each, MAX_COUNT)? * each {
                    self.skip(depth + 1)?;
                }
            }
            7 if matches!(h.info, 20..=22 | 25..=27) => {}
            _ => return Err(Code::Form),
        }
        Ok(())
    }

    fn turn(&mut self) -> Result<Turn<'a>, Code> {
        let mut t = Turn::default();
        let mut seen = 0;
        let n = self.want(5)?;
        for _ in 0..self.count(n, 2, MAX_COUNT)? {
            match self.key(&mut seen)? {
                1 => t.id = self.text()?,
                2 => t.at = self.int()?,
                3 => t.speaker = self.text()?,
                4 => t.text = self.text()?,
                _ => self.skip(3)?,
            }
        }
        Ok(t)
    }

    fn memory(&mut self) -> Result<Memory<'a>, Code> {
        let mut m = Memory::default();
        let mut seen = 0;
        let n = self.want(5)?;
        for _ in 0..self.count(n, 2, MAX_COUNT)? {
            match self.key(&mut seen)? {
                1 => m.id = self.text()?,
                2 => m.memory = self.text()?,
                3 => m.at = self.int()?,
                4 => m.text = self.text()?,
                _ => self.skip(3)?,
            }
        }
        Ok(m)
    }
}

/// Widens an IEEE 754 binary16 (RFC 8949, appendix D).
fn half(h: u16) -> f64 {
    let (exp, mant) = ((h >> 10 & 0x1f) as i32, (h & 0x3ff) as f64);
    let v = match exp {
        0 => mant * 2f64.powi(-24),
        31 => f64::NAN, // or infinite: neither is taken
        _ => (mant + 1024.0) * 2f64.powi(exp - 25),
    };
    if h & 0x8000 != 0 { -v } else { v }
}

/// Reads an event.
pub fn read(b: &[u8]) -> Result<Event<'_>, Code> {
    if b.len() > MAX_INPUT {
        return Err(Code::Limit);
    }
    let mut r = Reader { b, i: 0 };
    let mut e = Event::default();
    let mut seen = 0;
    let n = r.want(5)?;
    for _ in 0..r.count(n, 2, MAX_COUNT)? {
        match r.key(&mut seen)? {
            0 => {
                if r.int()? != VERSION as i64 {
                    return Err(Code::Version);
                }
            }
            1 => e.id = r.text()?,
            2 => e.kind = r.text()?,
            3 => e.at = r.int()?,
            4 => e.zone = r.text()?,
            5 => e.lang = r.text()?,
            6 => e.speaker = r.text()?,
            7 => e.wearer = r.text()?,
            8 => e.text = r.text()?,
            9 => e.pcm = r.bytes(MAX_INPUT)?,
            10 => e.rate = r.size()?,
            11 => e.last = r.bool()?,
            12 => e.width = r.size()?,
            13 => e.height = r.size()?,
            14 => e.gray = r.bytes(MAX_INPUT)?,
            15 => e.rgb = r.bytes(MAX_INPUT)?,
            16 => e.name = r.text()?,
            17 => {
                let n = r.want(4)?;
                for _ in 0..r.count(n, 1, MAX_VALUES)? {
                    e.values.push(r.real()?);
                }
            }
            18 => {
                let n = r.want(4)?;
                for _ in 0..r.count(n, 1, MAX_BEFORE)? {
                    e.before.push(r.turn()?);
                }
            }
            19 => e.state = r.bytes(MAX_STATE)?,
            20 => e.offset = r.int()?,
            21 => {
                let n = r.want(4)?;
                for _ in 0..r.count(n, 1, MAX_MEMORIES)? {
                    e.memories.push(r.memory()?);
                }
            }
            _ => r.skip(1)?,
        }
    }
    if seen & 1 == 0 {
        return Err(Code::Version);
    }
    if r.i != b.len() {
        return Err(Code::Trailing);
    }
    Ok(e)
}

// ---- writing CBOR ----

/// What the plugin has found.
#[derive(Default)]
pub struct Output {
    b: Vec<u8>,
    count: usize,
}

fn head(b: &mut Vec<u8>, major: u8, n: u64) {
    let m = major << 5;
    match n {
        0..=23 => b.push(m | n as u8),
        24..=0xff => b.extend_from_slice(&[m | 24, n as u8]),
        0x100..=0xffff => {
            b.push(m | 25);
            b.extend_from_slice(&(n as u16).to_be_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            b.push(m | 26);
            b.extend_from_slice(&(n as u32).to_be_bytes());
        }
        _ => {
            b.push(m | 27);
            b.extend_from_slice(&n.to_be_bytes());
        }
    }
}

/// A map that is being written: its fields are counted as they come.
struct Map {
    b: Vec<u8>,
    n: u64,
}

impl Map {
    fn key(&mut self, k: u64) {
        head(&mut self.b, 0, k);
        self.n += 1;
    }

    fn text(&mut self, k: u64, s: &str) {
        if !s.is_empty() {
            self.key(k);
            head(&mut self.b, 3, s.len() as u64);
            self.b.extend_from_slice(s.as_bytes());
        }
    }

    fn int(&mut self, k: u64, v: i64) {
        if v != 0 {
            self.key(k);
            head(&mut self.b, if v < 0 { 1 } else { 0 }, if v < 0 { !v } else { v } as u64);
        }
    }

    fn end(self, to: &mut Vec<u8>) {
        head(to, 5, self.n);
        to.extend_from_slice(&self.b);
    }
}

impl Output {
    /// Adds a candidate; false where there is no room for it in the answer.
    pub fn add(&mut self, c: &Candidate) -> bool {
        let slot = c.slot.as_ref();
        let names = [c.memory, c.lang, c.kind, c.sensitivity, slot.map_or("", |s| s.subject), slot.map_or("", |s| s.attribute)];
        if self.count == MAX_CANDIDATES || names.iter().any(|s| s.len() > MAX_NAME) || c.text.len() > MAX_TEXT || slot.map_or(0, |s| s.value.len()) > MAX_TEXT {
            return false;
        }
        let mut m = Map { b: Vec::new(), n: 0 };
        m.text(1, c.memory);
        m.text(2, c.text);
        m.text(3, c.lang);
        m.text(4, c.kind);
        if let Some(s) = slot {
            m.key(5);
            let mut sub = Map { b: Vec::new(), n: 0 };
            sub.text(1, s.subject);
            sub.text(2, s.attribute);
            sub.text(3, s.value);
            if s.many {
                sub.key(4);
                sub.b.push(0xf5);
            }
            sub.end(&mut m.b);
        }
        if c.confidence != 0.0 {
            m.key(7);
            m.b.push(0xfb);
            m.b.extend_from_slice(&c.confidence.to_be_bytes());
        }
        m.text(8, c.sensitivity);
        m.int(9, c.true_from);
        m.int(10, c.true_to);
        if let Some((from, to)) = c.span {
            m.key(12);
            m.b.extend_from_slice(&[0x81, 0x83, 0x00]);
            head(&mut m.b, 0, from as u64);
            head(&mut m.b, 0, to as u64);
        }
        if self.b.len() + m.b.len() + 16 > MAX_OUTPUT {
            return false;
        }
        m.end(&mut self.b);
        self.count += 1;
        true
    }
}

// ---- the exports of the contract ----

// A plugin has one thread, and one call at a time.
static mut INPUT: Vec<u8> = Vec::new();
static mut OUTPUT: Vec<u8> = Vec::new();

#[no_mangle]
pub extern "C" fn locket_abi() -> u32 {
    VERSION
}

#[no_mangle]
pub unsafe extern "C" fn locket_alloc(n: u32) -> *mut u8 {
    if n as usize > MAX_INPUT {
        return std::ptr::null_mut();
    }
    let input = &mut *std::ptr::addr_of_mut!(INPUT);
    input.clear();
    input.resize((n as usize).max(1), 0);
    input.as_mut_ptr()
}

#[no_mangle]
pub unsafe extern "C" fn locket_extract(p: *const u8, n: u32) -> u64 {
    let input = &*std::ptr::addr_of!(INPUT);
    let answer = &mut *std::ptr::addr_of_mut!(OUTPUT);
    answer.clear();
    let failed = |code: Code, answer: &mut Vec<u8>| {
        answer.extend_from_slice(&[0xa2, 1, code as u8, 2, 0x67]); // a code is under 24
        answer.extend_from_slice(b"refused");
        (answer.as_ptr() as u64) << 32 | 1 << 31 | answer.len() as u64
    };
    if p != input.as_ptr() || n as usize > input.len() {
        return failed(Code::Limit, answer);
    }
    let mut o = Output::default();
    if let Err(code) = read(&input[..n as usize]).and_then(|e| super::extract(&e, &mut o)) {
        return failed(code, answer);
    }
    if o.count == 0 {
        return 0;
    }
    answer.extend_from_slice(&[0xa2, 0, 1, 1]);
    head(answer, 4, o.count as u64);
    answer.extend_from_slice(&o.b);
    (answer.as_ptr() as u64) << 32 | answer.len() as u64
}
