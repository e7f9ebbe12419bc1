package delta

import (
	"github.com/locket-dev/locket/memory"
)

// Trust says whose words an op contains. Words of different trust are never
// compressed together: see "What compression gives away" in FORMAT.md.
type Trust uint8

const (
	NoWords    Trust = iota // only ids and random keys: may be compressed with anything
	FromCloud               // words of a worker
	FromAround              // words of anyone who could be heard or read near a device
	FromPerson              // words that the wearer wrote, corrected or pinned
)

// Trust returns the trust of the op's words.
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
