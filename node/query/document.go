package query

import (
	"context"
	"slices"
	"sync"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
)

// document is what the checks of a search read: an utterance or a memory, in simplified characters.
// Both are nil if it was erased or could not be read.
type document struct {
	u *memory.Utterance
	m *memory.Memory
}

// text returns what the document says; it is empty if it was erased.
func (d document) text() string {
	switch {
	case d.u != nil:
		return d.u.Text
	case d.m != nil:
		return d.m.Text
	}
	return ""
}

// check tests a document.
type check func(document) bool

// reader reads documents by id.
type reader func(memory.ID) document

// documents returns a reader for one search, whose checks read the same documents. It is safe for
// concurrent use.
func (qr *Query) documents(ctx context.Context) reader {
	return once(func(id memory.ID) (d document) {
		_ = qr.c.Engine.View(ctx, func(tx *store.Tx) error {
			if u, err := tx.Utterance(id); err == nil {
				d.u = inSimplified(u)
			} else if m, err := engine.Live(tx, id); err == nil {
				d.m = memoryInSimplified(&m)
			}
			return nil
		})
		return d
	})
}

// inSimplified returns an utterance with a text in simplified characters.
func inSimplified(u *memory.Utterance) *memory.Utterance {
	if !hans.Has(u.Text) {
		return u
	}
	read := *u
	read.Text = hans.Fold(u.Text)
	return &read
}

// memoryInSimplified returns a memory with simplified characters in what checks read of it.
func memoryInSimplified(m *memory.Memory) *memory.Memory {
	if !hans.Has(m.Text) && (m.Slot == nil || !hans.Has(m.Slot.Subject) && !hans.Has(m.Slot.Value)) &&
		!slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { return hans.Has(e.Excerpt) }) {
		return m
	}
	read := *m
	read.Text = hans.Fold(m.Text)
	if m.Slot != nil {
		s := *m.Slot
		s.Subject, s.Value = hans.Fold(s.Subject), hans.Fold(s.Value)
		read.Slot = &s
	}
	read.Evidence = slices.Clone(m.Evidence)
	for i := range read.Evidence {
		read.Evidence[i].Excerpt = hans.Fold(read.Evidence[i].Excerpt)
	}
	return &read
}

// any combines checks, some of which may be nil, into one for the index. It is nil if all are.
func (read reader) any(checks ...check) func(memory.ID) bool {
	var all []check
	for _, c := range checks {
		if c != nil {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return once(func(id memory.ID) bool {
		d := read(id)
		return slices.ContainsFunc(all, func(c check) bool { return c(d) })
	})
}

// once caches the result of a function for each document, because the index asks more than once.
func once[T any](of func(memory.ID) T) func(memory.ID) T {
	var mu sync.Mutex
	known := map[memory.ID]T{}
	return func(id memory.ID) T {
		mu.Lock()
		defer mu.Unlock()
		v, ok := known[id]
		if !ok {
			v = of(id)
			known[id] = v
		}
		return v
	}
}
