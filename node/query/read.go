package query

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Resolve implements serve.Reader.
func (rd Reader) Resolve(ctx context.Context, text string) (id memory.ID, err error) {
	if len(text) < 4 {
		return id, fmt.Errorf("%w: id: %.40q: want at least 4 characters", memory.ErrInvalid, text)
	}
	err = opened.View(ctx, rd.of, func(_ *Query, tx *store.Tx) error {
		m, err := tx.Find(text)
		if err == nil {
			id = m.ID
		}
		var away *memory.ColdError
		if errors.As(err, &away) {
			id, err = away.ID, nil
		}
		return err
	})
	if errors.Is(err, memory.ErrNotFound) {
		id, err = rd.resolveGiven(ctx, text)
	}
	if errors.Is(err, memory.ErrNotFound) && serve.CallerOf(ctx) == nil {
		return rd.resolveLine(ctx, text, err)
	}
	return id, err
}

// resolveLine is Resolve for the id of an utterance, which search and ask show and forget
// accepts. It reads all utterances, so no app may use it. If none matches, it returns otherwise.
func (rd Reader) resolveLine(ctx context.Context, text string, otherwise error) (id memory.ID, err error) {
	err = opened.View(ctx, rd.of, func(_ *Query, tx *store.Tx) error {
		for u, err := range tx.UtterancesByID() {
			switch {
			case err != nil:
				return err
			case !strings.HasPrefix(u.ID.String(), strings.ToLower(text)):
			case !id.IsZero():
				return fmt.Errorf("%q begins the ids of several lines, such as %s and %s: %w", text, id, u.ID, memory.ErrAmbiguous)
			default:
				id = u.ID
			}
		}
		if id.IsZero() {
			return otherwise
		}
		return nil
	})
	return id, err
}

// Get implements serve.Reader.
func (rd Reader) Get(ctx context.Context, id memory.ID) (m memory.Memory, err error) {
	return rd.GetAt(ctx, id, time.Time{}, time.Time{})
}

// viewOf runs fn in a transaction in which a memory is hot. If the memory is cold and can't be
// fetched, the error is serve.ErrCold; for an app it is memory.ErrNotFound.
func (rd Reader) viewOf(ctx context.Context, id memory.ID, fn func(*Query, *store.Tx) error) error {
	qr, release, err := rd.of.Use()
	if err != nil {
		return err
	}
	defer release()
	// Only a fetched memory shows whether an app may see it, and by then the app would have
	// caused a fetch. So for an app a cold memory does not exist.
	if serve.CallerOf(ctx) == nil {
		if err := qr.c.FetchCold(ctx, id); err != nil {
			return err
		}
	}
	return qr.c.Engine.View(ctx, func(tx *store.Tx) error { return fn(qr, tx) })
}

// List implements serve.Reader.
func (rd Reader) List(ctx context.Context, q serve.ListQuery) (page serve.ListPage, err error) {
	f := store.Filter{Since: q.Since, Until: q.Until, States: []memory.State{memory.Active}}
	if q.Type != "" {
		f.Types = []memory.Type{q.Type}
	}
	switch q.State {
	case "":
	case serve.AnyState:
		f.States = nil
	default:
		f.States = []memory.State{q.State}
	}
	if q.Cursor != "" {
		if f.After, err = decodeCursor(q.Cursor); err != nil {
			return page, serve.InField("cursor", err)
		}
	}
	page.Memories = []memory.Memory{}
	past := thenAt(q.AsOf, q.KnownAt)
	if !past.isNow() {
		f.States = nil
	}
	err = opened.View(ctx, rd.of, func(qr *Query, tx *store.Tx) error {
		if page.Cold, err = tx.ColdCount(); err != nil {
			return err
		}
		all := tx.Memories(f)
		if past.isNow() && !q.Filters.IsZero() && !q.Filters.Needs(outlined...) {
			if all, err = qr.overview.list(ctx, tx, f, q.Filters); err != nil {
				return err
			}
		}
		now := qr.c.Now()
		var last store.Place // of the last one in page.Memories
		for m, err := range all {
			var place store.Place
			if err == nil {
				place = store.PlaceOf(m)
			}
			if err == nil && !past.isNow() {
				m, err = past.holding(tx, m)
			}
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			if m == nil || m.Expired(now) {
				continue
			}
			if q.Tag != "" && !slices.Contains(m.Tags, q.Tag) || q.Agent != "" && m.Owner.Agent != q.Agent || q.Run != "" && m.Owner.Run != q.Run || m.Negates {
				continue
			}
			m.Categories = qr.c.Sorter.Of(m)
			if !q.Filters.Match(&filter.Item{Memory: m, Categories: func() []string { return m.Categories }}) {
				continue
			}
			if q.Skip > 0 {
				q.Skip--
				continue
			}
			if len(page.Memories) == q.Limit {
				page.Next = encodeCursor(last)
				return nil
			}
			page.Memories, last = append(page.Memories, *m), place
		}
		return nil
	})
	return page, err
}

// Owners implements serve.Reader.
func (rd Reader) Owners(ctx context.Context, only filter.Filter) (out []serve.OwnerCount, err error) {
	err = opened.View(ctx, rd.of, func(qr *Query, tx *store.Tx) (failed error) {
		now := qr.c.Now()
		out = serve.NewOwners(func(yield func(*memory.Memory) bool) {
			for m, err := range tx.Memories(store.Filter{States: []memory.State{memory.Active}}) {
				if failed = errors.Join(err, ctx.Err()); failed != nil {
					return
				}
				if m.Type != memory.Vault && !m.Negates && !m.Expired(now) && only.Match(&filter.Item{Memory: m, Categories: qr.categories(m)}) && !yield(m) {
					return
				}
			}
		})
		return failed
	})
	return out, err
}

// A cursor is the place of a page's last memory: 8 bytes of the time when it was learnt, in ms
// since 1970, and its id. So the memory need not exist any more when the next page is requested.

func encodeCursor(p store.Place) string {
	return base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint64(nil, uint64(p.Learnt.UnixMilli())), p.ID[:]...))
}

func decodeCursor(s string) (p store.Place, err error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != 8+len(p.ID) {
		return p, fmt.Errorf("%w: cursor: no list returned it", memory.ErrInvalid)
	}
	return store.Place{Learnt: time.UnixMilli(int64(binary.BigEndian.Uint64(b))), ID: memory.ID(b[8:])}, nil
}

// History implements serve.Reader.
func (rd Reader) History(ctx context.Context, id memory.ID) (changes []memory.Change, err error) {
	err = rd.viewOf(ctx, id, func(qr *Query, tx *store.Tx) error {
		m, err := tx.Memory(id)
		if err != nil {
			return err
		}
		if err := engine.Unexpired(m, qr.c.Now()); err != nil {
			return err
		}
		all, err := tx.History(id)
		changes = slices.DeleteFunc(all, func(c memory.Change) bool { return c.Memory != id })
		return err
	})
	return changes, err
}

// Why implements serve.Reader.
func (rd Reader) Why(ctx context.Context, id memory.ID) (w serve.Why, err error) {
	err = rd.viewOf(ctx, id, func(qr *Query, tx *store.Tx) error {
		if w.Memory, err = engine.LiveAt(tx, id, qr.c.Now()); err != nil {
			return err
		}
		w.Evidence = w.Memory.Evidence
		if w.History, err = tx.History(id); err != nil {
			return err
		}
		for _, c := range w.History {
			if c.Memory == id && w.Verdict == "" {
				w.Verdict, w.Reason, w.By, w.Rank = c.Verdict, c.Reason, c.By, c.Rank
			}
		}
		if w.Spared, err = spared(tx, id); err != nil {
			return err
		}
		if w.From, err = madeOf(tx, &w.Memory, qr.c.Now()); err != nil {
			return err
		}
		w.Replaced, w.Into, err = related(tx, &w.Memory, qr.c.Now())
		return err
	})
	return w, err
}

// spared returns what was said that would have changed a memory if it had not been pinned.
func spared(tx *store.Tx, id memory.ID) ([]memory.Change, error) {
	all, err := tx.ChangesNaming(id)
	return slices.DeleteFunc(all, func(c memory.Change) bool {
		return c.Other != id || c.Memory == id || !strings.Contains(c.Reason, reconcile.Spared) && !strings.Contains(c.Reason, reconcile.SparedSaid)
	}), err
}

func asRelated(m *memory.Memory) serve.Related {
	return serve.Related{ID: m.ID, Text: m.Text, At: m.Began()}
}

// madeOf returns the memories that a memory was made of and that still exist.
func madeOf(tx *store.Tx, m *memory.Memory, now time.Time) (out []serve.Related, err error) {
	for _, l := range m.Links {
		id, err := memory.ParseID(l.To)
		if l.Relation != consolidate.DerivedFrom || err != nil {
			continue
		}
		o, err := tx.Memory(id)
		if errors.Is(err, memory.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if o.State != memory.Erased && !o.Expired(now) {
			out = append(out, asRelated(o))
		}
	}
	return out, nil
}

// related returns what a memory replaced, and what has replaced it.
func related(tx *store.Tx, m *memory.Memory, now time.Time) (replaced []serve.Related, into *serve.Related, err error) {
	group, err := tx.Group(m.Group)
	if err != nil {
		return nil, nil, err
	}
	for i := range group {
		o := &group[i]
		r := asRelated(o)
		switch {
		case o.State == memory.Erased || o.Expired(now):
		case o.Into == m.ID && !o.Negates:
			replaced = append(replaced, r)
		case m.Into == o.ID:
			into = &r
		}
	}
	if into == nil && !m.Into.IsZero() { // it was merged into a memory of another group
		o, err := tx.Memory(m.Into)
		if err == nil && o.State != memory.Erased && !o.Expired(now) {
			r := asRelated(o)
			into = &r
		} else if err != nil && !errors.Is(err, memory.ErrNotFound) {
			return nil, nil, err
		}
	}
	return replaced, into, nil
}
