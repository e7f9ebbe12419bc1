package recall

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/locket-dev/locket/memory"
)

// The manifest names the segments in use. Flush writes it last, so a flush that was interrupted
// leaves the old state. Version 1:
//
//	4       "LKM1"
//	varint  analysis: how text was made into terms
//	varint  covered
//	varint  number of the next segment
//	varint  segments; then each: varint number
const (
	manifestMagic = "LKM1"
	manifestName  = "manifest"
)

// analysis must change whenever text is made into terms differently. Then old
// segments are not mixed with new ones.
const analysis = 14

// ErrOutdated: the segments were written with another analysis. The remedy is
// the same as for ErrCorrupt.
var ErrOutdated = errors.New("recall: segments of another analysis")

func segmentName(n uint64) string { return "segment-" + strconv.FormatUint(n, 16) }

// Discard removes every segment and the manifest.
func Discard(ctx context.Context, s Segments) error {
	names, err := s.List(ctx)
	if err != nil {
		return fmt.Errorf("recall: discard: %w", err)
	}
	slices.SortFunc(names, func(a, b string) int { // the manifest first
		if a == manifestName || b == manifestName {
			return len(b) - len(a)
		}
		return 0
	})
	var errs []error
	if slices.Contains(names, manifestName) {
		errs = append(errs, s.Delete(ctx, manifestName))
	}
	for _, n := range names {
		if n != manifestName {
			errs = append(errs, s.Delete(ctx, n))
		}
	}
	return errors.Join(errs...)
}

func (x *Index) load(ctx context.Context) error {
	b, err := x.segments.Get(ctx, manifestName)
	if errors.Is(err, memory.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("recall: open: %w", err)
	}
	covered, next, numbers, err := decodeManifest(b)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		s := stored{name: segmentName(n)}
		b, err := x.segments.Get(ctx, s.name)
		if err != nil {
			return fmt.Errorf("recall: open %s: %w", s.name, err)
		}
		if s.docs, err = x.core.read(b); err != nil {
			return fmt.Errorf("recall: open %s: %w", s.name, err)
		}
		x.stored = append(x.stored, s)
	}
	x.next = next
	x.covered.Store(covered)
	x.core.tighten()
	return nil
}

// read adds the documents of a segment.
func (c *core) read(b []byte) ([]uint32, error) {
	var names, terms []uint32
	var docs []uint32
	var mapped []tf
	begin := func(n, t []string) error {
		names, terms = make([]uint32, len(n)+1), make([]uint32, len(t))
		for i, s := range n {
			names[i+1] = c.names.id(s)
		}
		for i, s := range t {
			terms[i] = c.term(s)
		}
		return nil
	}
	err := decode(b, begin, func(d segmentDoc) error {
		m := d.meta
		if _, ok := c.find(m.id); ok {
			return fmt.Errorf("%w: document %s is there twice", ErrCorrupt, m.id)
		}
		m.session, m.speaker = names[m.session], names[m.speaker]
		mapped = mapped[:0]
		for _, t := range d.terms {
			mapped = append(mapped, tf{terms[t.term], t.n})
		}
		sortTerms(mapped)
		docs = append(docs, c.insert(m, d.order, d.source, mapped))
		return nil
	})
	return docs, err
}

// Flush writes what was added and removed since the last Flush. covered is
// stored with it, and [Index.Covered] returns it after a restart. After an
// error the old segments still count, and Flush can be called again.
func (x *Index) Flush(ctx context.Context, covered uint64) error {
	x.write.Lock()
	defer x.write.Unlock()
	x.mu.RLock()
	closed := x.closed
	x.mu.RUnlock()
	if closed {
		return ErrClosed
	}
	x.rebuild()

	type segment struct {
		stored
		fresh bool
	}
	var plan []segment
	for _, s := range x.stored {
		live := x.live(s.docs)
		if len(live) > 0 {
			plan = append(plan, segment{stored{s.name, live}, len(live) != len(s.docs)})
		}
	}
	for rest := x.live(x.pending); len(rest) > 0; {
		n := min(len(rest), x.limit)
		plan = append(plan, segment{stored{"", rest[:n:n]}, true})
		rest = rest[n:]
		// Merge the previous segment as long as it is no larger, so that each document is rewritten
		// a number of times that grows logarithmically.
		for len(plan) > 1 {
			a, b := plan[len(plan)-2], plan[len(plan)-1]
			if len(a.docs) > len(b.docs) || len(a.docs)+len(b.docs) > x.limit {
				break
			}
			plan = append(plan[:len(plan)-2], segment{stored{"", slices.Concat(a.docs, b.docs)}, true})
		}
	}

	var now []stored
	var numbers []uint64
	for _, s := range plan {
		if s.fresh {
			s.name = segmentName(x.next) // never used before, even if this flush fails
			x.next++
			x.mu.RLock()
			b := encode(x.core, s.docs)
			x.mu.RUnlock()
			if err := x.segments.Put(ctx, s.name, b); err != nil {
				return fmt.Errorf("recall: flush: %w", err)
			}
		}
		now = append(now, s.stored)
		n, _ := strconv.ParseUint(s.name[len("segment-"):], 16, 64)
		numbers = append(numbers, n)
	}
	if err := x.segments.Put(ctx, manifestName, encodeManifest(covered, x.next, numbers)); err != nil {
		return fmt.Errorf("recall: flush: %w", err)
	}
	x.stored, x.pending = now, nil
	x.covered.Store(covered)
	if x.core.needsTightening() {
		x.mu.Lock()
		x.core.tighten()
		x.mu.Unlock()
	}
	return x.sweep(ctx)
}

// sweep deletes segments that the manifest does not name.
func (x *Index) sweep(ctx context.Context) error {
	names, err := x.segments.List(ctx)
	if err != nil {
		return fmt.Errorf("recall: sweep: %w", err)
	}
	keep := map[string]bool{manifestName: true}
	for _, s := range x.stored {
		keep[s.name] = true
	}
	var errs []error
	for _, n := range names {
		if !keep[n] {
			errs = append(errs, x.segments.Delete(ctx, n))
		}
	}
	return errors.Join(errs...)
}

func (x *Index) live(docs []uint32) []uint32 {
	out := make([]uint32, 0, len(docs))
	for _, d := range docs {
		if !x.core.docs[d].dead() {
			out = append(out, d)
		}
	}
	return out
}

// rebuild makes the index in memory again when more than a quarter of it is dead.
func (x *Index) rebuild() {
	dead := len(x.core.docs) - x.core.alive
	if dead < 256 || dead*4 < len(x.core.docs) {
		return
	}
	fresh, to := x.core.rebuilt()
	renumber := func(docs []uint32) []uint32 {
		var out []uint32
		for _, d := range docs {
			if to[d] != none {
				out = append(out, to[d])
			}
		}
		return out
	}
	x.pending = renumber(x.pending)
	for i, s := range x.stored {
		if docs := renumber(s.docs); len(docs) != len(s.docs) {
			// It must be written again, even if it lost its last document.
			x.pending = append(docs, x.pending...)
			x.stored[i].docs = nil
		} else {
			x.stored[i].docs = docs
		}
	}
	x.stored = slices.DeleteFunc(x.stored, func(s stored) bool { return len(s.docs) == 0 })
	slices.Sort(x.pending)
	x.mu.Lock()
	x.core = fresh
	x.mu.Unlock()
}

func encodeManifest(covered, next uint64, numbers []uint64) []byte {
	b := []byte(manifestMagic)
	b = binary.AppendUvarint(b, analysis)
	b = binary.AppendUvarint(b, covered)
	b = binary.AppendUvarint(b, next)
	b = binary.AppendUvarint(b, uint64(len(numbers)))
	for _, n := range numbers {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func decodeManifest(b []byte) (covered, next uint64, numbers []uint64, err error) {
	r := reader{b: b}
	if string(r.take(4)) != manifestMagic {
		return 0, 0, nil, fmt.Errorf("%w: manifest", ErrCorrupt)
	}
	made := r.number()
	if !r.bad && made != analysis {
		return 0, 0, nil, fmt.Errorf("%w: %d, want %d", ErrOutdated, made, analysis)
	}
	covered, next = r.number(), r.number()
	numbers = make([]uint64, r.count(1))
	seen := map[uint64]bool{}
	for i := range numbers {
		numbers[i] = r.number()
		r.bad = r.bad || numbers[i] >= next || seen[numbers[i]]
		seen[numbers[i]] = true
	}
	if r.bad || len(r.b) != 0 {
		return 0, 0, nil, fmt.Errorf("%w: manifest", ErrCorrupt)
	}
	return covered, next, numbers, nil
}
