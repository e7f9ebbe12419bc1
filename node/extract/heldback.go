package extract

import (
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// SecretTag marks a recording that must not leave the node.
const SecretTag = "secret"

// HeldAround is how near to a recording a secret must have been said to hold it
// back. An utterance has only the time of its beginning, and the plugin that cuts
// it may be late.
const HeldAround = 10 * time.Second

// EnginePlugin begins the plugin's name in the source of what an engine made. The kind of
// work follows it.
const EnginePlugin = "engine/"

// LongestHeard is how long a line from an engine may last. Its time is that of its
// recording, which is cut after half a minute.
const LongestHeard = 30 * time.Second

// IsHeldBack reports whether a recording stays on the node; see mustHoldBack. A line that
// was quarantined unread counts as one from which a secret was taken.
func IsHeldBack(tx *store.Tx, recording *memory.Memory) (bool, error) {
	from, to := Around(recording)
	var near []memory.Utterance
	for u, err := range tx.Utterances(from.Add(-LongestHeard), to.Add(time.Second)) { // the end of a range is not in it
		if err != nil {
			return false, err
		}
		near = append(near, *u)
	}
	if mustHoldBack(recording, near) {
		return true, nil
	}
	return unreadBetween(tx, from, to)
}

// mustHoldBack reports whether a recording stays on the node and is given to no worker.
// That is so if it is tagged as secret, has that sensitivity, or overlaps, within
// 10 s, an utterance from which a secret was taken. utterances must have those
// around the recording, and may have more.
func mustHoldBack(recording *memory.Memory, utterances []memory.Utterance) bool {
	if recording.Sensitivity >= memory.Secret || slices.Contains(recording.Tags, SecretTag) {
		return true
	}
	from, to := Around(recording)
	return slices.ContainsFunc(utterances, func(u memory.Utterance) bool {
		ends := u.At
		if strings.HasPrefix(u.Source.Plugin, EnginePlugin) {
			ends = ends.Add(LongestHeard)
		}
		return u.Redacted > 0 && !ends.Before(from) && !u.At.After(to)
	})
}

// Around returns the time span in which a secret that is in a photo or recording may have
// been said. It includes both from and to.
func Around(recording *memory.Memory) (from, to time.Time) {
	from, to = recording.TrueFrom, recording.TrueTo
	if from.IsZero() { // it has no time of its own: take that of its evidence
		for _, e := range recording.Evidence {
			if from.IsZero() || e.At.Before(from) {
				from = e.At
			}
		}
	}
	if to.Before(from) {
		to = from
	}
	return from.Add(-HeldAround), to.Add(HeldAround)
}
