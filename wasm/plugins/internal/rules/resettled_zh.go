package rules

import "strings"

// resettledZh takes a sentence that says that something was changed, and behind it when it is now:
// 我的航班改了，现在是九点一刻; 牙医改时间了，改到周四. Its plan must be known, or the sentence says nothing here.
func (t *talk) resettledZh(s sentence) bool {
	if !s.chinese() || s.ends == "？" || s.ends == "?" || len(t.plans) == 0 {
		return false
	}
	comma := 0
	for comma < len(s.toks) && s.at(comma) != "，" && s.at(comma) != "," {
		comma++
	}
	if comma == 0 || comma+1 >= len(s.toks) {
		return false
	}
	head, rest := s.sub(0, comma), s.sub(comma+1, len(s.toks))
	attr, word := eventInZh(head.raw())
	changed := containsAny(head.raw(), "改了", "改时间", "改期", "调了", "调整了", "变了", "推迟了", "提前了", "延误了", "又改")
	for i := range head.toks {
		if a, event := eventNoun(head.at(i)); event && attr == "" {
			if head.owned(i) {
				return false // "Tom's flight"
			}
			attr, word = a, head.at(i)
		}
		l, past, _ := lemma(head.at(i))
		changed = changed || past && moves(l)
	}
	if attr == "" || !changed || conditioned(s) || len(findWhens(head, t.now)) > 0 ||
		!startsWithAny(rest.raw(), []string{"现在", "改成", "改到", "改为", "改在", "变成", "换到", "换成", "推到", "推迟到", "提前到", "延到", "延误到", "是"}) {
		return false
	}
	b := bareZh{s: rest, whens: findWhens(rest, t.now)}
	if len(b.whens) == 0 || b.whens[0].habit || b.denies(&b.whens[0]) {
		return false
	}
	whose := possessor{}
	if word[0] >= 0x80 {
		whose = t.whoseZh(stripLeadZh(head.raw()), word)
	}
	p, ok := t.findOf(whose, func(p *plan) bool {
		return p.day >= t.now.day && (whose.named || p.subject == t.self.key) && (strings.Contains(p.hay(), attr) || strings.Contains(p.hay(), word))
	})
	if !ok {
		return false
	}
	p.chinese = true
	if p.what == "" || p.what == "plan" {
		p.what = word
	}
	t.moved(p.move(&b.whens[0]), s, 0.86)
	return true
}
