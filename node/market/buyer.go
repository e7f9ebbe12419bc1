package market

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
)

var (
	// ErrOtherMarket: another key answers at the address than at the first time.
	ErrOtherMarket = errors.New("a different market answers at this address now")
	// ErrNotDelivered: the seller has not delivered the key yet.
	ErrNotDelivered = errors.New("the seller has not delivered the key yet")
)

// Buyer buys with a reader's key: a folder holds the key, and what was bought. No node is
// needed. It is safe for concurrent use, even by several processes.
type Buyer struct {
	Dir  string       // of the reader, see [share.Reader]
	HTTP *http.Client // nil: the usual
	Now  func() time.Time
	// Patience is how long one order, or the subscription of one listing, may take to be refreshed; 0: 5 min.
	Patience time.Duration
}

// patience is how long a market may take, so that it does not hold up the others: for an order of
// a buyer, and for all orders of a seller. What it has not answered by then waits for the next time.
const patience = 5 * time.Minute

// Files of a buyer's folder.
const (
	readerFile  = "reader.key" // the same as in share.Reader
	ordersDir   = "orders"
	marketsFile = "markets.json" // the key of each market, by address
	boughtExt   = ".bought"
)

// Bought is an order in the form in which the buyer stores it. Its file has everything
// that is needed to open the bundle with the reader's key, without any market. Its
// content of the bundle is sealed.
type Bought struct {
	Market string // address
	Chain  trade.Chain
	Items  [][]byte // none before the key was delivered
	State  *trade.State

	Reviewed bool // a review of it is stored beside its file
}

// FORMAT of a .bought file: canonical CBOR array of version (1), address, chain and
// items.
type boughtFile struct {
	_       struct{} `cbor:",toarray"`
	Version uint
	Market  string
	Chain   trade.Chain
	Items   [][]byte
}

// maxBought is the maximum size of a .bought file, in bytes.
const maxBought = trade.MaxChain + trade.MaxAnswer

func (b *Buyer) now() time.Time {
	if b.Now != nil {
		return b.Now()
	}
	return time.Now()
}

func (b *Buyer) keys() (*keyring.Device, error) {
	if err := atomicfile.MkdirAll(filepath.Join(b.Dir, ordersDir)); err != nil {
		return nil, fmt.Errorf("buyer's key: %w", err)
	}
	return keyring.ReaderKey(filepath.Join(b.Dir, readerFile))
}

// WithMarket calls f with a market and the buyer's key. The market's key is recorded the first
// time; another key at the same address is [ErrOtherMarket].
func (b *Buyer) WithMarket(ctx context.Context, address string, f func(m *remote.Market, by trade.Party, terms trade.Terms) error) error {
	d, err := b.keys()
	if err != nil {
		return err
	}
	defer d.Zero()
	r, err := remote.New(address, remote.Option{HTTP: b.HTTP, Now: b.Now})
	if err != nil {
		return fmt.Errorf("%w: %w", memory.ErrInvalid, err)
	}
	defer r.Close()
	by := trade.Party{Key: trade.KeyOf(d.Key()), Sign: d.Sign}
	m := r.Market(by.Key, d.SignRequest)
	terms, err := m.Terms(ctx)
	if err != nil {
		return err
	}
	if err := b.pin(ctx, r.Address(), terms.Market); err != nil {
		return err
	}
	return f(m, by, terms)
}

// pin records the key of the market at an address, or compares it with the recorded one.
func (b *Buyer) pin(ctx context.Context, address string, key trade.Key) error {
	return b.locked(ctx, filepath.Join(b.Dir, "."+marketsFile+".lock"), func() error { return b.pinLocked(address, key) })
}

func (b *Buyer) pinLocked(address string, key trade.Key) error {
	file := filepath.Join(b.Dir, marketsFile)
	known, err := b.known()
	if err != nil {
		return err
	}
	if was, ok := known[address]; ok {
		if was != key {
			return fmt.Errorf("%w: %s had the key %s before, and shows %s now. If its operator confirms the new key, remove the old one from %s", ErrOtherMarket, address, was, key, file)
		}
		return nil
	}
	known[address] = key
	return writeJSON(file, known)
}

// writeJSON replaces a file. It creates its folder if that doesn't exist.
func writeJSON(file string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = atomicfile.MkdirAll(filepath.Dir(file))
	}
	if err == nil {
		err = atomicfile.Write(file, raw)
	}
	return err
}

// Order orders a version of a listing. Nothing is owed before it is paid.
func (b *Buyer) Order(ctx context.Context, m *remote.Market, by trade.Party, address string, l *trade.Offer) (*Bought, error) {
	var nonce [16]byte
	rand.Read(nonce[:])
	return b.place(ctx, m, by, address, l, trade.Order{Nonce: nonce, Created: b.now().Unix()})
}

// place places an order. If nothing is asked, the same nonce and time again are the same
// order.
func (b *Buyer) place(ctx context.Context, m *remote.Market, by trade.Party, address string, l *trade.Offer, o trade.Order) (*Bought, error) {
	d, err := b.keys()
	if err != nil {
		return nil, err
	}
	defer d.Zero()
	o.Market, o.Listing, o.Price, o.Currency = l.Market, l.Hash, l.Price, l.Currency
	id := d.OrderIdentity(o.Nonce)
	defer id.Zero()
	o.Recipient = id.Recipient().String()
	signed, _, err := trade.SignOrder(o, by)
	if err != nil {
		return nil, err
	}
	c, s, err := m.Order(ctx, signed)
	if err != nil {
		return nil, err
	}
	got := &Bought{Market: address, Chain: *c, State: s}
	return got, b.save(ctx, got)
}

func (b *Buyer) file(id trade.Hash) string {
	return filepath.Join(b.Dir, ordersDir, id.String()+boughtExt)
}

// save writes an order's file, unless another request or another process has made
// progress with it since: then o becomes what the file contains.
func (b *Buyer) save(ctx context.Context, o *Bought) error {
	return b.locked(ctx, filepath.Join(b.Dir, ordersDir, ".lock"), func() error {
		file := b.file(o.State.ID)
		was, err := Read(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return o.Save(file)
		case err != nil:
			return err
		case !o.Chain.Extends(&was.Chain) && !was.Chain.Extends(&o.Chain):
			return fmt.Errorf("order %s: %w: the market shows another history than before; the one before is kept in %s", o.State.ID, remote.ErrAnswer, file)
		}
		if len(o.Items) == 0 {
			o.Items = was.Items
		}
		if !o.Chain.Extends(&was.Chain) {
			o.Chain, o.State = was.Chain, was.State
			if len(was.Items) > 0 || len(o.Items) == 0 {
				return nil
			}
		}
		return o.Save(file)
	})
}

// Read reads a .bought file, and checks all signatures in it.
func Read(file string) (*Bought, error) {
	text, err := readSmall(file)
	if err != nil {
		return nil, err
	}
	var f boughtFile
	if err := trade.Decode(text, &f, maxBought); err != nil {
		return nil, fmt.Errorf("order %s: %w: %w", file, memory.ErrInvalid, err)
	}
	if f.Version != 1 {
		return nil, fmt.Errorf("order %s: %w: version %d", file, memory.ErrInvalid, f.Version)
	}
	s, err := f.Chain.Replay()
	if err != nil {
		return nil, fmt.Errorf("order %s: %w: %w", file, memory.ErrInvalid, err)
	}
	_, err = os.Stat(reviewOf(file))
	return &Bought{Market: f.Market, Chain: f.Chain, Items: f.Items, State: s, Reviewed: err == nil}, nil
}

// Find returns the one order that an id, the beginning of an id, or a file names.
func (b *Buyer) Find(name string) (*Bought, error) {
	switch {
	case strings.HasSuffix(name, boughtExt):
		return Read(name)
	case strings.HasSuffix(name, CARExt):
		return openCAR(name)
	}
	all, err := b.files()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(f string) bool { return !strings.HasPrefix(filepath.Base(f), strings.ToLower(name)) })
	switch {
	case len(name) < 8:
		return nil, fmt.Errorf("%w: order %q: want at least 8 characters of its id, or a file %s", memory.ErrInvalid, name, boughtExt)
	case len(all) == 0:
		return nil, fmt.Errorf("order %s: %w", name, memory.ErrNotFound)
	case len(all) > 1:
		return nil, fmt.Errorf("order %s: %w", name, memory.ErrAmbiguous)
	}
	return Read(all[0])
}

func (b *Buyer) files() (out []string, err error) {
	entries, err := os.ReadDir(filepath.Join(b.Dir, ordersDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("orders: %w", err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), boughtExt) && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, filepath.Join(b.Dir, ordersDir, e.Name()))
		}
	}
	return out, nil
}

// Orders returns all orders that are stored here, the one with the latest step first.
// Files that can't be read are skipped, and the error names them.
func (b *Buyer) Orders() (out []*Bought, err error) {
	files, err := b.files()
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, f := range files {
		o, err := Read(f)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b *Bought) int { return cmp.Compare(b.State.At, a.State.At) })
	return out, errors.Join(failed...)
}

// Refresh asks the market for the state of an order, and fetches the bundle if the key
// was delivered. The chain that the market returns must continue the stored one.
func (b *Buyer) Refresh(ctx context.Context, o *Bought) error {
	return b.WithMarket(ctx, o.Market, func(m *remote.Market, _ trade.Party, _ trade.Terms) error { return b.refresh(ctx, m, o) })
}

func (b *Buyer) refresh(ctx context.Context, m *remote.Market, o *Bought) error {
	c, s, err := m.Get(ctx, o.State.ID)
	if errors.Is(err, remote.ErrNotFound) && o.State.Phase == trade.Ordered && b.now().Unix() >= o.State.At+trade.KeepUnpaid {
		return nil // it expired unpaid
	}
	if err != nil {
		return err
	}
	return b.moved(ctx, m, o, c, s)
}

// moved stores the state of an order.
func (b *Buyer) moved(ctx context.Context, m *remote.Market, o *Bought, c *trade.Chain, s *trade.State) error {
	if s.ID != o.State.ID || !c.Extends(&o.Chain) {
		return fmt.Errorf("order %s: %w: the market shows another history than before; the one before is kept in %s", o.State.ID, remote.ErrAnswer, b.file(o.State.ID))
	}
	o.Chain, o.State = *c, s
	if len(s.Wrapped) > 0 && !o.IsComplete() {
		items, err := m.Bundle(ctx, s)
		if err != nil {
			return errors.Join(err, b.save(ctx, o))
		}
		o.Items = items
	}
	return b.save(ctx, o)
}

// Pay pays an order. If another process has paid it meanwhile, the voucher is not used.
func (b *Buyer) Pay(ctx context.Context, o *Bought, voucher string) error {
	return b.movingLocked(ctx, o, func() error {
		if o.State.Phase.Paid() {
			return nil
		}
		return b.WithMarket(ctx, o.Market, func(m *remote.Market, _ trade.Party, _ trade.Terms) error { return b.pay(ctx, m, o, voucher) })
	})
}

// pay is Pay, inside [Buyer.moving].
func (b *Buyer) pay(ctx context.Context, m *remote.Market, o *Bought, voucher string) error {
	c, s, err := m.Pay(ctx, o.State.ID, trade.Payment{Voucher: voucher})
	if err != nil {
		return err
	}
	return b.moved(ctx, m, o, c, s)
}

// Checkout returns the page on which an order is paid by card or, if how is "x402", the
// address at which an agent pays it.
func (b *Buyer) Checkout(ctx context.Context, o *Bought, how string) (c trade.Checkout, err error) {
	err = b.WithMarket(ctx, o.Market, func(m *remote.Market, _ trade.Party, _ trade.Terms) error {
		c, err = m.Checkout(ctx, o.State.ID, how)
		return err
	})
	return c, err
}

// key opens what was delivered with an order.
func (b *Buyer) key(o *Bought) (*bundle.Keys, *seal.Identity, error) {
	id, err := b.identity(o)
	if err != nil {
		return nil, nil, err
	}
	k, err := bundle.Unwrap(id, o.State)
	return k, id, err
}

// Open checks the items against the listing, and opens them; for an answer these are the
// items that it shows. It asks nobody. An error that is a *bundle.BadItem, bundle.ErrKey,
// bundle.ErrReply or trade.ErrRoot is a reason for a dispute.
func (b *Buyer) Open(o *Bought) ([]memory.Candidate, error) {
	if o.State.Order.Question != nil {
		r, err := b.Answer(o)
		return r.Items, err
	}
	k, id, err := b.key(o)
	defer id.Zero()
	if err != nil {
		return nil, err
	}
	defer k.Zero()
	if len(o.Items) == 0 {
		return nil, fmt.Errorf("order %s: %w: the bundle was not fetched", o.State.ID, ErrNotDelivered)
	}
	return bundle.Open(&o.State.Offer.Listing, k, o.Items)
}

// Save writes an order into a file.
func (o *Bought) Save(file string) error {
	return atomicfile.Write(file, trade.Encode(boughtFile{Version: 1, Market: o.Market, Chain: o.Chain, Items: o.Items}))
}
