package recall

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Options of an index. The zero value is right for a wearer's own memory.
type Options struct {
	// SegmentDocs is how many documents a segment holds at most; 0: 4096.
	SegmentDocs int
	// Dictionary adds words to those that are known in both languages; nil: none.
	Dictionary *Dictionary
}

// Index answers queries over documents. Any number of goroutines may search
// while one adds, removes or flushes documents. Several writers wait for each
// other.
type Index struct {
	watch    func(added, removed []memory.ID) // called after every change; may be nil
	segments Segments
	limit    int

	write   sync.Mutex // held for every change
	stored  []stored
	pending []uint32 // documents that are in no segment yet
	next    uint64   // number of the next segment
	covered atomic.Uint64

	mu      sync.RWMutex // guards core and closed
	core    *core
	closed  bool
	scratch sync.Pool // *scratch
	dense   patience  // of Models.Dense
	judge   patience  // of Models.Reranker
}

// stored is one segment and the documents that it holds.
type stored struct {
	name string
	docs []uint32
}

// Open reads an index from its segments. Without segments it is empty. If the
// error wraps ErrCorrupt, call [Discard] and add every document again.
func Open(ctx context.Context, s Segments, o Options) (*Index, error) {
	x := &Index{segments: s, limit: cmp.Or(o.SegmentDocs, 4096), core: newCore()}
	x.core.dictionary = o.Dictionary
	x.scratch.New = func() any { return new(scratch) }
	if x.limit < 1 || x.limit > maxSegmentDocs {
		return nil, fmt.Errorf("%w: recall: %d documents a segment: want 1 to %d", memory.ErrInvalid, x.limit, maxSegmentDocs)
	}
	if err := x.load(ctx); err != nil {
		return nil, err
	}
	return x, nil
}

// Covered returns the number that was passed to the last Flush: what the caller knows to be in the
// segments.
func (x *Index) Covered() uint64 { return x.covered.Load() }

// Len returns the number of documents that can be found.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.core.alive
}

// Has reports whether a document of that id can be found.
func (x *Index) Has(id memory.ID) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	_, ok := x.core.find(id)
	return ok
}

// Watch sets a function that is called after every change and before the next
// one, with the documents that Add took and the ids that Remove got. w must not
// call Add or Remove. Watch must be called before the index is used.
func (x *Index) Watch(w func(added, removed []memory.ID)) { x.watch = w }

// IDs returns the documents that can be found, in no order.
func (x *Index) IDs() []memory.ID {
	x.mu.RLock()
	defer x.mu.RUnlock()
	ids := make([]memory.ID, 0, x.core.alive)
	for i := range x.core.docs {
		if m := &x.core.docs[i]; !m.dead() {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// Utterances returns the utterances that can be found, in no order.
func (x *Index) Utterances() []memory.ID {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var ids []memory.ID
	for i := range x.core.docs {
		if m := &x.core.docs[i]; !m.dead() && m.kind() == Utterance {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// UtteranceTimes returns the times in [from, to) at which the utterances that can be found were said, in ms
// since 1970, ascending. A zero from means the first, a zero to no end.
func (x *Index) UtteranceTimes(from, to time.Time) []int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var out []int64
	for i := range x.core.docs {
		m := &x.core.docs[i]
		if !m.dead() && m.kind() == Utterance && (from.IsZero() || m.at >= from.UnixMilli()) && (to.IsZero() || m.at < to.UnixMilli()) {
			out = append(out, m.at)
		}
	}
	slices.Sort(out)
	return out
}

// UtteranceTimesAround returns the last time before t at which something was said, and the
// first at or after t. A zero time means that there is none.
func (x *Index) UtteranceTimesAround(t time.Time) (before, after time.Time) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	at := t.UnixMilli()
	last, next := int64(noTime), int64(math.MaxInt64)
	for i := range x.core.docs {
		switch m := &x.core.docs[i]; {
		case m.dead() || m.kind() != Utterance || m.at == noTime:
		case m.at < at:
			last = max(last, m.at)
		default:
			next = min(next, m.at)
		}
	}
	if last != noTime {
		before = time.UnixMilli(last)
	}
	if next != math.MaxInt64 {
		after = time.UnixMilli(next)
	}
	return before, after
}

// IDsOfType returns the memories of a type that can be found and are not superseded, in no order.
func (x *Index) IDsOfType(t memory.Type) []memory.ID {
	x.mu.RLock()
	defer x.mu.RUnlock()
	typ := uint8(slices.Index(memory.Types[:], t) + 1)
	var ids []memory.ID
	for i := range x.core.docs {
		if m := &x.core.docs[i]; m.kind() == Memory && m.typ() == typ && m.flags&(flagDead|flagPast) == 0 {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// Add makes documents findable at once; a document replaces an earlier one with the same id. They
// are in a segment after the next Flush.
func (x *Index) Add(docs ...Doc) error {
	x.write.Lock()
	defer x.write.Unlock()
	ready := make([]prepared, len(docs))
	for i, d := range docs {
		if d.ID.IsZero() || d.Kind != Utterance && d.Kind != Memory {
			return fmt.Errorf("%w: recall: document %d: id or kind is missing", memory.ErrInvalid, i)
		}
		if d.Type != "" && !slices.Contains(memory.Types[:], d.Type) {
			return fmt.Errorf("%w: recall: document %s: type %q", memory.ErrInvalid, d.ID, d.Type)
		}
		if d.Sensitivity != nil && (d.Kind != Memory || *d.Sensitivity > memory.Secret) {
			return fmt.Errorf("%w: recall: document %s: sensitivity %s of %s", memory.ErrInvalid, d.ID, d.Sensitivity, d.Kind)
		}
		if d.Plain && d.Kind != Memory {
			return fmt.Errorf("%w: recall: document %s: only a memory has an owner", memory.ErrInvalid, d.ID)
		}
		ready[i] = prepare(d)
	}
	if err := x.insert(docs, ready); err != nil || x.watch == nil {
		return err
	}
	ids := make([]memory.ID, len(docs))
	for i := range docs {
		ids[i] = docs[i].ID
	}
	x.watch(ids, nil)
	return nil
}

func (x *Index) insert(docs []Doc, ready []prepared) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return ErrClosed
	}
	for i, d := range docs {
		x.pending = append(x.pending, x.core.add(d, ready[i]))
	}
	return nil
}

// add numbers the terms of a prepared document and inserts it.
func (c *core) add(d Doc, p prepared) uint32 {
	terms := make([]tf, len(p.counts))
	for i, k := range p.counts {
		terms[i] = tf{c.term(k.term), uint32(k.tf)}
	}
	sortTerms(terms)
	m := meta{
		id: d.ID, at: noTime, what: whatOf(d.Kind, uint8(slices.Index(memory.Types[:], d.Type)+1), d.sens(), d.Plain), flags: p.flags,
		length: uint16(min(p.length, mostWords)), session: c.names.id(d.Session), speaker: c.names.id(p.speaker),
	}
	if !d.At.IsZero() {
		m.at = d.At.UnixMilli()
	}
	return c.insert(m, d.Order, d.Source, terms)
}

// Remove removes documents at once. It ignores unknown ids. The next Flush
// removes their words from the segments. They stay in this process's memory
// until the index is rebuilt or opened again.
func (x *Index) Remove(ids ...memory.ID) error {
	x.write.Lock()
	defer x.write.Unlock()
	if err := x.drop(ids); err != nil || x.watch == nil {
		return err
	}
	x.watch(nil, ids)
	return nil
}

func (x *Index) drop(ids []memory.ID) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return ErrClosed
	}
	for _, id := range ids {
		if d, ok := x.core.find(id); ok {
			x.core.remove(d)
		}
	}
	return nil
}

// Close closes the index and waits for running calls of models. What was not
// flushed is not in the segments.
func (x *Index) Close() error {
	x.dense.close()
	x.judge.close()
	x.write.Lock()
	defer x.write.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	dictionary := x.core.dictionary
	x.core = newCore()
	x.core.dictionary = dictionary
	x.stored, x.pending = nil, nil
	return nil
}
