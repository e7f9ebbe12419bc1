package worker

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/replica"
)

// A worker reports to the owners of a space: the state of its jobs, and what it
// has read. Reports are ops in its signed chain. A report is sent when all
// possible work is done, and otherwise every reportEvery. What is going to be
// read is recorded before an engine gets it, and the record stays until a
// report with it was sent.

// reportEvery is the least time between reports while there is work.
const reportEvery = 30 * time.Second

// maxUnsent is how many unreported reads may wait, of eight ids each. When
// there are more, jobs wait.
const maxUnsent = 1000

// Names of notes in the space's store.
const (
	readsNote  = "worker/reads"  // []delta.Read that no report has yet
	reportNote = "worker/report" // reported
)

// reported is the last report that was sent.
type reported struct {
	Number uint64    `json:"n"`
	At     time.Time `json:"a"`
	State  string    `json:"s"` // JSON of the last report without reads and time
}

// noteRead records that something is going to be read, for the next report.
func (s *space) noteRead(ctx context.Context, r delta.Read) error {
	return s.engine.Commit(ctx, func(tx *store.Tx) error {
		var unsent []delta.Read
		if _, err := tx.Meta(readsNote, &unsent); err != nil {
			return err
		}
		weight := 0
		for i := range unsent {
			weight += 1 + len(unsent[i].Of)/8
		}
		if weight >= maxUnsent {
			return &queue.WaitError{After: time.Minute, Reason: "earlier reads could not be reported to the owner yet"}
		}
		return tx.PutMeta(readsNote, append(unsent, r))
	})
}

// reporting is the space's journal with a report at the end of the outbox.
type reporting struct {
	*journal.Journal
	s *space
}

// Outbox implements replica.Journal.
func (j reporting) Outbox(ctx context.Context, limit int) ([]replica.Outgoing, error) {
	out, err := j.Journal.Outbox(ctx, limit)
	if err != nil || len(out) > 0 {
		return out, err
	}
	r, err := j.s.nextReport(ctx)
	if err != nil || r == nil {
		return nil, err
	}
	return []replica.Outgoing{{Op: &delta.Op{Report: r}}}, nil
}

// Sent implements replica.Journal. It first records that the report was sent.
// This order is safe, because after a crash the pending delta is sent again
// unchanged.
func (j reporting) Sent(ctx context.Context, sent replica.Entries, at envelope.Position, ops []delta.Op, st replica.State) error {
	for i := range ops {
		if r := ops[i].Report; r != nil {
			if err := j.s.reportSent(ctx, r); err != nil {
				return err
			}
		}
	}
	return j.Journal.Sent(ctx, sent, at, ops, st)
}

func (s *space) reportSent(ctx context.Context, r *delta.Report) error {
	content, err := r.Content()
	if err != nil {
		return err
	}
	return s.engine.Commit(ctx, func(tx *store.Tx) error {
		var last reported
		var unsent []delta.Read
		if _, err := tx.Meta(reportNote, &last); err != nil || last.Number >= r.Number {
			return err
		}
		if _, err := tx.Meta(readsNote, &unsent); err != nil {
			return err
		}
		if err := tx.PutMeta(readsNote, unsent[min(len(content.Reads), len(unsent)):]); err != nil {
			return err
		}
		state, err := stateOf(content)
		if err != nil {
			return err
		}
		return tx.PutMeta(reportNote, reported{r.Number, content.At, state})
	})
}

func stateOf(t delta.ReportContent) (string, error) {
	b, err := json.Marshal(delta.ReportContent{Work: t.Work, Spent: t.Spent})
	return string(b), err
}

// nextReport returns what has to be reported now, or nil if there is nothing.
func (s *space) nextReport(ctx context.Context) (*delta.Report, error) {
	if s.reportContent == nil {
		return nil, nil
	}
	content, busy, err := s.reportContent(ctx)
	if err != nil {
		return nil, err
	}
	var last reported
	err = s.engine.View(ctx, func(tx *store.Tx) error {
		if _, err := tx.Meta(reportNote, &last); err != nil {
			return err
		}
		_, err := tx.Meta(readsNote, &content.Reads)
		return err
	})
	if err != nil {
		return nil, err
	}
	content.Reads = content.Reads[:min(len(content.Reads), delta.MaxReads)]
	state, err := stateOf(content)
	if err != nil {
		return nil, err
	}
	if busy { // look again in the next round: a job's end is recorded after worked was set for it
		s.worked.Store(true)
	}
	switch {
	case state == last.State && len(content.Reads) == 0, last.Number == 0 && len(content.Work) == 0:
		return nil, nil
	case busy && content.At.Sub(last.At) < reportEvery && content.At.After(last.At):
		return nil, nil
	}
	return fitting(last.Number+1, content)
}

// fitting makes a report with as many reads as fit. The rest is for the next
// report.
func fitting(number uint64, told delta.ReportContent) (*delta.Report, error) {
	for {
		r, err := delta.NewReport(number, told)
		if err == nil || len(told.Reads) < 2 {
			return r, err
		}
		told.Reads = told.Reads[:len(told.Reads)/2]
	}
}

// of returns the state of a space's jobs. busy reports whether some can be done
// now.
func (w *Worker) of(ctx context.Context, s *space) (t delta.ReportContent, busy bool, err error) {
	space := s.joined.Space
	t.At = w.now().UTC().Truncate(time.Millisecond)
	counts, err := w.queue.Counts(ctx, space)
	if err != nil {
		return t, false, err
	}
	spent, err := w.queue.Spent(ctx, space)
	if err != nil {
		return t, false, err
	}
	t.Spent = delta.Spent{Tokens: spent.Tokens, MicroUSD: int64(spent.MicroUSD)}
	const atMost = 500 // the number of these whose reasons are counted
	var stuck []queue.Job
	for _, state := range []queue.State{queue.Parked, queue.Waiting} {
		list, err := w.queue.List(ctx, queue.Filter{Space: space, State: state, Limit: atMost})
		if err != nil {
			return t, false, err
		}
		stuck = append(stuck, list...)
	}
	for _, c := range counts {
		work := delta.Work{Kind: string(c.Kind), Waiting: c.Waiting, Running: c.Running, Done: c.Done, Parked: c.Parked}
		for _, trade := range w.kinds {
			if trade.kind == c.Kind {
				work.Engine = trade.engine
			}
		}
		put := int64(0)
		for i := range stuck {
			j := &stuck[i]
			if j.Kind != c.Kind || j.Reason == "" {
				continue
			}
			if j.State == queue.Waiting {
				put++
			}
			addReason(&work, engine.Clip(j.Reason))
		}
		busy = busy || c.Running > 0 || c.Waiting > put
		t.Work = append(t.Work, work)
	}
	return t, busy, nil
}

// addReason counts a reason. Reasons after the eighth kind are left out.
func addReason(w *delta.Work, reason string) {
	i := slices.IndexFunc(w.Reasons, func(r delta.Reason) bool { return r.Reason == reason })
	if i < 0 {
		if len(w.Reasons) == delta.MaxReasons {
			return
		}
		w.Reasons = append(w.Reasons, delta.Reason{Reason: reason})
		i = len(w.Reasons) - 1
	}
	w.Reasons[i].Jobs++
}

func (w *Worker) now() time.Time {
	if w.c.Now == nil {
		return time.Now()
	}
	return w.c.Now()
}

// syncForReport makes a space sync if jobs have ended since its last report, and if
// enough time has passed.
func (w *Worker) syncForReport(ctx context.Context) {
	w.mu.Lock()
	list := slices.Collect(maps.Values(w.spaces))
	w.mu.Unlock()
	for _, s := range list {
		if !s.ready.Load() {
			continue
		}
		if s.isDue(w.now()) {
			s.notify()
		}
		if !s.worked.Swap(false) {
			continue
		}
		s.busy.RLock()
		r, err := (*delta.Report)(nil), s.memberCtx.Err()
		if err == nil {
			r, err = s.nextReport(ctx)
		}
		s.busy.RUnlock()
		if err == nil && r != nil {
			s.notify()
		}
	}
}
