package market

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/testing/leakscan"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// shop is a seller's home with a store and a ring of its own.
type shop struct {
	*Shop
	t     *testing.T
	home  string
	ring  *keyring.Ring
	store *store.Store
	gone  map[memory.ID]bool // forgotten
	held  string             // what the policy says
	wish  *share.Preview     // what a bundle has; nil: nothing is published here
}

// openShop opens one.
func openShop(t *testing.T) *shop {
	t.Helper()
	h := &shop{t: t, home: t.TempDir(), gone: map[memory.ID]bool{}}
	var err error
	h.ring, _, err = keyring.Create(filepath.Join(h.home, "keys"), keyring.CreateOptions{KeyFile: keyring.DefaultKeyFile, FoundSpace: membership.FoundSpace("")})
	ok(t, err)
	t.Cleanup(func() { h.ring.Close() })
	h.store, err = store.Open(store.Options{Dir: filepath.Join(h.home, "store"), Key: h.ring.StoreKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Small: true, Reserve: 1})
	ok(t, err)
	t.Cleanup(func() { h.store.Close() })
	h.Shop = New(Config{Relay: func() string { return "" }, Bundler: h, Store: stored{h.store}, Ring: h.ring, Dir: filepath.Join(h.home, OfferedDir), Now: time.Now, Log: slog.New(slog.DiscardHandler), Compact: h.store.Compact})
	return h
}

// stored commits as an engine does.
type stored struct{ *store.Store }

func (s stored) Commit(ctx context.Context, fn func(*store.Tx) error) error { return s.Update(ctx, fn) }

// Bundle implements Bundler.
func (h *shop) Bundle(context.Context, *serve.ShareRequest, bool, map[string][]string) (share.Preview, []string, error) {
	if h.wish == nil {
		return share.Preview{}, nil, serve.ErrUnsupported
	}
	return *h.wish, nil, nil
}

// WithheldReason implements Bundler.
func (h *shop) WithheldReason(_ context.Context, of []memory.ID, _ bool, _, _ string) (string, error) {
	if slices.ContainsFunc(of, func(id memory.ID) bool { return h.gone[id] }) {
		return "a memory in it was forgotten", nil
	}
	return h.held, nil
}

// Forgotten implements Bundler.
func (h *shop) Forgotten(_ context.Context, of []memory.ID) ([]memory.ID, error) {
	return slices.DeleteFunc(slices.Clone(of), func(id memory.ID) bool { return !h.gone[id] }), nil
}

// LogSale implements Bundler.
func (h *shop) LogSale(context.Context, string, string, string, int, string) error { return nil }

// lists keeps a version as Publish does, and returns its listing and the bundle's key.
func (h *shop) lists(address, title string, after *trade.Offer, of memory.ID, change func(*listed)) (*trade.Offer, []byte) {
	h.t.Helper()
	by, _, err := h.party()
	ok(h.t, err)
	k, err := seal.KeyFromBytes(fmt.Appendf(nil, "bundlekey%.8x%015d", title, len(title))[:seal.KeySize]) // words that a search can find
	ok(h.t, err)
	items, err := bundle.Seal(k, []memory.Candidate{{Type: memory.Semantic, Text: title, Confidence: 1, Owner: memory.Owner{User: "shared"}}})
	ok(h.t, err)
	l := tradetest.Listing(h.t, items, nil).Listing
	l.Title, l.Seller, l.Commitment = title, by.Key, bundle.Commitment(k)
	l.Items, l.Counts = 1, map[string]uint32{"semantic": 1}
	if after != nil {
		l.Number, l.First, l.Prev = after.Number+1, after.ID(), after.Hash
	}
	o, err := trade.SignListing(l, by)
	ok(h.t, err)
	ok(h.t, h.keepOffered(address, o, items))
	kept := listed{Listing: serve.Listing{ID: o.ID(), Version: o.Hash, Number: int(l.Number), Market: address, Title: title, Created: time.Now()}, Key: bytes.Clone(k.Bytes()), Of: []memory.ID{of}, Sent: true}
	if change != nil {
		change(&kept)
	}
	ok(h.t, h.change(h.t.Context(), func(all []listed) []listed { return slices.Insert(all, 0, kept) }))
	return o, bytes.Clone(kept.Key)
}

// dig closes the home, looks for keys in everything that its keys open, and returns
// how many bundles are there.
func (h *shop) dig(keys ...[]byte) (finds []leakscan.Find, bundles int) {
	h.t.Helper()
	ok(h.t, h.store.Close())
	var needles []string
	for _, k := range keys {
		needles = append(needles, string(k))
	}
	r, err := leakscan.Home(h.t.Context(), h.home, h.ring, needles...)
	ok(h.t, err)
	ok(h.t, filepath.WalkDir(h.home, func(path string, d fs.DirEntry, err error) error {
		if filepath.Ext(path) == CARExt {
			bundles++
		}
		return err
	}))
	return r.Finds, bundles
}

// A memory is forgotten while every market is down: no version that contains it can be
// opened with what the home keeps, whether it is an old period, was never sent, was
// withdrawn while orders were open, or moved away.
func TestForgottenMemoryLeavesTheBundles(t *testing.T) {
	h := openShop(t)
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	forgotten, other := memory.ID{1}, memory.ID{2}
	period := func(l *listed) { l.Request = &serve.ListingRequest{EveryDays: 30} }
	first, k1 := h.lists(dead.URL, "The first period", nil, forgotten, period)
	_, k2 := h.lists(dead.URL, "The second period", first, other, period)
	_, k3 := h.lists(dead.URL, "Never sent", nil, forgotten, func(l *listed) { l.Sent = false })
	_, k4 := h.lists(dead.URL, "Withdrawn, with open orders", nil, forgotten, func(l *listed) { l.Withdrawn = time.Now() })
	_, k5 := h.lists(dead.URL, "For sale", nil, forgotten, nil)
	_, k6 := h.lists(dead.URL, "Moved away", nil, forgotten, func(l *listed) { l.Gone, l.Withdrawn = true, time.Now() })
	h.gone[forgotten] = true
	if _, err := h.Sales(t.Context()); err == nil {
		t.Error("no market answered, and the sales say nothing")
	}
	all, err := h.list(t.Context())
	ok(t, err)
	for _, l := range all {
		if kept := l.Title == "The second period"; kept != (len(l.Key) > 0) || kept != (len(l.Of) > 0) || l.Withdrawn.IsZero() != !(l.Number == 1 && (l.Title == "Moved away" || l.Title == "Withdrawn, with open orders")) {
			t.Errorf("%q: key %t, withdrawn %v", l.Title, len(l.Key) > 0, l.Withdrawn)
		}
	}
	finds, bundles := h.dig(k1, k3, k4, k5, k6)
	for _, f := range finds {
		t.Errorf("the home keeps a key: %s", f)
	}
	if bundles != 1 {
		t.Errorf("the home keeps %d bundles, want the second period's", bundles)
	}
	if finds, _ := h.dig(k2); len(finds) == 0 {
		t.Error("the search finds no key")
	}
}

// A version that the market never had counts as withdrawn, and one market that fails
// keeps no key of another market's listing.
func TestWithdrawalPerMarket(t *testing.T) {
	h := openShop(t)
	never := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/market/orders" {
			w.Write(trade.Encode(trade.Chains{}))
			return
		}
		http.NotFound(w, r)
	}))
	defer never.Close()
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	h.lists(never.URL, "Ended here", nil, memory.ID{1}, func(l *listed) { l.Withdrawn = time.Now() })
	ended, _ := h.lists(dead.URL, "Ended there", nil, memory.ID{2}, func(l *listed) { l.Withdrawn = time.Now() })
	h.lists(never.URL, "Never sent", nil, memory.ID{3}, func(l *listed) { l.Sent = false })
	h.gone[memory.ID{3}] = true
	if _, err := h.Sales(t.Context()); err == nil {
		t.Error("a market that does not answer is not reported")
	}
	all, err := h.list(t.Context())
	ok(t, err)
	for _, l := range all {
		if l.Withdrawn.IsZero() || (len(l.Key) > 0) != (l.Version == ended.Hash) {
			t.Errorf("%q: key %t, withdrawn %v", l.Title, len(l.Key) > 0, l.Withdrawn)
		}
		if _, err := os.Stat(offeredFile(h.c.Dir, l.Version)); (err == nil) != (l.Version == ended.Hash) {
			t.Errorf("%q: its bundle: %v", l.Title, err)
		}
	}
}

// A move that began before a memory was forgotten sends nothing any more.
func TestForgottenMemoryIsNotMoved(t *testing.T) {
	h := openShop(t)
	posted := 0
	to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			posted++
		}
		http.NotFound(w, r)
	}))
	defer to.Close()
	o, _ := h.lists("https://dead.example", "Begun", nil, memory.ID{1}, nil)
	ok(t, h.change(t.Context(), func(all []listed) []listed {
		all[0].MovedTo = &movedTo{Market: to.URL, Listing: o.Hash}
		return all
	}))
	h.gone[memory.ID{1}] = true
	moved, err := h.Move(t.Context(), serve.MarketMove{To: to.URL, Abandon: true})
	ok(t, err)
	if len(moved) != 1 || moved[0].Why == "" || posted != 0 {
		t.Errorf("%+v, and the market was sent %d requests", moved, posted)
	}
	all, err := h.list(t.Context())
	ok(t, err)
	if err := h.resend(t.Context(), &all[0]); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("sent again: %v", err)
	}
}
