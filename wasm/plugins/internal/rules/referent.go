package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/ellipsis"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/english"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// "We sold it in the summer" does not say what was sold. After "do you still have that Fiesta?" it
// is the Fiesta. The only thing that the other speaker's previous turn names replaces "it" and
// "them", and what it asks after "still" completes "I stopped".

// undertakes returns the token after "I'll do it" at the beginning of an answer, 0 if it does not begin so:
// "not yet, I'll do it tonight" after "did you pay the gas bill?".
func undertakes(a *noted.Reply) int {
	k := a.From
	if a.At(k) == "not" && a.At(k+1) == "yet" {
		for k += 2; a.At(k) == "," || a.At(k) == "but"; k++ {
		}
	}
	base, rest := syntax.Contraction(a.At(k))
	if k++; a.At(k) == "will" && rest == "" {
		rest = "will"
		k++
	}
	if base != "i" && base != "we" || rest != "will" || a.At(k) != "do" || a.At(k+1) != "it" && a.At(k+1) != "that" {
		return 0
	}
	return k + 2
}

// referred reads a sentence that does not say what the previous turn names. It reports whether the
// sentence needs no other reading.
func referred(t *discourse.Talk, s syntax.Sentence) bool {
	b := t.JustSaid()
	if t.Rejoined || b == nil || s.Chinese() || syntax.HasHan(b.Text) || s.Ends == "?" || len(s.Toks) > 40 || discourse.Conditioned(s) || len(t.Own) == 0 || t.Own[0].Start != s.Start && !ellipsis.OnlyYesOrNo(t.Own[0]) && !stillOfIt(t, s) {
		return false
	}
	a := noted.Reply{Sentence: s}
	if a.Opens(); a.Mixed || a.From >= len(a.Toks) {
		return false
	}
	if base, _ := syntax.Contraction(a.At(a.From)); (base == "i" || base == "we") && a.At(a.From+1) == "did" && a.At(a.From+2) == "it" { // "did you renew the insurance?"
		q, ok := ellipsis.Inquired(t)
		if !ok || q.Word != "" || q.Subj != "I" && q.Subj != "we" || q.Aux != "did" && q.Aux != "have" || len(q.Rest) < 2 {
			return false
		}
		q.Names = true
		return readJoined(t, &q, s, q.Says(false, q.Rest)+s.Text[s.Toks[a.From+2].End:s.End], "")
	}
	if k := undertakes(&a); k > 0 {
		q, ok := ellipsis.Inquired(t)
		if !ok || q.Word != "" || q.Subj != "I" && q.Subj != "we" || q.Aux != "did" && q.Aux != "have" || len(q.Rest) < 2 {
			return false
		}
		verb, _, _ := syntax.Lemma(strings.ToLower(q.Rest[0]))
		return readJoined(t, &q, s, "I will "+verb+" "+strings.Join(q.Rest[1:], " ")+s.Text[s.Toks[k-1].End:s.End], "")
	}
	at, end, kind := leftOpen(&a)
	if kind == 0 {
		return false
	}
	q, thing := spokenOf(t, kind)
	if thing == "" {
		return false
	}
	statement := thing + s.Text[s.Toks[end-1].End:s.End] // "they split up"
	if base, rest := syntax.Contraction(s.At(at)); base == "it" && rest == "is" {
		statement = thing + " is" + s.Text[s.Toks[end-1].End:s.End]
	}
	if at > a.From {
		statement = s.Text[s.Toks[a.From].Start:s.Toks[at-1].End] + " " + statement
	}
	if !syntax.SubjectPronoun(syntax.FirstOf(syntax.Contraction(a.At(a.From)))) { // "had it last week"
		if q.At(1) != "you" {
			return false
		}
		statement = "I " + ellipsis.LowerFirst(statement)
	}
	if w := timex.FindWhens(q.Sentence, t.Now); len(w) == 1 && len(timex.FindWhens(a.Sentence, t.Now)) == 0 {
		from := w[0].First // "can you send me the figures by Monday?", "I'll send them"
		if from > 0 && syntax.Preposition(q.At(from-1)) {
			from--
		}
		said, more, _ := strings.Cut(strings.TrimRight(statement, " .!"), ", ")
		if statement = said + " " + q.Text[q.Toks[from].Start:q.Toks[w[0].Next-1].End]; more != "" {
			statement += ", " + more
		}
	}
	return readJoined(t, &q, s, statement, "")
}

// stillOfIt reports whether the sentence's turn has so far spoken only of "it": "It's in the shed.
// I'll drop it round tonight".
func stillOfIt(t *discourse.Talk, s syntax.Sentence) bool {
	for _, o := range t.Own {
		if o.Start >= s.Start {
			return true
		}
		base, _ := syntax.Contraction(o.At(0))
		looked := (base == "i" || base == "we") && o.At(len(o.Toks)-1) == "everywhere"
		if base != "it" && base != "they" && !looked {
			return false
		}
	}
	return false
}

// The kinds of what an answer does not say.
const (
	openOne   = 'i' // it
	openMany  = 'm' // they, them
	openDoing = 'd' // "I stopped"
	openPlace = 'p' // "we went"
	openHer   = 'h' // "I'm telling her"
	openHim   = 'b'
)

// leftOpen finds the tokens of what an answer does not say, if nothing before them in the answer
// says it. If words are only missing, at and end are the token before which they belong.
func leftOpen(a *noted.Reply) (at, end int, kind byte) {
	base, rest := syntax.Contraction(a.At(a.From))
	if base == "it" && (rest == "is" || rest == "" && (a.At(a.From+1) == "is" || a.At(a.From+1) == "was")) {
		k := a.From + 1
		if rest == "" {
			k++
		}
		if syntax.Placing(a.At(k)) || a.At(k) == "upstairs" || a.At(k) == "downstairs" {
			return a.From, a.From + 1, openOne // "it's in the shed"
		}
		return 0, 0, 0
	}
	if base == "they" && rest != "will" && rest != "would" && (a.At(a.From+1) != "say" && a.At(a.From+1) != "said") {
		if rest == "" {
			return a.From, a.From + 1, openMany
		}
		return 0, 0, 0
	}
	if l, past, _ := syntax.Lemma(base); (past && l != "be" && l != "do" || base == "had") && rest == "" && (a.At(a.From+1) == "it" || a.At(a.From+1) == "them") { // "had it last week"
		return a.From + 1, a.From + 2, openKind(a.At(a.From + 1))
	}
	if base != "i" && base != "we" && base != "he" && base != "she" {
		return 0, 0, 0
	}
	i := a.From + 1
	for i < len(a.Toks) && (syntax.Auxiliary(a.At(i)) || syntax.Adverb(a.At(i)) || a.At(i) == "not" || a.At(i) == "never") {
		i++
	}
	if (a.At(i) == "it" || a.At(i) == "them") && (a.At(i-1) == "have" || a.At(i-1) == "had") {
		i-- // "I'll have them ready by noon"
	}
	verb, past, ing := syntax.Lemma(a.At(i))
	if verb == "" && !syntax.PastForm(a.At(i)) && a.At(i) != "have" && a.At(i) != "had" && rest != "will" && a.At(i-1) != "will" {
		return 0, 0, 0
	}
	next := a.At(i + 1)
	if third := a.At(i + 2); (next == "off" || next == "on" || next == "up" || next == "out") && (third == "it" || third == "them") {
		return i + 2, i + 3, openKind(third) // "I came off them in September"
	}
	switch {
	case next == "it" && a.At(i+2) != "was" && a.At(i+2) != "is":
		return i + 1, i + 2, openOne
	case next == "them":
		return i + 1, i + 2, openMany
	case (next == "her" || next == "him") && (a.At(i+2) == "" || a.Toks[i+2].Kind == 'p' || syntax.Preposition(a.At(i+2)) || a.At(i+2) == "tomorrow" || a.At(i+2) == "tonight" || a.At(i+2) == "next"):
		if next == "her" {
			return i + 1, i + 2, openHer
		}
		return i + 1, i + 2, openHim
	case next != "" && !noted.AfterVerb[next] || !past && rest != "have" || ing:
	case verb == "stop" || verb == "quit":
		return i + 1, i + 1, openDoing
	case verb == "go":
		return i + 1, i + 1, openPlace
	}
	return 0, 0, 0
}

// personAt returns whom "her" or "him" may mean at token i: "your boss", "Anna".
func personAt(s syntax.Sentence, i int, kind byte) (from, end int) {
	other := byte(syntax.Male)
	if kind == openHim {
		other = syntax.Female
	}
	w := s.At(i)
	if _, rest := syntax.Contraction(w); rest == "is" && s.Toks[i].Cap && syntax.Kin(s.At(i+1)) && syntax.SexOf(s.At(i+1), "") != other {
		return i, i + 2 // "Kofi's wife"
	}
	if sex := syntax.SexOf("", w); s.Toks[i].Cap && sex != other && (sex != 0 || i > 0 && syntax.NameWord(w) && !syntax.Preposition(s.At(i-1)) && syntax.Verbish(s.At(i-1))) {
		return i, i + 1 // "did you tell Priya?"
	}
	if w != "the" && w != "your" && w != "my" {
		return 0, 0
	}
	end = phraseEnd(s, i+1, 4)
	who := s.At(end - 1)
	if end == i+1 || syntax.SexOf(who, "") == other || !syntax.Kin(who) && !syntax.Profession(who) && !discourse.Trade(who) && !superiors[who] {
		return 0, 0
	}
	return i, end
}

// superiors are people for whom somebody works or from whom they rent.
var superiors = syntax.Set("boss manager landlord landlady supervisor")

// openKind returns what kind of thing "it" or "them" stands for.
func openKind(w string) byte {
	if w == "them" {
		return openMany
	}
	return openOne
}

// spokenOf returns the only thing of a kind that the previous turn names, in the words of the one
// who answers, and the sentence that names it.
func spokenOf(t *discourse.Talk, kind byte) (ellipsis.Inquiry, string) {
	b := t.JustSaid()
	all := t.SentencesOf(b)
	if len(all) == 0 {
		return ellipsis.Inquiry{}, ""
	}
	o := all[len(all)-1]
	if o.Chinese() || len(o.Toks) > 30 {
		return ellipsis.Inquiry{}, ""
	}
	q := ellipsis.Inquiry{Asked: discourse.Asked{Sentence: o, Turn: -1, By: discourse.SpeakerOf(t.Ev, b.Speaker), Of: t.Self}, Now: t.Now, Names: true}
	var found []string
	for i := 0; i < len(o.Toks); {
		from, end := thingAt(o, i, kind)
		if end == 0 {
			i++
			continue
		}
		words := strings.Fields(o.Text[o.Toks[from].Start:o.Toks[end-1].End])
		if w := strings.ToLower(words[0]); noted.Pointing[w] || w == "the" || w == "a" || w == "an" || w == "some" {
			words[0] = "the"
		}
		found = append(found, q.AsSaid(words, false))
		i = end
	}
	if len(found) != 1 {
		return ellipsis.Inquiry{}, ""
	}
	return q, found[0]
}

// thingAt returns the noun phrase of a kind that begins at token i. For things it is the determiner
// and up to four words; for deeds the verb and its object, after "still"; for places the words from
// "to" on. end is 0 if there is none.
func thingAt(s syntax.Sentence, i int, kind byte) (from, end int) {
	w := s.At(i)
	switch kind {
	case openDoing:
		if _, _, ing := syntax.Lemma(s.At(i + 1)); w != "still" || !ing && s.At(i+1) != "doing" && s.At(i+1) != "going" {
			return 0, 0
		}
		k := i + 2
		for syntax.Preposition(s.At(k)) || syntax.Determiner(s.At(k)) {
			k++
		}
		if end = phraseEnd(s, k, 4); end == k {
			return 0, 0
		}
		return i + 1, end
	case openPlace:
		if w != "to" || !syntax.Determiner(s.At(i+1)) && (i+1 >= len(s.Toks) || !s.Toks[i+1].Cap) {
			return 0, 0
		}
		end = phraseEnd(s, i+2, 4)
		return i, end
	}
	if kind == openHer || kind == openHim {
		return personAt(s, i, kind)
	}
	if kind == openOne && owedAt(s, i) > 0 {
		return i, owedAt(s, i)
	}
	if w != "the" && w != "your" && w != "my" && w != "our" && w != "a" && w != "an" && w != "some" && !noted.Pointing[w] || syntax.Preposition(s.At(i-1)) {
		return 0, 0
	}
	end = phraseEnd(s, i+1, 4)
	if end == i+1 {
		return 0, 0
	}
	noun, _ := syntax.Contraction(s.At(end - 1))
	many := strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "ss") || noun == "people" || noun == "children"
	if many != (kind == openMany) || !many && (syntax.Kin(noun) || syntax.Pet(noun)) || ellipsis.OpenNouns[noun] || nounOfTime[noun] {
		return 0, 0
	}
	return i, end
}

// owedAt returns the token after an amount of money at token i that somebody owes or that something
// costs, or 0.
func owedAt(s syntax.Sentence, i int) int {
	if !ellipsis.Numeral(s.At(i)) || ellipsis.Numeral(s.At(i-1)) || i < 2 || s.At(i-2) != "owe" && s.At(i-2) != "came" && s.At(i-2) != "comes" {
		return 0
	}
	k := i + 1
	for ellipsis.Numeral(s.At(k)) {
		k++
	}
	if w := s.At(i); (w == "a" || w == "an") && k == i+1 && !english.Currencies[s.At(k)] {
		return 0 // "a fiver" is found as a thing
	}
	if english.Currencies[syntax.Singular(s.At(k))] || english.Currencies[s.At(k)] {
		k++
	} else if s.At(i-2) != "owe" {
		return 0
	}
	return k
}

// nounOfTime are nouns that are a time after "the".
var nounOfTime = syntax.Set("morning afternoon evening night day week weekend month year summer winter spring autumn moment time end way point minute hour thing")

// phraseEnd returns the token after a noun phrase that begins at token i, of at most most words.
func phraseEnd(s syntax.Sentence, i, most int) int {
	k := i
	for ; k < min(len(s.Toks), i+most); k++ {
		w := s.At(k)
		if s.Toks[k].Kind != 'w' || k > i && (syntax.Kin(s.At(k-1)) || discourse.Asking[s.At(0)] && (refuse.MainVerbs[w] || refuse.Happened[w])) || syntax.Preposition(w) || syntax.Auxiliary(w) || syntax.Adverb(w) || syntax.Determiner(w) || syntax.Lead(w) || discourse.Personal(w) || syntax.SubjectPronoun(w) || pauses[w] {
			break
		}
		if _, rest := syntax.Contraction(w); rest != "" {
			break
		}
	}
	return k
}

// pauses are words that end a noun phrase in a question.
var pauses = syntax.Set("yet again anymore together today tomorrow yesterday tonight then when while if or and but so who which up out off back down over over-night last next this going coming done gone open here there")
