package apps

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/delegate"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/policy/rulebook"
	"github.com/locket-dev/locket/node/serve"
)

// visit is one request of an app: a serve.Caller.
type visit struct {
	book  *Book
	app   serve.App
	scope scope
	by    policy.Request
	asks  bool          // a rule of the policy asks the wearer
	via   []string      // ids of the links of a key that was passed on
	left  chan struct{} // closed when the request is answered
	key   string        // hash of the app's key

	writes, over bool // it has begun to write; its key has ended; guarded by book.mu
}

// Admit implements serve.Apps.
func (b *Book) Admit(ctx context.Context, key serve.Secret) (serve.Caller, context.Context, func(), error) {
	sum := sha256.Sum256([]byte(key))
	is := func(r *record) bool { return subtle.ConstantTimeCompare(sum[:], r.Hash) == 1 }
	if delegate.Is(key) {
		name, err := delegate.App(key)
		if err != nil {
			return nil, nil, nil, serve.ErrKey
		}
		is = func(r *record) bool { return r.App.Name == name && !r.over(b.now()) }
	}
	v, within, leave, err := b.enter(ctx, key, is)
	if err != nil {
		return nil, nil, nil, err
	}
	return v, within, leave, nil
}

// enter begins a request of an app. Errors: serve.ErrKey, serve.ErrLimit with ErrBusy,
// memory.ErrLocked. A key that was passed on restricts the app further.
func (b *Book) enter(ctx context.Context, key serve.Secret, is func(*record) bool) (*visit, context.Context, func(), error) {
	b.mu.Lock() // so that no revocation comes in between
	defer b.mu.Unlock()
	var found *record
	var rules rulebook.Rules
	err := b.store.View(ctx, func(tx *store.Tx) (err error) {
		if rules, err = b.rules.Read(tx); err != nil {
			return err
		}
		list, err := records(tx)
		for i := range list {
			if is(&list[i]) {
				found = &list[i]
			}
		}
		return err
	})
	if err != nil {
		return nil, nil, nil, err
	}
	if found == nil || found.over(b.now()) {
		return nil, nil, nil, serve.ErrKey // only the owner may know the reason
	}
	name, by := found.App.Name, found.party()
	var via []string
	if delegate.Is(key) {
		if found.App.AppRequest, via, err = delegate.Check(key, found.Root, found.App.Delegate, found.App.AppRequest); err != nil || found.over(b.now()) ||
			slices.ContainsFunc(via, func(id string) bool { return slices.Contains(found.App.Ended, id) }) {
			return nil, nil, nil, serve.ErrKey
		}
	}
	if len(b.visits[name]) >= maxVisits { // event streams stay open and connections are limited, so one app may have only so many
		return nil, nil, nil, serve.WithRetryAfter(time.Second, fmt.Errorf("%w: %w", serve.ErrLimit, ErrBusy))
	}
	v := &visit{book: b, via: via, app: found.App, scope: scopeOf(&found.App.AppRequest, by, &rules, b.now()), by: by, asks: rules.Asks(), left: make(chan struct{}), key: string(found.Hash)}
	within, end := context.WithCancelCause(ctx)
	stop := func() bool { return true }
	if !found.App.Ends.IsZero() {
		over := time.AfterFunc(found.App.Ends.Sub(b.now()), func() { end(fmt.Errorf("%w: its time is over", serve.ErrKey)) })
		stop = over.Stop
	}
	if b.visits[name] == nil {
		b.visits[name] = map[*visit]context.CancelCauseFunc{}
	}
	b.visits[name][v] = end
	leave := func() {
		stop()
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.visits[name], v)
		close(v.left)
		end(nil)
	}
	return v, within, leave, nil
}

// begin records that a visit writes. The error is serve.ErrKey if it was revoked meanwhile.
func (v *visit) begin() error {
	v.book.mu.Lock()
	defer v.book.mu.Unlock()
	if v.over {
		return fmt.Errorf("%w: it was revoked", serve.ErrKey)
	}
	v.writes = true
	return nil
}

// visitOf returns the visit of the app that asks, or nil if the owner asks.
func visitOf(ctx context.Context) *visit {
	v, _ := serve.CallerOf(ctx).(*visit)
	return v
}

// Name implements serve.Caller.
func (v *visit) Name() string { return v.app.Name }

// PassedOn implements serve.PassedOn.
func (v *visit) PassedOn() (serve.App, bool) {
	app := serve.App{AppRequest: v.app.AppRequest, Added: v.app.Added}
	app.Hook = ""
	if !slices.Contains(app.Can, serve.RightBuy) {
		app.Buying = nil
	}
	return app, len(v.via) > 0
}

// May implements serve.Caller.
func (v *visit) May(ctx context.Context, right serve.Right, operation string) error {
	if !serve.SpendForwarded(ctx) {
		if wait := v.book.pace(v.Name(), v.app.Requests); wait > 0 {
			return serve.WithRetryAfter(wait, fmt.Errorf("%w: %d requests a minute", serve.ErrLimit, v.app.Requests))
		}
	}
	err := v.can(right)
	if err != nil {
		noted := v.book.note(context.WithoutCancel(ctx), v, serve.AppUse{Did: operation, Refused: reasonOf(err)})
		return errors.Join(err, noted)
	}
	return nil
}

// consoleNoted is the minimum interval between log entries about the use of the console.
const consoleNoted = 10 * time.Minute

// OpensConsole reports whether the key has the right console, and logs its use.
func (v *visit) OpensConsole(ctx context.Context) (bool, error) {
	if !slices.Equal(v.app.Can, []serve.Right{serve.RightConsole}) || len(v.via) > 0 {
		return false, nil
	}
	b, now := v.book, v.book.now()
	b.mu.Lock()
	due := now.Sub(b.opened[v.key]) >= consoleNoted
	b.mu.Unlock()
	if !due {
		return true, nil
	}
	if err := b.note(ctx, v, serve.AppUse{Did: "openConsole"}); err != nil {
		return true, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.opened, func(_ string, at time.Time) bool { return now.Sub(at) >= consoleNoted })
	b.opened[v.key] = now
	return true, nil
}

// BeginConsole begins a request of the console that changes something.
func (v *visit) BeginConsole() error { return v.begin() }

// NoteConsole logs an operation of the console, and why it was refused, if it was.
func (v *visit) NoteConsole(ctx context.Context, operation string, refused error) error {
	u := serve.AppUse{Did: operation}
	if refused != nil {
		ctx, u.Refused = context.WithoutCancel(ctx), reasonOf(refused)
	}
	return v.book.note(ctx, v, u)
}

// HasRight reports whether the app has a right; serve.HasRight calls it.
func (v *visit) HasRight(right serve.Right) bool { return v.can(right) == nil }

// can returns an error unless the app has a right.
func (v *visit) can(right serve.Right) error {
	switch right {
	case serve.RightApp, serve.RightAnyone:
		return nil
	case serve.RightWrite:
		if slices.ContainsFunc(v.app.Can, func(r serve.Right) bool {
			return r == serve.RightAdd || r == serve.RightUpdate || r == serve.RightForget
		}) {
			return nil
		}
		return refused("app %s may only %s", v.Name(), rights(v.app.Can))
	}
	if !slices.Contains(serve.Rights[:], right) {
		return errOwners
	}
	if !slices.Contains(v.app.Can, right) {
		return refused("app %s may not %s: it may %s", v.Name(), right, rights(v.app.Can))
	}
	return nil
}

func rights(list []serve.Right) string {
	s := ""
	for i, r := range list {
		if i > 0 {
			s += ", "
		}
		s += string(r)
	}
	return s
}

func refused(format string, a ...any) error {
	return fmt.Errorf("%w: %s", serve.ErrForbidden, fmt.Sprintf(format, a...))
}
