package market

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// Subscribed is a subscription in the form in which the buyer stores it, in a file named
// by the listing's id.
type Subscribed struct {
	trade.Subscription
	Address string        `json:"address"` // of the market
	Title   string        `json:"title"`
	Last    trade.Renewal `json:"last,omitempty"` // the result of the last renewal
	Why     string        `json:"why,omitempty"`
}

const (
	subscriptionsDir = "subscriptions"
	subscribedExt    = ".json"
)

func (b *Buyer) subscribedFile(listing trade.Hash) string {
	return filepath.Join(b.Dir, subscriptionsDir, listing.String()+subscribedExt)
}

// keepSubscribed stores a subscription, inside [Buyer.deciding].
func (b *Buyer) keepSubscribed(s *Subscribed) error {
	return writeJSON(b.subscribedFile(s.Listing), s)
}

// Subscribable checks that a listing can be subscribed to with these limits;
// [Buyer.Subscribe] also does so.
func Subscribable(l *trade.Offer, most uint64, currency string, periods uint32) error {
	switch {
	case l.Period == 0:
		return fmt.Errorf("listing %s: %w: it has no periods: locket market buy buys it", l.ID(), memory.ErrInvalid)
	case l.Currency != currency:
		return fmt.Errorf("listing %s: %w: it costs %s, but you allow %s", l.ID(), memory.ErrInvalid, trade.Price(l.Price, l.Currency), currency)
	case l.Price > most:
		return fmt.Errorf("listing %s: %w: it costs %s, which is more than you allow", l.ID(), memory.ErrInvalid, trade.Price(l.Price, l.Currency))
	case periods == 0:
		return fmt.Errorf("%w: want one period at least", memory.ErrInvalid)
	}
	return nil
}

// Subscribe decides to buy each period of a listing, up to a price for each and a number
// of periods, until a time that may be zero. An earlier subscription continues with these
// limits. Nothing is bought here: [Buyer.Renew] does that.
func (b *Buyer) Subscribe(ctx context.Context, address string, l *trade.Offer, most uint64, currency string, periods uint32, until time.Time) (*Subscribed, error) {
	if err := Subscribable(l, most, currency, periods); err != nil {
		return nil, err
	}
	s := &Subscribed{Address: address, Title: l.Title, Subscription: trade.Subscription{Listing: l.ID(), Market: l.Market, Seller: l.Seller, Period: l.Period,
		Most: most, Currency: currency, Periods: periods, Since: b.now().Unix()}}
	if !until.IsZero() {
		s.Until = until.Unix()
	}
	return s, b.deciding(ctx, func() error {
		if was, err := b.subscribed(b.subscribedFile(l.ID())); err == nil {
			s.Since = was.Since
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return b.keepSubscribed(s)
	})
}

func (b *Buyer) subscribed(file string) (*Subscribed, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("subscription: %w", err)
	}
	var s Subscribed
	if err := json.Unmarshal(text, &s); err != nil || s.Period == 0 {
		return nil, fmt.Errorf("subscription %s: %w: %v", file, memory.ErrInvalid, err)
	}
	return &s, nil
}

// Subscriptions returns all subscriptions, including those that have ended. Files that
// can't be read are skipped, and the error names them.
func (b *Buyer) Subscriptions() (out []*Subscribed, err error) {
	entries, err := os.ReadDir(filepath.Join(b.Dir, subscriptionsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("subscriptions: %w", err)
	}
	var failed []error
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), subscribedExt) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		s, err := b.subscribed(filepath.Join(b.Dir, subscriptionsDir, e.Name()))
		if err != nil {
			failed = append(failed, err)
			continue
		}
		out = append(out, s)
	}
	return out, errors.Join(failed...)
}

// Unsubscribe ends a subscription: no further period is bought. What was bought stays.
func (b *Buyer) Unsubscribe(ctx context.Context, listing string) (*Subscribed, error) {
	all, err := b.Subscriptions()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s *Subscribed) bool { return !strings.HasPrefix(s.Listing.String(), strings.ToLower(listing)) })
	switch {
	case len(listing) < 8:
		return nil, fmt.Errorf("%w: listing %q: want 8 characters of its id at least", memory.ErrInvalid, listing)
	case len(all) == 0:
		return nil, fmt.Errorf("subscription to %s: %w", listing, memory.ErrNotFound)
	case len(all) > 1:
		return nil, fmt.Errorf("subscription to %s: %w", listing, memory.ErrAmbiguous)
	}
	s := all[0]
	return s, b.deciding(ctx, func() error {
		if err := b.decided(s); err != nil {
			return err
		}
		if s.Ended == 0 {
			s.Ended = b.now().Unix()
		}
		s.Last, s.Why = trade.End, "you ended it"
		return b.keepSubscribed(s)
	})
}

// Renew checks each subscription once, and orders and pays what is due from the buyer's
// balance at the market. If one fails, it continues with the others.
func (b *Buyer) Renew(ctx context.Context) (out []*Subscribed, err error) {
	out, unread := b.Subscriptions()
	if len(out) == 0 {
		return out, unread
	}
	orders, err := b.Orders()
	failed := []error{unread, err}
	listings := make(map[string]trade.Hash, len(orders))
	for _, o := range orders {
		listings[b.file(o.State.ID)] = o.State.Offer.ID()
	}
	for _, s := range out {
		if s.Ended > 0 || ctx.Err() != nil {
			continue
		}
		within, cancel := context.WithTimeout(ctx, cmp.Or(b.Patience, patience))
		err := b.renew(within, s, listings)
		cancel()
		if err != nil {
			if ctx.Err() != nil {
				break // it was cut off, which says nothing about the subscription
			}
			s.Why = err.Error()
			failed = append(failed, fmt.Errorf("subscription to %q: %w", s.Title, err))
		}
		failed = append(failed, b.keepChecked(ctx, s))
	}
	return out, errors.Join(append(failed, ctx.Err())...)
}

// keepChecked stores the result of checking a subscription. What another process decided
// meanwhile stays.
func (b *Buyer) keepChecked(ctx context.Context, s *Subscribed) error {
	return b.deciding(ctx, func() error {
		if err := b.decided(s); err != nil || s.Ended > 0 {
			return err
		}
		if s.Last == trade.End {
			s.Ended = b.now().Unix() // no market is asked any more
		}
		return b.keepSubscribed(s)
	})
}

// decided reads the limits of a subscription again, and whether it was ended.
func (b *Buyer) decided(s *Subscribed) error {
	now, err := b.subscribed(b.subscribedFile(s.Listing))
	if err == nil {
		s.Subscription = now.Subscription
	}
	return err
}

// deciding calls f while no other process writes a subscription.
func (b *Buyer) deciding(ctx context.Context, f func() error) error {
	if err := atomicfile.MkdirAll(filepath.Join(b.Dir, subscriptionsDir)); err != nil {
		return err
	}
	return b.locked(ctx, filepath.Join(b.Dir, subscriptionsDir, ".lock"), f)
}

// renew renews one subscription. listings has the listing of each order that was read
// before, by the order's file. Orders are read as they are once nobody else is renewing
// this subscription.
func (b *Buyer) renew(ctx context.Context, s *Subscribed, listings map[string]trade.Hash) error {
	return b.WithMarket(ctx, s.Address, func(m *remote.Market, by trade.Party, terms trade.Terms) error {
		lock := filepath.Join(b.Dir, subscriptionsDir, "."+s.Listing.String()+".lock")
		return b.locked(ctx, lock, func() error {
			mine, lost, err := b.ordersOf(s.Listing, listings)
			if err != nil {
				return err
			}
			return b.renewAlone(ctx, m, by, terms.Market, s, mine, lost)
		})
	})
}

// ordersOf reads the orders of a listing, and skips those that belong to another one
// according to listings. lost is how many can't be read.
func (b *Buyer) ordersOf(listing trade.Hash, listings map[string]trade.Hash) (of []*Bought, lost uint32, err error) {
	files, err := b.files()
	for _, f := range files {
		if known, ok := listings[f]; ok && known != listing {
			continue
		}
		o, err := Read(f)
		if err != nil {
			lost++
		} else if o.State.Offer.ID() == listing {
			of = append(of, o)
		}
	}
	return of, lost, err
}

// renewAlone renews one subscription. The caller makes sure that nobody else does so now.
// mine are the orders of its listing. lost is how many orders can't be read; they count as
// paid orders of this listing.
func (b *Buyer) renewAlone(ctx context.Context, m *remote.Market, by trade.Party, market trade.Key, s *Subscribed, mine []*Bought, lost uint32) error {
	shown, newest, err := m.Show(ctx, s.Listing)
	if err != nil {
		return err
	}
	if shown.State != trade.Live || market != s.Market {
		s.Last, s.Why = trade.Lapse, "the listing is "+shown.State
		return nil
	}
	for _, o := range mine {
		if o.State.Phase == trade.Ordered { // the answer to a payment may have been lost
			if err := b.refresh(ctx, m, o); err != nil {
				return err
			}
		}
	}
	if err := b.decided(s); err != nil {
		return err
	}
	now := b.now().Unix()
	s.Last, s.Why = s.Next(newest, statesOf(mine), now)
	if least := s.Subscription; s.Last == trade.Buy || s.Last == trade.Settle {
		least.Periods -= min(lost, least.Periods)
		if next, _ := least.Next(newest, statesOf(mine), now); next == trade.End {
			s.Last = trade.Wait
			return fmt.Errorf("%w: %d orders can't be read, and may be the last periods of it", memory.ErrInvalid, lost)
		}
	}
	if s.Last == trade.Buy {
		o, err := b.place(ctx, m, by, s.Address, newest, trade.Order{Nonce: s.nonce(newest, by.Key), Created: newest.Created})
		if err != nil {
			return err
		}
		s.Last, mine = trade.Settle, append(mine, o)
	}
	if s.Last != trade.Settle {
		return nil
	}
	return b.settle(ctx, m, s, newest, mine)
}

// settle pays the order of the newest period. It does not if another process has meanwhile
// paid it or decided otherwise, or if an earlier run paid it whose order file was lost.
func (b *Buyer) settle(ctx context.Context, m *remote.Market, s *Subscribed, newest *trade.Offer, mine []*Bought) error {
	o := mine[slices.IndexFunc(mine, func(o *Bought) bool { return o.State.Offer.Hash == newest.Hash })]
	return b.movingLocked(ctx, o, func() error {
		if err := b.decided(s); err != nil {
			return err
		}
		if s.Last, s.Why = s.Next(newest, statesOf(mine), b.now().Unix()); s.Last != trade.Settle {
			return nil
		}
		if err := b.pay(ctx, m, o, ""); err != nil {
			return fmt.Errorf("order %s is not paid (locket market deposit): %w", o.State.ID.String()[:10], err)
		}
		s.Last, s.Why = trade.Wait, "this period is paid"
		return nil
	})
}

func statesOf(orders []*Bought) []*trade.State {
	out := make([]*trade.State, len(orders))
	for i, o := range orders {
		out[i] = o.State
	}
	return out
}

// nonce returns a value that is the same for the same period, so that an interrupted
// renewal does not order twice. It is not secret.
func (s *Subscribed) nonce(l *trade.Offer, by trade.Key) (n [16]byte) {
	h := sha256.New()
	h.Write([]byte("locket/v1 subscription"))
	h.Write(l.Hash[:])
	h.Write(by[:])
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(s.Since)))
	copy(n[:], h.Sum(nil))
	return n
}
