package worker

import (
	"context"
	"errors"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// Of a job that is about something which is not here: how soon it is looked at
// again, and how long after it was added it is given up, since no worker that is
// alive has that.
const (
	absentAgain = 5 * time.Second
	absentFor   = time.Hour
)

// absent reports whether a job is about something that this worker has not got,
// and another one may have. Workers that share jobs add them each by its own
// replica, which are not at the same place: who took the job for one of
// something forgotten would end it for all of them. What was forgotten is known
// as such here; jobs that nobody shares are all of something that was here.
func (w *Worker) absent(ctx context.Context, s *space, r *queue.Running) (absent bool, err error) {
	if w.c.DB == nil || time.Since(r.Added) >= absentFor {
		return false, nil
	}
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		switch r.Kind {
		case queue.Graph, queue.Dream: // of all that there is
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
