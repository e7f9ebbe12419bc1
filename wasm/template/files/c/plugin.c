/* Notes the number that you are told: "Tom's number is 555 0134". */
#include "locket.h"

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80); }

/* The end of a phone number that begins at i: digits in groups, 5 to 15 of
 * them; 0: there is none. */
static locket_u32 number(locket_text t, locket_u32 i)
{
	locket_u32 digits = 0, end = 0;
	if (i < t.n && t.p[i] == '+') i++;
	for (; i < t.n; i++) {
		if (is_digit(t.p[i])) { digits++; end = i + 1; }
		else if (t.p[i] != ' ' && t.p[i] != '-') break;
	}
	return digits >= 5 && digits <= 15 ? end : 0;
}

static int extract(const locket_event *e, locket_output *o)
{
	const locket_text cue = LOCKET_STR("'s number is ");
	locket_text t = e->text;
	for (int at = locket_find(t, cue, 0); at >= 0; at = locket_find(t, cue, (locket_u32)at + cue.n)) {
		locket_u32 from = (locket_u32)at, digits = from + cue.n, end = number(t, digits);
		while (from > 0 && is_name(t.p[from - 1])) from--;
		if (!end || from == (locket_u32)at || at - from > 60) continue;
		locket_text who = locket_cut(t, from, (locket_u32)at), what = locket_cut(t, digits, end);
		locket_line line = {.n = 0};
		locket_put(&line, who);
		locket_put(&line, cue);
		locket_put(&line, what);
		locket_candidate c = {
			.type = LOCKET_STR("semantic"), .text = locket_of(&line), .kind = LOCKET_STR("contact"),
			.slot_subject = who, .slot_attribute = LOCKET_STR("phone"), .slot_value = what,
			.confidence = 0.9, .sensitivity = LOCKET_STR("personal"), .span_start = from, .span_end = end,
		};
		if (!locket_add(o, &c)) break; /* an answer is full */
	}
	return LOCKET_OK;
}
