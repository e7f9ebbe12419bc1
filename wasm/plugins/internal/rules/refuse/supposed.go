package refuse

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Conditions, hearsay, and plans that came to nothing.

// Supposes reports whether a clause is a condition for the following ones: 周日要是下雨, "on Sunday, if
// it rains".
func Supposes(t *discourse.Talk, c syntax.Sentence) bool {
	if !c.Chinese() {
		timed := map[int]bool{}
		for _, w := range timex.FindWhens(c, t.Now) {
			for k := w.First; k < w.Next; k++ {
				timed[k] = true
			}
		}
		for i := range c.Toks {
			w := c.At(i)
			if !timed[i] && !syntax.Lead(w) && c.Toks[i].Kind != 'p' {
				return w == "if" && c.At(i+1) != "you" && !(c.At(i+1) == "i" && (c.At(i+2) == "remember" || c.At(i+2) == "recall")) || w == "unless" || w == "provided" || w == "assuming"
			}
		}
		return false
	}
	x := strings.Trim(c.Raw(), " ，,")
	for _, cue := range [...]string{"如果", "要是", "假如", "万一", "倘若", "除非"} {
		head, rest, ok := strings.Cut(x, cue)
		if ok && !strings.HasSuffix(head, "主") && !strings.HasSuffix(head, "重") && !strings.HasSuffix(head, "需") && !syntax.ContainsAny(rest, "没记错", "没搞错", "没弄错") {
			return true
		}
	}
	head, ok := strings.CutSuffix(x, "的话")
	return ok && utf8.RuneCountInString(head) > 2 && !strings.HasSuffix(head, "说") && !syntax.EndsWithAny(head, []string{"我", "你", "他", "她", "们", "人", "讲"})
}

// Abandoned notes, as a whole, what somebody was going to do and did not do: "I was going to buy
// the Bosch, but I didn't" is not a plan. It reports whether a sentence tells of that.
func Abandoned(t *discourse.Talk, s syntax.Sentence) bool {
	if s.Ends == "?" || s.Ends == "？" || !cameToNothing(t, s) {
		return false
	}
	if t.Part != discourse.Facts || discourse.Conditioned(s) || len(s.Toks) > 60 {
		return true
	}
	var a abi.Candidate
	if s.Chinese() {
		b := t.Bare(s)
		a = t.BaseZh(&b, "episodic", "noted", t.Self, discourse.NotedSure)
	} else {
		c, ok := t.Parse(s)
		if !ok {
			c = Unparsed(t, s)
		}
		a = t.Base(&c, "episodic", "noted", discourse.NotedSure)
	}
	a.EventType, a.Actor, a.Started = "noted", t.Self.Name, t.Ev.At
	t.Out.Candidates = append(t.Out.Candidates, a)
	return true
}

// cameToNothing finds an intention of the speaker's, followed by the fact that nothing came of it.
func cameToNothing(t *discourse.Talk, s syntax.Sentence) bool {
	if s.Chinese() {
		x := syntax.StripLeadZh(strings.Trim(s.Raw(), " ，,。"))
		head, rest, ok := strings.Cut(x, "本来")
		if !ok {
			head, rest, ok = strings.Cut(x, "原本")
		}
		if h := syntax.TrimAdverbsZh(head); !ok || h != "我" && h != "我们" && h != "" || !syntax.ContainsAny(rest, "要", "想", "打算", "准备") {
			return false
		}
		for _, but := range [...]string{"但是", "但", "可是", "不过", "结果", "后来", "最后"} {
			if _, after, ok := strings.Cut(rest, but); ok && (syntax.ContainsAny(after, "没", "不", "算了", "放弃") || strings.Contains(after, "就") && strings.HasSuffix(after, "了")) {
				return true
			}
		}
		return false
	}
	i := 0
	for syntax.Lead(s.At(i)) || s.At(i) == "," {
		i++
	}
	if s.At(i) != "i" && s.At(i) != "we" {
		return false
	}
	i++
	for syntax.Adverb(s.At(i)) {
		i++
	}
	owed := s.At(i+1) == "meant" || s.At(i+1) == "supposed"
	switch w := s.At(i); {
	case (w == "was" || w == "were") && s.At(i+2) == "to" && (s.At(i+1) == "going" || s.At(i+1) == "about" || s.At(i+1) == "planning" || s.At(i+1) == "supposed" || s.At(i+1) == "meant" || s.At(i+1) == "hoping"):
	case (w == "planned" || w == "meant" || w == "wanted" || w == "intended" || w == "hoped" || w == "tried") && s.At(i+1) == "to":
	default:
		return false
	}
	for ; i < len(s.Toks); i++ {
		if s.At(i) != "but" && s.At(i) != "though" {
			continue
		}
		if s.At(i) == "but" && s.At(i+1) == "then" {
			return true
		}
		if met := s.At(i + 1); owed && met != "we" && met != "i" {
			return true // "I was meant to be in Dublin but they cancelled"
		}
		for k := i + 1; k < min(len(s.Toks), i+6); k++ {
			switch base, rest := syntax.Contraction(s.At(k)); {
			case rest == "not" && (base == "did" || base == "could" || base == "do"), s.At(k) == "never", s.At(k) == "not", s.At(k) == "forgot", s.At(k) == "changed" && s.At(k+2) == "mind":
				return true
			}
		}
	}
	return false
}

// Unreal reports whether something could have been true and was not: "I could have been a pilot".
func Unreal(c *discourse.Clause) bool {
	meant := c.Past && c.Verb == "be" && c.W(c.Vi+1) == "meant" && c.W(c.Vi+2) == "to"
	return (c.Modal && c.Perfect || meant) && c.Ends != "?"
}
