package community

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

// begin stores a new community, and exchanges with the relay for the first time. The
// folder gets its final name when it is complete, so that a crash leaves nothing half
// done.
func (c *Communities) begin(ctx context.Context, l share.Link, name string, genesis []byte, founds bool, invite string) (v serve.CommunityView, err error) {
	dir := filepath.Join(c.root(), partly+l.Space.String())
	if err := atomicfile.MkdirAll(dir); err != nil {
		return v, fmt.Errorf("community: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if err := atomicfile.Write(filepath.Join(dir, genesisFile), genesis); err != nil {
		return v, err
	}
	sp, err := c.open(ctx, l.Space, dir, &spaceRecord{Link: l.String(), Name: name, Joined: c.now()}, founds, invite)
	if err != nil {
		return v, err
	}
	sp.changed = true
	if err = sp.sync(ctx); err == nil {
		v, _, err = sp.see(ctx)
	}
	if err = errors.Join(err, sp.close()); err != nil {
		return v, err
	}
	if err = os.Rename(dir, c.folder(l.Space)); err != nil {
		return v, err
	}
	return v, atomicfile.SyncDir(c.root())
}

// partly begins the names of folders of communities that are not complete yet, or are
// being removed.
const partly = "partly-"

// drop removes what is stored of a community.
func (c *Communities) drop(id memory.SpaceID) error {
	dir := filepath.Join(c.root(), partly+id.String())
	if err := errors.Join(os.RemoveAll(dir), os.Rename(c.folder(id), dir), atomicfile.SyncDir(c.root())); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// sweep removes what a crash left of a community that was being made or left.
func (c *Communities) sweep() error {
	entries, err := os.ReadDir(c.root())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), partly) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(c.root(), e.Name())))
		}
	}
	return err
}

// ids returns the communities that are stored here.
func (c *Communities) ids() (out []memory.SpaceID, err error) {
	entries, err := os.ReadDir(c.root())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if id, err := memory.ParseID(e.Name()); err == nil {
			out = append(out, memory.SpaceID(id))
		}
	}
	return out, err
}

// List returns the communities of this home, without asking a relay.
func (c *Communities) List(ctx context.Context) ([]serve.CommunityHead, error) {
	if err := c.mu.Take(ctx); err != nil {
		return nil, err
	}
	defer c.mu.give()
	return c.list(ctx)
}

// list leaves out communities that can't be opened, and logs that.
func (c *Communities) list(ctx context.Context) ([]serve.CommunityHead, error) {
	out := []serve.CommunityHead{}
	ids, err := c.ids()
	if err = errors.Join(err, c.sweep()); err != nil {
		return nil, err
	}
	for _, id := range ids {
		err := c.in(ctx, id, func(sp *space) error {
			v, _, err := sp.see(ctx)
			if err == nil {
				out = append(out, v.CommunityHead)
			}
			return err
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			cmp.Or(c.Reader.Log, slog.New(slog.DiscardHandler)).Warn("a community can't be opened", "community", id, "error", err)
		}
	}
	sorting.Sort(out, func(a, b serve.CommunityHead) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// find returns the community that a name, an id, or the beginning of an id means. With a
// complete id it opens none.
func (c *Communities) find(ctx context.Context, text string) (out memory.SpaceID, err error) {
	if id, err := memory.ParseID(text); err == nil {
		if _, err := os.Stat(c.folder(memory.SpaceID(id))); err == nil {
			return memory.SpaceID(id), nil
		}
	}
	list, err := c.list(ctx)
	if err != nil {
		return out, err
	}
	found := 0
	for _, v := range list {
		if v.Name == text || len(text) >= 4 && strings.HasPrefix(v.ID.String(), strings.ToLower(text)) {
			out, found = v.ID, found+1
		}
	}
	switch found {
	case 0:
		return out, fmt.Errorf("community %.40q: %w", text, memory.ErrNotFound)
	case 1:
		return out, nil
	}
	return out, fmt.Errorf("community %.40q: %w", text, memory.ErrAmbiguous)
}
