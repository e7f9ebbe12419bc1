package market

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/canonical"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/car"
)

// CARExt is the file name extension of a bundle's CAR file.
const CARExt = ".car"

// OfferedDir is the folder of a home with the sealed items of what it sells, with a CAR
// file for each version of a listing, named by its hash.
const OfferedDir = "offered"

// ErrNotKept: the sealed items are not in this home.
var ErrNotKept = errors.New("this home has not kept the sealed items of the bundle")

// carRoot is the root of a bundle's CAR file. FORMAT: DAG-CBOR of these fields.
//
//	items    links of the sealed items (raw), in their places
//	order    link of the order's chain (DAG-CBOR); missing: it is offered, not bought
//	market   address of the market
//	listing  link of the signed listing (DAG-CBOR)
//	version  1
type carRoot struct {
	Items   []car.CID `cbor:"items"`
	Order   *car.CID  `cbor:"order,omitempty"`
	Market  string    `cbor:"market"`
	Listing car.CID   `cbor:"listing"`
	Version uint      `cbor:"version"`
}

// carOf writes a bundle. chain may be nil.
func carOf(address string, listing []byte, chain *trade.Chain, items [][]byte) []byte {
	l := car.New(car.DagCBOR, listing)
	root, blocks := carRoot{Market: address, Listing: l.CID, Version: 1}, []car.Block{l}
	if chain != nil {
		b := car.New(car.DagCBOR, trade.Encode(chain))
		root.Order, blocks = &b.CID, append(blocks, b)
	}
	for _, item := range items {
		b := car.New(car.Raw, item)
		root.Items, blocks = append(root.Items, b.CID), append(blocks, b)
	}
	return car.Encode(car.New(car.DagCBOR, trade.Encode(root)), blocks)
}

// carried is the checked content of a bundle's CAR file.
type carried struct {
	market string
	offer  *trade.Offer
	chain  *trade.Chain // nil: it was not bought
	state  *trade.State
	items  [][]byte // of what was listed
}

func readCAR(b []byte) (c carried, err error) {
	f, err := car.Decode(b)
	if err != nil {
		return c, err
	}
	root, err := f.Get(f.Root)
	if err != nil {
		return c, err
	}
	var r carRoot
	if err := canonical.Linked.Unmarshal(root, &r); err != nil || r.Version != 1 || string(trade.Encode(r)) != string(root) {
		return c, fmt.Errorf("%w: its root is not that of a bundle", car.ErrForm)
	}
	c.market = r.Market
	listing, err := f.Get(r.Listing)
	if err == nil {
		c.offer, err = trade.ReadListing(listing)
	}
	if err != nil {
		return c, err
	}
	for _, id := range r.Items {
		item, err := f.Get(id)
		if err != nil {
			return c, err
		}
		c.items = append(c.items, item)
	}
	if r.Order != nil {
		text, err := f.Get(*r.Order)
		if err != nil {
			return c, err
		}
		c.chain = &trade.Chain{}
		if err := trade.Decode(text, c.chain, trade.MaxChain); err != nil {
			return c, err
		}
		if c.state, err = c.chain.Replay(); err != nil {
			return c, err
		}
		if c.state.Offer.Hash != c.offer.Hash {
			return c, fmt.Errorf("%w: its order is of another listing", car.ErrForm)
		}
	}
	return c, trade.CheckItems(&c.offer.Listing, c.items)
}

// openCAR reads what was bought from a CAR file, and checks all signatures in it and
// each item. If the file's content is only offered, and was not bought, the error is
// memory.ErrInvalid.
func openCAR(file string) (*Bought, error) {
	b, err := readSmall(file)
	if err != nil {
		return nil, err
	}
	c, err := readCAR(b)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %w", file, memory.ErrInvalid, err)
	case c.state == nil:
		return nil, fmt.Errorf("%s: %w: it has an offer, but no order", file, memory.ErrInvalid)
	}
	return &Bought{Market: c.market, Chain: *c.chain, Items: c.items, State: c.state}, nil
}

// car returns what was bought as a CAR file: the sealed items, the listing and the
// order's chain, each in its own block. Before the bundle was fetched the error is
// [ErrNotDelivered].
func (o *Bought) car() ([]byte, error) {
	if o.State.Order.Question != nil {
		return nil, fmt.Errorf("order %s: %w: an answer was bought, and no bundle that a file could have: locket market open shows it", o.State.ID, memory.ErrInvalid)
	}
	if len(o.Items) == 0 {
		return nil, fmt.Errorf("order %s: %w: the bundle was not fetched", o.State.ID, ErrNotDelivered)
	}
	return carOf(o.Market, o.Chain.Listing, &o.Chain, o.Items), nil
}

// SaveCAR writes the result of Bought.car to a file.
func (o *Bought) SaveCAR(file string) error {
	b, err := o.car()
	if err == nil {
		err = atomicfile.Write(file, b)
	}
	return err
}

// ReadOffered returns the CAR file of a version that this home offers, checked.
func ReadOffered(home string, version trade.Hash) ([]byte, error) {
	b, _, err := offeredIn(filepath.Join(home, OfferedDir), version)
	return b, err
}

func offeredFile(dir string, version trade.Hash) string {
	return filepath.Join(dir, version.String()+CARExt)
}

func offeredIn(dir string, version trade.Hash) (b []byte, c carried, err error) {
	file := offeredFile(dir, version)
	b, err = readSmall(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, c, fmt.Errorf("listing of version %s: %w: it was listed by an older program. The next version (--replaces) is kept", version, ErrNotKept)
	}
	if err == nil {
		c, err = readCAR(b)
	}
	if err == nil && c.offer.Hash != version {
		err = fmt.Errorf("%w: it holds another listing", car.ErrForm)
	}
	if err != nil {
		return nil, c, fmt.Errorf("%s: %w", file, err)
	}
	return b, c, nil
}

// readSmall reads a file that is at most as large as an order's may be.
func readSmall(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("order: %w", err)
	}
	if info.Size() > maxBought {
		return nil, fmt.Errorf("order %s: %w: %d bytes, at most %d", file, memory.ErrInvalid, info.Size(), maxBought)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("order: %w", err)
	}
	return b, nil
}
