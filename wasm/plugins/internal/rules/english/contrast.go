package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// A clause that says what isn't true may be followed by one that says what is, and leaves out what
// the first has said: "my glasses are not in the car, they're on the table", "I'm not a vegetarian,
// but Jonas is".

// Contrast takes an English clause that completes the previous one, and reports whether it did.
func Contrast(t *discourse.Talk, before, c syntax.Sentence) bool {
	if c.Chinese() || c.Ends == "?" || len(before.Toks) == 0 {
		return false
	}
	return len(t.Out.Candidates) > 0 && isElsewhere(t, c) || butIs(t, before, c)
}

// isElsewhere takes "they're on the table" after a place where a thing is not.
func isElsewhere(t *discourse.Talk, c syntax.Sentence) bool {
	i := 0
	for c.At(i) == "but" || c.At(i) == "," || c.At(i) == "actually" {
		i++
	}
	switch base, rest := syntax.Contraction(c.At(i)); {
	case (base == "it" || base == "they") && (rest == "is" || rest == "are"):
		i++
	case (base == "it" || base == "they") && (c.At(i+1) == "is" || c.At(i+1) == "are"):
		i += 2
	default:
		return false
	}
	return isAt(t, c, i)
}

// ButThere takes the place after "but" in "my keys are not in the drawer but on the shelf": the
// clause denies only the first place.
func ButThere(t *discourse.Talk, c syntax.Sentence) {
	a := &t.Out.Candidates[len(t.Out.Candidates)-1]
	if !a.Negates || a.Slot == nil || a.Slot.Attribute != "location" {
		return
	}
	where, _, ok := strings.Cut(a.Slot.Value, " but ")
	if !ok {
		return
	}
	for i := range c.Toks {
		if c.At(i) == "but" && isAt(t, c, i+1) {
			a = &t.Out.Candidates[len(t.Out.Candidates)-2]
			a.Slot.Value, a.Object = where, where
			return
		}
	}
}

// isAt proposes the place that a clause names from token i on, for the thing whose place the last
// memory denies.
func isAt(t *discourse.Talk, c syntax.Sentence, i int) bool {
	was := t.Out.Candidates[len(t.Out.Candidates)-1]
	end := len(c.Toks)
	for end > i && (c.At(end-1) == "now" || c.Toks[end-1].Kind == 'p') {
		end--
	}
	if !was.Negates || was.Slot == nil || was.Slot.Attribute != "location" || was.Spans[0].Start < t.Said.Start || end <= i || !WhereWords(c, i, end) {
		return false
	}
	for _, k := range [...]struct{ not, is string }{{" is not ", " is "}, {" isn't ", " is "}, {" are not ", " are "}, {" aren't ", " are "}, {" is no longer ", " is "}, {" are no longer ", " are "}} {
		what, _, ok := strings.Cut(was.Text, k.not)
		if !ok {
			continue
		}
		where := c.Text[c.Toks[i].Start:c.Toks[end-1].End]
		slot := *was.Slot
		slot.Value = where
		was.Negates, was.Slot, was.Object, was.Text = false, &slot, where, discourse.SentenceCase(what+k.is+where)
		was.Spans = append(was.Spans[:0:0], was.Spans...)
		was.Spans[0].End = c.End
		t.Out.Candidates = append(t.Out.Candidates, was)
		return true
	}
	return false
}

// butIs takes "but Jonas is" after "I'm not a vegetarian": the first clause is true of Jonas.
func butIs(t *discourse.Talk, before, c syntax.Sentence) bool {
	i, n := 0, len(c.Toks)-1
	for c.At(i) == "but" || c.At(i) == "," {
		i++
	}
	own := (c.At(i) == "my" || c.At(i) == "our") && n == i+2 && syntax.Kin(c.At(i+1))
	if n <= i || !own && (n != i+1 || c.At(i) != "i" && (!c.Toks[i].Cap || !syntax.NameWord(c.At(i)))) {
		return false
	}
	was, ok := t.Parse(before)
	if !ok || !was.Neg || was.Past || was.Perfect || was.Modal || was.Can || was.Future || was.Ing || len(was.Whens) > 0 || was.Kind != 's' && was.Kind != 'p' {
		return false
	}
	verb := ""
	switch aux := c.At(n); {
	case was.Verb == "be" && (aux == "is" || aux == "am" || aux == "are"):
		verb = aux
	case was.Verb != "be" && aux == "does":
		verb = syntax.Third(was.Verb)
	case was.Verb != "be" && aux == "do":
		verb = was.Verb
	default:
		return false
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(was.Join(was.Vi+1, len(was.Words)), "any "), "not ")
	all := syntax.Sentences(c.Text[c.Toks[i].Start:c.Toks[n-1].End] + " " + verb + " " + rest + ".")
	if len(all) != 1 {
		return false
	}
	made := len(t.Out.Candidates)
	Clause(t, all[0])
	for k := made; k < len(t.Out.Candidates); k++ {
		for j := range t.Out.Candidates[k].Spans {
			t.Out.Candidates[k].Spans[j].Start, t.Out.Candidates[k].Spans[j].End = before.Start, c.End
		}
	}
	return len(t.Out.Candidates) > made
}
