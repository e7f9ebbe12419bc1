package rules

import "strings"

// A clause that says what isn't so may be followed by one that says what is, and leaves out what
// the first has said: "my glasses are not in the car, they're on the table", "I'm not a
// vegetarian, but Jonas is".

// contrast takes an English clause that completes the one before it, and reports whether it did.
func (t *talk) contrast(before, c sentence) bool {
	if c.chinese() || c.ends == "?" || len(before.toks) == 0 {
		return false
	}
	return len(t.out.Candidates) > 0 && t.elsewhere(c) || t.butIs(before, c)
}

// elsewhere takes "they're on the table" after a place where a thing is not.
func (t *talk) elsewhere(c sentence) bool {
	i := 0
	for c.at(i) == "but" || c.at(i) == "," || c.at(i) == "actually" {
		i++
	}
	switch base, rest := contraction(c.at(i)); {
	case (base == "it" || base == "they") && (rest == "is" || rest == "are"):
		i++
	case (base == "it" || base == "they") && (c.at(i+1) == "is" || c.at(i+1) == "are"):
		i += 2
	default:
		return false
	}
	return t.isAt(c, i)
}

// butThere takes the place after "but" in "my keys are not in the drawer but on the shelf": the
// clause denies the first place alone.
func (t *talk) butThere(c sentence) {
	a := &t.out.Candidates[len(t.out.Candidates)-1]
	if !a.Negates || a.Slot == nil || a.Slot.Attribute != "location" {
		return
	}
	where, _, ok := strings.Cut(a.Slot.Value, " but ")
	if !ok {
		return
	}
	for i := range c.toks {
		if c.at(i) == "but" && t.isAt(c, i+1) {
			a = &t.out.Candidates[len(t.out.Candidates)-2]
			a.Slot.Value, a.Object = where, where
			return
		}
	}
}

// isAt proposes the place that a clause names from token i, of the thing whose place the last
// memory denies.
func (t *talk) isAt(c sentence, i int) bool {
	was := t.out.Candidates[len(t.out.Candidates)-1]
	end := len(c.toks)
	for end > i && (c.at(end-1) == "now" || c.toks[end-1].kind == 'p') {
		end--
	}
	if !was.Negates || was.Slot == nil || was.Slot.Attribute != "location" || was.Spans[0].Start < t.said.start || end <= i || !whereWords(c, i, end) {
		return false
	}
	for _, k := range [...]struct{ not, is string }{{" is not ", " is "}, {" isn't ", " is "}, {" are not ", " are "}, {" aren't ", " are "}, {" is no longer ", " is "}, {" are no longer ", " are "}} {
		what, _, ok := strings.Cut(was.Text, k.not)
		if !ok {
			continue
		}
		where := c.text[c.toks[i].start:c.toks[end-1].end]
		slot := *was.Slot
		slot.Value = where
		was.Negates, was.Slot, was.Object, was.Text = false, &slot, where, sentenceCase(what+k.is+where)
		was.Spans = append(was.Spans[:0:0], was.Spans...)
		was.Spans[0].End = c.end
		t.out.Candidates = append(t.out.Candidates, was)
		return true
	}
	return false
}

// butIs takes "but Jonas is" after "I'm not a vegetarian": the first clause is so of Jonas.
func (t *talk) butIs(before, c sentence) bool {
	i, n := 0, len(c.toks)-1
	for c.at(i) == "but" || c.at(i) == "," {
		i++
	}
	own := (c.at(i) == "my" || c.at(i) == "our") && n == i+2 && kin(c.at(i+1))
	if n <= i || !own && (n != i+1 || c.at(i) != "i" && (!c.toks[i].cap || !nameWord(c.at(i)))) {
		return false
	}
	was, ok := t.parse(before)
	if !ok || !was.neg || was.past || was.perfect || was.modal || was.can || was.future || was.ing || len(was.whens) > 0 || was.kind != 's' && was.kind != 'p' {
		return false
	}
	verb := ""
	switch aux := c.at(n); {
	case was.verb == "be" && (aux == "is" || aux == "am" || aux == "are"):
		verb = aux
	case was.verb != "be" && aux == "does":
		verb = third(was.verb)
	case was.verb != "be" && aux == "do":
		verb = was.verb
	default:
		return false
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(was.join(was.vi+1, len(was.words)), "any "), "not ")
	all := sentences(c.text[c.toks[i].start:c.toks[n-1].end] + " " + verb + " " + rest + ".")
	if len(all) != 1 {
		return false
	}
	made := len(t.out.Candidates)
	t.clause(all[0])
	for k := made; k < len(t.out.Candidates); k++ {
		for j := range t.out.Candidates[k].Spans {
			t.out.Candidates[k].Spans[j].Start, t.out.Candidates[k].Spans[j].End = before.start, c.end
		}
	}
	return len(t.out.Candidates) > made
}
