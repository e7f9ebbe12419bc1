package apps

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// reader is serve.Reader, for the owner and for apps.
type reader struct{ in serve.Reader }

func (r *reader) Resolve(ctx context.Context, text string) (memory.ID, error) {
	if v := visitOf(ctx); v != nil {
		return v.resolve(ctx, r.in, r.in, text)
	}
	return r.in.Resolve(ctx, text)
}

func (r *reader) Get(ctx context.Context, id memory.ID) (memory.Memory, error) {
	v := visitOf(ctx)
	if v == nil {
		return r.in.Get(ctx, id)
	}
	m, err := v.read(ctx, r.in, id)
	if err == nil {
		err = v.logShown(ctx, "getMemory", m)
	}
	return m, err
}

// GetAt returns for an app what was true at a time, within what it may see. Only the
// owner may see what was believed at that time, because it may have been corrected
// since.
func (r *reader) GetAt(ctx context.Context, id memory.ID, asOf, knownAt time.Time) (memory.Memory, error) {
	v := visitOf(ctx)
	if v == nil {
		return r.in.GetAt(ctx, id, asOf, knownAt)
	}
	if err := v.present(ctx, "getMemory", knownAt); err != nil {
		return memory.Memory{}, err
	}
	if _, err := v.get(ctx, r.in, id); err != nil {
		return memory.Memory{}, err
	}
	m, err := r.in.GetAt(ctx, id, asOf, time.Time{})
	if err == nil {
		m, err = v.get(ctx, r.in, m.ID)
	}
	if errors.Is(err, memory.ErrNotFound) { // nothing was true then, or something that the app may not see
		return memory.Memory{}, missing(id.String())
	}
	if err != nil {
		return memory.Memory{}, err
	}
	return m, v.logShown(ctx, "getMemory", m)
}

// present refuses an app's question about what was believed at another time.
func (v *visit) present(ctx context.Context, did string, knownAt time.Time) error {
	if err := v.can(serve.RightRead); err != nil {
		return err
	}
	if !knownAt.IsZero() {
		return v.deny(ctx, did, refused("known_at: only the owner may see what was known before a correction"))
	}
	return nil
}

func (r *reader) List(ctx context.Context, q serve.ListQuery) (serve.ListPage, error) {
	v := visitOf(ctx)
	if v == nil {
		return r.in.List(ctx, q)
	}
	if err := v.present(ctx, "listMemories", q.KnownAt); err != nil {
		return serve.ListPage{}, err
	}
	done, err := v.recalls(ctx) // for a filter, all memories may have to be read for one page
	if err != nil {
		return serve.ListPage{}, err
	}
	defer done()
	if err := v.consult(ctx, func(wide *scope) ([]memory.Memory, []memory.Utterance, error) {
		q := q
		q.Filters = wide.asked(q.Filters)
		page, err := r.in.List(ctx, q)
		return page.Memories, nil, err
	}); err != nil {
		return serve.ListPage{}, err
	}
	q.Filters = v.scope.asked(q.Filters)
	page, err := r.in.List(ctx, q)
	if err != nil {
		return serve.ListPage{}, err
	}
	page.Memories = v.onlySeen(page.Memories)
	page.Cold = 0
	return page, v.logShown(ctx, "listMemories", page.Memories...)
}

func (v *visit) onlySeen(ms []memory.Memory) []memory.Memory {
	out := []memory.Memory{}
	for i := range ms {
		if v.scope.sees(&ms[i]) {
			out = append(out, v.scope.show(ms[i]))
		}
	}
	return out
}

func (r *reader) History(ctx context.Context, id memory.ID) ([]memory.Change, error) {
	v := visitOf(ctx)
	if v == nil {
		return r.in.History(ctx, id)
	}
	m, err := v.read(ctx, r.in, id)
	if err != nil {
		return nil, err
	}
	list, err := r.in.History(ctx, id)
	if err != nil {
		return nil, err
	}
	return v.history(list, &m), v.logShown(ctx, "memoryHistory", m)
}

// Follow reports to an app changes of what it may see, or could see until then: the
// policy and the wearer's answers may change while it follows.
func (r *reader) Follow(ctx context.Context, q serve.FollowQuery) iter.Seq2[serve.Followed, error] {
	v := visitOf(ctx)
	if v == nil {
		return r.in.Follow(ctx, q)
	}
	return func(yield func(serve.Followed, error) bool) {
		err := v.can(serve.RightRead)
		if err == nil {
			err = v.book.note(ctx, v, serve.AppUse{Did: "follow"})
		}
		if err != nil {
			yield(serve.Followed{}, err)
			return
		}
		q.Sees = func(ctx context.Context) (func(*memory.Memory) bool, error) {
			s, err := v.scopeNow(ctx)
			return s.sees, err
		}
		r.in.Follow(ctx, q)(yield)
	}
}

func (v *visit) history(list []memory.Change, m *memory.Memory) []memory.Change {
	out := []memory.Change{}
	for _, c := range list {
		if c.Memory == m.ID {
			out = append(out, v.scope.change(c, m))
		}
	}
	return out
}

func (r *reader) Why(ctx context.Context, id memory.ID) (serve.Why, error) {
	v := visitOf(ctx)
	if v == nil {
		return r.in.Why(ctx, id)
	}
	m, err := v.read(ctx, r.in, id)
	if err != nil {
		return serve.Why{}, err
	}
	w, err := r.in.Why(ctx, id)
	if err != nil {
		return serve.Why{}, err
	}
	w = serve.Why{Memory: m, Verdict: w.Verdict, By: w.By, Rank: w.Rank, Evidence: slices.Clone(m.Evidence), History: v.history(w.History, &m)}
	return w, v.logShown(ctx, "memoryWhy", m)
}

// Owners counts only what the app sees.
func (r *reader) Owners(ctx context.Context, only filter.Filter) ([]serve.OwnerCount, error) {
	v := visitOf(ctx)
	if v == nil {
		return r.in.Owners(ctx, only)
	}
	if err := v.can(serve.RightRead); err != nil {
		return nil, err
	}
	done, err := v.recalls(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	list, err := r.in.Owners(ctx, v.scope.asked(only))
	if err != nil {
		return nil, err
	}
	return list, v.book.note(ctx, v, serve.AppUse{Did: "owners"})
}

func (r *reader) Categories(ctx context.Context) ([]serve.CategoryCount, error) {
	return ownersOf(ctx, r.in.Categories)
}

func (r *reader) Facts(ctx context.Context, q serve.FactsQuery) (serve.Facts, error) {
	return owners(ctx, r.in.Facts, q)
}
