// Package discourse has what is known at one moment of a talk ([Talk]): who speaks, whom "she" or a
// Chinese clause without a subject means, which appointments exist, what was asked. It parses
// English clauses ([Clause]), and makes candidates from what rules find ([Talk.Fact],
// [Talk.FactZh], [Talk.Emit]): their words, their slot, their times.
package discourse

import (
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Quotation is a text in quotation marks in which "I" or 我 is the quoted person.
type Quotation struct {
	Start, End int // bytes of the text, both marks included; the closing one may be missing
}

// Part is what one extractor proposes from a reading.
type Part byte

// The parts. Each candidate belongs to one of them.
const (
	Facts Part = iota // what is true, and what happened
	Plans             // appointments, plans and promises, and what became of them
	HowTo             // how something is done
)

// PartOf returns the part to which a candidate belongs.
func PartOf(c *abi.Candidate) Part {
	switch c.Kind {
	case "how-to":
		return HowTo
	case "plan", "promise", "appointment", "change", "cancellation":
		return Plans
	}
	return Facts
}

// MaxCandidates is the greatest number of candidates from one text for one extractor.
const MaxCandidates = 48

// maxRefusals is the greatest number of refusals for one text, and MaxName the greatest length of a
// name (256 bytes in the contract).
const (
	maxRefusals = 32
	MaxName     = 256
)

// Talk is what rules know about the moment: who speaks, when, and what was said.
type Talk struct {
	Ev         *abi.Event
	Now        timex.Moment
	Self       Person            // the speaker
	Plans      []Plan            // known appointments, oldest first
	Replanned  bool              // they have changed since before this text
	sexes      map[string]byte   // of persons, according to words for relatives before their names
	persons    []Met             // see Persons
	earlier    bool              // the persons of earlier turns are included
	goesOn     bool              // the turn whose persons are being included is the speaker's own, just before
	Tasks      Tasks             // what the lines of a list are
	Own        []syntax.Sentence // of this text
	before     []syntax.Sentence // of the previous turn, once they were needed
	Out        *abi.Output
	Called     Person // somebody who is called by name in this sentence
	Introduced string // the key of a person, not an animal, whom a clause has only named
	Topic      Topic  // whom Chinese clauses without a subject are about
	firm       string // the speaker's employer, if the text names it
	AsZh       string // the Chinese word with which a clause gave somebody's number
	Several    string // the word for the relatives whom a Chinese clause counted
	ofSelf     bool   // the relative whom Chinese clauses named last is the speaker's
	Noting     bool   // verbs that are in no list are looked for
	Part       Part
	Said       syntax.Sentence // the sentence whose clauses are being read
	Plain      bool            // the text has no capitals, as from speech recognition
	Off        Plan            // what an earlier clause has cancelled, with its candidate
	OffAt      int             // 1 and the index of that candidate; 0: nothing was cancelled
	Beside     int             // number of relations that a sentence tells besides a name
	Held       []held          // days of earlier clauses of the sentence
	Dayed      bool            // an earlier clause of the sentence names a day
	LastDay    timex.When      // the day that an earlier Chinese clause names
	Rejoined   bool            // the text was made from a question and its answer
	Instead    abi.Span        // of the sentence for which another text is read; zero: the event's text is

	Denied     DenialZh    // in the previous Chinese clause
	Quotations []Quotation // of the text, once they were searched for
	Sought     bool
}

// Refuse records why a part of the text, in bytes, gives nothing. A part of another text stands for
// the sentence for which that is read.
func (t *Talk) Refuse(kind, reason string, start, end int) {
	if t.Instead != (abi.Span{}) {
		start, end = t.Instead.Start, t.Instead.End
	}
	t.Out.Refusals = append(t.Out.Refusals, abi.Refusal{Kind: kind, Reason: reason, Span: abi.Span{Start: start, End: end}})
}

// Tasks says what the lines after a heading are.
type Tasks struct {
	Listed bool   // things to do
	Day    string // when, in the words of the heading; "": it does not say
}
