package secrets

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// part says which piece of a value something is.
type part byte

const (
	whole part = iota
	firstPart
	laterPart
	lastPart
)

// partAt recognises "the first half", "the last two digits", "second part", 前半, 后半, and returns the
// token after it.
func partAt(toks []token, i int) (part, int) {
	at := func(k int) string {
		if k < len(toks) {
			return toks[k].s
		}
		return ""
	}
	if s := at(i); s == "前" || s == "后" {
		if at(i+1) == "半" || at(i+1) == "面" || at(i+2) == "位" {
			p := firstPart
			if s == "后" {
				p = lastPart
			}
			k := i + 2
			for at(k) == "位" || at(k) == "部" || at(k) == "分" || at(k) == "段" || at(k) == "数" || at(k) == "字" || at(k) == "半" {
				k++
			}
			return p, k
		}
	}
	p := whole
	if at(i+1) == "with" {
		switch at(i) {
		case "starts", "begins":
			return firstPart, i + 2
		case "ends", "finishes":
			return lastPart, i + 2
		}
	}
	switch at(i) {
	case "first":
		p = firstPart
	case "second", "next", "middle":
		p = laterPart
	case "last", "other", "final":
		p = lastPart
	default:
		return whole, 0
	}
	k := i + 1
	if _, ok := digitWord(at(k)); ok || k < len(toks) && toks[k].kind == 'n' && len(at(k)) == 1 {
		k++
	}
	switch at(k) {
	case "half", "part", "bit", "digits", "numbers", "characters", "letters", "piece", "group", "block", "section":
		if at(i) == "second" && at(k) == "half" {
			p = lastPart
		}
		return p, k + 1
	}
	return whole, 0
}

func hasPart(toks []token) bool {
	for i := range toks {
		if _, k := partAt(toks, i); k > 0 {
			return true
		}
	}
	return false
}

// partsOf finds the parts of a value in this turn. They count only if a cue is open, here or in an
// earlier turn, or if the value is strict.
func partsOf(ev *abi.Event, toks []token, cues []cue, open cue) []found {
	var all []found
	for i := range toks {
		p, k := partAt(toks, i)
		if k == 0 {
			continue
		}
		if rest, e := target(ev.Text, toks, k); e > k && rest != "" && len(cues) > 0 {
			k = e
		}
		j, linked := link(toks, k, -1)
		c := open
		for _, o := range cues { // the cue before the part, or its own: "the first half of the alarm code is"
			if o.start <= toks[i].start || o.end <= toks[min(j, len(toks)-1)].start {
				c = o
			}
		}
		if c.noun == "" {
			continue
		}
		v, ok := parsePart(ev.Text, toks, j, c.class)
		if !ok || !linked && p == firstPart && c.turn < 0 {
			continue
		}
		all = append(all, found{value: v, cue: c, known: true, part: p})
	}
	return all
}

// parsePart reads a value, which may have only two digits.
func parsePart(text string, toks []token, i int, c class) (value, bool) {
	if i >= len(toks) {
		return value{}, false
	}
	if v, ok := parseValue(text, toks, i, c, false); ok {
		return v, true
	}
	els, next, _ := elements(text, toks, i, c, true)
	if len(els) == 0 {
		return value{}, false
	}
	v := value{els[0].start, els[len(els)-1].end, assemble(text, els), next}
	return v, len(digitsOf(v.secret)) >= 2 && (next >= len(toks) || !isUnit(toks[next].s))
}

// join joins parts: with the mark that both use inside, otherwise without
// one.
func join(a, b string) string {
	for _, sep := range [...]string{"-", " ", "."} {
		if strings.Contains(a, sep) && strings.Contains(b, sep) {
			return a + sep + b
		}
	}
	return a + b
}

// answer reads a turn that gives the value for a cue of an earlier turn: the value, and little
// else.
func answer(text string, toks []token, c cue) (value, bool) {
	intro := false
	for i := 0; i < len(toks) && i < 10; i++ {
		t := toks[i]
		strict := !intro || c.class == bareCode
		if v, ok := parseValue(text, toks, i, c.class, strict); ok {
			if !strictEnough(v, c, intro) {
				return value{}, false
			}
			return v, true
		}
		if v, ok := parseValue(text, toks, i, c.class, false); ok && digitsOf(v.secret) == v.secret {
			return v, true
		}
		if !filler(t.s) && t.kind != 'p' {
			return value{}, false
		}
		intro = intro || t.s == "it's" || t.s == "is" || t.s == "'s" || t.s == "是" || t.s == "word"
	}
	return value{}, false
}

// strictEnough: plain words are an answer only after "it's", and then only one or two of
// them.
func strictEnough(v value, c cue, intro bool) bool {
	if digitsOf(v.secret) != "" || strings.ContainsAny(v.secret, "-_#!@$%") {
		return true
	}
	return intro && strings.Count(v.secret, " ") <= 1 || c.class == phrase
}

// unfinished reports whether a turn breaks off right after a value: "the alarm
// code is four seven one,".
func unfinished(text string, toks []token, v value) bool {
	if v.next >= len(toks) || len(digitsOf(v.secret)) != len(v.secret) {
		return false
	}
	for k := v.next; k < len(toks); k++ {
		switch toks[k].s {
		case ",", "，", "…", "-", "–", "—", "and", "then", "after", "that", "next", "、":
		default:
			return false
		}
	}
	return true
}

// continued reads a turn that continues a value which an earlier turn of the same speaker left
// unfinished, or of which it gave the first part.
func continued(ev *abi.Event, toks []token, m *recalled) (found, bool) {
	if len(m.pending) == 0 {
		return found{}, false
	}
	p := m.pending[len(m.pending)-1]
	if p.speaker != ev.Speaker || len(toks) == 0 {
		return found{}, false
	}
	if p.loose != "" && toks[0].s != "and" && toks[0].s != "then" {
		if _, ok := parseValue(ev.Text, toks, 0, codeCode, false); !ok {
			return found{}, false
		}
	}
	for i := 0; i < min(len(toks), 6); i++ {
		if v, ok := parsePart(ev.Text, toks, i, codeCode); ok && digitsOf(v.secret) != "" {
			return found{value: v, known: true, part: lastPart, cue: cue{noun: "code", entry: p.entry, label: p.label, class: codeCode}}, true
		}
		if !filler(toks[i].s) && toks[i].kind != 'p' && toks[i].s != "then" {
			break
		}
	}
	return found{}, false
}
