package rules

import "github.com/locket-dev/locket/wasm/abi"

// atOtherAge reports whether a clause says how young somebody was at its time: "I moved to London when I was twenty".
// Whether it is still so, nobody knows, unless it says so.
func (t *talk) atOtherAge(c *clause) bool {
	for i := range c.toks {
		if w := c.at(i); w == "still" || w == "since" {
			return false
		}
	}
	for k := c.vi + 1; k+3 < len(c.words); k++ {
		if be := c.w(k + 2); c.w(k) != "when" || !subjectPronoun(c.w(k+1)) || be != "was" && be != "were" {
			continue
		}
		of := k + 3
		if rough := c.w(of); rough == "about" || rough == "around" || rough == "only" || rough == "a" || rough == "just" {
			of++
		}
		n, ok := number(c.w(of))
		switch next := c.w(of + 1); next {
		case "", ",", "and", "but", "so", "because", "or":
		default:
			ok = ok && next == "years" && c.w(of+2) == "old" // and not "six months pregnant"
		}
		if young := c.w(of); ok && n < grown || youths[trimS(young)] || young == "kids" || young == "children" || young == "little" || young == "young" || young == "small" || young == "student" || young == "students" || young == "younger" ||
			(young == "at" || young == "in") && (schooldays[c.w(of+1)] || c.w(of+1) == "school") {
			return true
		}
	}
	return anyTime(c.sentence, t.now, func(w *when) bool {
		if !w.vague || c.at(w.next-1) == "ago" {
			return false
		}
		n, ok := number(c.at(w.next - 1))
		return !ok || n < grown
	})
}

// ageAt counts the tokens from k on that say, after "at", how old somebody was: "the age of ten", a number that can't be
// an hour, as "sixteen", or one of a turn of a life, as in "at eleven I moved to Leeds".
func (s sentence) ageAt(k int) int {
	if s.at(k) == "the" && s.at(k+1) == "age" && s.at(k+2) == "of" {
		if _, ok := number(s.at(k + 3)); ok {
			return 4
		}
		return 0
	}
	n, ok := number(s.at(k))
	if !ok || n < 4 || n > 90 || !s.phraseEnds(k+1) || k+1 < len(s.toks) && preposition(s.at(k+1)) {
		return 0
	}
	if last := k+1 >= len(s.toks) || s.toks[k+1].kind == 'p'; last && n > 12 && s.toks[k].kind != 'n' || s.turnsLife() {
		return 1
	}
	return 0
}

// turnsLife reports that a sentence tells of what one does once or twice in a life, and not at an hour: "I left home".
func (s sentence) turnsLife() bool {
	for i := range s.toks {
		base, past, _ := lemma(s.at(i))
		if !past {
			continue
		}
		switch next, after := s.at(i+1), s.at(i+2); base {
		case "emigrate", "immigrate", "marry", "retire", "become":
			return true
		case "get":
			return next == "married" || next == "divorced"
		case "leave":
			return next == "school" || next == "college" || next == "university"
		case "drop":
			return next == "out" && after == "of"
		case "learn":
			return next == "to" || next == "how"
		case "start", "quit":
			return next == "school" || next == "smoking" || next == "university"
		case "move":
			return next == "to" && !determiner(after) && after != "my" && after != "our" || next == "out"
		case "have":
			return (next == "my" || next == "her" || next == "our") && after == "first"
		}
	}
	return false
}

// roughAge reports that "about seven" at token i is an age and no hour: "when my brother was about seven".
func (s sentence) roughAge(i int) bool {
	if rough, be := s.at(i), s.at(i-1); rough != "about" && rough != "around" || be != "was" && be != "were" {
		return false
	}
	for k := i - 2; k >= max(0, i-5); k-- {
		if s.at(k) == "when" {
			return true
		}
	}
	return false
}

// atThatAge proposes what a clause tells of another age as an event without a date.
func (t *talk) atThatAge(c *clause) *abi.Candidate {
	a := t.base(c, "episodic", "event", eventSure)
	a.EventType, a.Actor = "event", c.subj.name
	t.out.Candidates = append(t.out.Candidates, a)
	return &t.out.Candidates[len(t.out.Candidates)-1]
}

// onceWas has, for an attribute of today, the one for the past: somebody's former home is where they lived_in.
var onceWas = map[string]string{"home": "lived_in", "employer": "worked_at"}

// grown is an age in years. What somebody began at this age or later is taken to be so today.
const grown = 30
