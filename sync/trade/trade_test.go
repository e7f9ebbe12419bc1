package trade_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// An order gets random steps by random parties at random times. After each step, it must agree with
// a model that knows only money and keys.
func TestOrderModel(t *testing.T) {
	items, _ := tradetest.Bundle(t)
	l := tradetest.Listing(t, items, nil)
	id := seal.NewIdentity()
	_, order, hash := tradetest.Order(t, l, id)
	acts := []trade.Act{trade.Fund, trade.Deliver, trade.Accept, trade.Dispute, trade.Decide, trade.Cancel, trade.Expire}
	parties := []trade.Party{tradetest.Market, tradetest.Seller, tradetest.Buyer, tradetest.Arbiter, tradetest.Party(9)}
	may := []trade.Party{tradetest.Market, tradetest.Seller, tradetest.Buyer, tradetest.Buyer, tradetest.Arbiter, tradetest.Buyer, tradetest.Market} // the party that may do each of acts
	ends := map[trade.Phase]int{}
	rapid.Check(t, func(r *rapid.T) {
		at := int64(1_800_000_000)
		s, err := trade.Begin(l, order, hash, at)
		if err != nil {
			r.Fatal(err)
		}
		funded, key, refundAsked := false, false, false
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			n := rapid.IntRange(0, len(acts)-1).Draw(r, "act")
			act, by := acts[n], rapid.SampledFrom(parties).Draw(r, "by")
			if rapid.Bool().Draw(r, "may") { // otherwise hardly any order would end well
				by = may[n]
			}
			at += rapid.Int64Range(-3600, 2*24*3600).Draw(r, "later")
			_, step := tradetest.Step(t, s, act, by, func(st *trade.Step) {
				if act == trade.Decide {
					st.Refund = rapid.Uint64Range(0, 501).Draw(r, "refund")
				}
			})
			next, err := s.Apply(&step, at)
			if err != nil {
				at = max(at, s.At)
				continue
			}
			if _, err := next.Apply(&step, at); err == nil {
				r.Fatalf("%s was taken twice", act)
			}
			if s.Phase.Ended() {
				r.Fatalf("%s after %s", act, s.Phase)
			}
			s = next
			switch act {
			case trade.Fund:
				funded = true
			case trade.Deliver:
				if !funded {
					r.Fatal("a key without funding")
				}
				key = true
			case trade.Cancel, trade.Expire, trade.Decide:
				refundAsked = true
			}
			if sum := s.Held + s.Paid + s.Back; funded && sum != order.Price || !funded && sum != 0 {
				r.Fatalf("held %d, paid %d, back %d", s.Held, s.Paid, s.Back)
			}
			if s.Paid > 0 && !key && !refundAsked {
				r.Fatal("the seller was paid without a key")
			}
			if s.Phase == trade.Accepted && !key {
				r.Fatal("accepted without a key")
			}
			if s.Phase.Ended() != (s.Deadline == 0) || s.Phase.Ended() && s.Held != 0 {
				r.Fatalf("%s with deadline %d, %d held", s.Phase, s.Deadline, s.Held)
			}
		}
		if !s.Phase.Ended() { // nobody else does anything more: only the market ends it
			_, step := tradetest.Step(t, s, trade.Expire, tradetest.Market, nil)
			if _, err := s.Apply(&step, s.Deadline-1); err == nil {
				r.Fatal("expired before its time")
			}
			if s, err = s.Apply(&step, s.Deadline); err != nil || !s.Phase.Ended() {
				r.Fatalf("stuck in %s: %v", s.Phase, err)
			}
		}
		ends[s.Phase]++
	})
	for _, p := range []trade.Phase{trade.Accepted, trade.Refunded, trade.Expired} {
		if ends[p] == 0 {
			t.Errorf("no order of the test ended as %s: %v", p, ends)
		}
	}
}

// stamped makes a chain of stamped steps.
func stamped(t *testing.T, l *trade.Offer, order []byte, id trade.Hash, steps ...[]byte) *trade.Chain {
	at := int64(1_800_000_000)
	stamp, err := trade.SignStamp(id, at, tradetest.Market)
	if err != nil {
		t.Fatal(err)
	}
	c := &trade.Chain{Listing: l.Signed, Order: order, Stamp: stamp}
	for _, b := range steps {
		at++
		step, err := trade.ReadStep(b)
		if err != nil {
			t.Fatal(err)
		}
		if stamp, err = trade.SignStamp(step.Hash, at, tradetest.Market); err != nil {
			t.Fatal(err)
		}
		c.Links = append(c.Links, trade.Link{Step: b, Stamp: stamp})
	}
	return c
}

// If a market replaces the key to which the seller seals, makes a step for a party, or repeats a
// step, a replay of the chain finds it.
func TestThreatMarketForgesAnOrder(t *testing.T) {
	items, _ := tradetest.Bundle(t)
	l := tradetest.Listing(t, items, nil)
	order, o, id := tradetest.Order(t, l, seal.NewIdentity())
	s, err := trade.Begin(l, o, id, 1_800_000_000)
	if err != nil {
		t.Fatal(err)
	}
	fund, funded := tradetest.Step(t, s, trade.Fund, tradetest.Market, nil)
	s2, err := s.Apply(&funded, 1_800_000_001)
	if err != nil {
		t.Fatal(err)
	}
	if end, err := stamped(t, l, order, id, fund).Replay(); err != nil || end.Phase != trade.Funded {
		t.Fatalf("an honest chain: %v", err)
	}

	swapped := o
	swapped.Recipient = seal.NewIdentity().Recipient().String()
	forged, forgedID, err := trade.SignOrder(swapped, tradetest.Market) // it has no other key
	if err != nil {
		t.Fatal(err)
	}
	if end, err := stamped(t, l, forged, forgedID).Replay(); err == nil && end.Order.Buyer == tradetest.Buyer.Key {
		t.Error("a swapped recipient passes as the buyer's")
	}
	deliver, _ := tradetest.Step(t, s2, trade.Deliver, tradetest.Market, nil)
	if _, err := stamped(t, l, order, id, fund, deliver).Replay(); !errors.Is(err, trade.ErrParty) {
		t.Errorf("the market delivers: %v", err)
	}
	if _, err := stamped(t, l, order, id, fund, fund).Replay(); !errors.Is(err, trade.ErrChain) {
		t.Errorf("funded twice: %v", err)
	}
	if _, err := trade.ReadStep(slices.Concat(fund[:len(fund)-1], []byte{fund[len(fund)-1] ^ 1})); !errors.Is(err, trade.ErrSignature) {
		t.Errorf("a changed step: %v", err)
	}
	c := stamped(t, l, order, id, fund)
	c.Links[0].Stamp = c.Stamp
	if _, err := c.Replay(); !errors.Is(err, trade.ErrSignature) {
		t.Errorf("another's stamp: %v", err)
	}
}

// The price that a buyer signed is that of the version that the order names.
func TestThreatPriceChangedAfterQuote(t *testing.T) {
	items, _ := tradetest.Bundle(t)
	l := tradetest.Listing(t, items, nil)
	_, o, id := tradetest.Order(t, l, seal.NewIdentity())
	dearer := tradetest.Listing(t, items, func(n *trade.Listing) { n.Number, n.First, n.Prev, n.Price = 2, l.Hash, l.Hash, 900 })
	if dearer.ID() != l.ID() {
		t.Fatal("a later version has another id")
	}
	if _, err := trade.Begin(dearer, o, id, 1); !errors.Is(err, trade.ErrPrice) {
		t.Errorf("ordered at 500, listed at 900: %v", err)
	}
	o.Price = 100
	if _, err := trade.Begin(l, o, id, 1); !errors.Is(err, trade.ErrPrice) {
		t.Errorf("ordered at 100, listed at 500: %v", err)
	}
}

// The texts of a listing can't fill a page, control a terminal, hide, or look like another's name.
func TestThreatListingAsAttack(t *testing.T) {
	items, _ := tradetest.Bundle(t)
	good := tradetest.Listing(t, items, nil).Listing
	for name, change := range map[string]func(*trade.Listing){
		"a title without end":       func(l *trade.Listing) { l.Title = strings.Repeat("a", 121) },
		"a title that steers":       func(l *trade.Listing) { l.Title = "Garden\x1b[2J" },
		"two lines in a title":      func(l *trade.Listing) { l.Title = "Garden\nnotes" },
		"writing turned around":     func(l *trade.Listing) { l.Title = "Garden \u202esetoN" },
		"letters of no width":       func(l *trade.Listing) { l.Title = "Gar\u200bden" },
		"Cyrillic in a Latin word":  func(l *trade.Listing) { l.Title = "G\u0430rden notes" },
		"a pile of marks":           func(l *trade.Listing) { l.Title = "Ga" + strings.Repeat("\u0301", 6) },
		"not UTF-8":                 func(l *trade.Listing) { l.Description = "\xff\xfe" },
		"a category with a quote":   func(l *trade.Listing) { l.Categories = []string{`garden" OR 1=1`} },
		"categories without end":    func(l *trade.Listing) { l.Categories = slices.Repeat([]string{"a"}, 9) },
		"counts that do not add up": func(l *trade.Listing) { l.Counts = map[string]uint32{"semantic": 900} },
		"counts that overflow":      func(l *trade.Listing) { l.Items, l.Counts = 3, map[string]uint32{"a": 1<<32 - 1, "b": 4} },
		"a description too long":    func(l *trade.Listing) { l.Description = strings.Repeat("a", 4001) },
		"no time to look":           func(l *trade.Listing) { l.Accept = 1 },
		"no price":                  func(l *trade.Listing) { l.Price = 0 },
		"no currency":               func(l *trade.Listing) { l.Currency = "eur" },
	} {
		l := good
		change(&l)
		if _, err := trade.SignListing(l, tradetest.Seller); !errors.Is(err, trade.ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, title := range []string{"Сад и огород", "花园笔记", "Κήπος", "Café notes 2026"} {
		l := good
		l.Title = title
		if _, err := trade.SignListing(l, tradetest.Seller); err != nil {
			t.Errorf("%s: %v", title, err)
		}
	}
}

func TestMerkleRootAndPaths(t *testing.T) {
	items, _ := tradetest.Bundle(t)
	root, _, err := trade.Root(items)
	if err != nil {
		t.Fatal(err)
	}
	for i := range items {
		path, err := trade.Path(items, i)
		if err != nil {
			t.Fatal(err)
		}
		if err := trade.CheckPath(root, len(items), i, items[i], path); err != nil {
			t.Error(err)
		}
		if err := trade.CheckPath(root, len(items), i, items[(i+1)%len(items)], path); !errors.Is(err, trade.ErrRoot) {
			t.Errorf("another item at place %d: %v", i, err)
		}
		if err := trade.CheckPath(root, len(items), (i+1)%len(items), items[i], path); !errors.Is(err, trade.ErrRoot) {
			t.Errorf("item %d at another place: %v", i, err)
		}
	}
}

// FuzzRead: no input crashes a reader, and every accepted value has only one form.
func FuzzRead(f *testing.F) {
	items, _ := tradetest.Bundle(f)
	l := tradetest.Listing(f, items, nil)
	order, o, id := tradetest.Order(f, l, seal.NewIdentity())
	s, err := trade.Begin(l, o, id, 1)
	if err != nil {
		f.Fatal(err)
	}
	step, _ := tradetest.Step(f, s, trade.Fund, tradetest.Market, nil)
	for _, b := range [][]byte{l.Signed, order, step} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, err := trade.ReadListing(b); err == nil && string(o.Signed) != string(b) {
			t.Error("a listing of two forms")
		}
		if _, got, err := trade.ReadOrder(b); err == nil && string(b) == string(order) && got != id {
			t.Error("another order by the buyer's key")
		}
		if got, err := trade.ReadStep(b); err == nil && string(b) == string(step) && got.By != tradetest.Market.Key {
			t.Error("another step")
		}
	})
}
