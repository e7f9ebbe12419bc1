// Package dense stores an embedding vector for each document, in a form small
// enough for the memory of a phone or a small computer.
//
// The words:
//
//   - A vector represents a text in a model, with a fixed number of
//     dimensions; only its direction counts, not its length.
//   - A code has the signs of a vector, one bit for each dimension. The number of
//     differing bits of two codes says roughly how far apart their vectors are.
//   - A [Set] has codes and vectors of 8-bit integers, all from one model.
//     A search compares codes first, and vectors only for the best of those.
//   - A segment is a part of a set as bytes. The caller stores it sealed.
//
// A vector reveals much of its text to anybody who has the model: it has to be protected, and
// forgotten, like the text.
package dense

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/locket-dev/locket/memory"

	"github.com/locket-dev/locket/internal/sorting"
)

// Limits on vectors from outside. Today's text models have 64 to 4,096
// dimensions.
const (
	MinDim = 8
	MaxDim = 8192
)

// ErrVector: the vector has another number of dimensions than the set, or no
// direction: all components are zero, or one is infinite or not a number.
var ErrVector = errors.New("dense: not a vector of this set")

// Sum identifies a text. If a document's text changes, the set needs a new
// vector.
type Sum [8]byte

// Set holds documents and their vectors. It is safe for concurrent use.
type Set struct {
	dim   int
	words int // number of uint64s in a code

	mu    sync.RWMutex
	at    map[memory.ID]int // row of a document
	ids   []memory.ID
	sums  []Sum
	codes []uint64 // words for each row
	vecs  []int8   // dim for each row
	scale []float32
	seg   []int // number of the segment that has the row; 0: none
	segs  map[int]*segment
	last  int // greatest number of a segment
}

// New makes an empty set. dim is from MinDim to MaxDim.
func New(dim int) (*Set, error) {
	if dim < MinDim || dim > MaxDim {
		return nil, fmt.Errorf("dense: %d dimensions: want %d to %d", dim, MinDim, MaxDim)
	}
	return &Set{dim: dim, words: (dim + 63) / 64, at: map[memory.ID]int{}, segs: map[int]*segment{}}, nil
}

// Dim returns the number of dimensions.
func (s *Set) Dim() int { return s.dim }

// Len returns the number of documents.
func (s *Set) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.ids)
}

// Has reports whether the set has a document with the vector of this text.
func (s *Set) Has(id memory.ID, of Sum) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	i, ok := s.at[id]
	return ok && s.sums[i] == of
}

// IDs returns the documents in the set, in any order.
func (s *Set) IDs() []memory.ID {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.ids)
}

// Put stores a document's vector, and replaces an earlier one.
func (s *Set) Put(id memory.ID, of Sum, vector []float32) error {
	code, vec, scale, err := s.pack(vector)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(id, of, code, vec, scale, 0)
	return nil
}

func (s *Set) put(id memory.ID, of Sum, code []uint64, vec []int8, scale float32, seg int) {
	s.remove(id)
	s.at[id] = len(s.ids)
	s.ids, s.sums = append(s.ids, id), append(s.sums, of)
	s.codes, s.vecs = append(s.codes, code...), append(s.vecs, vec...)
	s.scale, s.seg = append(s.scale, scale), append(s.seg, seg)
	if seg > 0 {
		s.segs[seg].live++
	}
}

// Remove removes documents; it ignores those that are not in the set.
func (s *Set) Remove(ids ...memory.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.remove(id)
	}
}

// remove moves the last row to the place of the removed one.
func (s *Set) remove(id memory.ID) {
	i, ok := s.at[id]
	if !ok {
		return
	}
	if n := s.seg[i]; n > 0 {
		s.segs[n].live--
		s.segs[n].stale = true
	}
	last := len(s.ids) - 1
	if i != last {
		s.ids[i], s.sums[i], s.scale[i], s.seg[i] = s.ids[last], s.sums[last], s.scale[last], s.seg[last]
		copy(s.codes[i*s.words:(i+1)*s.words], s.codes[last*s.words:])
		copy(s.vecs[i*s.dim:(i+1)*s.dim], s.vecs[last*s.dim:])
		s.at[s.ids[i]] = i
	}
	clear(s.codes[last*s.words:])
	clear(s.vecs[last*s.dim:])
	s.ids, s.sums, s.scale, s.seg = s.ids[:last], s.sums[:last], s.scale[:last], s.seg[:last]
	s.codes, s.vecs = s.codes[:last*s.words], s.vecs[:last*s.dim]
	delete(s.at, id)
}

// pack converts a vector to its code and to 8-bit integers. The integers times scale are the vector
// with length 1; the greatest component is ±127.
func (s *Set) pack(vector []float32) (code []uint64, vec []int8, scale float32, err error) {
	if len(vector) != s.dim {
		return nil, nil, 0, fmt.Errorf("%w: %d dimensions, not %d", ErrVector, len(vector), s.dim)
	}
	var square, most float64
	for _, v := range vector {
		f := float64(v)
		square += f * f
		most = max(most, math.Abs(f))
	}
	length := math.Sqrt(square)
	if !(length > 0) || math.IsInf(length, 0) {
		return nil, nil, 0, fmt.Errorf("%w: its length is %v", ErrVector, length)
	}
	code, vec = make([]uint64, s.words), make([]int8, s.dim)
	for i, v := range vector {
		vec[i] = int8(math.Round(float64(v) / most * 127))
		if v > 0 {
			code[i/64] |= 1 << (i % 64)
		}
	}
	return code, vec, float32(most / 127 / length), nil
}

// Near is a document and the cosine of the angle between its vector and that of the question, -1 to
// 1, with the precision of 8 bits.
type Near struct {
	ID     memory.ID
	Cosine float32
}

// prefilter is how many candidates for each wanted document are compared with
// their full vectors, but at least atLeast. Codes alone order too roughly. With
// these numbers, 99 % of the ten nearest random neighbours are found (see
// TestPrefilter).
const (
	prefilter = 10
	atLeast   = 500
)

// Nearest returns at most n documents nearest to a vector, nearest first; equal ones are ordered by
// id.
func (s *Set) Nearest(vector []float32, n int) ([]Near, error) {
	code, vec, scale, err := s.pack(vector)
	if err != nil || n <= 0 {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	rows := s.candidates(code, max(atLeast, prefilter*n))
	out := make([]Near, len(rows))
	for i, r := range rows {
		out[i] = Near{s.ids[r], scale * s.scale[r] * float32(dot(vec, s.vecs[int(r)*s.dim:(int(r)+1)*s.dim]))}
	}
	sorting.Sort(out, func(a, b Near) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), slices.Compare(a.ID[:], b.ID[:]))
	})
	return out[:min(n, len(out))], nil
}

// candidates returns about n rows whose codes differ least from the given one: all rows up to the
// distance within which there are n.
func (s *Set) candidates(code []uint64, n int) []int32 {
	distances := make([]uint16, len(s.ids))
	counts := make([]int, s.words*64+1)
	for i := range distances {
		d := 0
		for j, w := range s.codes[i*s.words : (i+1)*s.words] {
			d += bits.OnesCount64(w ^ code[j])
		}
		distances[i] = uint16(d)
		counts[d]++
	}
	limit, have := 0, 0
	for limit = range counts {
		if have += counts[limit]; have >= n {
			break
		}
	}
	rows := make([]int32, 0, have)
	for i, d := range distances {
		if int(d) <= limit {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

func dot(a, b []int8) (sum int32) {
	b = b[:len(a)]
	for i, v := range a {
		sum += int32(v) * int32(b[i])
	}
	return sum
}
