package recall

import (
	"hash/crc32"
	"math"
	"slices"
)

// agreement is how much a model agreed with the words in the questions that it was asked since the
// index was opened. One question says little: a model that knows nothing agrees with some by
// chance, and the best model disagrees where the words fail. Later questions count more.
type agreement struct {
	sum    float64   // of the agreement with each question
	can    float64   // the greatest that sum could be
	of     float64   // the variance of sum for a model that knows nothing
	recent [8]uint32 // sums of the texts of the last questions, which count only once
}

const (
	agreeKeeps = .95 // what an earlier question counts beside the next one
	agreeMost  = 4   // the most that one question counts, in standard deviations of a model that knows nothing
	agreeNone  = 2.5 // agreement up to which a model does not count, in the same unit
	agreeAll   = 3.5 // agreement from which it counts in full
)

// with adds the agreement z with another question, and the greatest that was possible, in standard
// deviations of a model that knows nothing. If can is 0, there was nothing to agree with.
func (a agreement) with(z, can float64, question string) agreement {
	if can == 0 {
		return a
	}
	sum := crc32.ChecksumIEEE([]byte(question))
	if slices.Contains(a.recent[:], sum) {
		return a
	}
	a.sum = agreeKeeps*a.sum + max(-agreeMost, min(agreeMost, z))
	a.can = agreeKeeps*a.can + can
	a.of = agreeKeeps*agreeKeeps*a.of + 1
	copy(a.recent[1:], a.recent[:])
	a.recent[0] = sum
	return a
}

// trust returns how much the model counts, 0 to 1.
func (a agreement) trust() float64 {
	if a.of == 0 {
		return 0
	}
	// A few documents of a few questions can't agree that much: then half of the possible agreement
	// counts as none.
	got, can := a.sum/math.Sqrt(a.of), a.can/math.Sqrt(a.of)
	none, all := min(agreeNone, can/2), min(agreeAll, .9*can)
	return max(0, min(1, (got-none)/(all-none)))
}
