package discourse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Word is a word of a clause; contractions are split.
type Word struct {
	S   string
	Tok int // index into the clause's tokens
}

// Clause is an English clause, parsed.
type Clause struct {
	syntax.Sentence
	Whens []timex.When
	Words []Word // without lead words and times
	Subj  Person
	Kind  byte   // s: speaker; w: the speaker and others; y: the listener; p: another person; t: a thing
	Thing string // for a thing or "my …": the noun phrase in lower case
	Own   bool   // the thing is the subject's: "my birthday"
	Name  string // "my sister Anna": Anna
	Owner string // for "his wife Eva": who he is
	Verb  string
	Vi    int // index into words

	unread     int // the token at which an unreadable day begins; 0: none
	withdrawn  int // the token at which ", or I did" begins; 0: none
	occasionAt int // one more than the token at which "since the divorce" begins, before the subject; 0: none

	Neg, Past, Future, Modal, Perfect, Ing, UsedTo, NoLonger, Must, Intend, Maybe, Can bool
	Bare                                                                               bool // the speaker left "I" out
	Again, Back                                                                        bool // true again; made from "started taking"
	loose                                                                              bool // a word after a person may be a verb that is in no list

	beside []Word // the words next to the subject's name, after "my": niece
}

// W returns word i, or "" if there is none.
func (c *Clause) W(i int) string {
	if i >= 0 && i < len(c.Words) {
		return c.Words[i].S
	}
	return ""
}

// Cased returns word i as it is written.
func (c *Clause) Cased(i int) string {
	t := c.Toks[c.Words[i].Tok]
	raw := c.Text[t.Start:t.End]
	if strings.EqualFold(raw, c.Words[i].S) {
		return raw
	}
	if base, rest := syntax.Contraction(t.S); rest != "" && base == c.Words[i].S {
		return Written(raw, base)
	}
	return c.Words[i].S
}

// Written returns the beginning of a word as it is written, for the part whose lower-case form,
// with ' for ’, is base: "O’Brien" for "O’Brien’s". It returns base if the word begins otherwise.
func Written(raw, base string) string {
	end := 0
	for range base {
		_, n := utf8.DecodeRuneInString(raw[end:])
		end += n
	}
	if strings.EqualFold(strings.ReplaceAll(raw[:end], "’", "'"), base) {
		return raw[:end]
	}
	return base
}

// Capital reports whether word i begins with a capital.
func (c *Clause) Capital(i int) bool { return i >= 0 && i < len(c.Words) && c.Toks[c.Words[i].Tok].Cap }

// Join returns words i to j as they are written.
func (c *Clause) Join(i, j int) string {
	var b strings.Builder
	for k := i; k < j && k < len(c.Words); k++ {
		w := c.Cased(k)
		if b.Len() > 0 && c.Words[k].S != "," && c.Words[k].S != "'s" {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String()
}

// Parse finds the subject, the verb and the words between them.
func (t *Talk) Parse(s syntax.Sentence) (Clause, bool) {
	c := Clause{Sentence: s, Whens: timex.FindWhens(s, t.Now), loose: t.Noting}
	timex.SameDay(s, c.Whens)
	timex.OfMonthBefore(t.Said, s, c.Whens, t.Now)
	c.unread = timex.UnreadAt(s, t.Now)
	c.Words = t.WordsOf(&c)
	c.unvocative(t)
	i := 0
	for ; i < len(c.Words) && (c.Opens(i) || c.W(i) == "," || c.PhraseLead(i) > 0); i += max(1, c.PhraseLead(i)) {
		if c.Capital(i) && i+1 < len(c.Words) && !syntax.Lead(c.W(i)) && c.PhraseLead(i) == 0 {
			break
		}
	}
	if n := c.occasion(i); n > 0 {
		c.occasionAt = c.Words[i].Tok + 1
		i += n
	}
	c.Words = c.Words[i:]
	c.apposition(t)
	i = t.subject(&c)
	if i < 0 {
		return c, false
	}
	ok := c.Predicate(i)
	for i := range c.Whens {
		if w := &c.Whens[i]; w.HasDay && !w.Habit && (c.UsedTo || c.withdrawn > 0 && w.First >= c.withdrawn) {
			c.PastTime(w, t.Now) // "or I did until May": the last May
		}
	}
	c.PastElided(t.Now)
	t.relatedTo(&c)
	if len(t.Held) > 0 {
		t.onHeldDay(&c)
	}
	if ok && !c.Perfect && !c.hasBeen() { // "was in Vienna for three days": this is how long, and not since when
		c.Whens = slices.DeleteFunc(c.Whens, func(w timex.When) bool { return w.Since && c.At(w.First) == "for" })
	}
	if ok && c.Perfect { // "I've been here ten years in March": this is since when, and not what happens then
		c.Whens = slices.DeleteFunc(c.Whens, func(w timex.When) bool {
			unit := syntax.Singular(c.At(w.First - 1))
			return w.Assumed > 0 && !w.Since && (unit == "year" || unit == "month")
		})
	}
	for i := range c.Whens {
		if ok && !c.Past && !c.Perfect {
			c.Whens[i].Rest(t.Now)
		}
	}
	if ok && c.Past { // "ran it in 52 minutes": how long it took
		c.Whens = slices.DeleteFunc(c.Whens, func(w timex.When) bool {
			unit := syntax.Singular(c.At(w.Next - 1))
			return c.At(w.First) == "in" && (unit == "minute" || unit == "hour") && w.Unix() > t.Ev.At && !c.InnerOf(&w).ToCome
		})
	}
	return c, ok
}

// occasion returns the number of words from i on that only say after or since what the statement is
// true: "since the divorce I've been living in Leeds".
func (c *Clause) occasion(i int) int {
	switch c.W(i) {
	case "since", "after", "before", "during":
	default:
		return 0
	}
	if w := c.W(i + 1); w != "the" && w != "my" && w != "our" {
		return 0
	}
	for k := i + 2; k < min(len(c.Words)-1, i+6); k++ {
		switch w := c.W(k); {
		case w == ",":
		case (w == "i" || w == "we") && k > i+2:
			return k - i
		case syntax.Auxiliary(w) || syntax.SubjectPronoun(w) || syntax.PastForm(w) || w == "me" || w == "and":
			return 0
		}
	}
	return 0
}

// hasBeen reports whether a clause within c says how long something has been true: "she says she's
// been ill for a week".
func (c *Clause) hasBeen() bool {
	for k := c.Vi; k < len(c.Words)-1; k++ {
		_, past, _ := syntax.Lemma(c.W(k + 1))
		if w := c.W(k); w == "been" || (w == "have" || w == "has" || w == "had") && (past || syntax.PastForm(c.W(k+1))) && c.W(k+2) != "to" {
			return true
		}
	}
	return false
}

// WordsOf splits contractions and leaves marks and times out.
func (t *Talk) WordsOf(c *Clause) (words []Word) {
	s := c.Sentence
	timed := make([]bool, len(s.Toks))
	for _, w := range c.Whens {
		for k := w.First; k < w.Next; k++ {
			timed[k] = true
		}
	}
	for _, w := range timex.TimesIn(s, t.Now) {
		for k := w.First; w.Vague && k < w.Next; k++ {
			timed[k] = true
		}
	}
	for i, tok := range s.Toks {
		if timed[i] || tok.Kind == 'p' && tok.S != "," {
			continue
		}
		if tok.S == "let's" {
			words = append(words, Word{"we", i}, Word{"will", i})
			continue
		}
		if base, rest := syntax.Contraction(tok.S); rest != "" {
			if rest == "is" && !syntax.SubjectPronoun(base) && base != "that" && base != "there" && base != "here" && base != "what" && !t.isVerbAfter(s, i+1, timed) {
				words = append(words, Word{base, i}, Word{"'s", i})
			} else {
				if rest == "is" && hasDone(s, i+1) {
					rest = "has" // "my sister's sold her car"
				}
				words = append(words, Word{base, i}, Word{rest, i})
			}
			continue
		}
		words = append(words, Word{tok.S, i})
	}
	return words
}

// unvocative removes the name of somebody whom a clause calls: "I love it there, Tom".
func (c *Clause) unvocative(t *Talk) {
	n := len(c.Words)
	if n < 4 || c.W(n-2) != "," || !c.Capital(n-1) {
		return
	}
	name := c.Cased(n - 1)
	if strings.EqualFold(name, t.Called.Name) || strings.EqualFold(name, t.Ev.Wearer) {
		c.Words = c.Words[:n-2]
		return
	}
	for i := range t.Ev.Before {
		if strings.EqualFold(name, t.Ev.Before[i].Speaker) {
			c.Words = c.Words[:n-2]
			return
		}
	}
}

// isVerbAfter distinguishes "Tom's moving" (is) from "Tom's sister" (of Tom).
func (t *Talk) isVerbAfter(s syntax.Sentence, i int, timed []bool) bool {
	first := i
	if d := s.At(i - 2); d == "at" || syntax.Determiner(d) && s.At(i-3) == "at" {
		return false // "at your mum's on Sunday"
	}
	if s.At(i-1) == "name's" || s.At(i-1) == "surname's" || s.At(i-1) == "group's" && s.Toks[min(i, len(s.Toks)-1)].Cap || hasDone(s, i) {
		return true
	}
	for i < len(s.Toks) && timed[i] {
		i++
	}
	if i > first && (i >= len(s.Toks) || s.Toks[i].Kind == 'p') {
		return true // "my birthday's on Friday"
	}
	if i >= len(s.Toks) {
		return false
	}
	w := s.At(i)
	_, _, ing := syntax.Lemma(w)
	if _, event := syntax.EventNoun(w); event && (syntax.Auxiliary(s.At(i+1)) || w == "meeting" && (i+1 >= len(s.Toks) || s.At(i+1) == "to" || s.Toks[i+1].Kind == 'p')) {
		return false // "Tom's meeting has been moved", "we moved Tom's meeting to Monday"
	}
	return ing || Failing[w] || w == "ready" || w == "down" || w == "gone" || w == "come" && s.At(i+1) == "through" || w == "booked" && s.At(i+1) == "in" || w == "not" || w == "a" || w == "an" || w == "the" || w == "in" || w == "from" || w == "at" || w == "allergic" || w == "my" || w == "going" || w == "been" || w == "coming" ||
		w == "under" || w == "on" || w == "behind" || w == "next" || w == "inside" || w == "called" || w == "pregnant" || w == "off" || w == "cancelled" || w == "now" || w == "due" ||
		w == "into" || w == "still" || w == "already" || w == "always" || w == "getting" || w == "hurting" || w == "parked" || PersonStates[w] && timex.RestsAt(s, i+1, timed)
}

// PersonStates are states of a person: "Ella's vegetarian", and not "Ella's vegetarian lasagne".
var PersonStates = syntax.Set("vegetarian vegan pescatarian teetotal sober diabetic asthmatic coeliac celiac dyslexic autistic deaf blind left-handed single married divorced widowed engaged retired unemployed ill sick afraid scared terrified " +
	"back home away out busy free tired better worse abroad upset worried pregnant asleep awake late early fond")

// PhraseLead returns how many words "you know", "by the way", "I think" take.
func (c *Clause) PhraseLead(i int) int {
	for _, p := range [...]string{"you know what", "you know", "by the way", "i think", "i guess", "i mean", "as you know", "to be honest", "in fact", "it turns out",
		"did i tell you", "what i meant is", "it is just", "it's just", "the problem is", "the trouble is", "i just wanted to say", "i wanted to say", "i just want to say", "i forgot to mention", "i forgot to say", "i forgot to tell you", "guess what", "you see", "i believe", "i heard", "for the record", "just so you know", "remember that", "i suppose", "of course", "after all", "at the moment", "these days", "let me see", "i should say", "i should mention", "note that", "remember", "good news", "the thing is", "note to self", "as of", "before i forget", "don't forget", "do not forget", "do n't forget", "it looks like", "looks like", "turns out",
		"to be fair", "i have to say", "i must say", "i gotta say", "got to say", "gotta say", "the funny thing is", "the good news is", "the bad news is", "long story short", "as it happens", "in the end", "at the end of the day", "believe it or not", "given the choice", "fine by me", "fine with me", "works for me", "sounds good to me", "sounds good", "given a choice", "if i can choose"} {
		if w := c.W(i); w == "" || !strings.HasPrefix(p, w) {
			continue
		}
		n := 0
		for w := range strings.SplitSeq(p, " ") {
			if c.W(i+n) != w {
				n = -1
				break
			}
			n++
		}
		if n > 0 {
			if c.W(i+n) == "that" || c.W(i+n) == "," {
				n++
			}
			return n
		}
	}
	return 0
}

// Possessive returns a name with 's.
func Possessive(s string) string { return s + "'s" }
