// Package apps gives other programs access, each with its own key, and enforces what the owner
// allows.
//
//   - An app has rights (read, add, update, forget, chat, buy, share, vault) and a scope: the types,
//     sensitivity, tags, times and owner of the memories that it may see. What is not
//     named is not allowed. The vault is in no scope: an app that may ask for it is
//     given an entry after the wearer has agreed to that one reading.
//     The right console is given alone: it opens the page, with everything that the owner may do there.
//   - [Guard] enforces that for services: each method that an app may reach is
//     written out there, so that a new one does not compile before somebody has
//     decided what apps get from it. What an app may not see looks as if it did not exist.
//   - A [Book] has the apps, and the log of each: which memories it was
//     shown, what it wrote, what it was refused. Both are sealed in the store. An
//     answer is given once its log entry is on disk.
//
// A key is 130 random bits, so only its SHA-256 is stored.
package apps

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/delegate"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/policy/consent"
	"github.com/locket-dev/locket/node/policy/rulebook"
	"github.com/locket-dev/locket/node/serve"
)

// Store stores a book. Its methods fail with memory.ErrLocked while the node is locked.
type Store interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	Update(ctx context.Context, fn func(*store.Tx) error) error
}

// Limits.
const (
	MaxApps     = 100    // with a valid key
	maxOver     = 400    // whose keys have ended, with their logs
	maxTags     = 32     // of a scope
	maxRequests = 10_000 // a minute
	maxTokens   = 10_000_000
	maxVisits   = 32 // of one app at a time, counting those that an assistant's request makes
)

// ErrBusy is the serve.ErrLimit of an app that has as many requests under way as it may: it passes
// when one of them ends.
var ErrBusy = fmt.Errorf("%d requests are under way", maxVisits)

// listMeta is the record with the apps.
const listMeta = "apps"

// record is an app as it is stored.
type record struct {
	App  serve.App `json:"app"`
	Hash []byte    `json:"hash"`           // SHA-256 of the key
	Root []byte    `json:"root,omitempty"` // public key that verifies keys which the app passes on, if it may do so

	Client []byte `json:"client,omitempty"` // SHA-256 of the id of the OAuth client for which the app was made
}

// over reports whether the app's key is no longer valid at t.
func (r *record) over(t time.Time) bool {
	return !r.App.Revoked.IsZero() || !r.App.Ends.IsZero() && !t.Before(r.App.Ends)
}

// Book manages the apps of a node. It is safe for concurrent use.
type Book struct {
	store Store
	ask   func(context.Context, []consent.Held) error
	now   func() time.Time

	mu     sync.Mutex
	paces  map[string]*pace                              // by app
	visits map[string]map[*visit]context.CancelCauseFunc // by app: its current requests

	opened  map[string]time.Time     // by hash of a key: when its use of the console was last noted
	drawing map[string]bool          // by app: a graph is being drawn
	places  map[string]chan struct{} // by app and kind: full when it has the maximum number of such requests
	rules   rulebook.Last
	lines   lines

	// The changes for hooks, with the owner's rights; set by Guard.
	exchange serve.Exchange
	reader   serve.Reader
	sharer   serve.Sharer
}

// NewBook returns the book in a store. ask asks the wearer if a rule of the policy says so. now is
// the clock of keys and of the logs.
func NewBook(s Store, ask func(context.Context, []consent.Held) error, now func() time.Time) *Book {
	return &Book{store: s, ask: ask, now: now, paces: map[string]*pace{}, visits: map[string]map[*visit]context.CancelCauseFunc{}, drawing: map[string]bool{}, places: map[string]chan struct{}{}, opened: map[string]time.Time{}}
}

// AddApp implements serve.Apps.
func (b *Book) AddApp(ctx context.Context, r serve.AppRequest) (serve.NewApp, error) {
	return b.AddAppFor(ctx, r, "")
}

// AddAppFor is AddApp for an OAuth client, which may end the key with [Book.EndKey].
func (b *Book) AddAppFor(ctx context.Context, r serve.AppRequest, client string) (serve.NewApp, error) {
	if err := check(&r, b.now()); err != nil {
		return serve.NewApp{}, err
	}
	key := serve.KeyPrefix + rand.Text()
	sum := sha256.Sum256([]byte(key))
	rec := record{App: serve.App{AppRequest: r, Added: b.now().UTC()}, Hash: sum[:]}
	if client != "" {
		id := sha256.Sum256([]byte(client))
		rec.Client = id[:]
	}
	if r.Delegate > 0 {
		rec.Root = delegate.Root(serve.Secret(key))
	}
	b.mu.Lock() // one at a time, and none while another is revoked
	defer b.mu.Unlock()
	if err := b.clearOut(ctx, r.Name); err != nil {
		return serve.NewApp{}, err
	}
	var hook serve.Secret
	err := b.store.Update(ctx, func(tx *store.Tx) error {
		list, err := records(tx)
		if err != nil {
			return err
		}
		kept, open := list[:0:0], 0
		for i := range list {
			over := list[i].over(b.now())
			if !over {
				open++
			}
			if list[i].App.Name != r.Name {
				kept = append(kept, list[i])
			} else if !over {
				return fmt.Errorf("%w: name: there is an app %q", serve.ErrConflict, r.Name)
			}
		}
		if open == MaxApps {
			return fmt.Errorf("%w: there are %d apps already", serve.ErrConflict, MaxApps)
		}
		if hook, err = newHook(tx, &r, b.now()); err != nil {
			return err
		}
		return tx.PutMeta(listMeta, append(kept, rec))
	})
	return serve.NewApp{App: rec.App, Key: serve.Secret(key), HookSecret: hook}, err
}

// clientMeta is the record with the key for clients' ids.
const clientMeta = "oauth"

// ClientKey returns the key with which the node recognises the ids that it has issued to OAuth
// clients. It is made at the first call.
func (b *Book) ClientKey(ctx context.Context) (key []byte, err error) {
	err = b.store.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Meta(clientMeta, &key)
		return err
	})
	if err != nil || len(key) > 0 {
		return key, err
	}
	err = b.store.Update(ctx, func(tx *store.Tx) error {
		if _, err := tx.Meta(clientMeta, &key); err != nil || len(key) > 0 {
			return err
		}
		key = make([]byte, 32)
		_, _ = rand.Read(key) // it never fails
		return tx.PutMeta(clientMeta, key)
	})
	return key, err
}

func records(tx *store.Tx) (list []record, err error) {
	_, err = tx.Meta(listMeta, &list)
	return list, err
}

// Parties returns the apps whose keys are valid at t, in the form that the policy needs.
func Parties(tx *store.Tx, t time.Time) (out []policy.Request, err error) {
	list, err := records(tx)
	for i := range list {
		if !list[i].over(t) {
			out = append(out, list[i].party())
		}
	}
	return out, err
}

// party returns the app as the policy rules see it. An app that is added again under the same name
// is a different party.
func (r *record) party() policy.Request {
	return policy.Request{Action: policy.Read, Kind: policy.App, Name: r.App.Name, Key: policy.KeyOf(r.Hash)}
}

// Apps implements serve.Apps.
func (b *Book) Apps(ctx context.Context) (out []serve.App, err error) {
	err = b.store.View(ctx, func(tx *store.Tx) error {
		list, err := records(tx)
		if err != nil {
			return err
		}
		for i := range slices.Backward(list) {
			h, err := headOf(tx, list[i].App.Name)
			if err != nil {
				return err
			}
			list[i].App.Used = h.Used
			out = append(out, list[i].App)
		}
		return hooksOf(tx, out)
	})
	return out, err
}

// RevokeApp implements serve.Apps. The app's current requests end, and its key is no longer valid.
// What it began to write is written or dropped before this returns.
func (b *Book) RevokeApp(ctx context.Context, name string) (serve.App, error) {
	app, writing, err := b.revoke(ctx, name, nil)
	if err != nil {
		return serve.App{}, err
	}
	return app, written(ctx, name, writing)
}

// EndKey revokes the app that a key belongs to, as RevokeApp does, if it was made for the client.
// It returns [memory.ErrNotFound] if the key is not valid, and [serve.ErrForbidden] if the app was
// not made for that client.
func (b *Book) EndKey(ctx context.Context, key serve.Secret, client string) error {
	sum, id := sha256.Sum256([]byte(key)), sha256.Sum256([]byte(client))
	name := ""
	err := b.store.View(ctx, func(tx *store.Tx) error {
		list, err := records(tx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(r record) bool { return subtle.ConstantTimeCompare(sum[:], r.Hash) == 1 })
		switch {
		case i < 0 || list[i].over(b.now()):
			return fmt.Errorf("key: %w", memory.ErrNotFound)
		case !bytes.Equal(list[i].Client, id[:]):
			return refused("the key was not made for this client")
		}
		name = list[i].App.Name
		return nil
	})
	if err != nil {
		return err
	}
	_, writing, err := b.revoke(ctx, name, sum[:])
	if err != nil {
		return err
	}
	return written(ctx, name, writing)
}

// written waits until the requests of an app that was revoked have finished writing.
func written(ctx context.Context, name string, writing []*visit) error {
	for _, v := range writing {
		select {
		case <-v.left:
		case <-ctx.Done():
			return fmt.Errorf("app %s is revoked, but its last change is still being written: %w", name, ctx.Err())
		}
	}
	return nil
}

// maxEnded is how many keys that one app passed on can be revoked one by one.
const maxEnded = 1000

// revoke ends an app's key or, for NAME:ID, a key that it passed on and all that follow from that
// one. It returns the requests that have begun to write. key is the SHA-256 of the app's key; nil:
// any.
func (b *Book) revoke(ctx context.Context, name string, key []byte) (app serve.App, writing []*visit, err error) {
	name, id, part := strings.Cut(name, ":")
	if raw, err := hex.DecodeString(id); part && (err != nil || len(raw) != 8) {
		return app, nil, fmt.Errorf("%w: name: %.40q: want NAME, or NAME:ID with the 16 digits of a key that it passed on", memory.ErrInvalid, name+":"+id)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	err = b.store.Update(ctx, func(tx *store.Tx) error {
		list, err := records(tx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(r record) bool { return r.App.Name == name && (key == nil || bytes.Equal(key, r.Hash)) })
		if i < 0 {
			return fmt.Errorf("app %.40q: %w", name, memory.ErrNotFound)
		}
		a := &list[i].App
		switch {
		case part && !slices.Contains(a.Ended, id):
			if len(a.Ended) == maxEnded {
				return fmt.Errorf("%w: %d keys that %s passed on are revoked already: revoke the app", serve.ErrConflict, maxEnded, name)
			}
			a.Ended = append(a.Ended, id)
		case !part && a.Revoked.IsZero():
			a.Revoked = b.now().UTC()
		}
		app = *a
		if !part {
			if err := consent.End(tx, list[i].party(), b.now()); err != nil {
				return err
			}
		}
		return tx.PutMeta(listMeta, list)
	})
	if err != nil {
		return serve.App{}, nil, err
	}
	for v, end := range b.visits[name] {
		if part && !slices.Contains(v.via, id) {
			continue
		}
		v.over = true
		if v.writes {
			writing = append(writing, v)
		}
		end(fmt.Errorf("%w: it was revoked", serve.ErrKey))
	}
	return app, writing, nil
}
