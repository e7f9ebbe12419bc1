package market

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/community"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// club is a home that owns a community at a relay, and sells entry to it at its market.
type club struct {
	*oracle
	rooms *community.Communities
	id    memory.SpaceID
	door  *slamming
}

// slamming is a door that can fail after it has admitted somebody, like a home that stops at
// that point.
type slamming struct {
	Door
	slam bool
	shut bool // it fails earlier, when the payment is noted
}

func (d *slamming) Admit(ctx context.Context, id memory.SpaceID, name string, q envelope.Request, again bool, note func() error) error {
	if d.shut {
		return errors.Join(note(), errors.New("the relay is off"))
	}
	err := d.Door.Admit(ctx, id, name, q, again, note)
	if err == nil && d.slam {
		return errors.New("the power is gone")
	}
	return err
}

// newClub opens one. The clock advances by a second whenever a community asks for the time,
// so that later statements have later times.
func newClub(t *testing.T, r serve.ListingRequest) *club {
	t.Helper()
	c := &club{oracle: &oracle{shop: openShop(t), T: t}}
	c.set(time.Now().Truncate(time.Second))
	c.market, c.url, _ = aMarket(t, c.now)
	c.Shop.c.Now, c.Shop.c.Relay = c.now, func() string { return c.url }
	c.rooms = c.member(t.TempDir())
	key := seal.NewKey()
	v, err := c.rooms.FoundCommunity(t.Context(), community.Founder{Root: share.Root(key), Recovery: seal.NewIdentity().Recipient(), Relay: c.url}, serve.NewCommunity{Name: "Gardeners", As: "Mei"})
	ok(t, err)
	c.id, c.door = v.ID, &slamming{Door: c.rooms}
	c.Shop.c.Door = c.door
	c.lists(r)
	return c
}

func (c *club) member(dir string) *community.Communities {
	return &community.Communities{Reader: &share.Reader{Dir: dir, Reserve: 1, Now: func() time.Time { c.pass(time.Second); return c.now() }}}
}

// lists sells the entry, and keeps the newest version as buyers see it.
func (c *club) lists(r serve.ListingRequest) serve.Listing {
	c.Helper()
	r.Entry, r.Title, r.Categories, r.Languages = "Gardeners", "Gardeners of Lane 128", []string{"garden"}, []string{"en"}
	if r.Price == "" {
		r.Price = "5.00 EUR"
	}
	l, err := c.Publish(c.Context(), r)
	ok(c.T, err)
	_, was, err := offeredIn(c.Shop.c.Dir, l.Version)
	ok(c.T, err)
	c.offer = was.offer
	return l
}

// enters orders the entry, and pays unless told otherwise.
func (c *club) enters(b *Buyer, name string, pay bool) (o *Bought) {
	c.Helper()
	ok(c.T, b.WithMarket(c.Context(), c.url, func(m *remote.Market, by trade.Party, terms trade.Terms) (err error) {
		o, err = b.EnterQuoted(c.Context(), m, by, &terms, c.url, c.offer.Hash, trade.Price(c.offer.Price, c.offer.Currency), name)
		return err
	}))
	if pay {
		ok(c.T, b.Pay(c.Context(), o, ""))
	}
	return o
}

// phase looks up an order's phase again.
func (c *club) phase(b *Buyer, o *Bought) trade.Phase {
	c.Helper()
	ok(c.T, b.Refresh(c.Context(), o))
	return o.State.Phase
}

// has returns what a buyer may spend.
func (c *club) has(b *Buyer) (spend int64) {
	c.Helper()
	ok(c.T, b.WithMarket(c.Context(), c.url, func(m *remote.Market, _ trade.Party, _ trade.Terms) error {
		all, err := m.Balance(c.Context())
		for _, x := range all {
			spend += x.Spend
		}
		return err
	}))
	return spend
}

// earned returns what the owner has been paid.
func (c *club) earned() (minor int64) {
	c.Helper()
	ok(c.T, c.at(c.url, func(m *remote.Market, _ trade.Party) error {
		all, err := m.Balance(c.Context())
		for _, x := range all {
			minor += x.Earned
		}
		return err
	}))
	return minor
}

// members returns the names in the community, as its owner sees them.
func (c *club) members() (names []string) {
	c.Helper()
	v, err := c.rooms.Show(c.Context(), c.id.String())
	ok(c.T, err)
	for _, m := range v.Members {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}

func (c *club) are(names ...string) {
	c.Helper()
	slices.Sort(names)
	if got := c.members(); !slices.Equal(got, names) {
		c.Errorf("members %v, want %v", got, names)
	}
}
