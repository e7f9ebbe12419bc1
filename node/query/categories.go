package query

import (
	"cmp"
	"context"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Categories implements serve.Reader.
func (rd Reader) Categories(ctx context.Context) (out []serve.CategoryCount, err error) {
	counts := map[string]int{}
	err = opened.View(ctx, rd.of, func(qr *Query, tx *store.Tx) error {
		return qr.overview.look(ctx, tx, func() error {
			for l := range qr.overview.active("") {
				for _, c := range l.categories {
					counts[c]++
				}
			}
			for _, name := range qr.c.Sorter.Names() {
				out = append(out, serve.CategoryCount{Name: name, Memories: counts[name]})
			}
			return nil
		})
	})
	return out, err
}

// Facts implements serve.Reader.
func (rd Reader) Facts(ctx context.Context, q serve.FactsQuery) (out serve.Facts, err error) {
	categories, slots := map[string]int{}, map[*memory.Slot]int{} // the outlines share the slots
	out.Categories = []serve.CategoryCount{}
	err = opened.View(ctx, rd.of, func(qr *Query, tx *store.Tx) error {
		return qr.overview.look(ctx, tx, func() error {
			for l := range qr.overview.active(memory.Semantic) {
				for _, c := range l.categories {
					categories[c]++
				}
				switch {
				case q.Category != "" && !slices.Contains(l.categories, q.Category):
				case l.slot == nil:
					out.Loose++
				default:
					slots[l.slot]++
				}
			}
			for _, name := range qr.c.Sorter.Names() {
				if n := categories[name]; n > 0 {
					out.Categories = append(out.Categories, serve.CategoryCount{Name: name, Memories: n})
				}
			}
			return nil
		})
	})
	out.Slots = make([]serve.FactSlot, 0, len(slots))
	for s, n := range slots {
		out.Slots = append(out.Slots, serve.FactSlot{Subject: s.Subject, Attribute: s.Attribute, Memories: n})
	}
	sorting.Sort(out.Slots, func(a, b serve.FactSlot) int {
		return cmp.Or(cmp.Compare(othersAfter(a.Subject), othersAfter(b.Subject)), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Attribute, b.Attribute))
	})
	if limit := cmp.Or(q.Limit, serve.DefaultSlots); len(out.Slots) > limit {
		out.Slots, out.More = out.Slots[:limit], true
	}
	return out, err
}

// othersAfter is 0 for the wearer's own slots, which come first.
func othersAfter(subject string) int {
	if subject == "user" {
		return 0
	}
	return 1
}
