// Package ellipsis completes an answer with the question before it: "Where does your brother live?"
// and "In Leeds" say where he lives. An [Inquiry] is an English question and what it asks for. A
// Chinese question is [chinese.Asked]; chinese.go and fill_zh.go complete its answers.
package ellipsis

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// "In Leeds" says nothing by itself. After "where does your brother live?" it means "my brother
// lives in Leeds". The question is put into the word order of a statement, in the words of the one
// who answers, and the answer is filled in. The ordinary rules read that statement.

// Inquiry is a question in the word order of a statement, as the one who answers would say it.
type Inquiry struct {
	discourse.Asked
	Word   string       // what, where, when, who, how; "" if it asks for yes or no
	Noun   string       // after "what", "which" and "how": "bus", "old", "many"
	nouns  string       // what "how many" counts
	Subj   string       // "my brother"; "" for "who is coming?"
	Aux    string       // "does", "is", "has"
	Rest   []string     // after the subject: "live", "allergic to anything"
	denies bool         // "you don't smoke?"
	not    bool         // "what don't you eat?"
	Now    timex.Moment // when the answer was given
	plain  bool         // the question has the word order of a statement: "you're from Cork?"
	Names  bool         // it only names what the answer does not say; see referent.go of package rules
}

// CitesBoth makes the candidates from index from on cite an answer, and the part of the previous
// turn that asked.
func CitesBoth(t *discourse.Talk, from int, answer syntax.Sentence, start, end int) {
	discourse.StandsFor(t, from, answer)
	for i := from; i < len(t.Out.Candidates); i++ {
		c := &t.Out.Candidates[i]
		c.Spans = append(c.Spans[:min(1, len(c.Spans)):1], abi.Span{Turn: -1, Start: start, End: end})
	}
}

// Inquired returns the last question of the previous turn, if it can be made a statement.
func Inquired(t *discourse.Talk) (Inquiry, bool) {
	b := t.JustSaid()
	by, all := discourse.SpeakerOf(t.Ev, b.Speaker), t.SentencesOf(b)
	for k := len(all) - 1; k >= 0; k-- {
		o := all[k]
		if o.Chinese() || len(o.Toks) > 30 {
			return Inquiry{}, false
		}
		if !noted.Asks(t, b, o) {
			continue
		}
		q := Inquiry{Asked: discourse.Asked{Sentence: o, Turn: -1, By: by, Of: t.Self}, Now: t.Now}
		return q, q.parse()
	}
	return Inquiry{}, false
}

// AnsweredBy makes a statement from the question and an answer, and returns what else the answer
// says.
func (q *Inquiry) AnsweredBy(a *noted.Reply) (statement, rest string) {
	head, tail := a.Parts()
	if s := q.tasted(a); s != "" {
		return s, ""
	}
	if q.Word == "where" && head.At(0) == "still" && syntax.Placing(head.At(1)) {
		head = head.Sub(1, len(head.Toks)) // "still in Galway"
	}
	if q.Word == "who" && q.Subj == "" && a.Who == "i" && a.Yes && !a.No {
		return q.bySelf(a)
	}
	if q.Word == "who" && q.Subj == "" && len(head.Toks) == 0 {
		head, tail = noted.ByName(tail)
	}
	if noted.Stated(head) {
		if !a.Yes || len(head.Toks) > 5 || head.At(0) != "always" && head.At(0) != "have" && head.At(0) != "has" {
			return "", ""
		}
		head = syntax.Sentence{} // "yes, always have been"
	}
	if len(tail.Toks) > 0 {
		rest = q.ofSubject(tail)
	}
	switch {
	case q.Word == "" && q.Aux == "have" && len(q.Rest) > 1 && q.Rest[0] == "seen" && len(tail.Toks) == 0 && !a.No && syntax.Placing(head.At(0)):
		q.Subj, q.Aux = strings.Join(q.Rest[1:], " "), "is" // "have you seen my keys?", "on the table"
		if strings.HasSuffix(q.Subj, "s") {
			q.Aux = "are"
		}
		return q.Says(false, words(head)), ""
	case q.passing():
		return "", ""
	case q.Word == "" && refuse.Modals[q.Aux] && q.Aux != "will":
		return "", ""
	case q.Word == "":
		return q.yesOrNo(a, head, tail, rest)
	case a.Yes || a.No || a.Accepts:
		return "", ""
	case len(head.Toks) == 0 && q.Word == "when" && q.be():
		return q.filledAfter(tail)
	case len(head.Toks) == 0:
		return q.copied(tail), ""
	case !fills(head):
		return "", ""
	}
	if w := head.At(0); q.Word == "where" && (w == "her" || w == "his" || w == "their") {
		return rest, "" // "where's she from?", "her family's Greek, but she was born in Leeds"
	}
	return q.filled(head), rest
}

// filledAfter reads "it's on the second of June": the answer to a question, after a pronoun.
func (q *Inquiry) filledAfter(tail syntax.Sentence) (statement, rest string) {
	base, is := syntax.Contraction(tail.At(0))
	i := 1
	if is == "" {
		is, i = tail.At(1), 2
	}
	if base != "it" && base != "they" || is != "is" && is != "are" || (base == "it") != (q.Aux == "is") || i >= len(tail.Toks) {
		return "", ""
	}
	b := noted.Reply{Sentence: tail, From: i}
	head, more := b.Parts()
	if len(more.Toks) > 0 {
		rest = more.Raw()
	}
	if !fills(head) || noted.Stated(head) {
		return "", ""
	}
	return q.filled(head), rest
}

// ofSubject returns a clause that follows in an answer, with the subject of the question in place
// of "he" and "she".
func (q *Inquiry) ofSubject(s syntax.Sentence) string {
	base, rest := syntax.Contraction(s.At(0))
	raw := s.Raw()
	if strings.HasSuffix(q.Subj, "'s name") {
		return "" // the person who is named
	}
	if base != "he" && base != "she" || q.Subj == "" || q.Subj == "I" || q.Subj == "we" || q.Of.Name == q.Subj {
		return raw
	}
	if sex := syntax.SexOf(discourse.Last(strings.ToLower(q.Subj)), q.Subj); base == "he" && sex == syntax.Female || base == "she" && sex == syntax.Male {
		return raw
	}
	after := s.Text[s.Toks[0].End:s.End]
	switch rest {
	case "is":
		if _, past, _ := syntax.Lemma(s.At(1)); s.At(1) == "been" || past && s.At(1) != "born" {
			return q.Subj + " has" + after
		}
		return q.Subj + " is" + after
	case "":
		return q.Subj + after
	}
	return q.Subj + " " + rest + after
}

// passing reports whether the answer to a question is not worth a statement, because the question
// is about this moment, about the talk, or about a secret.
func (q *Inquiry) passing() bool {
	w := lowered(q.Rest)
	k := 0
	for k < len(w) && (syntax.Adverb(w[k]) || w[k] == "not") {
		k++
	}
	first := ""
	if k < len(w) {
		first = w[k]
	}
	l, _, ing := syntax.Lemma(first)
	subject := strings.ToLower(q.Subj)
	noun := discourse.Last(subject)
	person := q.Subj == "I" || subject == "we" || syntax.SubjectPronoun(subject) || syntax.Kin(noun) || discourse.CalledSo[noun] || q.Subj != "" && !strings.Contains(q.Subj, " ") && discourse.Capitalised(q.Subj)
	switch {
	case q.Aux == "should" || q.Aux == "shall" || q.Aux == "would" && q.Subj != "I" || subject == "they" || subject == "it":
		return true
	case minds[l] && !(l == "want" && q.Noun == "much" && q.Aux == "did" && !person) || passingStates[first] && !(first == "up" && q.Word == "what") && (q.Aux == "is" || q.Aux == "are" || q.Aux == "was" || q.Aux == "were" || q.Aux == "am"):
		return true
	case q.Aux == "have" && (q.Word == "" && first == "got" || first == "have") && len(w) > k+2 && moments[w[len(w)-1]] || l == "have" && len(w) > 0 && moments[w[len(w)-1]]:
		return true
	case (q.Word == "where" || q.Word == "what") && person && len(w) == k && q.Aux != "have":
		return true // "where are you?"
	case q.Word == "how" && q.Noun == "" && (l != "get" && l != "travel" && l != "commute"), q.Word == "why":
		return true
	case q.Word == "what" && len(w) == k && OpenNouns[noun], q.Word == "what" && (first == "like" || first == "for" || first == "wrong" || ing && l != "do" && l != "take" && l != "study" && l != "train"):
		return true
	case q.Word == "what" && (q.Aux == "did") && (l == "do" || l == "have" || l == "get" || l == "eat" || l == "make"):
		return true
	}
	for _, s := range [...]string{subject, strings.Join(w, " ")} {
		if syntax.ContainsAny(s, "password", "passcode", "code", "pin", "card number", "account", "sort code", "security") {
			return true
		}
	}
	return false
}

// minds are verbs whose questions are only about the talk, or ask for something.
var minds = syntax.Set("know think mean mind fancy remember see hear understand feel guess say believe agree hope care wonder suppose realise realize recognise need want find look sound happen manage sleep tell notice mention try help wait")

// passingStates say how somebody is just now.
var passingStates = syntax.Set("free available busy ok okay alright sure ready serious hungry thirsty tired cold hot kidding joking done there right home in out up around off back awake asleep happy sad angry fine well better worried nervous excited interested able about lost late early cross upset")

// moments are things that people ask for and get at once.
var moments = syntax.Set("minute moment second time idea question light pen lighter problem fun clue")

// OpenNouns are things that people ask about and whose answers are not worth keeping.
var OpenNouns = syntax.Set("plan plans point matter problem idea deal story news time weather opinion take thoughts excuse question rush catch secret next occasion score tip advice luck chance objection volunteer dessert cash change word answer date day hurry difference hobby damage situation verdict mood")
