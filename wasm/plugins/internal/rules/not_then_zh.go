package rules

import "strings"

// 我的生日不是六月三号，是七月十二号 says one day and denies another: the denied one is nobody's.

// denies reports whether a time of a Chinese clause is one that it says not to be.
func (b *bareZh) denies(w *when) bool {
	before := strings.TrimRight(b.s.text[b.s.start:b.s.toks[w.first].start], " ")
	return endsWithAny(before, []string{"不是", "不在", "并非"}) && !strings.HasSuffix(before, "是不是") || wasThenZh(before, b.s.text[b.s.toks[w.next-1].end:])
}

// thenZh says of what stands before 不是 when it is, as if the sentence were HEAD是RIGHT; s is the
// whole of what was said. It reports whether the denied words and the right ones are times.
func (t *talk) thenZh(s sentence, head, wrong, right string) bool {
	right, _, _ = strings.Cut(strings.TrimSpace(right), "，")
	if strings.HasSuffix(head, "是") || !timeZh(wrong, t.now) || !timeZh(right, t.now) {
		return false
	}
	all := sentences(head + "是" + right)
	if len(all) != 1 {
		return false
	}
	from := len(t.out.Candidates)
	t.chinese(all[0])
	if len(t.out.Candidates) == from && t.part == Facts {
		t.note(all[0])
	}
	t.standsFor(from, s)
	return true
}

// timeZh reports words that begin with a day or a time of day.
func timeZh(text string, now moment) bool {
	all := sentences(text)
	if len(all) == 0 {
		return false
	}
	_, ok := whenAt(all[0], 0, now)
	return ok
}

// festiveDayZh reports a day of every year: a birthday, an anniversary.
func festiveDayZh(head string) bool { return endsWithAny(head, []string{"生日", "纪念日"}) }
