package community

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

// Spaces implements given.Source: the communities, each with a stamp that changes
// whenever its stored part does.
func (c *Communities) Spaces() (map[memory.SpaceID]string, error) {
	ids, err := c.ids()
	out := map[memory.SpaceID]string{}
	for _, id := range ids {
		b, err := os.ReadFile(filepath.Join(c.folder(id), stampFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is being joined or left
		}
		if err != nil {
			return nil, fmt.Errorf("communities: %w", err)
		}
		out[id] = string(b)
	}
	return out, err
}

// Given implements given.Source: what others added to a community, as far as it is shown.
// While communities exchange with a relay the error is memory.ErrInUse, so that no search
// waits for the network.
func (c *Communities) Given(ctx context.Context, id memory.SpaceID) (g share.Given, err error) {
	if !c.mu.Try() {
		return g, fmt.Errorf("community %s: %w", id, memory.ErrInUse)
	}
	defer c.mu.give()
	g.Space, g.Community, g.By = id, true, map[memory.ID]string{}
	err = c.in(ctx, id, func(sp *space) error {
		v, said, err := sp.see(ctx)
		if err != nil {
			return err
		}
		if g.Link, err = share.ParseLink(v.Link); err != nil {
			return err
		}
		g.From, g.Opened, g.Fetched, g.Ended = v.Name, sp.record.Joined, v.Fetched, v.Ended
		items := slices.Clone(v.Items)
		for _, q := range v.Questions {
			items = append(items, q.Answers...)
		}
		for _, it := range items {
			if !it.You {
				g.By[it.ID] = it.By + " in " + v.Name
			}
		}
		now := c.now()
		for _, m := range said {
			if g.By[m.ID] != "" && (m.Expires.IsZero() || now.Before(m.Expires)) {
				m.Metadata = nil
				g.Memories = append(g.Memories, m)
			}
		}
		g.Memories = newest(g.Memories, share.MaxGiven)
		return nil
	})
	return g, err
}

// newest returns the newest memories, up to a maximum. Authors share it: the newest of
// each author come before the second of any, so that nobody crowds out the others.
func newest(ms []memory.Memory, most int) []memory.Memory {
	byTime := func(a, b memory.Memory) int { return b.Learnt.Compare(a.Learnt) }
	sorting.Stable(ms, byTime)
	if len(ms) <= most {
		return ms
	}
	rank, has := make(map[memory.ID]int, len(ms)), map[memory.MemberID]int{}
	for i := range ms {
		by := authorOf(ms[i].ID)
		rank[ms[i].ID] = has[by]
		has[by]++
	}
	sorting.Stable(ms, func(a, b memory.Memory) int { return rank[a.ID] - rank[b.ID] })
	ms = ms[:most]
	sorting.Stable(ms, byTime)
	return ms
}

// StopSearching implements given.Source. It refuses, because a community has to be left, which
// its members notice.
func (c *Communities) StopSearching(space memory.SpaceID) error {
	if _, err := os.Stat(filepath.Join(c.folder(space), genesisFile)); err != nil {
		return fmt.Errorf("community %s: %w", space, memory.ErrNotFound)
	}
	return fmt.Errorf("%w: it is a community: leave the community instead", serve.ErrConflict)
}

// Fetch implements given.Source. It does nothing, because the node maintains communities
// by itself.
func (c *Communities) Fetch(context.Context) error { return nil }
