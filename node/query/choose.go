package query

import (
	"errors"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// chooser decides which documents of the index may be hits of the searches of one request, if the
// index alone can't decide it.
type chooser struct {
	now    time.Time // when the request began; what has expired by then is no hit
	filter filter.Filter
	then   *then
	seen   map[memory.ID]bool
	gone   map[memory.ID]bool // expired memories that were among the hits of the searches so far
	err    error              // the first error of reading the store

	sees *chooser // the same choice, but only by what the caller may see; nil: it applies to everything

	bare bool // hits become lines of a block, which shows no categories: sorting takes an eighth of a search

	moment   uint64                          // of the store, when wholes and lines were read
	memories map[memory.ID]*readMemory       // memories, by their document
	lines    map[memory.ID]*memory.Utterance // utterances

	records *recorded // what the records answer to the request, once they were read
}

// readMemory is a memory as it was read, and the chunk of it that its document stands for; nil: the
// document is the memory itself.
type readMemory struct {
	memory *memory.Memory
	chunk  *memory.Chunk
}

// mostKept is how many documents are kept in memory for the rest of a request. A filter may cause
// every document to be read.
const mostKept = 2000

// refresh drops what was read if something was committed since, because nothing may be shown that
// was forgotten meanwhile.
func (c *chooser) refresh(tx *store.Tx) {
	if at := tx.Revision(); at != c.moment || len(c.memories)+len(c.lines) >= mostKept {
		c.moment = at
		clear(c.memories)
		clear(c.lines)
	}
}

// memoryOf reads the memory of a document, if it was not read before. Callers may change only its
// categories.
func (c *chooser) memoryOf(tx *store.Tx, id memory.ID) (*readMemory, error) {
	c.refresh(tx)
	if w := c.memories[id]; w != nil {
		return w, nil
	}
	m, chunk, err := engine.MemoryOfHit(tx, id)
	if err != nil {
		return nil, err
	}
	w := &readMemory{memory: m, chunk: chunk}
	c.memories[id] = w
	return w, nil
}

// line reads an utterance, if it was not read before.
func (c *chooser) line(tx *store.Tx, id memory.ID) (*memory.Utterance, error) {
	c.refresh(tx)
	if u := c.lines[id]; u != nil {
		return u, nil
	}
	u, err := tx.Utterance(id)
	if err != nil {
		return nil, err
	}
	c.lines[id] = u
	return u, nil
}

// chooserOf makes a chooser for a request.
func (qr *Query) chooserOf(r *serve.SearchRequest) (*chooser, error) {
	filters := []filter.Filter{r.Filters}
	for field, value := range map[string]string{"tags": r.Tag, "agent": r.Agent, "run": r.Run} {
		if value == "" {
			continue
		}
		f, err := filter.Equal(field, value)
		if err != nil {
			return nil, err
		}
		filters = append(filters, f)
	}
	for key, value := range r.Metadata {
		f, err := filter.Equal("metadata."+key, value)
		if err != nil {
			return nil, err
		}
		filters = append(filters, f)
	}
	c := newChooser(qr.c.Now(), filter.All(filters...), thenAt(r.AsOf, r.KnownAt))
	if !r.Sees.IsZero() {
		c.sees = newChooser(qr.c.Now(), r.Sees, thenAt(time.Time{}, time.Time{}))
	}
	return c, nil
}

// failed returns the first error of reading the store.
func (c *chooser) failed() error {
	if c.sees != nil {
		return errors.Join(c.err, c.sees.err)
	}
	return c.err
}

func newChooser(now time.Time, f filter.Filter, t *then) *chooser {
	return &chooser{now: now, filter: f, then: t, seen: map[memory.ID]bool{}, gone: map[memory.ID]bool{}, memories: map[memory.ID]*readMemory{}, lines: map[memory.ID]*memory.Utterance{}}
}

// narrows reports whether the chooser refuses anything at all.
func (c *chooser) narrows() bool {
	return !c.filter.IsZero() || !c.then.isNow()
}

// glance decides whether a document may be a hit, as far as the index knows.
func (c *chooser) glance(a recall.About) filter.Verdict {
	if !c.then.isNow() {
		return filter.Unsure
	}
	return c.filter.Glance(filter.Brief{Utterance: a.Kind == recall.Utterance, Type: a.Type, Sensitivity: a.Sensitivity, Rated: a.Rated, Plain: a.Plain})
}

// matches tests a memory that was read just now. The index may still have it as it was before
// its last change.
func (c *chooser) matches(qr *Query, m *memory.Memory) bool {
	return c.filter.Match(&filter.Item{Memory: m, Categories: qr.categories(m)})
}

// allows reads a document and reports whether it may be a hit. A document that was erased since it
// was indexed may not.
func (c *chooser) allows(qr *Query, tx *store.Tx, id memory.ID, kind recall.Kind) bool {
	ok, asked := c.seen[id]
	if asked || c.err != nil {
		return ok && c.err == nil
	}
	ok, err := c.choose(qr, tx, id, kind)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		c.err = err
	}
	c.seen[id] = ok
	return ok
}

// categories returns a function that sorts a memory into categories when a filter asks for them.
func (qr *Query) categories(m *memory.Memory) func() []string {
	return func() []string { return qr.c.Sorter.Of(m) }
}

func (c *chooser) choose(qr *Query, tx *store.Tx, id memory.ID, kind recall.Kind) (bool, error) {
	if kind == recall.Utterance {
		u, err := c.line(tx, id)
		if err != nil {
			return false, err
		}
		// An utterance is known from the time at which it was said.
		return (c.then.asOf.IsZero() || !u.At.After(c.then.asOf)) && (c.then.knownAt.IsZero() || !u.At.After(c.then.knownAt)) &&
			c.filter.Match(&filter.Item{Utterance: u}), nil
	}
	w, err := c.memoryOf(tx, id)
	if err != nil || w.memory.State == memory.Erased || w.memory.Expired(c.now) {
		return false, err
	}
	m := w.memory
	if !c.then.isNow() {
		if m, err = c.then.holding(tx, m); err != nil || m == nil {
			return false, err
		}
	}
	return c.matches(qr, m), nil
}
