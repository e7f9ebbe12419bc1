// Package sharing lets an open node share: projections to readers, feeds to workers, and
// the wearer's space to workers. It takes over what workers say, and can revert it.
// Package share has the spaces themselves.
package sharing

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/cold"
	"github.com/locket-dev/locket/node/community"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/policy/consent"
	"github.com/locket-dev/locket/node/policy/rulebook"
	"github.com/locket-dev/locket/node/share"
)

// Engine is the part of engine.Engine that this package uses.
type Engine interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	Commit(ctx context.Context, fn func(*store.Tx) error) error
	AcquireWriter() *engine.Writer
	AssertTx(tx *store.Tx, rank memory.Rank, as ...memory.Assertion) ([]memory.Change, error)
	Search(ctx context.Context, q recall.Query) (recall.Result, error)
}

// Gate checks what a worker says before it is committed.
type Gate interface {
	WithoutSecrets(ctx context.Context, as []memory.Assertion, us []memory.Utterance) ([]memory.Assertion, []memory.Utterance, error)
	CommitRemote(ctx context.Context, lock *engine.Writer, fn func(*store.Tx) error) error
}

// Config is what the sharing of an open node needs.
type Config struct {
	Dir     string // has a folder for each projection and feed
	Engine  Engine
	Gate    Gate
	Cold    *cold.Keeper
	Sync    *exchange.Syncing
	Ring    *keyring.Ring
	Public  *keyring.Locked
	Life    *opened.Life
	HTTP    *http.Client
	Invite  string // invitation at the relay, for the accounts of shares
	Reserve uint64 // bytes of the disk that stay free
	Wearer  string
	Zone    *time.Location
	Now     func() time.Time
	Log     *slog.Logger

	Communities *community.Communities

	Ask     func(ctx context.Context, held []consent.Held, again bool) error                                 // asks the wearer if a rule says so
	Sees    func(by *share.Author, rules *rulebook.Rules) func(*memory.Memory) bool                          // returns what an app may see
	Drop    func(ctx context.Context, lock *engine.Writer, lines []memory.ID, events []memory.EventID) error // erases lines and events
	Flush   func(ctx context.Context, lock *engine.Writer) error
	Compact func(context.Context) error // rewrites the store's files
}

// Sharing is the sharing part of an open node. It implements share.Source, share.Catalog,
// share.Account and share.Inbox. Its methods are safe for concurrent use.
type Sharing struct {
	c         Config
	maintains sync.Once
	pooled    time.Time      // when communities were last maintained; used only by the goroutine of Maintain
	shareMu   sync.Mutex     // guards shares
	shares    *share.Sharing // nil until it is used
}

// New makes a Sharing.
func New(c Config) *Sharing { return &Sharing{c: c} }

// Sharer implements serve.Sharer, serve.Granter and serve.Communer.
type Sharer struct{ of opened.Of[*Sharing] }

// NewSharer makes a Sharer.
func NewSharer(of opened.Of[*Sharing]) Sharer { return Sharer{of} }

// enter returns the open node's sharing for one call. Its context ends with the call's,
// and when the node is locked, which waits for release. Communities can be read even
// without a relay.
func (sr Sharer) enter(ctx context.Context, relay need) (s *share.Sharing, sh *Sharing, during context.Context, release func(), err error) {
	sh, unuse, err := sr.of.Use()
	if err != nil {
		return nil, nil, nil, nil, err
	}
	defer unuse()
	if relay == needed && !sh.c.Sync.HasRelay() {
		return nil, nil, nil, nil, exchange.ErrNoRelay
	}
	if s, err = sh.open(); err != nil {
		return nil, nil, nil, nil, err
	}
	during, release = sh.c.Life.Enter(ctx)
	return s, sh, during, release, nil
}

// need says whether a call needs a relay.
type need bool

const (
	needed    need = true
	notNeeded need = false
)

// during calls do with the open node's sharing.
func during[T any](ctx context.Context, sr Sharer, relay need, do func(ctx context.Context, s *share.Sharing, sh *Sharing) (T, error)) (out T, err error) {
	s, sh, ctx, release, err := sr.enter(ctx, relay)
	if err != nil {
		return out, err
	}
	defer release()
	out, err = do(ctx, s, sh)
	return out, shareError(err)
}

func (sh *Sharing) open() (*share.Sharing, error) {
	sh.shareMu.Lock()
	defer sh.shareMu.Unlock()
	if sh.shares != nil {
		return sh.shares, nil
	}
	key, ok := sh.c.Ring.Key(share.KeyName)
	if !ok {
		made := seal.NewKey()
		defer made.Zero()
		if err := sh.c.Ring.SetKey(share.KeyName, made); err != nil {
			return nil, err
		}
		key, _ = sh.c.Ring.Key(share.KeyName)
	}
	sh.shares = share.New(share.Config{Dir: sh.c.Dir, Key: key, Recovery: sh.c.Ring.Public().Recovery, Source: sh, Catalog: sh, Inbox: sh, Account: sh, Allow: sh.allow, Ask: sh.c.Ask, Sees: sh.c.Sees, FetchMedia: sh.c.Sync.FetchMedia,
		Wearer: sh.c.Wearer, Relay: sh.c.Sync.Relay, Invite: sh.c.Invite, HTTP: sh.c.HTTP,
		Reserve: sh.c.Reserve, Now: sh.c.Now, Log: sh.c.Log})
	return sh.shares, nil
}

// allow reads the wearer's policy.
func (sh *Sharing) allow(ctx context.Context) (r rulebook.Rules, err error) {
	err = sh.c.Engine.View(ctx, func(tx *store.Tx) (err error) { r, err = rulebook.Read(tx); return err })
	return r, err
}

// Parties returns those who are given something now, in the form that the
// policy needs.
func (sh *Sharing) Parties(ctx context.Context) (out []policy.Request, err error) {
	if out, err = sh.memberships(ctx); err != nil {
		return nil, err
	}
	records, err := sh.Records(ctx)
	for _, r := range records {
		if !r.Revoked.IsZero() {
			continue
		}
		kind := policy.Reader
		if r.Kind == share.Feed {
			kind = policy.Worker
		}
		for _, p := range r.Parties {
			if p.Removed.IsZero() {
				out = append(out, policy.Request{Action: policy.ActionOf(kind), Kind: kind, Name: p.Name, Key: policy.KeyOf(p.Key), Purpose: r.Purpose})
			}
		}
	}
	return out, err
}

// How often shares are maintained, and how often communities are exchanged.
const (
	tendEvery = time.Minute
	poolEvery = 5 * time.Minute
)

// Maintain maintains shares and communities until the node is locked: it revokes what has
// expired, removes what was erased, fills feeds, and takes over what workers said. A
// second call does nothing.
func (sh *Sharing) Maintain() {
	sh.maintains.Do(func() {
		sh.c.Life.Start(func(ctx context.Context) {
			for wait.For(ctx, tendEvery) {
				if err := sh.tendOnce(ctx); err != nil && ctx.Err() == nil {
					sh.c.Log.Warn("shares and grants: will be tried again", "error", err)
				}
			}
		})
	})
}

func (sh *Sharing) tendOnce(ctx context.Context) error {
	joined, err := sh.c.Communities.Spaces()
	if err != nil || !sh.c.Sync.HasRelay() && len(joined) == 0 {
		return err
	}
	s, err := sh.open()
	if err != nil {
		return err
	}
	if sh.c.Sync.HasRelay() {
		_, err = s.MaintainFeeds(ctx)
		err = errors.Join(s.Maintain(ctx), err)
	}
	// Communities come last, because their relays belong to others and may be slow.
	if now := sh.c.Now(); now.Sub(sh.pooled).Abs() >= poolEvery {
		sh.pooled = now
		root := sh.root()
		defer clear(root)
		err = errors.Join(err, sh.c.Communities.Maintain(ctx, s, root))
	}
	return err
}

// Withdraw removes at once from shares what may no longer be shared. If the
// relay can't be reached, the regular maintenance tries again.
func (sh *Sharing) Withdraw(ctx context.Context) {
	if !sh.c.Sync.HasRelay() {
		return
	}
	s, err := sh.open()
	if err == nil {
		during, release := sh.c.Life.Enter(ctx)
		defer release()
		err = s.Maintain(during)
	}
	if err != nil {
		sh.c.Log.Warn("copies that may no longer be shared are not taken back yet: it will be tried again", "error", err)
	}
}

// Forget removes what was forgotten from the copies for readers and workers. If
// that fails, the regular maintenance does it, because it sees that the
// originals are gone.
func (sh *Sharing) Forget(ctx context.Context) {
	if !sh.c.Sync.HasRelay() {
		return
	}
	s, err := sh.open()
	if err == nil {
		err = s.Forget(ctx)
	}
	if err != nil {
		sh.c.Log.Warn("what is shared still includes what was forgotten: it will be tried again", "error", err)
	}
}
