// Package market buys and sells at a market.
//
// The seller's side is a part of an open node: it seals a bundle of redacted copies, lists it,
// and delivers its key to buyers who paid. The buyer's side needs a reader's key but no node. The
// market is not trusted: each side checks every signature, and the buyer checks every item.
package market

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// Bundler is the part of sharing that the seller's side uses.
type Bundler interface {
	Bundle(ctx context.Context, r *serve.ShareRequest, answers bool, public map[string][]string) (p share.Preview, redaction []string, err error)
	WithheldReason(ctx context.Context, of []memory.ID, answers bool, purpose, form string) (why string, err error)
	Forgotten(ctx context.Context, of []memory.ID) (gone []memory.ID, err error)
	LogSale(ctx context.Context, did, title, to string, copies int, why string) error
}

// withheld returns why a version may not be sold any more; empty: it may.
func (s *Shop) withheld(ctx context.Context, l *listed) (string, error) {
	if has, err := s.hasNever(ctx, l); err != nil || has {
		return "it has a word of your never list", err
	}
	if l.sellsEntry() {
		return s.noEntry(ctx, l)
	}
	return s.c.Bundler.WithheldReason(ctx, l.Of, l.Answers != nil, l.Purpose, l.Form)
}

// Store stores what is listed, sealed.
type Store interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	Commit(ctx context.Context, fn func(*store.Tx) error) error
}

// Config is what the selling part of an open node needs.
type Config struct {
	Bundler Bundler
	Store   Store
	Ring    *keyring.Ring
	Dir     string // folder of the sealed items of what is offered
	Life    *opened.Life
	HTTP    *http.Client  // nil: the usual
	Relay   func() string // the market if none is named; empty: there is none
	Now     func() time.Time
	Log     *slog.Logger
	Door    Door // of the wearer's communities; nil: no entry is sold
	// CheckPublicTexts refuses public texts that contain a word of the wearer's never list.
	CheckPublicTexts func(ctx context.Context, public map[string][]string) error
	// NeverShared returns the words that are never shared; nil: there are none.
	NeverShared func(ctx context.Context) ([]string, error)
	// Compact rewrites the store's files without what was deleted; nil: they stay.
	Compact  func(ctx context.Context) error
	Patience time.Duration // how long one market may take when orders are checked; 0: 5 min
}

// within bounds how long one market may take.
func (s *Shop) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, cmp.Or(s.c.Patience, patience))
}

// Shop is the selling part of an open node. Its methods are safe for concurrent use; only one
// that changes something runs at a time.
type Shop struct {
	c         Config
	mu        sync.Mutex
	maintains sync.Once
	clean     map[trade.Hash][sha256.Size]byte // the never list of which a version had no word; guarded by mu
}

// New makes a Shop.
func New(c Config) *Shop { return &Shop{c: c, clean: map[trade.Hash][sha256.Size]byte{}} }

// listed is what is stored about one version of a listing. Key opens the bundle. It is dropped
// when the listing has ended and no order is open, and at once when a memory in the bundle was
// forgotten.
type listed struct {
	serve.Listing
	Key     []byte      `json:"key,omitempty"`
	Of      []memory.ID `json:"of,omitempty"` // the originals
	Purpose string      `json:"purpose,omitempty"`
	Form    string      `json:"form,omitempty"`    // form of the redaction, as in policy.Request.Form
	Spots   []int       `json:"spots,omitempty"`   // for a marked bundle: how many each item has
	Marking bool        `json:"marking,omitempty"` // periods may be marked; a version of the program that marked none began it without this
	Sold    bool        `json:"sold,omitempty"`    // a key was delivered
	Sent    bool        `json:"sent,omitempty"`    // the market has it
	MovedTo *movedTo    `json:"moved_to,omitempty"`
	Gone    bool        `json:"gone,omitempty"` // its market is dead, and is not asked any more
	// Request selects the memories of each period of a subscription. It is nil if the listing is
	// not a subscription.
	Request *serve.ListingRequest `json:"request,omitempty"`
	// Percent is what the seller specified for answers, for the next version; nil: it sells its
	// bundle.
	Percent *serve.ListingAnswers `json:"percent,omitempty"`
	Ended   time.Time             `json:"ended,omitzero"` // the end of the last period without anything new
}

// movedTo says where the same bundle is listed now.
type movedTo struct {
	Market  string     `json:"market"`
	Listing trade.Hash `json:"listing"`         // the version there
	Taken   bool       `json:"taken,omitempty"` // the market knows where it was
	All     bool       `json:"all,omitempty"`   // with its orders
}

// listedMeta is the record with them, the newest first.
const listedMeta = "market listings"

// maxListed is how many versions are kept.
const maxListed = 500

func (s *Shop) list(ctx context.Context) (all []listed, err error) {
	err = s.c.Store.View(ctx, func(tx *store.Tx) error { _, err := tx.Meta(listedMeta, &all); return err })
	return all, err
}

// change stores the list that f returns.
func (s *Shop) change(ctx context.Context, f func([]listed) []listed) error {
	return s.c.Store.Commit(ctx, func(tx *store.Tx) error {
		var all []listed
		if _, err := tx.Meta(listedMeta, &all); err != nil {
			return err
		}
		return tx.PutMeta(listedMeta, f(all))
	})
}

// each calls f for every version in the list, and stores what f changes.
func (s *Shop) each(ctx context.Context, f func(*listed)) error {
	return s.change(ctx, func(all []listed) []listed {
		for i := range all {
			f(&all[i])
		}
		return all
	})
}

// keyName is the name of the seller's key in a ring.
const keyName = "market"

// party returns the seller, who has the same key at every market.
func (s *Shop) party() (trade.Party, httpsig.Signer, error) {
	key, ok := s.c.Ring.Key(keyName)
	if !ok {
		made := seal.NewKey()
		defer made.Zero()
		if err := s.c.Ring.SetKey(keyName, made); err != nil {
			return trade.Party{}, nil, err
		}
		key, _ = s.c.Ring.Key(keyName)
	}
	d := key.Derive("market seller")
	defer d.Zero()
	seed := d.Bytes()
	defer clear(seed)
	sign := ed25519.NewKeyFromSeed(seed)
	return trade.PartyOf(sign), httpsig.KeySigner(sign), nil
}

// at calls f with the market at an address, as the seller.
func (s *Shop) at(address string, f func(*remote.Market, trade.Party) error) error {
	by, sign, err := s.party()
	if err != nil {
		return err
	}
	r, err := remote.New(address, remote.Option{HTTP: s.c.HTTP, Now: s.c.Now})
	if err != nil {
		return fmt.Errorf("%w: %w", memory.ErrInvalid, err)
	}
	defer r.Close()
	return refusal(f(r.Market(by.Key, sign), by))
}

// refusal translates a market's answer into the errors of package serve.
func refusal(err error) error {
	for _, p := range []struct{ is, as error }{
		{trade.ErrForm, memory.ErrInvalid}, {remote.ErrTrade, serve.ErrConflict}, {remote.ErrForbidden, serve.ErrConflict}, {remote.ErrQuota, serve.ErrConflict},
		{remote.ErrNotFound, memory.ErrNotFound}, {ErrOtherMarket, serve.ErrConflict},
		{trade.ErrPhase, serve.ErrConflict}, {ErrNotDelivered, serve.ErrConflict},
	} {
		if errors.Is(err, p.is) && !errors.Is(err, p.as) {
			return fmt.Errorf("%w: %w", p.as, err)
		}
	}
	if remote.IsFault(err) && !errors.Is(err, serve.ErrRelay) || isUnreachable(err) {
		return fmt.Errorf("%w: %w", serve.ErrRelay, err)
	}
	return err
}

// isUnreachable reports whether an error means that a market can't be reached. Not every [net.Error] does:
// failed system calls and a context whose deadline has passed are also of that type.
func isUnreachable(err error) bool {
	_, unreached := errors.AsType[*remote.NetworkError](err)
	_, asked := errors.AsType[*url.Error](err)
	_, network := errors.AsType[*net.OpError](err)
	_, name := errors.AsType[*net.DNSError](err)
	_, file := errors.AsType[*fs.PathError](err)
	return (unreached || asked || network || name) && !file && !errors.Is(err, memory.ErrInUse)
}

var errNoMarket = fmt.Errorf("%w: no market is named, and the node has no relay", serve.ErrUnsupported)

// tendEvery is how often orders are checked while something is for sale.
const tendEvery = time.Minute

// Maintain checks for orders until the node is locked, and delivers what needs no approval. A
// second call does nothing.
func (s *Shop) Maintain() {
	s.maintains.Do(func() {
		s.c.Life.Start(func(ctx context.Context) {
			for wait.For(ctx, tendEvery) {
				if _, err := s.Sales(ctx); err != nil && ctx.Err() == nil {
					s.c.Log.Warn("sales: will be tried again", "error", err)
				}
			}
		})
	})
}

// find returns the one listing whose id is, or begins with, the given text.
func find(all []listed, id string) (*listed, error) {
	if len(id) < 8 {
		return nil, fmt.Errorf("%w: listing %q: want at least 8 characters", memory.ErrInvalid, id)
	}
	var found *listed
	for i := range all {
		if !strings.HasPrefix(all[i].ID.String(), strings.ToLower(id)) {
			continue
		}
		if found != nil && found.ID != all[i].ID {
			return nil, fmt.Errorf("listing %s: %w", id, memory.ErrAmbiguous)
		}
		if found == nil {
			found = &all[i] // the newest version
		}
	}
	if found == nil {
		return nil, fmt.Errorf("listing %s: %w", id, memory.ErrNotFound)
	}
	return found, nil
}
