package apps

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// Guard puts the book in front of services. The owner's calls pass unchanged. An app's calls are
// limited to its rights and its scope, and logged. wearer is the name of the person that "user"
// stands for in a graph.
func Guard(s serve.Services, b *Book, wearer string) serve.Services {
	all := s.Reader
	b.reader, b.exchange, b.sharer = all, s.Exchange, s.Sharer
	s.Reader = &reader{all}
	s.Eraser = &eraser{s.Writer, all}
	s.Writer = &writer{s.Writer, all}
	s.Recaller = &recaller{s.Recaller}
	s.MediaReader = &mediaReader{s.MediaReader, all}
	s.Grapher = &grapher{s.Grapher, all, wearer}
	s.Exchange = &exchange{s.Exchange, all}
	s.Buyer = &buyer{s.Buyer}
	s.Sharer = &sharer{s.Sharer}
	s.VaultAsker = &vaultAsker{s.VaultAsker}
	s.Apps = b
	return s
}

// missing returns the same error for a memory that does not exist and for one that the app may not
// see.
func missing(what string) error { return fmt.Errorf("memory %.40q: %w", what, memory.ErrNotFound) }

// resolve returns the id of a memory that the app sees. Others whose ids begin in the same way make
// no difference, because the app must not learn that they exist. An abbreviation that matches two
// memories which the app sees is treated as if it matched none.
func (v *visit) resolve(ctx context.Context, in resolver, get getter, text string) (memory.ID, error) {
	id, err := in.Resolve(ctx, text)
	if errors.Is(err, memory.ErrAmbiguous) {
		id, err = v.onlyOne(ctx, get, text)
	}
	if errors.Is(err, memory.ErrNotFound) {
		return memory.ID{}, missing(text)
	}
	if err != nil {
		return memory.ID{}, err
	}
	if _, err := v.get(ctx, get, id); errors.Is(err, memory.ErrNotFound) {
		return memory.ID{}, missing(text)
	} else if err != nil {
		return memory.ID{}, err
	}
	return id, nil
}

// maxAlike is how many ids that begin in the same way are looked at. An abbreviation has at least
// four characters, so of a million memories one or two begin in the same way.
const maxAlike = 1000

// onlyOne returns the only memory that the app sees among those whose ids begin with prefix.
func (v *visit) onlyOne(ctx context.Context, get getter, prefix string) (out memory.ID, err error) {
	var ids []memory.ID
	err = v.book.store.View(ctx, func(tx *store.Tx) (err error) {
		ids, err = tx.Alike(prefix, maxAlike)
		return err
	})
	if err != nil {
		return out, err
	}
	for _, id := range ids {
		switch _, err := v.get(ctx, get, id); {
		case errors.Is(err, memory.ErrNotFound):
		case err != nil:
			return memory.ID{}, err
		case !out.IsZero():
			return memory.ID{}, missing(prefix)
		default:
			out = id
		}
	}
	if out.IsZero() {
		return out, missing(prefix)
	}
	return out, nil
}

type resolver interface {
	Resolve(ctx context.Context, text string) (memory.ID, error)
}

type getter interface {
	Get(ctx context.Context, id memory.ID) (memory.Memory, error)
}

// get returns a memory as the app sees it, or memory.ErrNotFound if the app does not see it.
func (v *visit) get(ctx context.Context, in getter, id memory.ID) (memory.Memory, error) {
	return v.scope.get(ctx, in, id)
}

// read is get for requests that need the right to read.
func (v *visit) read(ctx context.Context, in getter, id memory.ID) (memory.Memory, error) {
	if err := v.can(serve.RightRead); err != nil {
		return memory.Memory{}, err
	}
	return v.get(ctx, in, id)
}

func (s *scope) get(ctx context.Context, in getter, id memory.ID) (memory.Memory, error) {
	m, err := in.Get(ctx, id)
	if err != nil && !errors.Is(err, memory.ErrNotFound) && !errors.Is(err, serve.ErrCold) {
		return memory.Memory{}, err
	}
	if err != nil || !s.sees(&m) {
		return memory.Memory{}, missing(id.String())
	}
	return s.show(m), nil
}

// scopeNow returns the app's scope by the policy and the wearer's answers as they are now, for a
// request that stays open: they may have changed since it began.
func (v *visit) scopeNow(ctx context.Context) (s scope, err error) {
	err = v.book.store.View(ctx, func(tx *store.Tx) error {
		rules, err := v.book.rules.Read(tx)
		s = scopeOf(&v.app.AppRequest, v.by, &rules, v.book.now())
		return err
	})
	return s, err
}

// logShown logs that the app is given memories.
func (v *visit) logShown(ctx context.Context, did string, ms ...memory.Memory) error {
	u := serve.AppUse{Did: did, Tokens: tokens(ms...)}
	for i := range ms {
		u.Shown = append(u.Shown, ms[i].ID)
	}
	return v.book.note(ctx, v, u)
}

// wrote logs what the app has written, even if the app has hung up.
func (v *visit) wrote(ctx context.Context, did string, ids ...memory.ID) error {
	sorting.Sort(ids, func(a, b memory.ID) int { return slices.Compare(a[:], b[:]) })
	return v.book.note(context.WithoutCancel(ctx), v, serve.AppUse{Did: did, Wrote: slices.Compact(ids)})
}

// deny logs a refusal, and returns its error.
func (v *visit) deny(ctx context.Context, did string, err error) error {
	return errors.Join(err, v.book.note(context.WithoutCancel(ctx), v, serve.AppUse{Did: did, Refused: reasonOf(err)}))
}

// owners calls do for the owner. It refuses apps, whatever rights the route needs.
func owners[A, T any](ctx context.Context, do func(context.Context, A) (T, error), a A) (out T, err error) {
	if visitOf(ctx) != nil {
		return out, errOwners
	}
	return do(ctx, a)
}

// ownersOf is owners for a function without an argument, and ownersBy for one with two.
func ownersOf[T any](ctx context.Context, do func(context.Context) (T, error)) (out T, err error) {
	if visitOf(ctx) != nil {
		return out, errOwners
	}
	return do(ctx)
}

func ownersBy[A, B, T any](ctx context.Context, do func(context.Context, A, B) (T, error), a A, b B) (out T, err error) {
	if visitOf(ctx) != nil {
		return out, errOwners
	}
	return do(ctx, a, b)
}

var errOwners = refused("only the owner may do this")
