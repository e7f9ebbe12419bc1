package sharing

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/journal"
)

// The account comes from the newest report, with the reads of all reports; gaps
// are counted.
func TestAccountOfAWorker(t *testing.T) {
	at := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	report := func(n uint64, done int64, subjects ...string) journal.Report {
		told := delta.ReportContent{At: at.Add(time.Duration(n) * time.Minute), Work: []delta.Work{{Kind: "read", Done: done, Reasons: []delta.Reason{{Reason: "broken", Jobs: 2}}}}, Spent: delta.Spent{Tokens: 5, MicroUSD: 1500}}
		for _, s := range subjects {
			told.Reads = append(told.Reads, delta.Read{Kind: "read", Subject: s, Engine: "vision", Of: []string{"x", s}, To: "host:1"})
		}
		r, err := delta.NewReport(n, told)
		if err != nil {
			t.Fatal(err)
		}
		return journal.Report{Came: at, Report: *r}
	}
	var v serve.WorkerLog
	if err := account(&v, []journal.Report{report(7, 9, "d"), report(6, 8, "b", "c"), report(3, 1, "a")}, 3); err != nil {
		t.Fatal(err)
	}
	if v.Reports != 3 || v.Missing != 2 || len(v.Work) != 1 || v.Work[0].Done != 9 || v.Work[0].Reasons[0].Jobs != 2 || v.Dollars != 0.0015 || !v.At.Equal(at.Add(7*time.Minute)) {
		t.Errorf("%+v", v)
	}
	var order string
	for _, r := range v.Reads {
		order += r.Subject
	}
	if order != "dcb" || v.Reads[0].Report != 7 || v.Reads[0].To != "host:1" || len(v.Reads[0].Of) != 2 || v.Reads[0].Of[1] != "d" {
		t.Errorf("%+v", v.Reads)
	}
}
