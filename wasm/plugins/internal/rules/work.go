package rules

import "strings"

// work reads "at X", "as a Y" after a verb of working.
func (t *talk) work(c *clause, i int) {
	if c.past && !c.usedTo && c.verb == "work" && !c.perfect {
		if at, ok := c.after(i, 4, "at", "for"); ok && !vague(at) && c.firstTime() == nil && employs(at, t.plain) {
			t.fact(c, "biography", "worked_at", at, true, 0.75)
		}
		return
	}
	if at, ok := c.after(i, 4, "at", "for"); ok && c.usedTo && c.verb == "work" && !vague(at) && employs(at, t.plain) {
		t.once(c, "worked_at", at)
	}
	if at, ok := c.after(i, 6, "at", "for"); ok && c.verb == "volunteer" {
		if !vague(at) && !c.past && c.firstTime() == nil {
			t.fact(c, "habit", "volunteers_at", at, true, 0.85)
		}
		return
	} else if ok && !vague(at) && employs(at, t.plain) {
		t.fact(c, "work", "employer", at, false, 0.92)
		c.neg = false
	}
	if as, ok := c.after(i, 8, "as"); ok {
		if before, _, cut := strings.Cut(as, " in "); cut {
			as = before
		}
		if before, _, cut := strings.Cut(as, " at "); cut {
			as = before
		}
		t.fact(c, "work", "job", as, false, 0.88)
	}
	if in, ok := c.after(i, 1, "in"); ok && c.verb == "work" {
		t.fact(c, "work", "works_in", in, false, 0.8)
	}
	if from, ok := c.after(i, 1, "from"); ok && c.verb == "work" && from != "" {
		t.fact(c, "work", "works_from", from, false, 0.75)
	}
}

// joined reads a new employer.
func (t *talk) joined(c *clause, i int, confidence float64) {
	if o, _ := c.object(i); o != "" && c.capital(i) {
		t.fact(c, "work", "employer", o, false, confidence)
	}
}

// endsInJob takes "my job at Acme" and "the post with Acme" from word i, and no other thing
// that is at some place: "my umbrella at the cafe".
func endsInJob(c *clause, i int) bool {
	for k := i + 1; k < i+5; k++ {
		if w := c.w(k); w == "at" || w == "with" {
			switch c.w(k - 1) {
			case "job", "post", "position", "role", "internship", "apprenticeship":
				return true
			}
			return false
		}
	}
	return false
}

// changedFirm takes "I quit Acme and joined Halden", "I left Acme": leaving a
// name, which is an employer where the talk says so or another is joined.
func (t *talk) changedFirm(c *clause, i int) bool {
	o, next := c.object(i)
	if o == "" || !c.capital(i) || !c.past && !c.perfect || c.neg || c.kind == 'y' {
		return false
	}
	for c.w(next) == "," || c.w(next) == "and" || c.w(next) == "then" || adverb(c.w(next)) {
		next++
	}
	to := 0
	switch l, _, _ := lemma(c.w(next)); l {
	case "join":
		to = next + 1
	case "start", "go", "move":
		if c.w(next+1) == "at" || c.w(next+1) == "with" || c.w(next+1) == "to" {
			to = next + 2
		}
	}
	if to == 0 || !c.capital(to) {
		if c.firstTime() != nil || len(c.words) > i+4 {
			return false
		}
		if c.verb == "leave" && !c.perfect { // "I left Leeds", perhaps a place
			return false
		}
	}
	c.neg = true
	t.fact(c, "work", "employer", o, false, 0.75)
	c.neg = false
	if to > 0 {
		t.joined(c, to, 0.88)
	}
	return true
}
