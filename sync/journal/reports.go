package journal

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// maxReports is how many reports of a worker are kept. The oldest are removed
// first.
const maxReports = 400

// Report is a worker's report as it came.
type Report struct {
	Came   time.Time         `json:"c"` // by this member's clock
	Place  envelope.Position `json:"p"` // the signed delta that contains it
	Report delta.Report      `json:"r"`
}

// reported are the numbers of the first and the last kept report of a worker.
type reported struct {
	First uint64 `json:"f"`
	Last  uint64 `json:"l"`
}

// keepReport stores a report unless this report or a later one is stored.
func (j *Journal) keepReport(tx *store.Tx, in *replica.Incoming, r *delta.Report) error {
	who := in.Author.ID.String()
	var kept reported
	if _, err := tx.Meta(j.note("reports", who), &kept); err != nil {
		return err
	}
	if r.Number <= kept.Last {
		return nil
	}
	if kept.First == 0 || r.Number-kept.Last > maxReports {
		for n := kept.First; n != 0 && n <= kept.Last; n++ {
			if err := tx.DeleteMeta(j.reportNote(who, n)); err != nil {
				return err
			}
		}
		kept.First = r.Number
	}
	kept.Last = r.Number
	for ; kept.Last-kept.First >= maxReports; kept.First++ {
		if err := tx.DeleteMeta(j.reportNote(who, kept.First)); err != nil {
			return err
		}
	}
	if err := tx.PutMeta(j.reportNote(who, r.Number), Report{Came: in.At, Place: in.Header.Position(), Report: *r}); err != nil {
		return err
	}
	return tx.PutMeta(j.note("reports", who), kept)
}

func (j *Journal) reportNote(who string, n uint64) string {
	return j.note("report", who, strconv.FormatUint(n, 10))
}

// Reports returns a worker's reports, newest first.
func (j *Journal) Reports(ctx context.Context, worker memory.MemberID) (out []Report, err error) {
	err = j.Store.View(ctx, func(tx *store.Tx) error {
		var kept reported
		if _, err := tx.Meta(j.note("reports", worker.String()), &kept); err != nil {
			return err
		}
		for n := kept.First; n != 0 && n <= kept.Last; n++ {
			var r Report
			ok, err := tx.Meta(j.reportNote(worker.String(), n), &r)
			if err != nil {
				return err
			}
			if ok { // a missing report never came; the gap in the numbers shows it
				out = append(out, r)
			}
		}
		return nil
	})
	slices.Reverse(out)
	return out, err
}
