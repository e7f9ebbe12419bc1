package rules

import "strings"

// Where a whole sentence isn't worth noting, one of its clauses may be: "It was a long day, I
// put a wardrobe together for my aunt". A deed of the speaker's is kept for what it is, a state,
// and what somebody else does, for its marks.
const (
	worthClause = 0.5
	worthNow    = 0.65 // of what is being done, and how a thing is: it may be over in an hour
	clauseSure  = 0.4
)

// reasons are words that open a clause which says little without the next one: "because I broke my leg I can't come".
var reasons = set("because while whilst")

// noteClauses notes the first clause of a sentence that is said to be so and says enough.
func (t *talk) noteClauses(s sentence) bool {
	if s = t.uncalled(s); s.chinese() || hollow(s) || s.ends == "?" || len(s.toks) > 60 || conditioned(s) || orders(s) || reasons[s.at(0)] && s.at(1) != "of" || strings.ContainsAny(s.raw(), `"“”`) {
		return false
	}
	t.noting = true
	defer func() { t.noting = false }()
	parts := clauses(s)
	for i, part := range parts {
		if quotes(s, part) || t.supposes(part) {
			return false
		}
		if idiomatic(part) {
			continue
		}
		if i > 0 && len(parts[i-1].toks) < 3 && strings.TrimSpace(s.text[parts[i-1].end:part.start]) == "and" {
			continue // "you and Ben have a lot in common"
		}
		c, ok := t.parse(part)
		if !ok || !c.asserted() || c.unresolved(false) || c.movedOn(t.plain) {
			continue
		}
		v := t.view(part)
		if v.slotted() || v.ofEmployer() && !c.past && !v.ahead || v.substance() < 2 || v.has(wordsYou) > 0 || v.has(wordsMay) > 0 || !c.ownDeed() && !c.stated(v) {
			continue
		}
		if w := c.firstTime(); t.dayed && w != nil && w.clock && !w.hasDay {
			continue // "I can't do Thursday, I have a meeting at two"
		}
		n := len(t.out.Candidates)
		t.noteClause(&c, part, (c.past || c.perfect) && !c.perPeriod(), v.ahead, clauseSure)
		t.amend(&t.out.Candidates[n], parts[i+1:])
		return true
	}
	return false
}

// asserted reports what is said to be so, and is no thought and no feeling.
func (c *clause) asserted() bool {
	return !(c.past && c.future) && !c.modal && !c.can && !c.maybe && !c.intend && !c.conditional() && !c.elided() && !c.almost() && !c.offers() && !inward[c.verb] && c.vi+1 < len(c.words)
}

// ownDeed reports what the speaker, alone or with others, did or has done.
func (c *clause) ownDeed() bool {
	return (c.kind == 's' || c.kind == 'w') && (c.past || c.perfect) && c.verb != "be" && !c.neg && !c.must && !c.usedTo && !c.future
}

// stated reports a clause about the speaker, a person or what is the speaker's, of what is
// so now, was, or is to come on a day, that is worth keeping by its marks.
func (c *clause) stated(v *view) bool {
	if next := c.w(c.vi + 1); c.verb == "be" && !c.past && (next == "with" || next == "at") {
		return false // "I'm with Inkstone", "I'm at the hairdresser's": an employer without a slot, and where one is just now
	}
	needs := worthClause
	switch c.kind {
	case 's', 'w':
	case 'p':
		if !c.aPerson() {
			return false // "Kickboxing is a perfect way to stay in shape"
		}
	case 't':
		if !c.own {
			return false
		}
		needs = worthNow
	default:
		return false
	}
	if c.ahead() && !v.ahead || c.verb == "try" || c.verb == "be" && (v.has(feelings) > 0 || v.has(warm) > 0 || pastForm(c.w(c.vi+1))) {
		return false
	}
	if c.ing && !v.day {
		needs = worthNow
	}
	return worthOf(v, worthEn) >= needs
}

// inward are verbs of thinking, feeling and saying.
var inward = set("think feel know see hear love like want hope guess mean look seem sound understand believe appreciate wish need enjoy keep say tell ask hate imagine remember realise realize wonder notice agree expect " +
	"figure forget decide mind bet suppose learn mention swear talk chat do let assume miss")

// substance counts the words that tell what it is, without the verb: nothing warm, abstract or felt.
func (v *view) substance() int {
	n := 0
	for i, w := range v.words {
		if i > v.start() && telling(w) && !lead(w) && !wordsOwn[w] && !subjectPronoun(w) {
			n++
		}
	}
	return n - 1
}

// telling reports a word that says what a sentence is about, and is nothing warm, abstract or felt.
func telling(w string) bool {
	return len(w) > 2 && !function(w) && !preposition(w) && !adverb(w) && !auxiliary(w) && !determiner(w) && !warm[w] && !abstract[w] && !feelings[w] && !opinions[w]
}
