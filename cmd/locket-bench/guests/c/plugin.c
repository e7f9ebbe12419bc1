/* Quotes the first 100 bytes of the text, of an utterance with its spaces
 * counted; all of it is checked to be UTF-8. "spin" spins.
 * With EXTISM it is a plugin of Extism's too, whose host calls run or echo. */
#include "locket.h"

static int extract(const locket_event *e, locket_output *o)
{
	locket_text t = e->text;
	locket_u32 spaces = 0;
	if (locket_equal(t, LOCKET_STR("spin")))
		for (;;) __asm__ volatile("");
	if (locket_equal(e->kind, LOCKET_STR("utterance")))
		for (locket_u32 i = 0; i < t.n; i++)
			if (t.p[i] == ' ') spaces++;
	locket_text quote = locket_cut(t, 0, t.n < 100 ? t.n : 100);
	locket_candidate c = {
		.type = LOCKET_STR("semantic"), .text = quote, .confidence = 1.0 / (1 + spaces),
		.sensitivity = LOCKET_STR("personal"), .span_start = 0, .span_end = quote.n,
	};
	locket_add(o, &c);
	return LOCKET_OK;
}

#ifdef EXTISM
#define HOST(name) __attribute__((import_module("extism:host/env"), import_name(name))) extern
HOST("input_length") locket_u64 input_length(void);
HOST("input_load_u64") locket_u64 input_load_u64(locket_u64 at);
HOST("input_load_u8") int input_load_u8(locket_u64 at);
HOST("alloc") locket_u64 alloc(locket_u64 n);
HOST("store_u64") void store_u64(locket_u64 at, locket_u64 v);
HOST("store_u8") void store_u8(locket_u64 at, int v);
HOST("output_set") void output_set(locket_u64 at, locket_u64 n);

static locket_u32 load(void)
{
	locket_u64 n = input_length(), i = 0;
	if (n > sizeof locket_in) return 0;
	for (; i + 8 <= n; i += 8) {
		locket_u64 v = input_load_u64(i);
		__builtin_memcpy(locket_in + i, &v, 8);
	}
	for (; i < n; i++) locket_in[i] = (locket_byte)input_load_u8(i);
	return (locket_u32)n;
}

static void give(const locket_byte *p, locket_u32 n)
{
	locket_u64 at = alloc(n), i = 0;
	for (; i + 8 <= n; i += 8) {
		locket_u64 v;
		__builtin_memcpy(&v, p + i, 8);
		store_u64(at + i, v);
	}
	for (; i < n; i++) store_u8(at + i, p[i]);
	output_set(at, n);
}

LOCKET_EXPORT("run") int run(void)
{
	locket_u64 a = locket_extract(locket_in, load());
	if (!a || a >> 31 & 1) return 1;
	give((const locket_byte *)(unsigned long)(a >> 32), (locket_u32)a);
	return 0;
}

LOCKET_EXPORT("echo") int echo(void)
{
	give(locket_in, load());
	return 0;
}
#endif
