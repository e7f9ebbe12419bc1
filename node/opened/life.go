package opened

import (
	"context"
	"fmt"
	"sync"

	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/memory"
)

var errLocked = fmt.Errorf("%w: the node was locked", memory.ErrLocked)

// Life is the time from an unlock to the next lock. Its methods are safe for
// concurrent use.
type Life struct {
	over chan struct{} // closed by End
	end  sync.Once
	work sync.WaitGroup // what Wait waits for
	to   span.Sink      // receives the spans of background work; may be nil
}

// NewLife begins a life. The spans of the work that Start runs go to a sink, which
// may be nil.
func NewLife(to span.Sink) *Life { return &Life{over: make(chan struct{}), to: to} }

// Enter makes Wait wait until leave is called. The context ends with leave, with
// the given context, and with the life; then its cause is memory.ErrLocked. Enter
// must not be called after Wait.
func (l *Life) Enter(ctx context.Context) (_ context.Context, leave func()) {
	l.work.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-l.over:
			cancel(errLocked)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		l.work.Done()
	}
}

// Start runs f in the background. Its context ends with the life and at stop,
// which waits until f has returned.
func (l *Life) Start(f func(context.Context)) (stop func()) {
	ctx, leave := l.Enter(span.With(context.Background(), l.to))
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer leave()
		f(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// End ends the life, and with it the contexts of all that entered. It is safe to
// call twice.
func (l *Life) End() { l.end.Do(func() { close(l.over) }) }

// Done is closed when the life ends.
func (l *Life) Done() <-chan struct{} { return l.over }

// IsOver reports whether the life has ended.
func (l *Life) IsOver() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

// Wait waits until all that entered have left.
func (l *Life) Wait() { l.work.Wait() }
