package journal

import (
	"context"
	"errors"

	"github.com/locket-dev/locket/memory/store"
)

// Limits of steps per transaction, which holds about 200 assertions. The first
// is for what came, the second for notes about it alone.
const (
	applyPage = 64
	notePage  = 512
)

// step writes one part of a change. Doing it twice changes nothing. page is how
// many steps a transaction takes by now; it is 1 if even two were too much.
// more reports that the step is unfinished and goes on in a transaction of its
// own.
type step func(tx *store.Tx, page int) (more bool, err error)

// whole returns a step that is done at once.
func whole(do func(*store.Tx) error) step {
	return func(tx *store.Tx, _ int) (bool, error) { return false, do(tx) }
}

// inSteps does steps in order, as many in each transaction as fit, at most
// page.
func inSteps(ctx context.Context, write func(context.Context, func(*store.Tx) error) error, page int, steps []step) error {
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
		case errors.Is(err, errUnheld): // try the same once more without that op
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
