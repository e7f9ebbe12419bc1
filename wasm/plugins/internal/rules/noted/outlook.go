package noted

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// An outlook is what somebody hopes, considers, attempts, worries about or is good at. It names no
// day and changes no fact, so it is noted and has no slot.

// Outlook notes a clause with such words: "I'm thinking of moving to Porto", "I'd love to learn
// to surf", "my sister is worried about her exam".
func Outlook(t *discourse.Talk, s syntax.Sentence) bool {
	if s = uncalled(t, s); s.Chinese() || s.Ends == "?" || len(s.Toks) > 40 || discourse.Conditioned(s) || strings.ContainsAny(s.Raw(), `"“”`) {
		return false
	}
	parsed := true
	for _, part := range syntax.Clauses(s) {
		if !parsed || refuse.Quotes(s, part) || refuse.Supposes(t, part) {
			return false // "my brother and his wife are looking for a flat": about both
		}
		var c discourse.Clause
		if c, parsed = t.Parse(part); !parsed || refuse.Idiomatic(part) || c.Almost() || momentary(&c) || phase(&c) || c.Kind != 's' && c.Kind != 'w' && (c.Kind != 'p' || !c.Own && syntax.SexOf("", c.Subj.Name) == 0) {
			continue
		}
		for i := 1; i < min(len(c.Words), c.Vi+4); i++ {
			k, past := hopes(&c, i)
			if k == 0 || c.Neg && c.W(i) != "wait" && c.W(i) != "used" || addressed(&c, k) || contentFrom(&c, k) == 0 {
				continue
			}
			a := t.Base(&c, "semantic", "noted", discourse.NotedSure)
			if past || intentions[c.W(i)] {
				a.Type, a.EventType, a.Actor = "episodic", "noted", c.Subj.Name
			}
			if past {
				a.Started = ToldAt(t, s)
			}
			t.Out.Candidates = append(t.Out.Candidates, a)
			return true
		}
	}
	return false
}

// hopes reads the words of an outlook at word i. It returns where its topic begins, or 0 if there
// are none, and whether it is over ("I forgot to pay the rent").
func hopes(c *discourse.Clause, i int) (about int, past bool) {
	w, next, third := c.W(i), c.W(i+1), c.W(i+2)
	_, _, ing := syntax.Lemma(third)
	ing = ing && third != "going" && third != "coming" && (third != "having" || c.EventAt() > i || c.W(len(c.Words)-1) == "done") // "having a beer"
	switch w {
	case "thinking":
		if (next == "of" || next == "about") && ing {
			return i + 2, false
		}
	case "considering", "contemplating":
		if _, _, ing := syntax.Lemma(next); ing && next != "going" && next != "ordering" && next != "having" || (next == "a" || next == "an") && sought[discourse.Last(discourse.ObjectOf(c, i+1))] {
			return i + 1, false
		}
	case "toying":
		if next == "with" && third == "the" && c.W(i+3) == "idea" {
			return i + 5, false
		}
	case "dream", "dreams", "dreaming", "dreamt", "dreamed":
		if (next == "of" || next == "about") && ing {
			return i + 2, false
		}
	case "like", "love":
		if next == "to" && (ambitions[third] || ofLife(c, i+3)) && c.Find(1, i, "would") > 0 {
			return i + 2, false
		}
	case "rather":
		if ambitions[next] && c.Find(1, i, "would") > 0 {
			return i + 1, false
		}
	case "wish":
		if verb := c.W(i + 3); next == "i" && third == "could" && (ambitions[verb] || skills[verb]) {
			return i + 3, false
		}
	case "wanted", "hope", "hopes", "hoping", "intend", "intends", "aim", "aims", "aiming", "trying", "struggling", "planning", "want", "wants", "meaning":
		switch {
		case next == "to" && w == "wanted":
			if c.Find(1, i, "always") > 0 || c.Find(1, i, "long") > 0 {
				return i + 2, false
			}
		case next == "to" && third == "be" && w != "trying" && (c.W(i+3) == "a" || c.W(i+3) == "an"):
			return i + 3, false
		case next == "to" && (third == "be" || Inward[third] && !ambitions[third]):
		case next == "to" && (w == "trying" || w == "struggling"):
			if !fleeting[third] {
				return i + 2, false
			}
		case next == "to" && syntax.Verbish(third) && !fleeting[third] && (w != "want" && w != "wants" || ambitions[third] || ofLife(c, i+3)):
			return i + 2, false
		case w == "trying" && next == "for" && third == "a" && c.W(i+3) == "baby", w == "planning" && next == "on" && ing:
			return i + 2, false
		}
	case "might", "may":
		if upheavals[next] && (third == "my" || third == "our" || third == "a" || third == "an" || third == "the" && next == "sell") || next == "move" && syntax.Preposition(third) {
			return i + 1, false
		}
	case "looking":
		if next == "for" && (third == "a" || third == "an" || third == "another") && sought[discourse.Last(discourse.ObjectOf(c, i+2))] {
			return i + 2, false
		}
	case "wait":
		if c.Can && c.Neg && next == "for" && syntax.Determiner(third) && c.Find(i, 8, "longer") < 0 {
			return i + 2, false
		}
	case "worried", "nervous", "anxious", "excited", "scared", "stressed", "concerned":
		if (next == "about" || next == "for") && (certain(c, i+2) || ing) {
			return i + 2, false
		}
	case "proud", "ashamed", "jealous", "envious":
		if next == "of" && certain(c, i+2) {
			return i + 2, false
		}
	case "tired", "sick", "fed":
		k := i + 2
		if w == "fed" {
			k++
		}
		if _, _, ing := syntax.Lemma(c.W(k)); ing && (next == "of" || next == "up") || next == "of" && certain(c, k) {
			return k, false
		}
	case "used", "accustomed":
		if before := c.W(i - 1); next == "to" && ing && (before == "am" || before == "is" || before == "are" || before == "got" || before == "not" || syntax.Adverb(before)) && c.Verb == "be" {
			return i + 2, false
		}
	case "good", "great", "bad", "terrible", "hopeless", "rubbish", "useless", "brilliant", "awful":
		if c.Verb == "be" && next == "at" && !c.Capital(i+2) && !Counts(third) && !syntax.Numeric(third) && !wherever[third] {
			return i + 2, false
		}
	case "keep", "keeps":
		if _, _, ing := syntax.Lemma(next); ing && next != "going" && next != "coming" && next != "telling" && next != "saying" && next != "thinking" && certain(c, i+2) {
			return i + 1, false
		}
	case "miss", "misses":
		if certain(c, i+1) && !c.Past && !c.Modal && !c.Future {
			return i + 1, false
		}
	case "forgot":
		if next == "to" && syntax.Verbish(third) && !Inward[third] && (syntax.Determiner(c.W(i+3)) || len(c.Words) > i+4) {
			return i + 2, true
		}
	}
	return 0, false
}

// certain reports whether a noun begins at word i that is somebody's or a certain one.
func certain(c *discourse.Clause, i int) bool {
	w := c.W(i)
	return w == "my" || w == "our" || w == "the" || w == "his" && c.Own || w == "her" && c.Own || syntax.Parent[w] || c.Capital(i) && syntax.NameWord(w)
}

// addressed reports whether what begins at word i is about the person to whom the speaker talks, or
// about what was said before.
func addressed(c *discourse.Clause, i int) bool {
	for k := i; k < len(c.Words); k++ {
		switch c.W(k) {
		case "you", "your", "yours", "yourself":
			return true
		case "one":
			return c.W(k+1) != "day"
		case "it", "that", "this", "them", "him", "so", "these", "those", "something", "things", "what", "how", "there":
			return k < i+3
		}
	}
	return false
}

// contentFrom counts the words from i on that say what it is about.
func contentFrom(c *discourse.Clause, i int) (n int) {
	for k := i; k < len(c.Words); k++ {
		if telling(c.W(k)) {
			n++
		}
	}
	return n
}

// momentary reports whether something applies only now, or is asked of somebody: "I'd like to learn
// the result now, please".
func momentary(c *discourse.Clause) bool {
	for k := range c.Words {
		switch c.W(k) {
		case "now", "please", "tonight", "here", "today", "later", "quickly", "quick":
			return true
		}
	}
	return false
}

// ambitions are things that people would like to do some day, and not in the next minute.
var ambitions = syntax.Set("learn live visit travel become work study write move build own retire climb sail adopt teach surf publish quit emigrate settle explore volunteer grow")

// skills are skills that people wish they had.
var skills = syntax.Set("play speak swim sing dance draw paint cook fly ski")

// upheavals are things that change somebody's life, if they say that it may happen.
var upheavals = syntax.Set("quit leave sell buy adopt retire apply resign switch change start rent lose")

// sought are things that people look for over weeks.
var sought = syntax.Set("flat job house apartment home school kindergarten nanny plumber therapist tutor teacher doctor dentist gardener cleaner flatmate roommate babysitter car bike van dog cat puppy kitten hobby course internship apprenticeship sabbatical divorce career move degree")

// wherever are words for where and how somebody is, after "good at".
var wherever = syntax.Set("it that this all home nothing everything work school night least first last times the")

// fleeting are things that people attempt for a moment.
var fleeting = syntax.Set("see get say tell think understand remember figure find explain be do make help reach call catch come go stay keep convince show work look talk put give take have let check ask hear relax sleep rest enjoy focus concentrate avoid decide know believe open load connect lock park close")

// intentions are the words of an outlook that say what somebody intends to do, and not what they
// wish or feel.
var intentions = syntax.Set("thinking considering contemplating toying intend intends aim aims aiming trying planning meaning might may looking")

// ofLife reports whether the words from i on say that something is to be done once in a life: "before
// I'm forty".
func ofLife(c *discourse.Clause, i int) bool {
	k := c.Find(i, len(c.Words), "before")
	if k < 0 || !syntax.SubjectPronoun(c.W(k+1)) {
		return false
	}
	for k += 2; k < len(c.Words); k++ {
		if n, ok := syntax.Number(c.W(k)); ok && n >= 18 || c.W(k) == "die" {
			return true
		}
	}
	return false
}
