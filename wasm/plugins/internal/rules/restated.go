package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// A speaker who corrects what they have just said says the right value alone: "Anna's birthday is on May
// 3rd." – "Sorry, the fourth." The sentence before is read again with it, so that it stays Anna's.

// amends open such a correction.
var amends = set("sorry no actually wait nope correction i oh")

var amendsZh = [...]string{"不对不对", "不对", "我说错了", "说错了", "不好意思", "错了", "哦不", "不是"}

// restated takes a sentence that says the right value of what the same speaker said before.
func (t *talk) restated(s sentence) bool {
	if len(s.toks) > 12 || s.ends == "?" || s.ends == "？" || !s.chinese() && !amends[s.at(0)] {
		return false
	}
	before, at, turn := "", t.ev.At, 0
	if n := len(t.ev.Before); s.start > 0 {
		for _, o := range t.own {
			if o.end <= s.start {
				before = o.raw()
			}
		}
	} else if n > 0 && t.ev.Before[n-1].Speaker == t.ev.Speaker && t.ev.At-t.ev.Before[n-1].At <= followWithin {
		before, at, turn = t.ev.Before[n-1].Text, t.ev.Before[n-1].At, -1
	}
	said, amended := s.amendment()
	if before == "" || !amended || boilerplate(before) != "" {
		return false
	}
	read := func(text string) []abi.Candidate {
		var out abi.Output
		Extract(&abi.Event{ID: t.ev.ID, At: at, Offset: t.ev.Offset, Speaker: t.ev.Speaker, Wearer: t.ev.Wearer, Text: text}, &out, Facts)
		return slices.DeleteFunc(out.Candidates, func(c abi.Candidate) bool { return c.Slot == nil || c.Negates })
	}
	was := read(before)
	named := len(was) > 1 && slices.ContainsFunc(was, func(c abi.Candidate) bool { return c.Kind == "relation" })
	var right, wrong []abi.Candidate
	for _, c := range was {
		text := said.inPlace(t, before, &c, named)
		if text == "" {
			continue
		}
		for _, a := range read(text) {
			if a.Slot.Subject == c.Slot.Subject && a.Slot.Attribute == c.Slot.Attribute && !strings.EqualFold(a.Slot.Value, c.Slot.Value) {
				right, wrong = append(right, a), append(wrong, c)
			}
		}
	}
	if len(right) != 1 {
		return false // which of them?
	}
	a, from := right[0], strings.LastIndex(t.ev.Text[:s.start], before)
	t.out.Candidates = slices.DeleteFunc(t.out.Candidates, func(c abi.Candidate) bool {
		return turn == 0 && c.Slot != nil && c.Slot.Subject == a.Slot.Subject && c.Slot.Attribute == a.Slot.Attribute && c.Spans[0].Start >= from
	})
	a.Confidence = min(a.Confidence, 0.8)
	a.Spans = []abi.Span{{Start: s.start, End: s.end}, {Turn: turn, Start: max(from, 0), End: max(from, 0) + len(before)}}
	a.Tags = append(a.Tags, "correction")
	t.out.Candidates = append(t.out.Candidates, a)
	if a.Slot.Many && turn < 0 {
		c := wrong[0]
		c.Negates, c.Spans = true, a.Spans
		c.Text = "Not so: " + c.Text
		t.out.Candidates = append(t.out.Candidates, c)
	}
	return true
}

// amendment is what a correction says after "sorry", "no" or 不对; ok is false where a sentence begins otherwise.
func (s sentence) amendment() (said sentence, ok bool) {
	i := 0
	if s.chinese() {
		word, n := prefixZh(s, 0, amendsZh[:]...)
		if word == "" {
			return s, false
		}
		for i = n; i < len(s.toks) && (s.toks[i].kind == 'p' || strings.Contains("是应该在了", s.at(i))); i++ {
		}
	} else {
		for ; i < len(s.toks) && (s.toks[i].kind == 'p' || amends[s.at(i)] || s.at(i) == "mean" || s.at(i) == "meant" || s.at(i) == "it's"); i++ {
			ok = ok || s.at(i) != "i" && s.at(i) != "oh" && s.toks[i].kind != 'p'
		}
		if !ok {
			return s, false
		}
	}
	if i >= len(s.toks) {
		return s, false
	}
	return s.sub(i, len(s.toks)), true
}

// inPlace writes a sentence with what was said in place of a fact's value; empty where it can't be one.
// named says that the sentence names a relative and tells something of them: a name alone may be of either.
func (s sentence) inPlace(t *talk, before string, c *abi.Candidate, named bool) string {
	said, chinese := s.raw(), s.chinese()
	if strings.ContainsAny(said, "我你他她没不吗了") || utf8.RuneCountInString(said) > 24 {
		return ""
	}
	switch attr := c.Slot.Attribute; {
	case attr == "birthday":
		return s.dateInPlace(t, before, c.Slot.Value)
	case attr == "age":
		n := strings.TrimSuffix(said, "岁")
		if _, ok := number(strings.ToLower(n)); !ok && strings.Trim(n, "0123456789一二三四五六七八九十两半") != "" {
			return ""
		}
		said = n
	case c.Kind == "relation" || attr == "home" || attr == "employer" || attr == "origin" || attr == "birthplace":
		first := 0
		if preposition(s.at(0)) {
			first, said = 1, ""
			if len(s.toks) > 1 {
				said = s.text[s.toks[1].start:s.end]
			}
		}
		name := c.Kind == "relation"
		known := namedSex()[strings.ToLower(said)] != 0
		if name && (first > 0 || named && !known) || !name && first == 0 && !chinese && (named || known) || said == "" || len(s.toks) > 6 {
			return ""
		}
		for i := first; i < len(s.toks) && !chinese; i++ {
			if !s.toks[i].cap || !nameWord(s.at(i)) || lead(s.at(i)) || t.present(t.named(said)) {
				return ""
			}
		}
	default:
		return ""
	}
	if strings.Count(before, c.Slot.Value) != 1 {
		return ""
	}
	return strings.Replace(before, c.Slot.Value, said, 1)
}

// dateInPlace is inPlace for the day of a birthday: a day alone is of the month that was said.
func (s sentence) dateInPlace(t *talk, before, was string) string {
	date := s.raw()
	month, _, _ := strings.Cut(was, " ")
	if s.chinese() {
		if month, _, _ = strings.Cut(was, "月"); !strings.Contains(date, "月") {
			date = month + "月" + date
		}
	} else if d, n := day31(s.at(len(s.toks) - 1)); n > 0 && len(s.toks) < 3 && (len(s.toks) == 1 || s.at(0) == "the") {
		date = month + " " + itoa(d)
	} else if _, _, n := monthAndDay(s, boolInt(s.at(0) == "on")); n == 0 {
		return ""
	}
	for _, o := range sentences(before) {
		for _, w := range findWhens(o, t.now) {
			if w.hasDay && w.grain == 'd' {
				first := w.first + boolInt(o.at(w.first) == "on")
				return before[:o.toks[first].start] + strings.TrimPrefix(date, "on ") + before[o.toks[w.next-1].end:]
			}
		}
	}
	return ""
}
