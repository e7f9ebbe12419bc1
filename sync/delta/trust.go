package delta

import (
	"github.com/locket-dev/locket/memory"
)

// Trust says whose words an op has in it. Words of different trust are never
// compressed together: see "What compression gives away" in FORMAT.md.
type Trust uint8

const (
	NoWords    Trust = iota // ids and random keys only: goes with anything
	FromCloud               // a worker's
	FromAround              // of whoever spoke, or could be read, near a device
	FromPerson              // written, corrected or pinned by the wearer
)

// Trust is that of the op's words.
func (o *Op) Trust() Trust {
	switch {
	case o.Report != nil:
		return FromCloud
	case o.Utterance != nil && o.Utterance.Source.Model == "" && !o.Utterance.Source.ByWorker():
		return FromAround
	case o.Utterance != nil:
		return FromCloud
	case o.Assertion == nil || o.Assertion.Act == memory.ActErase:
		return NoWords
	}
	switch o.Assertion.Rank {
	case memory.RankPerson:
		return FromPerson
	case memory.RankDevice:
		return FromAround
	}
	return FromCloud
}
