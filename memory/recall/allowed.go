package recall

import (
	"context"

	"github.com/locket-dev/locket/memory"
)

// firstAsked is for how many documents Allow is called first, if Glance is not sure. After that, it
// is called for more and more of them.
const firstAsked = 256

// asking collects the documents for which it is not known whether they are allowed.
type asking struct {
	glance func(About) (ok, sure bool)
	known  map[memory.ID]bool
	open   []About
	most   int
}

func (a *asking) allows(d About) bool {
	if ok, sure := a.glance(d); sure {
		return ok
	}
	ok, known := a.known[d.ID]
	if !known && len(a.open) < a.most {
		a.known[d.ID] = false // until Allow is asked
		a.open = append(a.open, d)
	}
	return ok
}

// searchAllowed is search for a query whose Allow reads the store. Allow may read thousands of
// documents, and nothing could be remembered meanwhile if the index were locked. So each search
// notes which documents have to be read, and is repeated after they were read, until it notes none.
func (x *Index) searchAllowed(ctx context.Context, q Query, w *Weights, near denseAnswer) (Result, error) {
	if q.Allow == nil || q.Glance == nil {
		return x.search(q, w, near, nil)
	}
	allow, a := q.Allow, asking{glance: q.Glance, known: map[memory.ID]bool{}, most: firstAsked}
	q.Allow = a.allows
	for {
		out, err := x.search(q, w, near, &a)
		if err != nil || len(a.open) == 0 {
			return out, err
		}
		for _, d := range a.open {
			if err := ctx.Err(); err != nil {
				return Result{}, err
			}
			a.known[d.ID] = allow(d)
		}
		a.open, a.most = a.open[:0], 4*a.most
	}
}
