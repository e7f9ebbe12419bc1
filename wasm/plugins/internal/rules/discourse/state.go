// Package discourse is what is known at one moment of a talk ([Talk]): who speaks, whom "she"
// or a Chinese clause without a subject means, which appointments stand, what was asked. It
// parses English clauses ([Clause]), and makes candidates of what rules find ([Talk.Fact],
// [Talk.FactZh], [Talk.Emit]): their words, their slot, their times.
package discourse

import (
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Quotation is what stands within quotation marks and says "I" or 我 of whoever is quoted.
type Quotation struct {
	Start, End int // bytes of the text, both marks included; the closing one may be missing
}

// Part is what one extractor proposes of a reading.
type Part byte

// The parts. Each candidate is of one of them.
const (
	Facts Part = iota // what is so, and what happened
	Plans             // appointments, plans and promises, and what became of them
	HowTo             // how something is done
)

// PartOf says whose a candidate is.
func PartOf(c *abi.Candidate) Part {
	switch c.Kind {
	case "how-to":
		return HowTo
	case "plan", "promise", "appointment", "change", "cancellation":
		return Plans
	}
	return Facts
}

// MaxCandidates bounds what one text gives to one extractor.
const MaxCandidates = 48

// maxRefusals bounds what is said of one text, MaxName the strings that name
// something (the contract's 256 bytes).
const (
	maxRefusals = 32
	MaxName     = 256
)

// Talk is what rules know of the moment: who speaks, when, and what was said.
type Talk struct {
	Ev         *abi.Event
	Now        timex.Moment
	Self       Person            // the speaker
	Plans      []Plan            // appointments that are known, oldest first
	Replanned  bool              // they are others than before this text
	sexes      map[string]byte   // of persons, as relatives before their names say
	persons    []Met             // see Persons
	earlier    bool              // the persons of earlier turns are among them
	Tasks      Tasks             // what the lines of a list are
	Own        []syntax.Sentence // of this text
	before     []syntax.Sentence // of the turn before, once they were asked for
	Out        *abi.Output
	Called     Person // by name, in this sentence
	Introduced string // the key of whom a clause has only named, who is no animal
	Topic      Topic  // whom Chinese clauses without a subject are about
	firm       string // the speaker's employer, where the text names it
	AsZh       string // the Chinese word by which a clause gave somebody's number
	Several    string // the word for the relatives whom a Chinese clause counted
	ofSelf     bool   // the relative that Chinese clauses named last is the speaker's
	Noting     bool   // verbs that no list has are looked for
	Part       Part
	Said       syntax.Sentence // the one whose clauses are read
	Plain      bool            // the text has no capitals, as recognisers write it
	Off        Plan            // what a clause before has called off, with its candidate
	OffAt      int             // 1 and the index of that candidate; 0: nothing was called off
	Beside     int             // relations that a sentence tells beside a name
	Held       []held          // days of earlier clauses of the sentence
	Dayed      bool            // an earlier clause of the sentence names a day
	LastDay    timex.When      // that a Chinese clause before names
	Rejoined   bool            // what is read was made of a question and its answer

	Denied     DenialZh    // in the Chinese clause before
	Quotations []Quotation // of the text, once they were sought
	Sought     bool
}

// Refuse says why a part of the text, in bytes, gives nothing.
func (t *Talk) Refuse(kind, reason string, start, end int) {
	t.Out.Refusals = append(t.Out.Refusals, abi.Refusal{Kind: kind, Reason: reason, Span: abi.Span{Start: start, End: end}})
}

// Tasks says what the lines after a heading are.
type Tasks struct {
	Listed bool   // things to do
	Day    string // when, as the heading says it; "": it does not
}
