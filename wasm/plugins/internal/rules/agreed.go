package rules

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/ellipsis"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// One person proposes something for a day, and the other agrees: "shall we say Thursday for the curry?", "Thursday's fine".
// Then it is a plan: of both, after an invitation; of the one who was asked to do it; or of the one
// who offered to. An errand that somebody was asked to do needs no day: "please bring your insurance card", "will do".

// proposal is a proposal in the words of the one who agrees.
type proposal struct {
	who      string   // "Tom and I", "I", "Tom"
	what     []string // from the verb on
	mind     bool     // "would you mind …", to which "no" means agreement
	reminded bool     // "don't forget to …", to which "I won't" means agreement
	errand   bool     // what the one who is asked does is for later
}

// proposals are the beginnings of proposals, the longer first, and whom what follows is about: b
// both, y the one who is asked, r the one who is asked not to forget it, m the speaker. "ing" says that a gerund follows.
var proposals = []struct {
	words [][]string
	who   byte
	ing   bool
}{
	{refuse.WordLists("would you mind|do you mind"), 'y', true},
	{refuse.WordLists("do you want me to|would you like me to|shall i|i could|i can"), 'm', false},
	{refuse.WordLists("do you fancy|fancy|are you up for|up for"), 'b', true},
	{refuse.WordLists("do you want to|would you like to|want to|shall we|should we|why don't we|how about we|can we|could we|we could|let's"), 'b', false},
	{refuse.WordLists("how about|what about"), 'b', true},
	{refuse.WordLists("can you|could you|will you|would you|please"), 'y', false},
	{refuse.WordLists("don't forget to|dont forget to|do not forget to|remember to|make sure to|make sure you"), 'r', false},
}

// agreedTo reads an agreement to what another speaker has just proposed for a day, or to an errand. It
// reports whether the sentence needs no other reading.
func agreedTo(t *discourse.Talk, s syntax.Sentence) bool {
	b := t.JustSaid()
	if b == nil || t.Rejoined || t.Part == discourse.HowTo || s.Chinese() || syntax.HasHan(b.Text) || len(t.Own) == 0 || t.Own[0].Start != s.Start || len(s.Toks) > 20 {
		return false
	}
	all := t.SentencesOf(b)
	if len(all) == 0 || len(all[len(all)-1].Toks) > 30 {
		return false
	}
	o := all[len(all)-1]
	if slices.ContainsFunc(t.Own, func(own syntax.Sentence) bool { return !agreesAlone(own, o, t.Now, b.Speaker) }) {
		return false
	}
	q := ellipsis.Inquiry{Asked: discourse.Asked{Sentence: o, Turn: -1, By: discourse.SpeakerOf(t.Ev, b.Speaker), Of: t.Self}, Now: t.Now, Names: true}
	var day *timex.When
	for _, w := range timex.FindWhens(o, t.Now) {
		if w.Habit && w.Days == nil || w.Since || w.HasDay && day != nil || !w.HasDay && !w.Clock {
			return false
		}
		if w.HasDay && w.Day >= t.Now.Day {
			day = &w
		}
	}
	p, ok := proposed(&q, day)
	if !ok && agreedDay(t, o, s, day, q.By) {
		return true
	}
	if !ok || !agrees(s, p.mind) && !(p.reminded && wont(s)) {
		return false
	}
	said := p.who + " will " + strings.Join(p.what, " ")
	for _, w := range timex.FindWhens(s, t.Now) { // "sure, at six"
		if w.Habit || w.Since || w.HasDay && (day != nil && w.Day != day.Day || w.Day < t.Now.Day) {
			return false
		}
		if from := w.First - syntax.BoolInt(w.First > 0 && syntax.Preposition(s.At(w.First-1))); w.HasDay && day == nil || !w.HasDay && w.Clock {
			said += " " + s.Text[s.Toks[from].Start:s.Toks[w.Next-1].End]
		}
		if w.HasDay {
			day = &w
		}
	}
	if day == nil && p.errand {
		q.Names = false // otherwise a promise without a day would be dropped
		return readJoined(t, &q, s, "I have to "+strings.Join(p.what, " "), "")
	}
	return day != nil && readJoined(t, &q, s, said, "")
}

// wont reports whether a sentence answers "don't forget to …": "I won't", "no, I won't forget".
func wont(s syntax.Sentence) bool {
	return slices.ContainsFunc(s.Toks, func(k syntax.Token) bool { return k.S == "won't" || k.S == "wont" })
}

// errands are the errands and chores that somebody who is asked does later: "could you pick up some
// milk?", but not "could you give me the salt?".
var errands = syntax.Set("send ring bring buy call email book pick return pay collect order phone text print renew prepare organise organize submit fix repair cancel register sign post mail invite")

// reaching are the errands of which the asker can be the object. "Bring me the menu" is for now.
var reaching = syntax.Set("send ring call email text phone pick invite")

// urgent are things that are called, or picked up, at once.
var urgent = syntax.Set("phone ambulance police taxi cab doctor help")

// isErrand reports whether what somebody is asked for is to be done later. reminded: they are asked not to forget it.
// able: "can you …", which may ask for an ability.
func isErrand(asked syntax.Sentence, reminded, able bool) bool {
	at := 1
	if asked.At(0) == "pick" && asked.At(1) == "up" {
		at = 2
	}
	verb, object := asked.At(0), asked.At(at)
	switch {
	case reminded && (verb == "water" || verb == "feed"):
		return true
	case (verb == "grab" || verb == "get" || verb == "fetch") && object != "" && object != "me" && object != "in" && onTheWay(asked):
		return true
	case !errands[verb] || object == "" || urgent[asked.At(len(asked.Toks)-1)]:
		return false
	case syntax.Preposition(object) || able && !syntax.Determiner(object) && object != "your" && object != "my" && object != "me" && object != "some" && !asked.Toks[at].Cap:
		return false // "can you pay by card?", "can you repair bikes?"
	case object == "me":
		return reaching[verb]
	case verb == "bring":
		return reminded || object == "your"
	}
	return true
}

// joinsThings reports whether the word at token i is "and" between two things: "two lemons and some coriander".
func joinsThings(s syntax.Sentence, i int) bool {
	next := s.At(i + 1)
	_, number := syntax.Number(next)
	return s.At(i) == "and" && (number || next != "then" && !syntax.LemmaSet[next] && !syntax.SubjectPronoun(next) && !syntax.Auxiliary(next) && !syntax.Adverb(next) && (syntax.Determiner(next) || next == "some" || next == "my" || strings.HasSuffix(next, "s")))
}

// onTheWay reports whether what somebody is asked for is to be done when they are out: "on your way home".
func onTheWay(s syntax.Sentence) bool {
	for i := range s.Toks {
		switch s.At(i) {
		case "way":
			if (s.At(i-1) == "the" || s.At(i-1) == "your") && (s.At(i-2) == "on" || s.At(i-2) == "along") {
				return true
			}
		case "work", "school", "shop", "shops", "supermarket", "chemist", "pharmacy", "market", "bakery":
			if before := s.At(i - 1); before == "after" || (before == "the" || before == "from") && (before == "from" || s.At(i-2) == "from" || s.At(i-2) == "at") {
				return true
			}
		}
	}
	return false
}

// proposed parses the last proposal of a sentence.
func proposed(q *ellipsis.Inquiry, day *timex.When) (p proposal, ok bool) {
	if q.By.Name == "" || !discourse.Capitalised(q.By.Name) || discourse.Conditioned(q.Sentence) {
		return p, false
	}
	from, who, ing := 0, byte(0), false
	for i := 0; i < min(len(q.Toks), 12) && from == 0; i++ {
		if i > 0 && q.Toks[i-1].Kind != 'p' && !syntax.Lead(q.At(i-1)) {
			break
		}
		for _, form := range proposals {
			k := slices.IndexFunc(form.words, func(words []string) bool { return refuse.Has(q.Asked.Sentence, i, words) })
			if k >= 0 {
				words := form.words[k]
				from, who, ing, p.mind = i+len(words), form.who, form.ing, words[len(words)-1] == "mind"
				break
			}
		}
	}
	to := from
	for to < len(q.Toks) && q.Toks[to].Kind != 'p' && (!syntax.Joins[q.At(to)] || joinsThings(q.Asked.Sentence, to)) && q.At(to) != "or" && q.At(to) != "so" {
		to++
	}
	if from == 0 || to-from < 2 || day != nil && (day.Next > to || ofThing(q.Asked.Sentence, from, day)) || slices.ContainsFunc(q.Toks[from:to], func(k syntax.Token) bool { return ellipsis.PronounsMeant[k.S] && k.S != "this" }) {
		return p, false
	}
	rest := q.Sub(from, to)
	if rest.At(0) == "please" {
		rest = rest.Sub(1, len(rest.Toks))
	}
	if p.reminded = who == 'r'; p.reminded {
		who = 'y'
	}
	p.errand = who == 'y' && isErrand(rest, p.reminded, q.At(from-2) == "can")
	words := strings.Fields(rest.Raw())
	verb, _, doing := syntax.Lemma(rest.At(0))
	if slices.ContainsFunc(words, func(w string) bool {
		return strings.ContainsAny(w, "'’") && !strings.HasSuffix(strings.ToLower(w), "s")
	}) {
		return p, false // "shall I tell Ben you're coming on Monday?"
	}
	_, done, _ := syntax.Lemma(rest.At(1))
	switch {
	case who == 'y' && abilities[verb] && rest.At(1) != "to", verb == "have" && (done || syntax.PastForm(rest.At(1)) || rest.At(1) == "come" || rest.At(1) == "been"):
		return p, false // "can you see the moon tonight?", "would you have helped me on Sunday?"
	case day != nil && rest.At(0) == "say" && refuse.Has(rest, day.Next-from, []string{"for"}): // "say Thursday for the curry"
		words = append(append([]string{"have"}, strings.Fields(rest.Text[rest.Toks[day.Next-from].End:rest.End])...), "on", rest.Text[rest.Toks[day.First-from].Start:rest.Toks[day.Next-from-1].End])
	case ing && doing:
		words[0] = verb
	case ing && (rest.At(0) == "a" || rest.At(0) == "some" || shared[rest.At(0)]):
		words = append([]string{"have"}, words...)
	case verb == "come" && (rest.At(1) == "to" || rest.At(1) == "over" || rest.At(1) == "round"):
		who = 'y'
	case ing || doing || verb == "" && !syntax.Determiner(rest.At(1)) || vagueDeeds[verb] && !syntax.Determiner(rest.At(1)) && (verb != "have" || syntax.Preposition(rest.At(1)) || len(rest.Toks) < 3):
		return p, false
	}
	for i := 0; i < len(words); i++ {
		switch w := strings.ToLower(words[i]); {
		case i > 0 && words[i-1] == "with" && (w == "us" || w == "me") && who == 'b':
			words = slices.Delete(words, i-1, i+1) // both go
			i--
		case w == "ours":
			words[i] = discourse.Possessive(q.By.Name)
		case w == "us" || w == "our" || w == "we":
			return p, false
		}
	}
	said := q.AsSaid(words, false)
	if said == "" {
		return p, false
	}
	p.what = strings.Fields(said)
	switch p.who = q.By.Name; who {
	case 'b':
		p.who += " and I"
	case 'y':
		p.who = "I"
	}
	return p, true
}

// shared is what people have together.
var shared = syntax.Set("breakfast brunch lunch coffee tea drinks dinner supper")

// abilities are verbs for what somebody is able to do, not for what they can be asked to do.
var abilities = syntax.Set("see hear feel imagine believe afford remember understand picture recall smell guess")

var ofWhat = syntax.Set("from about of")

// ofThing reports whether a day says which thing is meant: "the photos from Saturday", "the drill
// you borrowed on Monday".
func ofThing(s syntax.Sentence, from int, day *timex.When) bool {
	if ofWhat[s.At(day.First)] {
		return true
	}
	for k := from; k < day.First; k++ {
		_, past, _ := syntax.Lemma(s.At(k))
		if w := s.At(k); k+1 == day.First && ofWhat[w] || k > from && (past || syntax.PastForm(w)) && syntax.SubjectPronoun(s.At(k-1)) {
			return true
		}
	}
	return false
}

// vagueDeeds are verbs that without an object say nothing that anybody would search for.
var vagueDeeds = syntax.Set("say make do be like let pass get come have")

// agreeing are phrases of agreement.
var agreeing = refuse.WordLists("of course|course|course i can|go on|go on then|that's fine|that's no problem|not a problem|fine|fine by me|fine with me|happy to|will do|why not|sounds good|sounds great|sounds lovely|" +
	"i'd love to|we'd love to|love to|i'd love that|that'd be great|that'd be lovely|that'd be brilliant|that would be great|that would be lovely|that would be brilliant|would you|deal|good idea|great idea|brilliant|definitely|can do|i can do that|i will|sure thing")

// refusing are words of a refusal that [agreesAlone] would let pass, because parts of them agree or
// are in times.
var refusing = syntax.Set("can't won't wouldn't though away later")

// troubles are nouns after "no" in an agreement: "no bother".
var troubles = syntax.Set("problem worries bother trouble hassle")

// agreeable are words that agree by themselves.
var agreeable = syntax.Set("sure ok okay perfect lovely great absolutely exactly")

// agrees reports whether a sentence agrees to a proposal for a day; after "would you mind", a "no"
// agrees.
func agrees(s syntax.Sentence, mind bool) bool {
	i, no, yes := 0, false, false
	for ; i < len(s.Toks) && (syntax.Lead(s.At(i)) || s.Toks[i].Kind == 'p'); i++ {
		w := s.At(i)
		no = no || w == "nope" || w == "no" && !troubles[s.At(i+1)]
		yes = yes || (noted.YesWords[w] || agreeable[w]) && (i+1 == len(s.Toks) || s.Toks[i+1].Kind == 'p' || s.At(i+1) == "please")
	}
	for k := range s.Toks {
		if w := s.At(k); refusing[w] && !(w == "though" && s.At(k-1) == "me") || w == "not" && s.At(k+1) != "a" && s.At(k-1) != "why" && s.At(k+1) != "at" {
			return false
		}
	}
	troubled := troubles[s.At(i)] && s.At(i-1) == "no" // "no bother"
	if mind != no && !troubled && !(mind && refuse.Has(s, i, []string{"not", "at", "all"})) {
		return false
	}
	if i >= len(s.Toks) || yes || troubled {
		return s.Ends != "?" && (mind || yes || troubled)
	}
	for _, words := range agreeing {
		if i > 0 && words[0] == s.At(i-1) && refuse.Has(s, i-1, words) { // "good" also leads
			return s.Ends != "?"
		}
		if n := i + len(words); refuse.Has(s, i, words) && (n >= len(s.Toks) || s.Toks[n].Kind == 'p' || s.At(n) == "then" || len(words) > 1) {
			return s.Ends != "?" || s.At(i) == "would"
		}
	}
	for k := i; k < len(s.Toks); k++ { // "Thursday's fine"
		base, rest := syntax.Contraction(s.At(k))
		if suits := s.At(k+1) == "works" || s.At(k+1) == "suits" || (rest == "is" || s.At(k+1) == "is") && (s.At(k+1) == "fine" || s.At(k+2) == "fine" || s.At(k+1) == "good" || s.At(k+1) == "perfect" || s.At(k+1) == "great"); suits && k < i+4 {
			return (syntax.WeekdayOf(base, false) >= 0 || base == "tomorrow" || base == "tonight" || base == "that" || dayPlace(s, k)) && s.Ends != "?"
		}
	}
	return false
}

// agreeingWord are the words that an answer may have which only agrees. Anything else in it may be
// a condition, a conflict or a joke.
var agreeingWord = syntax.Set("yes yeah yep yup aye no nope not a at all and oh ah sure ok okay alright right perfect lovely great grand brilliant cool absolutely exactly definitely fine good idea deal course of go on then that that's is it it's it'd " +
	"that'd be would you me my for by with to the on will i i'd i'll we we'd we'll can do so please thanks thank cheers love happy why sounds works work suits suit problem problems worries bother trouble hassle too there see bye " +
	"around about remind though won't wont forget dear mate mum mom dad darling sweetheart well thing")

// agreesAlone reports whether a sentence has nothing but such words, times, what was asked for ("sure,
// lemons and coriander"), and the name of the one whom it answers.
func agreesAlone(s, asked syntax.Sentence, now timex.Moment, other string) bool {
	timed := map[int]bool{}
	for _, w := range timex.FindWhens(s, now) {
		for k := w.First; k < w.Next; k++ {
			timed[k] = true
		}
	}
	for k, tok := range s.Toks {
		base, rest := syntax.Contraction(tok.S)
		if tok.Kind != 'p' && !timed[k] && !agreeingWord[tok.S] && !(rest != "" && (agreeingWord[base] || syntax.WeekdayOf(base, false) >= 0 || base == "tomorrow" || base == "tonight")) && !strings.EqualFold(tok.S, other) && !dayPlace(s, k) &&
			!(k > 0 && !syntax.Function(tok.S) && slices.ContainsFunc(asked.Toks, func(a syntax.Token) bool { return a.S == tok.S })) {
			return false
		}
	}
	return true
}

// dayPlace reports whether token k is the last word of a day of the month: "the sixteenth".
func dayPlace(s syntax.Sentence, k int) bool {
	_, n := timex.Day31(s.At(k))
	return n > 0
}
