package market

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/trade"
)

// quietExt marks an order whose bundle the wearer does not want to search. The file
// beside the order's is empty.
const quietExt = ".quiet"

// spaceOf returns the id of a bundle in searches: the beginning of its order's id.
func spaceOf(order trade.Hash) memory.SpaceID { return memory.SpaceID(order[:16]) }

// orders returns the files of all orders, by the ids of their bundles.
func (b *Buyer) orders() (map[memory.SpaceID]string, error) {
	files, err := b.files()
	out := make(map[memory.SpaceID]string, len(files))
	for _, f := range files {
		var id trade.Hash
		if id.UnmarshalText([]byte(strings.TrimSuffix(filepath.Base(f), boughtExt))) == nil {
			out[spaceOf(id)] = f
		}
	}
	return out, err
}

func quietOf(file string) string { return strings.TrimSuffix(file, boughtExt) + quietExt }

// Spaces returns the bundles that may be searched, each with a stamp that changes when
// its order's file does.
func (b *Buyer) Spaces() (map[memory.SpaceID]string, error) {
	files, err := b.orders()
	if err != nil {
		return nil, err
	}
	out := make(map[memory.SpaceID]string, len(files))
	for space, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return nil, fmt.Errorf("orders: %w", err)
		}
		if _, err := os.Stat(quietOf(f)); err == nil {
			continue
		}
		out[space] = fmt.Sprintf("%d %d", info.ModTime().UnixNano(), info.Size())
	}
	return out, nil
}

// Given opens a bundle for searches. It has no memories before the key was delivered,
// while it is disputed, and once the whole price was refunded. The link of a community
// is not a memory.
func (b *Buyer) Given(_ context.Context, space memory.SpaceID) (g share.Given, err error) {
	files, err := b.orders()
	if err != nil {
		return g, err
	}
	o, err := Read(files[space])
	if err != nil {
		return g, err
	}
	s := o.State
	g = share.Given{Space: space, Order: s.ID.String(), Title: s.Offer.Title, From: "seller " + s.Offer.Seller.String()[:8], Opened: time.Unix(s.At, 0).UTC(), Link: share.Link{Relay: o.Market}}
	if s.Phase != trade.Delivered && s.Phase != trade.Accepted && s.Phase != trade.Settled || !o.IsComplete() || s.Offer.Entry {
		return g, nil
	}
	items, err := b.Open(o)
	if err != nil {
		return g, err
	}
	lapses := true
	for i, c := range items {
		m := memory.Memory{Candidate: c, State: memory.Active, Learnt: g.Opened}
		binary.BigEndian.PutUint32(m.ID[:], uint32(i)+1)
		g.Memories = append(g.Memories, m)
		lapses = lapses && !c.Expires.IsZero()
		if c.Expires.After(g.Until) {
			g.Until = c.Expires
		}
	}
	if !lapses {
		g.Until = time.Time{}
	}
	return g, nil
}

// StopSearching stops searching a bundle. The buyer can still open it.
func (b *Buyer) StopSearching(space memory.SpaceID) error {
	files, err := b.orders()
	if err != nil {
		return err
	}
	f := files[space]
	if f == "" {
		return fmt.Errorf("bundle %s: %w", space, memory.ErrNotFound)
	}
	return atomicfile.Write(quietOf(f), nil)
}

// ResumeSearching makes a bundle be searched again after [Buyer.StopSearching].
func (b *Buyer) ResumeSearching(o *Bought) error {
	if err := os.Remove(quietOf(b.file(o.State.ID))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("order %s: %w", o.State.ID, err)
	}
	return nil
}

// Fetch asks the markets for the state of the orders that have not ended, fetches what
// was delivered, and renews subscriptions. If one fails, the others are still processed.
func (b *Buyer) Fetch(ctx context.Context) error {
	list, err := b.Orders()
	failed := []error{err}
	late := map[string]bool{}
	for _, o := range list {
		if !o.State.Phase.Ended() && !late[o.Market] {
			within, cancel := context.WithTimeout(ctx, cmp.Or(b.Patience, patience))
			failed = append(failed, b.Refresh(within, o))
			late[o.Market] = within.Err() != nil
			cancel()
		}
	}
	_, err = b.Renew(ctx)
	return cmp.Or(ctx.Err(), errors.Join(append(failed, err)...))
}
