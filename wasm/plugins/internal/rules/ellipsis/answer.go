package ellipsis

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// hedges are words that show that somebody is not certain.
var hedges = syntax.Set("think guess maybe perhaps probably possibly might dunno depends depend unsure suppose hopefully reckon idea know remember say sometimes whatever whenever wherever somewhere something someone somebody nothing nowhere nobody " +
	"kidding joking really sort kind ish wish hope ask would could should unless why what who whose how secret")

// Hedged reports whether an answer is not certain, or asks back.
func Hedged(s syntax.Sentence) bool {
	for i := range s.Toks {
		w, rest := syntax.Contraction(s.At(i))
		if hedges[w] || w == "not" && (s.At(i+1) == "sure" || s.At(i+1) == "yet") || w == "hard" && s.At(i+1) == "to" || rest == "would" || s.At(i) == `"` || w == "you" || w == "your" {
			return true
		}
		if i > 0 && s.At(i-1) != "," && i < 6 && s.At(i) == "if" {
			return true
		}
	}
	return false
}

// echoes reports whether "I do" has the subject and the verb of the question. "I can't" goes with any verb.
func echoes(a *noted.Reply, q *Inquiry) bool {
	if a.Who == "" || a.Who == "we" {
		return true
	}
	if (a.Who == "i") != (q.Subj == "I") {
		return false
	}
	kind := func(aux string) string {
		base, _, _ := syntax.Lemma(aux)
		return base
	}
	return refuse.Modals[a.Aux] || refuse.Modals[q.Aux] || kind(a.Aux) == kind(q.Aux) || a.Aux == "am" && q.be() || q.Aux == "did" && a.Aux == "did"
}

// OnlyYesOrNo reports whether an answer is only "Yes." or "Oh, no.": the next sentence may say
// more.
func OnlyYesOrNo(s syntax.Sentence) bool {
	if len(s.Toks) > 4 || s.Chinese() || s.Ends == "?" {
		return false
	}
	a := noted.Reply{Sentence: s}
	a.Opens()
	return a.From >= len(s.Toks) && (a.Yes != a.No) && !a.Mixed && !a.Accepts
}

// unsaid are words that do not answer a question.
var unsaid = syntax.Set("nice good fine lovely great sorry thanks thank not loads lots everything stuff well same right wow here there it that this them him these those everywhere anything anywhere anyone anybody all both either neither none never always soon later now " +
	"bad terrible awful brilliant perfect close similar different ages forever let hang wait if when where never probably too very so pretty quite plenty enough most more less other another usual oops god")

// fills reports whether words can answer what a question asks for.
func fills(s syntax.Sentence) bool {
	if len(s.Toks) == 0 || len(s.Toks) > 16 {
		return false
	}
	w := s.At(0)
	if unsaid[w] || syntax.Adverb(w) && !Numeral(w) && w != "once" && w != "twice" || w == "recently" || w == "mostly" || w == "besides" || w == "during" || w == "the" && unsaid[s.At(1)] || w == "a" && (s.At(1) == "few" || s.At(1) == "lot" || s.At(1) == "bit" || s.At(1) == "while") {
		return false
	}
	if len(s.Toks) > 1 && s.At(1) == "me" || w == "me" && len(s.Toks) > 1 {
		return false
	}
	l, past, ing := syntax.Lemma(w)
	_, event := syntax.EventNoun(w)
	return l == "" || ing || event || past && s.Toks[0].Cap && len(s.Toks) == 1 || !past && len(s.Toks) == 1
}

// words returns the words of a part of an answer, in the form in which they fit into a statement.
func words(s syntax.Sentence) (all []string) {
	for i := range s.Toks {
		raw := s.Text[s.Toks[i].Start:s.Toks[i].End]
		if s.Toks[i].Kind == 'p' && len(all) > 0 {
			all[len(all)-1] += raw
			continue
		}
		next := i+1 < len(s.Toks) && s.Toks[i+1].Cap
		if w := s.At(i); i == 0 && (syntax.Determiner(w) || syntax.Preposition(w) || Numeral(w) || oftenSaid[w] || syntax.Placing(w) || noted.Nearness[w] || w == "next" || w == "last" || w == "tomorrow" || !next && lowers(w)) {
			raw = w
		}
		all = append(all, raw)
	}
	return all
}

// lowers reports whether a word is not a name, although it may begin an answer.
func lowers(w string) bool {
	_, event := syntax.EventNoun(w)
	_, _, ing := syntax.Lemma(w)
	return event || ing || syntax.Adverb(w) || oftenSaid[w] || syntax.LemmaSet[w] || discourse.PersonStates[w]
}
