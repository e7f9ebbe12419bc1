package intake

import (
	"context"
	"errors"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// run journals the queued messages, in order. It takes as many messages at once as
// arrived while the disk was busy, and hands each to its connection for the
// answer.
func (in *Intake) run() {
	defer close(in.done)
	known := newSeen()
	backoff := in.cfg.RetryAfter / 2 // so that the first wait is RetryAfter
	for d := range in.queue {
		batch := in.gather(d)
		n, err := in.append(batch, known)
		switch {
		case err != nil:
			backoff = min(2*backoff, maxRetry)
		case n > 0:
			backoff = in.cfg.RetryAfter / 2
		}
		for _, d := range batch {
			if d.outcome == pending {
				d.outcome, d.err = deferred, err
			}
			d.event.Data = nil
			in.payloadBudget.release(d.weight)
			if d.isPress {
				in.handlePress(d) // before the answer, so that a press that is answered was also obeyed
			}
			in.settle(d)
			d.conn.complete(d, backoff)
		}
	}
}

// gather adds to the first delivery those that already wait.
func (in *Intake) gather(d *delivery) []*delivery {
	batch, bytes := []*delivery{d}, d.weight
	for len(batch) < maxBatch && bytes < maxBatchBytes {
		select {
		case more, ok := <-in.queue:
			if !ok {
				return batch
			}
			batch, bytes = append(batch, more), bytes+more.weight
		default:
			return batch
		}
	}
	return batch
}

// append journals the new events of a batch, marks them as seen, and returns their
// number.
func (in *Intake) append(batch []*delivery, known *seen) (int, error) {
	var events []memory.Event
	var fresh []*delivery
	twice := map[memory.EventID]*delivery{}
	var again []*delivery // sent twice within the batch
	for _, d := range batch {
		switch {
		case d.outcome != pending:
		case d.conn.isBlocked():
			d.outcome, d.err = deferred, errBlocked
		case known.has(d.event.ID):
			d.outcome = journaled
			in.stats.count(func(s *Stats) { s.Duplicates++ })
		case twice[d.event.ID] != nil:
			again = append(again, d)
		default:
			twice[d.event.ID] = d
			events, fresh = append(events, d.event), append(fresh, d)
		}
	}
	if len(events) == 0 {
		return 0, nil
	}
	// The connection's context is not used here: an event that is being written
	// when its device disconnects is taken nevertheless.
	if err := in.cfg.Journal.Append(context.Background(), events); err != nil {
		if errors.Is(err, memory.ErrNoSpace) {
			in.logOnce("no space", "no space: events are refused until there is", "error", err)
		} else {
			in.log.Error("intake: the journal failed; events are refused until it works", "error", err)
		}
		return 0, err
	}
	for _, d := range fresh {
		known.add(d.event.ID)
		d.outcome = journaled
	}
	for _, d := range again {
		d.outcome = journaled
	}
	in.stats.count(func(s *Stats) {
		s.Journalled += uint64(len(fresh))
		s.Duplicates += uint64(len(again))
		s.Batches++
	})
	return len(fresh), nil
}

// settle counts an outcome, and quarantines what is refused for good.
func (in *Intake) settle(d *delivery) {
	close(d.decided)
	switch d.outcome {
	case dropped:
		in.stats.count(func(s *Stats) {
			if d.private != "" {
				s.Private[d.private]++
			} else {
				s.Paused++
			}
		})
	case deferred:
		in.stats.count(func(s *Stats) { s.Deferred++ })
	case stale:
		in.stats.count(func(s *Stats) { s.Retained++ })
		in.logOnce("retained", "a device publishes events as retained messages, which it must not: retained messages are ignored", "device", d.device)
	case refused:
		in.reject(d)
	}
}

func (in *Intake) reject(d *delivery) {
	r := Rejected{
		At: in.cfg.Now().UTC(), Device: d.device, Kind: d.kind, Problem: string(wire.Encoding),
		Error: d.err.Error(), Size: d.size, Payload: d.payload,
	}
	if in.isSilenced() {
		r.Payload = nil // it may contain something that must not be recorded now
	}
	var e *wire.Error
	if errors.As(d.err, &e) {
		r.Problem, r.Field = string(e.Problem), e.Field
	}
	in.stats.count(func(s *Stats) { s.Rejected[r.Problem]++ })
	kind := statsKind(d.kind)
	in.logOnce("rejected "+r.Problem+" "+string(kind), "message refused",
		"device", d.device, "kind", kind, "problem", r.Problem, "error", r.Error, "size", d.size)
	if in.cfg.Quarantine == nil {
		return
	}
	if err := in.cfg.Quarantine.Keep(context.Background(), r); err != nil {
		in.logOnce("quarantine", "a refused message could not be kept", "error", err)
	}
}
