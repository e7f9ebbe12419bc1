package worker

import (
	"context"
	"errors"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// These times apply to a job about something that is not in this replica: when
// it is tried again, and how long after it was added it is given up, because no
// living worker has the subject.
const (
	absentRetry = 5 * time.Second
	absentFor   = time.Hour
)

// absent reports whether a job's subject is missing in this replica while
// another worker may have it. Workers that share jobs add them from their own
// replicas, which may know different deltas. If a worker ended such a job as
// being about something forgotten, it would end for all workers. A forgotten
// subject is known as forgotten here. Jobs that are not shared are always about
// something that was here.
func (w *Worker) absent(ctx context.Context, s *space, r *queue.Running) (absent bool, err error) {
	if w.c.DB == nil || time.Since(r.Added) >= absentFor {
		return false, nil
	}
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		switch r.Kind {
		case queue.Graph, queue.Dream: // their subject is the whole space
			return nil
		case queue.Sequence, queue.Language, queue.Summary:
			of := r.Kind
			if of == queue.Summary {
				of = queue.Language
			}
			_, here, err := batchOf(tx, of, r.Subject)
			absent = !here
			return err
		}
		id, err := memory.ParseID(r.Subject)
		if err != nil {
			return err
		}
		_, err = tx.Memory(id)
		if errors.Is(err, memory.ErrNotFound) {
			absent, err = true, nil
		}
		return err
	})
	return absent, err
}
