// Package opened gives the packages of a node access to what they need of it while its
// keys are open.
//
// Each package below node has one task, such as reading, forgetting or plugins. It has a
// part of an open node, which is made at each unlock and ends with the next lock. Its
// services outlive that part: they hold an [Of], which returns the current part, or
// memory.ErrLocked.
package opened

import (
	"context"

	"github.com/locket-dev/locket/memory/store"
)

// Of gives a package its part of an open node. It is safe for concurrent use.
type Of[T any] struct {
	use func() (part T, life *Life, release func(), err error)
}

// From makes an Of. use returns the part and its life, which do not end before release is
// called. Its error says that there is no part now.
func From[T any](use func() (part T, life *Life, release func(), err error)) Of[T] {
	return Of[T]{use}
}

// Use returns the part and keeps the node from being locked until release is called.
func (of Of[T]) Use() (part T, release func(), err error) {
	part, _, release, err = of.use()
	return part, release, err
}

// Do returns the result of f, and keeps the node from being locked until f returns.
func Do[T, R any](of Of[T], f func(T) (R, error)) (out R, err error) {
	part, release, err := of.Use()
	if err != nil {
		return out, err
	}
	defer release()
	return f(part)
}

// During runs f with the part while the node stays open. f may take minutes, and
// the node can be locked meanwhile. Then the context of f ends, and the error is
// memory.ErrLocked.
func (of Of[T]) During(ctx context.Context, f func(context.Context, T) error) error {
	part, life, release, err := of.use()
	if err != nil {
		return err
	}
	ctx, leave := life.Enter(ctx) // before the node can begin to lock
	release()
	defer leave()
	if err = f(ctx, part); err != nil && life.IsOver() {
		<-ctx.Done() // the cancellation may still be on its way
		return context.Cause(ctx)
	}
	return err
}

// Viewer reads the records of an open node.
type Viewer interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
}

// View runs fn in a transaction of the open node.
func View[T Viewer](ctx context.Context, of Of[T], fn func(T, *store.Tx) error) error {
	part, release, err := of.Use()
	if err != nil {
		return err
	}
	defer release()
	return part.View(ctx, func(tx *store.Tx) error { return fn(part, tx) })
}
