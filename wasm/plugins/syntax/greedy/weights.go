package greedy

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Weights is a trained model, read where it lies. Its bytes, all numbers with
// the low byte first:
//
//	3 × 65,537  where the features of each bucket begin; a bucket is the high 16 bits of a hash
//	then for each feature, by its hash:
//	2           the low 16 bits of the hash
//	1           n, how many classes it speaks for
//	2 × n       class, weight (signed)
type Weights struct {
	starts, features string
}

const (
	buckets    = 1 << 16
	startBytes = 3 * (buckets + 1)
)

// OpenWeights checks that all of data is one model whose classes are below classes.
func OpenWeights(data string, classes int) (Weights, error) {
	if len(data) < startBytes {
		return Weights{}, errors.New("the weights end early")
	}
	w := Weights{data[:startBytes], data[startBytes:]}
	at := 0
	for b := range buckets {
		if w.start(b) != at || w.start(b+1) < at || w.start(b+1) > len(w.features) {
			return Weights{}, errors.New("a bucket of the weights is out of place")
		}
		for at < w.start(b+1) {
			if at+3 > len(w.features) || at+3+2*int(w.features[at+2]) > w.start(b+1) {
				return Weights{}, errors.New("a feature of the weights ends early")
			}
			for n := int(w.features[at+2]); n > 0; n-- {
				if int(w.features[at+1+2*n]) >= classes {
					return Weights{}, errors.New("the weights are of another class")
				}
			}
			at += 3 + 2*int(w.features[at+2])
		}
	}
	if at != len(w.features) {
		return Weights{}, errors.New("there is more after the weights")
	}
	return w, nil
}

func (w Weights) start(b int) int {
	s := w.starts[3*b : 3*b+3]
	return int(s[0]) | int(s[1])<<8 | int(s[2])<<16
}

// Add implements Scorer.
func (w Weights) Add(features []uint32, scores []int32) {
	for _, f := range features {
		b := int(f >> 16)
		rest := w.features[w.start(b):w.start(b+1)]
		for len(rest) > 2 {
			n := 3 + 2*int(rest[2])
			if uint16(rest[0])|uint16(rest[1])<<8 == uint16(f) {
				for k := 3; k < n; k += 2 {
					scores[rest[k]] += int32(int8(rest[k+1]))
				}
				break
			}
			rest = rest[n:]
		}
	}
}

// Weight is what a feature says for a class.
type Weight struct {
	Class uint8
	Value int8
}

// Encode writes weights as OpenWeights reads them.
func Encode(weights map[uint32][]Weight) []byte {
	keys := make([]uint32, 0, len(weights))
	for k := range weights {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out := make([]byte, startBytes)
	b := 0
	start := func(until int) {
		for ; b <= until; b++ {
			n := len(out) - startBytes
			out[3*b], out[3*b+1], out[3*b+2] = byte(n), byte(n>>8), byte(n>>16)
		}
	}
	for _, k := range keys {
		start(int(k >> 16))
		out = binary.LittleEndian.AppendUint16(out, uint16(k))
		out = append(out, byte(len(weights[k])))
		for _, w := range weights[k] {
			out = append(out, w.Class, byte(w.Value))
		}
	}
	start(buckets)
	return out
}
