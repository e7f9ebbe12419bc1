package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// What is so only if something else is, what is only heard, and what came to nothing.

// supposes reports a clause that is a condition of those that follow it: 周日要是下雨, "on Sunday,
// if it rains".
func (t *talk) supposes(c sentence) bool {
	if !c.chinese() {
		timed := map[int]bool{}
		for _, w := range findWhens(c, t.now) {
			for k := w.first; k < w.next; k++ {
				timed[k] = true
			}
		}
		for i := range c.toks {
			w := c.at(i)
			if !timed[i] && !lead(w) && c.toks[i].kind != 'p' {
				return w == "if" && c.at(i+1) != "you" && !(c.at(i+1) == "i" && (c.at(i+2) == "remember" || c.at(i+2) == "recall")) || w == "unless" || w == "provided" || w == "assuming"
			}
		}
		return false
	}
	x := strings.Trim(c.raw(), " ，,")
	for _, cue := range [...]string{"如果", "要是", "假如", "万一", "倘若", "除非"} {
		head, rest, ok := strings.Cut(x, cue)
		if ok && !strings.HasSuffix(head, "主") && !strings.HasSuffix(head, "重") && !strings.HasSuffix(head, "需") && !containsAny(rest, "没记错", "没搞错", "没弄错") {
			return true
		}
	}
	head, ok := strings.CutSuffix(x, "的话")
	return ok && utf8.RuneCountInString(head) > 2 && !strings.HasSuffix(head, "说") && !endsWithAny(head, []string{"我", "你", "他", "她", "们", "人", "讲"})
}

// heardZh is a statement without lead words that keeps 听说: nobody vouches for it.
func heardZh(text string) string {
	text = strings.TrimLeft(text, " ，,、")
	bare := stripLeadZh(text)
	if strings.Contains(text[:len(text)-len(bare)], "听说") {
		return "听说" + bare
	}
	return bare
}

// onlyHeard reports "I heard" right before a byte of the clause.
func (c *clause) onlyHeard(at int) bool {
	lead := strings.TrimRight(strings.ToLower(c.text[c.start:max(c.start, at)]), " ,")
	return strings.HasSuffix(strings.TrimSuffix(lead, " that"), "i heard")
}

// abandoned notes, as a whole, what somebody was going to do and did not: "I was going to buy
// the Bosch, but I didn't" is no plan. It reports whether a sentence tells of that.
func (t *talk) abandoned(s sentence) bool {
	if s.ends == "?" || s.ends == "？" || !t.cameToNothing(s) {
		return false
	}
	if t.part != Facts || conditioned(s) || len(s.toks) > 60 {
		return true
	}
	var a abi.Candidate
	if s.chinese() {
		b := t.bare(s)
		a = t.baseZh(&b, "episodic", "noted", t.self, notedSure)
	} else {
		c, ok := t.parse(s)
		if !ok {
			c = t.unparsed(s)
		}
		a = t.base(&c, "episodic", "noted", notedSure)
	}
	a.EventType, a.Actor, a.Started = "noted", t.self.name, t.ev.At
	t.out.Candidates = append(t.out.Candidates, a)
	return true
}

// cameToNothing finds an intention of the speaker's, and after it that nothing came of it.
func (t *talk) cameToNothing(s sentence) bool {
	if s.chinese() {
		x := stripLeadZh(strings.Trim(s.raw(), " ，,。"))
		head, rest, ok := strings.Cut(x, "本来")
		if !ok {
			head, rest, ok = strings.Cut(x, "原本")
		}
		if h := trimAdverbsZh(head); !ok || h != "我" && h != "我们" && h != "" || !containsAny(rest, "要", "想", "打算", "准备") {
			return false
		}
		for _, but := range [...]string{"但是", "但", "可是", "不过", "结果", "后来", "最后"} {
			if _, after, ok := strings.Cut(rest, but); ok && (containsAny(after, "没", "不", "算了", "放弃") || strings.Contains(after, "就") && strings.HasSuffix(after, "了")) {
				return true
			}
		}
		return false
	}
	i := 0
	for lead(s.at(i)) || s.at(i) == "," {
		i++
	}
	if s.at(i) != "i" && s.at(i) != "we" {
		return false
	}
	i++
	for adverb(s.at(i)) {
		i++
	}
	owed := s.at(i+1) == "meant" || s.at(i+1) == "supposed"
	switch w := s.at(i); {
	case (w == "was" || w == "were") && s.at(i+2) == "to" && (s.at(i+1) == "going" || s.at(i+1) == "about" || s.at(i+1) == "planning" || s.at(i+1) == "supposed" || s.at(i+1) == "meant" || s.at(i+1) == "hoping"):
	case (w == "planned" || w == "meant" || w == "wanted" || w == "intended" || w == "hoped" || w == "tried") && s.at(i+1) == "to":
	default:
		return false
	}
	for ; i < len(s.toks); i++ {
		if s.at(i) != "but" && s.at(i) != "though" {
			continue
		}
		if met := s.at(i + 1); owed && met != "we" && met != "i" {
			return true // "I was meant to be in Dublin but they cancelled"
		}
		for k := i + 1; k < min(len(s.toks), i+6); k++ {
			switch base, rest := contraction(s.at(k)); {
			case rest == "not" && (base == "did" || base == "could" || base == "do"), s.at(k) == "never", s.at(k) == "not", s.at(k) == "forgot", s.at(k) == "changed" && s.at(k+2) == "mind":
				return true
			}
		}
	}
	return false
}

// unreal reports what could have been and was not: "I could have been a pilot".
func (c *clause) unreal() bool {
	meant := c.past && c.verb == "be" && c.w(c.vi+1) == "meant" && c.w(c.vi+2) == "to"
	return (c.modal && c.perfect || meant) && c.ends != "?"
}
