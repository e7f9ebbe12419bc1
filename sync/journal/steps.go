package journal

import (
	"context"
	"errors"

	"github.com/locket-dev/locket/memory/store"
)

// How many steps one transaction takes, which holds about 200 assertions: of what
// came, and of what is noted of them alone.
const (
	applyPage = 64
	notePage  = 512
)

// step is a part of what is to be written: to do it twice changes nothing. page is
// how many a transaction takes by now, 1 where even two were too much. more: it is
// not at its end, and goes on in a transaction of its own.
type step func(tx *store.Tx, page int) (more bool, err error)

// whole is a step that is done at once.
func whole(do func(*store.Tx) error) step {
	return func(tx *store.Tx, _ int) (bool, error) { return false, do(tx) }
}

// inSteps does steps in their order, as many in each transaction as fit, and page at
// most.
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
		case errors.Is(err, errUnheld): // without it, the same once more
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
