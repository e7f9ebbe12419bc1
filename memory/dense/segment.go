package dense

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"slices"

	"github.com/locket-dev/locket/memory"

	"github.com/locket-dev/locket/internal/sorting"
)

// FORMAT of a segment. Numbers are big-endian.
//
//	offset  size  field
//	0       8     "LKTDENS1"
//	8       2     dimensions
//	10      4     number of documents n
//	14      n ×   id (16), sum of the text (8), scale (float32), dimensions × int8
//	…       4     CRC-32C of everything before it
//
// Codes are computed again from the vectors. The caller seals the segments; the checksum detects
// our own mistakes, not an attacker's changes.
const segmentMagic = "LKTDENS1"

// SegmentSize is the number of documents of a full segment: 400 kB at 384
// dimensions.
const SegmentSize = 1024

// ErrCorrupt: a segment is not what this package wrote. The remedy is to embed its documents again.
var ErrCorrupt = errors.New("dense: corrupt segment")

// segment is what a set knows about a stored segment.
type segment struct {
	live  int  // number of its documents that are in the set
	stale bool // it has a document that is not in the set
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Load reads a segment, under the number that Flush gave it. A document that is already in the set
// stays as it is.
func (s *Set) Load(number int, b []byte) error {
	const head, tail = len(segmentMagic) + 6, 4
	if number <= 0 || len(b) < head+tail || string(b[:len(segmentMagic)]) != segmentMagic {
		return fmt.Errorf("%w: %d", ErrCorrupt, number)
	}
	body := b[:len(b)-tail]
	dim, n := int(binary.BigEndian.Uint16(b[8:])), int(binary.BigEndian.Uint32(b[10:]))
	row := 16 + 8 + 4 + s.dim
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(b[len(body):]) || dim != s.dim || len(body) != head+n*row {
		return fmt.Errorf("%w: %d", ErrCorrupt, number)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.segs[number] != nil {
		return fmt.Errorf("dense: segment %d is there already", number)
	}
	s.segs[number] = &segment{}
	s.last = max(s.last, number)
	for b := body[head:]; len(b) > 0; b = b[row:] {
		var id memory.ID
		var of Sum
		copy(id[:], b)
		copy(of[:], b[16:])
		if _, ok := s.at[id]; ok {
			s.segs[number].stale = true
			continue
		}
		scale := math.Float32frombits(binary.BigEndian.Uint32(b[24:]))
		code, vec := make([]uint64, s.words), make([]int8, s.dim)
		for i, v := range b[28:row] {
			vec[i] = int8(v)
			if vec[i] > 0 {
				code[i/64] |= 1 << (i % 64)
			}
		}
		s.put(id, of, code, vec, scale, number)
	}
	return nil
}

// Change is a change to the stored segments: a segment to write, or, if Data is nil, one to delete.
type Change struct {
	Number int
	Data   []byte
}

// Flush returns the changes after which the stored segments have what the set has and nothing else,
// in the order in which they have to be made: first what is written, then what is deleted. A
// segment never changes; one that has removed documents is written again under another number. If
// writing fails, the set has to be loaded again.
func (s *Set) Flush() []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	var loose []int // rows that go into new segments
	var out, gone []Change
	for _, number := range slices.Sorted(maps.Keys(s.segs)) {
		if g := s.segs[number]; g.stale {
			gone = append(gone, Change{Number: number})
		}
	}
	small := s.small()
	for i, n := range s.seg {
		if n == 0 || s.segs[n].stale || small[n] {
			loose = append(loose, i)
		}
	}
	for n := range small {
		if !s.segs[n].stale {
			gone = append(gone, Change{Number: n})
		}
	}
	sorting.Sort(gone, func(a, b Change) int { return cmp.Compare(a.Number, b.Number) })
	for part := range slices.Chunk(loose, SegmentSize) {
		s.last++
		s.segs[s.last] = &segment{live: len(part)}
		out = append(out, Change{s.last, s.encode(part)})
		for _, i := range part {
			s.seg[i] = s.last
		}
	}
	for _, c := range gone {
		delete(s.segs, c.Number)
	}
	return append(out, gone...)
}

// small returns the segments that a flush of new documents merges with these: those with fewer
// documents than the new ones, so that there are few segments and each document is written only a
// few times.
func (s *Set) small() map[int]bool {
	loose := 0
	for _, n := range s.seg {
		if n == 0 || s.segs[n].stale {
			loose++
		}
	}
	out := map[int]bool{}
	if loose == 0 {
		return out
	}
	numbers := slices.Sorted(maps.Keys(s.segs))
	sorting.Stable(numbers, func(a, b int) int { return cmp.Compare(s.segs[a].live, s.segs[b].live) })
	for _, n := range numbers {
		if g := s.segs[n]; !g.stale && g.live < SegmentSize && g.live <= loose {
			out[n] = true
			loose += g.live
		}
	}
	return out
}

func (s *Set) encode(rows []int) []byte {
	b := append([]byte(segmentMagic), 0, 0, 0, 0, 0, 0)
	binary.BigEndian.PutUint16(b[8:], uint16(s.dim))
	binary.BigEndian.PutUint32(b[10:], uint32(len(rows)))
	for _, i := range rows {
		b = append(b, s.ids[i][:]...)
		b = append(b, s.sums[i][:]...)
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(s.scale[i]))
		for _, v := range s.vecs[i*s.dim : (i+1)*s.dim] {
			b = append(b, byte(v))
		}
	}
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}
