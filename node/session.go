package node

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/memtrim"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/accept"
	"github.com/locket-dev/locket/node/community"
	"github.com/locket-dev/locket/node/dream"
	"github.com/locket-dev/locket/node/edit"
	"github.com/locket-dev/locket/node/enginehost"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/forget"
	"github.com/locket-dev/locket/node/given"
	"github.com/locket-dev/locket/node/health"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/match"
	"github.com/locket-dev/locket/node/models"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/plugins"
	"github.com/locket-dev/locket/node/policy/consent"
	"github.com/locket-dev/locket/node/policy/rulebook"
	"github.com/locket-dev/locket/node/pump"
	"github.com/locket-dev/locket/node/query"
	"github.com/locket-dev/locket/node/questions"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/sharing"
	"github.com/locket-dev/locket/node/tiers"
	"github.com/locket-dev/locket/node/transfer"
	"github.com/locket-dev/locket/node/vault"
	"github.com/locket-dev/locket/node/voices"
)

// session is what a node has while its keys are open.
type session struct {
	life   *opened.Life // ends when the node is locked
	ring   *keyring.Ring
	store  *store.Store
	index  *recall.Index
	engine *engine.Engine // changes the records in store and the documents in index

	// The packages' parts of an open node.
	plugins     *plugins.Plugins
	extract     *extract.Extractor
	language    *models.Language
	meaning     *models.Meaning
	sync        *exchange.Syncing
	tiers       *tiers.Tiers
	query       *query.Query
	edits       *edit.Edits
	forgets     *forget.Forgetting
	gate        *accept.Gate // checks what others say; nil until everything that it needs is open
	sharing     *sharing.Sharing
	market      *market.Shop
	given       *given.Collection // what others share with the wearer
	communities *community.Communities
	matcher     *match.Matcher
	policy      *rulebook.Rulebook
	consent     *consent.Asker
	purse       *market.Purse // pays for what apps buy
	dreams      *dream.Dreams
	engines     *enginehost.Host
	voices      *voices.Known
	health      *health.Health
	vault       *vault.Vault
	questions   *questions.Questions // what is asked on a wearable
	transfer    *transfer.Transfer

	pump *pump.Pump
	stop context.CancelFunc // ends the pump; nil if it was not started
	done chan error         // receives the error with which the pump ended

	// The times of the last housekeeping, and what belongs to it. Only the pump's
	// goroutine uses these.
	memory           memtrim.Keeper
	flushedDocuments atomic.Int64 // documents in the index at its last flush; written under the engine's lock
	retentionAt      time.Time    // when retention was last applied
	forgetRetryAt    time.Time    // when unfinished forgetting was last tried again
	tiersAt          time.Time    // when the budget was last checked
	dreamCheckAt     time.Time    // when the node last checked whether a dream is due
}

func (n *Node) isOpen() bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.open != nil
}

// unlock opens the store with the keys that u gives. If the node runs, it starts to
// process the journal.
func (n *Node) unlock(ctx context.Context, u keyring.Unlocker) (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return errClosed
	}
	if n.open != nil {
		return nil
	}
	o := &session{memory: n.footprint(), life: opened.NewLife(n.spans)}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close(context.WithoutCancel(ctx)))
		}
	}()
	if err := n.openRecords(ctx, u, o); err != nil {
		return err
	}
	if err := n.openExtraction(ctx, o); err != nil {
		return err
	}
	if err := n.openExchange(ctx, o); err != nil {
		return err
	}
	n.openForgetting(o)
	n.openSharing(o)
	n.openRest(o)
	if _, err := o.voices.Prune(ctx, forget.PlanSweep); err != nil {
		n.log.Warn("prints of voices could not be deleted in time", "error", err)
	}
	if _, err := o.forgets.Resume(ctx); err != nil {
		n.log.Error("what has to be forgotten is not erased yet: it will be tried again", "error", err)
	}
	n.open = o
	n.signWith(o.ring)
	if n.running {
		return n.startPump(o)
	}
	return nil
}

// The functions below open the parts of a session, in the order of unlock. A part that
// needs one of a later function gets it through a closure, which is not called before
// openRest has returned, or which checks whether that part exists.

// compact removes erased content from the files, and from the copies that the query keeps.
func (o *session) compact(ctx context.Context) error {
	return errors.Join(o.store.Compact(ctx), o.query.Forget(ctx))
}

func (o *session) close(ctx context.Context) error {
	var errs []error
	o.life.End()
	if o.engines != nil {
		o.engines.Stop()
	}
	if o.language != nil {
		o.language.Stop()
	}
	if o.meaning != nil {
		o.meaning.Stop()
	}
	o.life.Wait()
	if o.sync != nil {
		o.sync.Close()
	}
	if o.stop != nil {
		o.stop()
		errs = append(errs, <-o.done)
	}
	if o.index != nil {
		errs = append(errs, o.flush(ctx))
		if o.query != nil {
			errs = append(errs, o.query.SaveUses(ctx))
			o.query.Close()
		}
		errs = append(errs, o.index.Close())
	}
	errs = append(errs, o.given.Close())
	if o.plugins != nil {
		errs = append(errs, o.plugins.Close(ctx))
	}
	if o.store != nil {
		errs = append(errs, o.store.Close())
	}
	if o.ring != nil {
		errs = append(errs, o.ring.Close())
	}
	return errors.Join(errs...)
}

// noSecret refuses a text that a person wrote if it contains a secret. Otherwise the
// secret would be found, shown and synced.
func (o *session) noSecret(ctx context.Context, field, text string) error {
	lock := o.engine.AcquireWriter() // plugins change under this lock, and are asked by one call at a time
	defer lock.Release()
	found, err := o.extract.HoldsSecret(ctx, text)
	if err == nil && found {
		err = serve.InField(field, fmt.Errorf("%w: %s: %w: add it with infer, and the secret goes to the vault", memory.ErrInvalid, field, serve.ErrSecret))
	}
	return err
}

// Lock drops the keys and everything that they opened. Intake continues. Calls that may
// take minutes are ended first, with memory.ErrLocked; Lock waits for short ones.
func (n *Node) Lock(ctx context.Context) error {
	n.mu.RLock()
	if n.open != nil {
		n.open.life.End()
	}
	n.mu.RUnlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open == nil {
		return nil
	}
	o := n.open
	n.open = nil
	n.signWith(nil)
	return errors.Join(n.SaveHeard(ctx, o.engine.Commit, true), o.close(ctx))
}

var errClosed = errors.New("node is closed")

// use returns the session and keeps it from being closed until release is called.
func (n *Node) use() (o *session, release func(), err error) {
	n.mu.RLock()
	if n.open == nil {
		n.mu.RUnlock()
		return nil, nil, fmt.Errorf("%w: the node's keys are not open", memory.ErrLocked)
	}
	return n.open, n.mu.RUnlock, nil
}

// partOf gives a package access to its part of the session.
func partOf[T any](n *Node, part func(*session) T) opened.Of[T] {
	return opened.From(func() (p T, life *opened.Life, release func(), err error) {
		o, release, err := n.use()
		if err != nil {
			return p, nil, nil, err
		}
		return part(o), o.life, release, nil
	})
}

// view runs fn in a transaction of the open store.
func (n *Node) view(ctx context.Context, fn func(*session, *store.Tx) error) error {
	o, release, err := n.use()
	if err != nil {
		return err
	}
	defer release()
	return o.store.View(ctx, func(tx *store.Tx) error { return fn(o, tx) })
}
