package query

import (
	"context"
	"errors"
	"iter"
	"maps"
	"time"

	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Follow implements serve.Reader.
func (rd Reader) Follow(ctx context.Context, q serve.FollowQuery) iter.Seq2[serve.Followed, error] {
	return func(yield func(serve.Followed, error) bool) {
		f := following{of: q}
		for {
			at, news, err := f.lookForChanges(ctx, rd.of)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				yield(at, err)
				return
			}
			if news && !yield(at, nil) || !wait.For(ctx, watchPoll) {
				return
			}
		}
	}
}

// following is how far a follower has looked.
type following struct {
	of   serve.FollowQuery
	sees func(*memory.Memory) bool // what the caller may see at this look
	now  time.Time                 // of this look
	at   store.Edition
	has  map[memory.ID]bool // the memories that the query chose at that look; nil: there was no look yet
}

// lookForChanges looks for changes if something was committed since the last look. The first look is
// news, too.
func (f *following) lookForChanges(ctx context.Context, of opened.Of[*Query]) (at serve.Followed, news bool, err error) {
	var now store.Edition
	err = opened.View(ctx, of, func(_ *Query, tx *store.Tx) (err error) {
		now, err = tx.Edition()
		return err
	})
	if err != nil || f.has != nil && now == f.at {
		return at, false, err
	}
	// Sees opens a transaction of its own, so it is called outside of any other one: a
	// view within a view would wait for a close of the node, which waits for the outer
	// view.
	f.sees = func(*memory.Memory) bool { return true }
	if f.of.Sees != nil {
		if f.sees, err = f.of.Sees(ctx); err != nil {
			return at, false, err
		}
	}
	err = opened.View(ctx, of, func(qr *Query, tx *store.Tx) (err error) {
		f.now = qr.c.Now()
		if news, err = f.look(tx); err == nil {
			at.Change, err = tx.LastChange()
		}
		return err
	})
	return at, news, err
}

// look reports whether a memory that the query chooses now, or chose at the last look, has
// changed or gone since.
func (f *following) look(tx *store.Tx) (news bool, err error) {
	now, err := tx.Edition()
	if err != nil {
		return false, err
	}
	var changed []store.Document
	all := false
	if f.has != nil {
		if changed, all, err = tx.ChangedSince(f.at); err != nil {
			return false, err
		}
	}
	for _, d := range changed {
		is, err := f.isChosen(tx, d.ID)
		if err != nil {
			return false, err
		}
		if news = news || is || f.has[d.ID]; is {
			f.has[d.ID] = true
		} else {
			delete(f.has, d.ID)
		}
	}
	if !all {
		has, err := f.list(tx)
		if err != nil {
			return false, err
		}
		news = news || f.has == nil || !maps.Equal(f.has, has)
		f.has = has
	}
	f.at = now
	return news, nil
}

// list returns the memories that the query chooses.
func (f *following) list(tx *store.Tx) (map[memory.ID]bool, error) {
	out := map[memory.ID]bool{}
	if !f.of.ID.IsZero() {
		is, err := f.isChosen(tx, f.of.ID)
		if is {
			out[f.of.ID] = true
		}
		return out, err
	}
	only := store.Filter{Since: f.of.Since, Until: f.of.Until}
	if f.of.Type != "" {
		only.Types = []memory.Type{f.of.Type}
	}
	for m, err := range tx.Memories(only) {
		if err != nil {
			return nil, err
		}
		if f.chooses(m) {
			out[m.ID] = true
		}
	}
	return out, nil
}

func (f *following) isChosen(tx *store.Tx, id memory.ID) (bool, error) {
	m, err := tx.Memory(id)
	if errors.Is(err, memory.ErrNotFound) {
		return false, nil
	}
	return err == nil && f.chooses(m), err
}

func (f *following) chooses(m *memory.Memory) bool {
	return !m.Expired(f.now) && f.of.Chooses(m) && f.sees(m)
}
