package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
)

// then looks at memories as of another time, for one request. asOf is a time in the
// world, knownAt a time in the node's knowledge. Zero is now.
type then struct {
	asOf, knownAt time.Time
	groups        map[string][]memory.Memory // as believed at knownAt
}

func thenAt(asOf, knownAt time.Time) *then {
	return &then{asOf, knownAt, map[string][]memory.Memory{}}
}

// isNow reports whether no other time is asked about.
func (t *then) isNow() bool { return t.asOf.IsZero() && t.knownAt.IsZero() }

// group returns the memories that are reconciled with each other, as they were
// believed then.
func (t *then) group(tx *store.Tx, name string) ([]memory.Memory, error) {
	now, err := tx.Group(name)
	if err != nil || t.knownAt.IsZero() {
		return now, err
	}
	if ms, ok := t.groups[name]; ok {
		return ms, nil
	}
	var all []memory.Assertion
	for i := range now {
		as, err := tx.Assertions(now[i].ID)
		if err != nil {
			return nil, err
		}
		all = append(all, as...)
	}
	ms := reconcile.AsKnownAt(all, t.knownAt)
	for i := range ms {
		ms[i].Group = name
	}
	t.groups[name] = ms
	return ms, nil
}

// believed returns a memory as it was believed then, or nil if it was not known.
func (t *then) believed(tx *store.Tx, m *memory.Memory) (*memory.Memory, error) {
	if t.knownAt.IsZero() {
		return m, nil
	}
	ms, err := t.group(tx, m.Group)
	for i := range ms {
		if ms[i].ID == m.ID {
			return &ms[i], err
		}
	}
	return nil, err
}

// holding returns a memory as it was believed then, or nil if it was not true then.
func (t *then) holding(tx *store.Tx, m *memory.Memory) (*memory.Memory, error) {
	was, err := t.believed(tx, m)
	if err != nil || was == nil || !reconcile.Holds(was, t.asOf) {
		return nil, err
	}
	return was, nil
}

// GetAt implements serve.Reader.
func (rd Reader) GetAt(ctx context.Context, id memory.ID, asOf, knownAt time.Time) (out memory.Memory, err error) {
	t := thenAt(asOf, knownAt)
	err = rd.viewOf(ctx, id, func(qr *Query, tx *store.Tx) error {
		m, err := engine.LiveAt(tx, id, qr.c.Now())
		if errors.Is(err, memory.ErrNotFound) && t.isNow() {
			if shared, is, err := qr.givenMemory(ctx, id); is || err != nil {
				out = shared
				return err
			}
		}
		if err != nil {
			return err
		}
		was, err := t.believed(tx, &m)
		if err == nil && was != nil && !asOf.IsZero() && !reconcile.Holds(was, asOf) {
			was = nil
		}
		if err != nil {
			return err
		}
		if was == nil && !asOf.IsZero() { // another memory was true in its place
			ms, err := t.group(tx, m.Group)
			if err != nil {
				return err
			}
			for i := range ms {
				if reconcile.Holds(&ms[i], asOf) {
					was = &ms[i]
				}
			}
		}
		if was == nil {
			return fmt.Errorf("memory %s: neither it nor another in its place was known or true then: %w", id, memory.ErrNotFound)
		}
		out = *was
		out.Categories = qr.c.Sorter.Of(&out)
		return nil
	})
	return out, err
}
