package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// maxAmended bounds the words that are added to a statement, in bytes.
const maxAmended = 200

// amend adds to the one memory of a sentence what its later clauses say that gave
// none by themselves: "Mei saw Dr Patel this morning. He's changed Mei's tablets."
// Half of what somebody tells of a thing stands there.
func (t *talk) amend(a *abi.Candidate, rest []sentence) {
	switch {
	case len(a.Spans) == 0 || a.Type == "procedural" || a.Type == "core" || a.Negates || a.Kind == "change" || a.Kind == "cancellation" || a.Kind == "relation" || a.Kind == "allergy":
		return
	}
	added := 0
	for _, c := range rest {
		if c.start < a.Spans[0].End || len(c.toks) < 3 {
			continue
		}
		text := t.tail(c, a.Started)
		if text == "" {
			continue
		}
		if added += len(text); added > maxAmended {
			return
		}
		if c.chinese() {
			a.Text = strings.TrimRight(a.Text, "。.") + "，" + text + "。"
		} else {
			a.Text += " " + text
		}
		a.Spans[0].End = c.end
	}
}

// whom puts the clauses before an English clause in front of its plan where that leaves open what it is
// about: "I've run out of lenses, so I'm ordering new ones tonight".
func (t *talk) whom(s sentence, from int) {
	for i := from; i < len(t.out.Candidates); i++ {
		a := &t.out.Candidates[i]
		if len(a.Spans) != 1 || a.Spans[0].Turn != 0 || a.Spans[0].Start <= s.start || partOf(a) != Plans {
			continue
		}
		last, open, itself := 0, false, false
		for k := range s.toks {
			vague := s.at(k) == "it" || s.at(k) == "them" || s.at(k) == "ones"
			if s.toks[k].end <= a.Spans[0].Start {
				last, itself = k+1, itself || vague
			} else if s.toks[k].start < a.Spans[0].End {
				open = open || vague
			}
		}
		for last > 0 && (s.toks[last-1].kind == 'p' || lead(s.at(last-1))) {
			last--
		}
		if !open || itself || last <= 2 {
			continue
		}
		if head := s.sub(0, last); !conditioned(head) && doubt(head) == 0 {
			c, ok := t.parse(head)
			if !ok {
				c = t.unparsed(head)
			}
			if said := strings.TrimSuffix(t.rewrite(&c), "."); len(said)+len(a.Text) < maxAmended {
				a.Text, a.Spans[0].Start = said+"; "+a.Text, s.start
			}
		}
	}
}

// tail is a clause as a statement of its own beside one that says whom it is
// about; empty where it says nothing, or nothing that is so.
func (t *talk) tail(c sentence, started int64) string {
	own := c
	if c.chinese() { // 我可能得请假，孩子学校开家长会: only the first is in doubt
		own.text, own.start, own.end = c.raw(), 0, len(c.raw())
	}
	if conditioned(c) || doubt(own) > 0 || c.fillers() {
		return ""
	}
	if kind, _ := t.junk(c); kind != "" {
		return ""
	}
	v := t.view(c)
	if v.slotted() {
		return ""
	}
	if c.chinese() {
		raw := strings.Trim(c.raw(), " ，,。")
		if utf8.RuneCountInString(raw) < 4 || strings.ContainsAny(raw, "你您吗呢吧") || strings.Contains(raw, "说") || strings.Contains(raw, "觉得") {
			return ""
		}
		whens := findWhens(c, t.now)
		t.afterIt(whens, started)
		t.lastDay = t.dayOf(started)
		t.onDayZh(c, whens)
		return strings.Trim(t.rewriteZh(c, whens, false), "。 ")
	}
	if v.content < 2 || v.has(wordsYou) > 0 || v.has(wordsMay) > 0 || v.has(opinions) > 0 || v.has(wordsSaid) > 0 {
		return ""
	}
	p, ok := t.parse(c)
	if !ok || thirds[v.at(v.start())] || deictics[v.at(v.start())] {
		p = t.unparsed(c) // whom it means stands before it
	}
	if !p.past {
		t.afterIt(p.whens, started)
	}
	if first := p.w(0); preposition(first) || askers[first] {
		return ""
	}
	return t.rewrite(&p)
}

// afterIt puts bare weekdays behind what begins at started, in ms since 1970; 0: it has no time. "We leave
// next Tuesday, back on Thursday", 下周二飞深圳，周四回来.
func (t *talk) afterIt(whens []when, started int64) {
	for i := range whens {
		for w := &whens[i]; w.weekday && started > 0 && (moment{w.day + 1, 0, t.now.offset}).unix() <= started; {
			w.day += 7
		}
	}
}
