/* locket.h: what a Locket plugin in C needs, in one file and without a libc.
 *
 * Include it in one .c file and write
 *
 *     static int extract(const locket_event *e, locket_output *o);
 *
 * before or after. Texts of the event lie in a buffer that the next call
 * overwrites. What is read is checked as docs/wasm.md has it: a bad message
 * is answered with its error code before extract is called.
 */
#ifndef LOCKET_H
#define LOCKET_H

typedef unsigned char locket_byte;
typedef unsigned int locket_u32;
typedef unsigned long long locket_u64;
typedef long long locket_i64;

#define LOCKET_EXPORT(name) __attribute__((export_name(name), used))

/* Limits of the contract, version 1. */
enum {
	LOCKET_VERSION = 1,
	LOCKET_MAX_INPUT = 4 << 20,
	LOCKET_MAX_STATE = 64 << 10,
	LOCKET_MAX_TEXT = 64 << 10,
	LOCKET_MAX_NAME = 256,
	LOCKET_MAX_CANDIDATES = 64,
	LOCKET_MAX_BEFORE = 8,
	LOCKET_MAX_VALUES = 64,
	LOCKET_MAX_MEMORIES = 16,
	LOCKET_MAX_DEPTH = 8,
};

/* How many bytes an answer of this plugin may have; the contract allows 256 KiB. */
#ifndef LOCKET_OUTPUT_SIZE
#define LOCKET_OUTPUT_SIZE (128 << 10)
#endif

/* How many bytes an event for this plugin may have: a text of 64 KiB, 8
 * earlier ones and the rest. For photos and sound take LOCKET_MAX_INPUT, and
 * [limits] memory_mib = 8 in plugin.toml. */
#ifndef LOCKET_INPUT_SIZE
#define LOCKET_INPUT_SIZE (1 << 20)
#endif

/* Error codes. */
enum {
	LOCKET_OK = 0,
	LOCKET_PLUGIN = 1, /* your own: you could not do your work */
	LOCKET_TRUNCATED = 2,
	LOCKET_TRAILING = 3,
	LOCKET_TYPE = 4,
	LOCKET_FORM = 5,
	LOCKET_LIMIT = 6,
	LOCKET_UTF8 = 7,
	LOCKET_DUPLICATE = 8,
	LOCKET_NUMBER = 10,
	LOCKET_VERSION_OTHER = 11,
};

typedef struct { const char *p; locket_u32 n; } locket_text;
typedef struct { const locket_byte *p; locket_u32 n; } locket_bytes;
typedef struct { locket_text id, speaker, text; locket_i64 at; } locket_turn;

/* Something that the wearer has by now; at is when it was learnt. */
typedef struct { locket_text id, type, text; locket_i64 at; } locket_memory;

typedef struct {
	locket_text id, kind, zone, lang, speaker, wearer, text, name;
	locket_i64 at, offset; /* ms since 1970; seconds east of UTC */
	locket_bytes pcm, gray, rgb, state;
	locket_u32 rate, width, height;
	int last;
	double values[LOCKET_MAX_VALUES];
	locket_u32 nvalues;
	locket_turn before[LOCKET_MAX_BEFORE];
	locket_u32 nbefore;
	locket_memory memories[LOCKET_MAX_MEMORIES]; /* best first */
	locket_u32 nmemories;
} locket_event;

/* A candidate; what is left at zero is not sent. The span is evidence in the
 * event's own text, in bytes. */
typedef struct {
	locket_text type, text, lang, kind, sensitivity;
	locket_text slot_subject, slot_attribute, slot_value;
	int slot_many;
	double confidence;
	locket_i64 true_from, true_to;
	locket_u32 span_start, span_end;
} locket_candidate;

typedef struct { locket_byte b[LOCKET_OUTPUT_SIZE]; locket_u32 n, count; } locket_output;

/* A text of your program's. */
#define LOCKET_STR(s) ((locket_text){(s), sizeof(s) - 1})

/* ---- memory, which clang may call by itself ---- */

void *memcpy(void *to, const void *from, unsigned long n)
{
	char *t = to;
	const char *f = from;
	for (; n; n--) *t++ = *f++;
	return to;
}

void *memset(void *to, int c, unsigned long n)
{
	for (char *t = to; n; n--) *t++ = (char)c;
	return to;
}

/* ---- texts ---- */

static inline int locket_equal(locket_text a, locket_text b)
{
	if (a.n != b.n) return 0;
	for (locket_u32 i = 0; i < a.n; i++)
		if (a.p[i] != b.p[i]) return 0;
	return 1;
}

static inline char locket_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* Where word (in small letters) begins in t at or after from, whatever case
 * t has it in; -1: nowhere. */
static inline int locket_find(locket_text t, locket_text word, locket_u32 from)
{
	for (locket_u32 i = from; word.n && i + word.n <= t.n; i++) {
		locket_u32 k = 0;
		while (k < word.n && locket_lower(t.p[i + k]) == word.p[k]) k++;
		if (k == word.n) return (int)i;
	}
	return -1;
}

static inline locket_text locket_cut(locket_text t, locket_u32 from, locket_u32 to)
{
	return (locket_text){t.p + from, to - from};
}

/* A text that is put together; what doesn't fit is left out whole. */
typedef struct { char b[1024]; locket_u32 n; } locket_line;

static inline void locket_put(locket_line *l, locket_text t)
{
	if (t.n > sizeof l->b - l->n) return;
	memcpy(l->b + l->n, t.p, t.n);
	l->n += t.n;
}

static inline locket_text locket_of(const locket_line *l) { return (locket_text){l->b, l->n}; }

/* ---- reading CBOR ---- */

typedef struct { const locket_byte *b; locket_u32 i, n; int err; } locket_reader;
typedef struct { locket_byte major, info; locket_u64 n; } locket_head;

static void locket_fail(locket_reader *r, int code)
{
	if (!r->err) r->err = code;
}

static locket_head locket_read_head(locket_reader *r)
{
	locket_head h = {0, 0, 0};
	if (r->err) return h;
	if (r->i >= r->n) { locket_fail(r, LOCKET_TRUNCATED); return h; }
	locket_byte c = r->b[r->i];
	h.major = c & 0xe0;
	h.info = c & 0x1f;
	if (h.info < 24) { r->i++; h.n = h.info; return h; }
	if (h.info > 27) { locket_fail(r, LOCKET_FORM); return h; }
	locket_u32 size = 1u << (h.info - 24);
	if (r->n - r->i - 1 < size) { locket_fail(r, LOCKET_TRUNCATED); return h; }
	for (locket_u32 k = 0; k < size; k++) h.n = h.n << 8 | r->b[r->i + 1 + k];
	locket_u64 least = size == 1 ? 24 : 1ull << (4 * size);
	if (h.n < least && h.major != 0xe0) { locket_fail(r, LOCKET_FORM); return h; }
	r->i += 1 + size;
	return h;
}

static locket_u64 locket_want(locket_reader *r, locket_byte major)
{
	locket_head h = locket_read_head(r);
	if (!r->err && h.major != major) locket_fail(r, h.major == 0xc0 ? LOCKET_FORM : LOCKET_TYPE);
	return r->err ? 0 : h.n;
}

/* A number of items, of at least each bytes, before anything is made of them. */
static locket_u32 locket_count(locket_reader *r, locket_u64 n, locket_u32 each, locket_u64 most)
{
	if (r->err) return 0;
	if (n > most) locket_fail(r, LOCKET_LIMIT);
	else if (n > (r->n - r->i) / each) locket_fail(r, LOCKET_TRUNCATED);
	return r->err ? 0 : (locket_u32)n;
}

static locket_bytes locket_take(locket_reader *r, locket_u64 n)
{
	if (!r->err && n > r->n - r->i) locket_fail(r, LOCKET_TRUNCATED);
	if (r->err) return (locket_bytes){0, 0};
	locket_bytes b = {r->b + r->i, (locket_u32)n};
	r->i += b.n;
	return b;
}

/* RFC 3629: no surrogates, nothing over-long, nothing past U+10FFFF. */
static int locket_utf8(const locket_byte *p, locket_u32 n)
{
	for (locket_u32 i = 0; i < n;) {
		for (locket_u64 eight; n - i >= 8; i += 8) { /* ASCII, which most is */
			__builtin_memcpy(&eight, p + i, 8);
			if (eight & 0x8080808080808080) break;
		}
		if (i == n) break;
		locket_byte c = p[i];
		locket_u32 more = c < 0x80 ? 0 : c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : 9;
		if (more == 9 || n - i - 1 < more) return 0;
		for (locket_u32 k = 1; k <= more; k++)
			if ((p[i + k] & 0xc0) != 0x80) return 0;
		if (more >= 2) {
			locket_byte d = p[i + 1];
			if ((c == 0xe0 && d < 0xa0) || (c == 0xed && d >= 0xa0) || (c == 0xf0 && d < 0x90) || (c == 0xf4 && d >= 0x90)) return 0;
		}
		i += 1 + more;
	}
	return 1;
}

static locket_bytes locket_raw(locket_reader *r, locket_byte major, locket_u32 most)
{
	locket_u64 n = locket_want(r, major);
	if (n > most) locket_fail(r, LOCKET_LIMIT);
	return locket_take(r, n);
}

static locket_text locket_read_text(locket_reader *r)
{
	locket_bytes b = locket_raw(r, 0x60, LOCKET_MAX_INPUT);
	if (!r->err && !locket_utf8(b.p, b.n)) locket_fail(r, LOCKET_UTF8);
	return (locket_text){(const char *)b.p, r->err ? 0 : b.n};
}

static locket_i64 locket_read_int(locket_reader *r)
{
	locket_head h = locket_read_head(r);
	if (r->err) return 0;
	if (h.major > 0x20) { locket_fail(r, LOCKET_TYPE); return 0; }
	if (h.n >> 63) { locket_fail(r, LOCKET_NUMBER); return 0; }
	return h.major ? ~(locket_i64)h.n : (locket_i64)h.n;
}

static locket_i64 locket_read_range(locket_reader *r, locket_i64 least, locket_i64 most)
{
	locket_i64 v = locket_read_int(r);
	if (v < least || v > most) { locket_fail(r, LOCKET_NUMBER); return 0; }
	return v;
}

static double locket_bits(locket_u64 n) { double d; __builtin_memcpy(&d, &n, 8); return d; }

static double locket_read_real(locket_reader *r)
{
	locket_head h = locket_read_head(r);
	double v = 0;
	if (r->err) return 0;
	if (h.major == 0x00 || h.major == 0x20) {
		if (h.n > 1ull << 53 || (h.major && h.n == 1ull << 53)) { locket_fail(r, LOCKET_NUMBER); return 0; }
		return h.major ? -1 - (double)h.n : (double)h.n;
	}
	if (h.major != 0xe0) { locket_fail(r, LOCKET_TYPE); return 0; }
	if (h.info == 27) {
		v = locket_bits(h.n);
	} else if (h.info == 26) {
		locket_u32 n = (locket_u32)h.n;
		float f;
		__builtin_memcpy(&f, &n, 4);
		v = f;
	} else if (h.info == 25) { /* RFC 8949, appendix D */
		locket_u64 e = h.n >> 10 & 0x1f, m = h.n & 0x3ff;
		if (e == 31) { locket_fail(r, LOCKET_NUMBER); return 0; }
		v = e ? (double)(m + 1024) * locket_bits((e - 25 + 1023) << 52) : (double)m * locket_bits((1023ull - 24) << 52);
		if (h.n >> 15) v = -v;
	} else { locket_fail(r, LOCKET_TYPE); return 0; }
	if (v - v != 0) { locket_fail(r, LOCKET_NUMBER); return 0; }
	return v;
}

static int locket_read_bool(locket_reader *r)
{
	locket_head h = locket_read_head(r);
	if (!r->err && (h.major != 0xe0 || (h.info != 20 && h.info != 21))) locket_fail(r, LOCKET_TYPE);
	return !r->err && h.info == 21;
}

static locket_u64 locket_read_key(locket_reader *r, locket_u64 *seen)
{
	locket_u64 k = locket_want(r, 0x00);
	if (!r->err && k < 64) {
		if (*seen >> k & 1) locket_fail(r, LOCKET_DUPLICATE);
		*seen |= 1ull << k;
	}
	return k;
}

/* Passes over one item that a later version may have put there. */
static void locket_skip(locket_reader *r, int depth)
{
	locket_head h = locket_read_head(r);
	if (r->err) return;
	switch (h.major) {
	case 0x00: case 0x20: break;
	case 0x40: locket_take(r, h.n); break;
	case 0x60: {
		locket_bytes b = locket_take(r, h.n);
		if (!r->err && !locket_utf8(b.p, b.n)) locket_fail(r, LOCKET_UTF8);
		break;
	}
	case 0x80: case 0xa0: {
		locket_u32 each = h.major == 0xa0 ? 2 : 1;
		if (depth >= LOCKET_MAX_DEPTH) { locket_fail(r, LOCKET_LIMIT); return; }
		for (locket_u64 c = (locket_u64)locket_count(r, h.n, each, 0x7fffffff) * each; c && !r->err; c--) locket_skip(r, depth + 1);
		break;
	}
	case 0xe0:
		if (h.info < 20 || h.info == 23 || h.info == 24) locket_fail(r, LOCKET_FORM);
		break;
	default: locket_fail(r, LOCKET_FORM);
	}
}

static void locket_read_turn(locket_reader *r, locket_turn *t)
{
	locket_u64 seen = 0;
	for (locket_u32 n = locket_count(r, locket_want(r, 0xa0), 2, 0x7fffffff); n && !r->err; n--)
		switch (locket_read_key(r, &seen)) {
		case 1: t->id = locket_read_text(r); break;
		case 2: t->at = locket_read_int(r); break;
		case 3: t->speaker = locket_read_text(r); break;
		case 4: t->text = locket_read_text(r); break;
		default: if (!r->err) locket_skip(r, 3);
		}
}

static void locket_read_memory(locket_reader *r, locket_memory *m)
{
	locket_u64 seen = 0;
	for (locket_u32 n = locket_count(r, locket_want(r, 0xa0), 2, 0x7fffffff); n && !r->err; n--)
		switch (locket_read_key(r, &seen)) {
		case 1: m->id = locket_read_text(r); break;
		case 2: m->type = locket_read_text(r); break;
		case 3: m->at = locket_read_int(r); break;
		case 4: m->text = locket_read_text(r); break;
		default: if (!r->err) locket_skip(r, 3);
		}
}

static int locket_read_event(const locket_byte *b, locket_u32 n, locket_event *e)
{
	locket_reader rr = {b, 0, n, 0}, *r = &rr;
	locket_u64 seen = 0;
	memset(e, 0, sizeof *e);
	if (n > LOCKET_MAX_INPUT) return LOCKET_LIMIT;
	for (locket_u32 c = locket_count(r, locket_want(r, 0xa0), 2, 0x7fffffff); c && !r->err; c--)
		switch (locket_read_key(r, &seen)) {
		case 0: if (locket_read_int(r) != LOCKET_VERSION) locket_fail(r, LOCKET_VERSION_OTHER); break;
		case 1: e->id = locket_read_text(r); break;
		case 2: e->kind = locket_read_text(r); break;
		case 3: e->at = locket_read_int(r); break;
		case 4: e->zone = locket_read_text(r); break;
		case 5: e->lang = locket_read_text(r); break;
		case 6: e->speaker = locket_read_text(r); break;
		case 7: e->wearer = locket_read_text(r); break;
		case 8: e->text = locket_read_text(r); break;
		case 9: e->pcm = locket_raw(r, 0x40, LOCKET_MAX_INPUT); break;
		case 10: e->rate = (locket_u32)locket_read_range(r, 0, 0x7fffffff); break;
		case 11: e->last = locket_read_bool(r); break;
		case 12: e->width = (locket_u32)locket_read_range(r, 0, 0x7fffffff); break;
		case 13: e->height = (locket_u32)locket_read_range(r, 0, 0x7fffffff); break;
		case 14: e->gray = locket_raw(r, 0x40, LOCKET_MAX_INPUT); break;
		case 15: e->rgb = locket_raw(r, 0x40, LOCKET_MAX_INPUT); break;
		case 16: e->name = locket_read_text(r); break;
		case 17:
			e->nvalues = locket_count(r, locket_want(r, 0x80), 1, LOCKET_MAX_VALUES);
			for (locket_u32 i = 0; i < e->nvalues && !r->err; i++) e->values[i] = locket_read_real(r);
			break;
		case 18:
			e->nbefore = locket_count(r, locket_want(r, 0x80), 1, LOCKET_MAX_BEFORE);
			for (locket_u32 i = 0; i < e->nbefore && !r->err; i++) locket_read_turn(r, &e->before[i]);
			break;
		case 19: e->state = locket_raw(r, 0x40, LOCKET_MAX_STATE); break;
		case 20: e->offset = locket_read_int(r); break;
		case 21:
			e->nmemories = locket_count(r, locket_want(r, 0x80), 1, LOCKET_MAX_MEMORIES);
			for (locket_u32 i = 0; i < e->nmemories && !r->err; i++) locket_read_memory(r, &e->memories[i]);
			break;
		default: if (!r->err) locket_skip(r, 1);
		}
	if (!r->err && !(seen & 1)) locket_fail(r, LOCKET_VERSION_OTHER);
	if (!r->err && r->i != r->n) locket_fail(r, LOCKET_TRAILING);
	return r->err;
}

/* ---- writing CBOR ---- */

static void locket_write(locket_output *o, const void *p, locket_u32 n)
{
	if (o->n + n <= sizeof o->b) memcpy(o->b + o->n, p, n);
	o->n += n; /* over the end: locket_add takes it back */
}

static void locket_write_head(locket_output *o, locket_byte major, locket_u64 n)
{
	locket_byte b[9];
	locket_u32 size = n < 24 ? 0 : n <= 0xff ? 1 : n <= 0xffff ? 2 : n <= 0xffffffff ? 4 : 8;
	b[0] = major | (locket_byte)(size == 0 ? n : size == 1 ? 24 : size == 2 ? 25 : size == 4 ? 26 : 27);
	for (locket_u32 k = 0; k < size; k++) b[1 + k] = (locket_byte)(n >> 8 * (size - 1 - k));
	locket_write(o, b, 1 + size);
}

static void locket_write_text(locket_output *o, int key, locket_text t)
{
	if (!t.n) return;
	locket_write_head(o, 0x00, (locket_u64)key);
	locket_write_head(o, 0x60, t.n);
	locket_write(o, t.p, t.n);
}

static void locket_write_int(locket_output *o, int key, locket_i64 v)
{
	if (!v) return;
	locket_write_head(o, 0x00, (locket_u64)key);
	locket_write_head(o, v < 0 ? 0x20 : 0x00, (locket_u64)(v < 0 ? ~v : v));
}

/* Adds a candidate; 0 where there is no room for it, in which case nothing of
 * it is sent. */
static int locket_add(locket_output *o, const locket_candidate *c)
{
	locket_u32 start = o->n;
	locket_text small[] = {c->type, c->lang, c->kind, c->sensitivity, c->slot_subject, c->slot_attribute};
	for (locket_u32 i = 0; i < sizeof small / sizeof *small; i++)
		if (small[i].n > LOCKET_MAX_NAME) return 0;
	if (o->count == LOCKET_MAX_CANDIDATES || c->text.n > LOCKET_MAX_TEXT || c->slot_value.n > LOCKET_MAX_TEXT) return 0;
	int slot = c->slot_subject.n > 0, span = c->span_end > c->span_start;
	int fields = (c->type.n > 0) + (c->text.n > 0) + (c->lang.n > 0) + (c->kind.n > 0) + slot + (c->confidence != 0) +
		(c->sensitivity.n > 0) + (c->true_from != 0) + (c->true_to != 0) + span;
	locket_write_head(o, 0xa0, (locket_u64)fields);
	locket_write_text(o, 1, c->type);
	locket_write_text(o, 2, c->text);
	locket_write_text(o, 3, c->lang);
	locket_write_text(o, 4, c->kind);
	if (slot) {
		locket_write_head(o, 0x00, 5);
		locket_write_head(o, 0xa0, 1u + (c->slot_attribute.n > 0) + (c->slot_value.n > 0) + (c->slot_many != 0));
		locket_write_text(o, 1, c->slot_subject);
		locket_write_text(o, 2, c->slot_attribute);
		locket_write_text(o, 3, c->slot_value);
		if (c->slot_many) locket_write(o, "\x04\xf5", 2);
	}
	if (c->confidence != 0) {
		locket_u64 n;
		locket_byte b[10] = {7, 0xfb};
		__builtin_memcpy(&n, &c->confidence, 8);
		for (int k = 0; k < 8; k++) b[2 + k] = (locket_byte)(n >> 8 * (7 - k));
		locket_write(o, b, 10);
	}
	locket_write_text(o, 8, c->sensitivity);
	locket_write_int(o, 9, c->true_from);
	locket_write_int(o, 10, c->true_to);
	if (span) {
		locket_write(o, "\x0c\x81\x83\x00", 4); /* 12: [[0, start, end]] */
		locket_write_head(o, 0x00, c->span_start);
		locket_write_head(o, 0x00, c->span_end);
	}
	if (o->n > sizeof o->b) { o->n = start; return 0; }
	o->count++;
	return 1;
}

/* ---- the exports of the contract ---- */

static int extract(const locket_event *e, locket_output *o);

static locket_byte locket_in[LOCKET_INPUT_SIZE];
static locket_output locket_out;
static locket_event locket_ev;

LOCKET_EXPORT("locket_abi") int locket_abi(void) { return LOCKET_VERSION; }

LOCKET_EXPORT("locket_alloc") locket_byte *locket_alloc(locket_u32 n) { return n <= sizeof locket_in ? locket_in : 0; }

static locket_u64 locket_answer(const void *p, locket_u32 n) { return (locket_u64)(locket_u32)(unsigned long)p << 32 | n; }

static locket_u64 locket_error(int code)
{
	static locket_byte b[] = {0xa2, 1, 0, 2, 0x67, 'r', 'e', 'f', 'u', 's', 'e', 'd'};
	b[2] = (locket_byte)code; /* under 24 */
	return locket_answer(b, 1u << 31 | sizeof b);
}

LOCKET_EXPORT("locket_extract") locket_u64 locket_extract(const locket_byte *p, locket_u32 n)
{
	int code = p != locket_in || n > sizeof locket_in ? LOCKET_LIMIT : locket_read_event(p, n, &locket_ev);
	if (code) return locket_error(code);
	/* Room for the head: a2 00 01 01 98 nn. */
	locket_out.n = 6;
	locket_out.count = 0;
	if ((code = extract(&locket_ev, &locket_out))) return locket_error(code);
	if (!locket_out.count) return 0;
	locket_byte *h = locket_out.b + (locket_out.count < 24 ? 1 : 0);
	memcpy(h, "\xa2\x00\x01\x01", 4);
	if (locket_out.count < 24) h[4] = (locket_byte)(0x80 | locket_out.count);
	else { h[4] = 0x98; h[5] = (locket_byte)locket_out.count; }
	return locket_answer(h, (locket_u32)(locket_out.b + locket_out.n - h));
}

#endif
