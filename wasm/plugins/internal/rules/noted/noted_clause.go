package noted

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// If a whole sentence isn't worth noting, one of its clauses may be: "It was a long day, I put a
// wardrobe together for my aunt". A deed of the speaker's is kept because it is one; a state, and
// what somebody else does, is kept because of its marks.
const (
	worthClause = 0.5
	worthNow    = 0.65 // for what is being done, and how a thing is: it may be over in an hour
	ClauseSure  = 0.4
)

// Reasons are words that open a clause which says little without the next one: "because I broke my
// leg I can't come".
var Reasons = syntax.Set("because while whilst")

// NoteClauses notes the first clause of a sentence that is stated as true and says enough.
func NoteClauses(t *discourse.Talk, s syntax.Sentence) bool {
	if s = uncalled(t, s); s.Chinese() || hollow(s) || passing(s) || s.Ends == "?" || len(s.Toks) > 60 || discourse.Conditioned(s) || Orders(s) || Reasons[s.At(0)] && s.At(1) != "of" || strings.ContainsAny(s.Raw(), `"“”`) {
		return false
	}
	t.Noting = true
	defer func() { t.Noting = false }()
	parts := syntax.Clauses(s)
	for i, part := range parts {
		if refuse.Quotes(s, part) || refuse.Supposes(t, part) {
			return false
		}
		if refuse.Idiomatic(part) {
			continue
		}
		if i > 0 && len(parts[i-1].Toks) < 3 && strings.TrimSpace(s.Text[parts[i-1].End:part.Start]) == "and" {
			continue // "you and Ben have a lot in common"
		}
		c, ok := t.Parse(part)
		if !ok || !asserted(&c) || refused(t, &c) || c.Unresolved(false) || discourse.MovedOn(&c, t.Plain) {
			continue
		}
		v := ViewOf(t, part)
		if v.slotted() || v.ofEmployer() && !c.Past && !v.ahead || v.substance() < 2 || v.has(wordsYou) > 0 || v.has(wordsMay) > 0 || !ownDeed(&c) && !stated(&c, v) {
			continue
		}
		if w := c.FirstTime(); t.Dayed && w != nil && w.Clock && !w.HasDay {
			continue // "I can't do Thursday, I have a meeting at two"
		}
		if w := c.FirstTime(); elapsed(t, &c, w) || SoonOver(t, &c, w) {
			continue
		}
		n := len(t.Out.Candidates)
		NoteClause(t, &c, part, (c.Past || c.Perfect) && !perPeriod(&c), v.ahead, ClauseSure)
		Amend(t, &t.Out.Candidates[n], parts[i+1:])
		return true
	}
	return false
}

// asserted reports whether something is stated as true, and is not a thought or a feeling.
func asserted(c *discourse.Clause) bool {
	return !(c.Past && c.Future) && !c.Modal && !c.Can && !c.Maybe && !c.Intend && !c.Conditional() && !c.Elided() && !c.Almost() && !c.Offers() && !Inward[c.Verb] && c.Vi+1 < len(c.Words)
}

// ownDeed reports whether it is something that the speaker, alone or with others, did or has done.
func ownDeed(c *discourse.Clause) bool {
	return (c.Kind == 's' || c.Kind == 'w') && (c.Past || c.Perfect) && c.Verb != "be" && !c.Neg && !c.Must && !c.UsedTo && !c.Future
}

// stated reports whether a clause is about the speaker, a person or a thing of the speaker's, tells
// what is true now, was true, or will be on a day, and is worth keeping because of its marks.
func stated(c *discourse.Clause, v *view) bool {
	if next := c.W(c.Vi + 1); c.Verb == "be" && !c.Past && (next == "with" || next == "at") {
		return false // "I'm with Inkstone", "I'm at the hairdresser's": an employer without a slot, and where somebody is just now
	}
	needs := worthClause
	switch c.Kind {
	case 's', 'w':
	case 'p':
		if !c.APerson() {
			return false // "Kickboxing is a perfect way to stay in shape"
		}
	case 't':
		if !c.Own {
			return false
		}
		needs = worthNow
	default:
		return false
	}
	if c.Ahead() && !v.ahead || c.Verb == "try" || c.Verb == "be" && (v.has(discourse.Feelings) > 0 || v.has(warm) > 0 || syntax.PastForm(c.W(c.Vi+1))) {
		return false
	}
	if c.Ing && !v.day {
		needs = worthNow
	}
	return worthOf(v, WorthEn) >= needs
}

// Inward are verbs of thinking, feeling and saying.
var Inward = syntax.Set("think feel know see hear love like want hope guess mean look seem sound understand believe appreciate wish need enjoy keep say tell ask hate imagine remember realise realize wonder notice agree expect " +
	"figure forget decide mind bet suppose learn mention swear talk chat do let assume miss")

// substance counts the words that say what the sentence is about, without the verb: none that is
// warm, abstract or a feeling.
func (v *view) substance() int {
	n := 0
	for i, w := range v.words {
		if i > v.start() && telling(w) && w != "off" && w != "out" && w != "back" && w != "away" && w != "straight" && !syntax.Lead(w) && !discourse.WordsOwn[w] && !syntax.SubjectPronoun(w) {
			n++
		}
	}
	return n - 1
}

// telling reports whether a word says what a sentence is about, and is not warm, abstract or a
// feeling.
func telling(w string) bool {
	return len(w) > 2 && !syntax.Function(w) && !syntax.Preposition(w) && !syntax.Adverb(w) && !syntax.Auxiliary(w) && !syntax.Determiner(w) && !warm[w] && !abstract[w] && !discourse.Feelings[w] && !Opinions[w]
}
