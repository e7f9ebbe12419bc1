package worker

import (
	"context"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
)

// told syncs until a worker's report fulfils a condition, and returns it with everything that was
// read according to the reports.
func (o *owner) told(worker memory.MemberID, until func(last delta.ReportContent, reads []delta.Read) bool) (delta.ReportContent, []delta.Read) {
	o.t.Helper()
	for {
		o.sync()
		reports, err := o.ledger.Reports(o.t.Context(), worker)
		o.ok(err)
		var last delta.ReportContent
		var reads []delta.Read
		for i, r := range reports {
			t, err := r.Report.Content()
			o.ok(err)
			if i == 0 {
				last = t
			} else if r.Report.Number+1 != reports[i-1].Report.Number {
				o.t.Fatalf("report %d before %d", r.Report.Number, reports[i-1].Report.Number)
			}
			reads = append(reads, t.Reads...)
		}
		if until(last, reads) {
			return last, reads
		}
		o.waitMore()
	}
}

// The owner sees the state of the jobs, why one is parked, and what was read by which engine, from
// the worker's own signed chain.
func TestOwnerSeesProgressAndWhatWasRead(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	note := o.source("image/png", day(t, "note.png"))
	bad := o.source("image/jpeg", []byte("not a photo at all"))
	c := Config{Home: home, Engines: Engines{Speech: "none"}}
	w, _, stop := run(t, c)
	me := w.Spaces()[0].Member
	last, reads := o.told(me, func(last delta.ReportContent, reads []delta.Read) bool {
		return len(last.Work) == 1 && last.Work[0].Done == 1 && last.Work[0].Parked == 1
	})
	if k := last.Work[0]; k.Kind != string(queue.Read) || k.Engine != "tesseract" || k.Waiting != 0 || len(k.Reasons) != 1 ||
		k.Reasons[0].Jobs != 1 || !strings.Contains(k.Reasons[0].Reason, "does not take this input") {
		t.Errorf("%+v", last)
	}
	of := map[string]int{}
	for _, r := range reads {
		of[r.Subject]++
		if r.Kind != "read" || r.Engine != "tesseract" || r.To != "" || r.At.IsZero() {
			t.Errorf("%+v", r)
		}
	}
	if len(of) != 2 || of[note.String()] != 1 || of[bad.String()] != 1 {
		t.Errorf("%v", of)
	}
	stop()
	// Without news there is no report. With news, the log continues.
	run(t, c)
	third := o.source("image/png", day(t, "note.png"))
	_, reads = o.told(me, func(_ delta.ReportContent, reads []delta.Read) bool { return len(reads) == 3 })
	if reads[0].Subject != third.String() {
		t.Errorf("%+v", reads)
	}
	if ps, err := o.replica.Problems(t.Context()); err != nil || len(ps) > 0 {
		t.Errorf("set aside: %+v, %v", ps, err)
	}
}

// A report may be made between the end of a job and the record of that end. Then the space is
// looked at again; otherwise the owner would see the job running for ever.
func TestReportIsUpdatedAfterTheJobEnds(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	w, err := Open(t.Context(), Config{Home: joined(t, o, relay, granted), Log: slog.New(&said{}), Cache: cache, Engines: Engines{Speech: "none"}})
	o.ok(err)
	t.Cleanup(func() { o.ok(w.Close()) })
	s := w.space(o.space)
	running := delta.ReportContent{At: time.Now().UTC().Truncate(time.Millisecond), Work: []delta.Work{{Kind: string(queue.Read), Running: 1}}}
	s.reportContent = func(context.Context) (delta.ReportContent, bool, error) { return running, true, nil }
	for range 2 { // one report, and nothing new
		s.worked.Store(false)
		r, err := s.nextReport(t.Context())
		o.ok(err)
		if r != nil {
			o.ok(s.reportSent(t.Context(), r))
		}
		if !s.worked.Load() {
			t.Errorf("with report %v: the space isn't looked at again", r)
		}
	}
}

// With long names, a report has fewer reads: a worker that can't report could not sync any more.
func TestReportIsBounded(t *testing.T) {
	told := delta.ReportContent{At: time.Now().UTC()}
	long := strings.Repeat("<", engine.MaxDetail)
	for _, kind := range []string{"transcribe", "read", "caption", "sequence", "question", "language", "summary", "graph", "dream"} {
		work := delta.Work{Kind: kind, Engine: long, Parked: 8}
		for range delta.MaxReasons {
			work.Reasons = append(work.Reasons, delta.Reason{Reason: long, Jobs: 1})
		}
		told.Work = append(told.Work, work)
	}
	for range delta.MaxReads {
		told.Reads = append(told.Reads, delta.Read{At: told.At, Kind: "language", Subject: strings.Repeat("a", 32), Engine: long, To: long, Of: slices.Repeat([]string{strings.Repeat("b", 26)}, delta.MaxOf)})
	}
	r, err := fitting(1, told)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Content()
	if err != nil || len(got.Reads) < 1 || len(got.Reads) >= delta.MaxReads || len(got.Work[8].Reasons) != delta.MaxReasons || !reflect.DeepEqual(got.Reads, told.Reads[:len(got.Reads)]) {
		t.Errorf("%d reads, %v", len(got.Reads), err)
	}
}
