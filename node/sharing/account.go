package sharing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/journal"
)

// WorkerLog implements serve.Granter. A worker that was removed from the
// wearer's space is found by its member id.
func (sr Sharer) WorkerLog(ctx context.Context, who string, limit int) (v serve.WorkerLog, err error) {
	all, err := sr.Grants(ctx)
	if err != nil {
		return v, err
	}
	found := slices.DeleteFunc(all, func(g serve.Grant) bool {
		return g.Name != who && (len(who) < 4 || !strings.HasPrefix(g.Member.String(), strings.ToLower(who)))
	})
	s, sh, ctx, release, err := sr.enter(ctx, needed)
	if err != nil {
		return v, err
	}
	defer release()
	var reports []journal.Report
	switch len(found) {
	case 1:
		v.Member, v.Name, v.Feed = found[0].Member, found[0].Name, found[0].Feed
		if v.Feed {
			reports, err = s.Reports(ctx, found[0].Space, v.Member)
		} else {
			reports, err = sh.c.Sync.Journal().Reports(ctx, v.Member)
		}
	case 0:
		if v.Member.UnmarshalText([]byte(strings.ToLower(who))) == nil {
			reports, err = sh.c.Sync.Journal().Reports(ctx, v.Member)
		}
		if err == nil && len(reports) == 0 {
			err = fmt.Errorf("worker %.40q: %w", who, memory.ErrNotFound)
		}
	default:
		err = fmt.Errorf("worker %.40q: %w", who, memory.ErrAmbiguous)
	}
	if err != nil {
		return v, shareError(err)
	}
	return v, account(&v, reports, limit)
}

// account fills in a worker's log from its reports, the newest first.
func account(v *serve.WorkerLog, reports []journal.Report, limit int) error {
	v.Reports = len(reports)
	for i := range reports {
		r := &reports[i]
		content, err := r.Report.Content()
		if err != nil {
			return err
		}
		if i == 0 {
			v.At, v.Came, v.Tokens, v.Dollars = content.At, r.Came, content.Spent.Tokens, float64(content.Spent.MicroUSD)/1e6
			for _, w := range content.Work {
				jobs := serve.WorkerJobs{Kind: w.Kind, Engine: w.Engine, Waiting: w.Waiting, Running: w.Running, Done: w.Done, Parked: w.Parked}
				for _, why := range w.Reasons {
					jobs.Reasons = append(jobs.Reasons, serve.WorkerReason(why))
				}
				v.Work = append(v.Work, jobs)
			}
		} else {
			v.Missing += int(min(reports[i-1].Report.Number-r.Report.Number-1, 1<<20))
		}
		for _, d := range slices.Backward(content.Reads) {
			if len(v.Reads) == limit {
				break
			}
			v.Reads = append(v.Reads, serve.WorkerRead{At: d.At, Kind: d.Kind, Subject: d.Subject, Engine: d.Engine, Of: d.Of, To: d.To, Report: r.Report.Number, Place: r.Place.String()})
		}
	}
	return nil
}
