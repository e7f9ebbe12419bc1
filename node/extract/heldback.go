package extract

import (
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
)

// SecretTag marks a recording that is not to leave the node.
const SecretTag = "secret"

// heldAround is how far from a recording a secret may have been said and still
// hold it back. An utterance has the time of its beginning alone, and is cut
// by a plugin that may be late.
const heldAround = 10 * time.Second

// HeldBack reports whether a recording stays on the node, and is given to no
// worker: it is tagged as secret or is of that sensitivity, or overlaps, within
// 10 s, an utterance that a secret was taken out of. Utterances are those
// around the recording; more do no harm.
func HeldBack(recording *memory.Memory, utterances []memory.Utterance) bool {
	if recording.Sensitivity >= memory.Secret || slices.Contains(recording.Tags, SecretTag) {
		return true
	}
	from, to := recording.TrueFrom, recording.TrueTo
	if from.IsZero() { // no time of its own: that of its evidence
		for _, e := range recording.Evidence {
			if from.IsZero() || e.At.Before(from) {
				from = e.At
			}
		}
	}
	if to.Before(from) {
		to = from
	}
	from, to = from.Add(-heldAround), to.Add(heldAround)
	return slices.ContainsFunc(utterances, func(u memory.Utterance) bool {
		return u.Redacted > 0 && !u.At.Before(from) && !u.At.After(to)
	})
}
