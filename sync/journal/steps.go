package journal

import (
	"context"
	"errors"

	"github.com/locket-dev/locket/memory/store"
)

// These are limits of steps per transaction, which holds about 200 assertions.
// The first is for the content of deltas, the second for notes alone.
const (
	applyPage = 64
	notePage  = 512
)

// step writes one part of a change. Doing it twice changes nothing. page is how
// many steps a transaction takes at present; it is 1 if two were too large.
// more reports that the step is unfinished and continues in a transaction of
// its own.
type step func(tx *store.Tx, page int) (more bool, err error)

// singleStep returns a step that needs only one call.
func singleStep(do func(*store.Tx) error) step {
	return func(tx *store.Tx, _ int) (bool, error) { return false, do(tx) }
}

// runSteps does steps in order. A transaction takes at most page steps, and
// fewer if they are too large for it.
func runSteps(ctx context.Context, write func(context.Context, func(*store.Tx) error) error, page int, steps []step) error {
	for at := 0; at < len(steps); {
		next := at
		err := write(ctx, func(tx *store.Tx) error {
			for next = at; next < min(at+page, len(steps)); next++ {
				if more, err := steps[next](tx, page); err != nil || more {
					return err
				}
			}
			return nil
		})
		switch {
		case errors.Is(err, errUnstorable): // the next try leaves out the op that the store can't hold
		case errors.Is(err, store.ErrTooLarge) && page > 1:
			page /= 2
		case err != nil:
			return err
		default:
			at = next
		}
	}
	return nil
}
