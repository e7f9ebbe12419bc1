package node

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// What a worker said, and nothing else, is taken back, and can be restored.
func TestRevertOfAWorker(t *testing.T) {
	n := newNode(t, nil)
	ctx := t.Context()
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	no := false
	if _, err := n.Add(ctx, serve.AddRequest{Text: "The kettle is blue.", Infer: &no}); err != nil {
		t.Fatal(err)
	}
	says := func(id byte, engine, text string) memory.Assertion {
		c := memory.Candidate{Type: memory.Resource, Text: text, Owner: memory.Owner{User: "x"}, Confidence: 1, Sensitivity: memory.Private,
			Source: memory.Source{Plugin: "worker/read", Model: engine}, Fields: memory.Fields{Resource: &memory.ResourceFields{MediaType: "text/plain", Content: text}}}
		return memory.Assertion{Memory: memory.ID{id}, Act: memory.ActPropose, Candidate: &c, Source: c.Source}
	}
	source := o.sharing
	if err := source.TakeClaims(ctx, []memory.Assertion{says(1, "tesseract", "Open from two"), says(2, "tesseract", "Closed on Mondays"), says(3, "other", "A bicycle shed")}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Pin(ctx, memory.ID{2}, true); err != nil {
		t.Fatal(err)
	}
	here := func() string {
		t.Helper()
		page, err := n.List(ctx, serve.ListQuery{Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		var s []string
		for _, text := range []string{"kettle", "two", "Mondays", "shed"} {
			for _, m := range page.Memories {
				if strings.Contains(m.Text, text) {
					s = append(s, text)
				}
			}
		}
		return strings.Join(s, " ")
	}
	r := serve.RevertRequest{Source: "worker", Engine: "tesseract", Plan: true}
	plan, err := n.Revert(ctx, r)
	if err != nil || plan.Claims != 2 || plan.ID != "" || here() != "kettle two Mondays shed" {
		t.Fatalf("%+v, %v; %s", plan, err, here())
	}
	for _, m := range plan.Memories {
		if (m.Stays != "") != (m.Memory == memory.ID{2}) || m.Engine != "tesseract" || m.Said.IsZero() {
			t.Errorf("%+v", m)
		}
	}
	if v, err := n.Revert(ctx, serve.RevertRequest{Source: "worker", Since: time.Now().Add(time.Hour), Until: time.Now().Add(2 * time.Hour)}); err != nil || v.Claims != 0 {
		t.Errorf("%+v, %v", v, err)
	}
	r.Plan, r.Until = false, time.Now().Add(time.Minute)
	done, err := n.Revert(ctx, r)
	if err != nil || done.Claims != 2 || done.ID == "" || here() != "kettle Mondays shed" {
		t.Fatalf("%+v, %v; %s", done, err, here())
	}
	if v, err := n.Revert(ctx, r); err != nil || v.Claims != 0 {
		t.Errorf("a second time: %+v, %v", v, err)
	}
	for i, want := range []int{2, 0} {
		back, err := n.Revert(ctx, serve.RevertRequest{Undo: done.ID})
		if err != nil || back.Claims != want || here() != "kettle two Mondays shed" {
			t.Errorf("undone %d: %+v, %v; %s", i, back, err, here())
		}
	}
	if v, err := n.Revert(ctx, serve.RevertRequest{Source: "worker"}); err != nil || v.Claims != 3 || here() != "kettle Mondays" {
		t.Errorf("all of it, what was said again too: %+v, %v; %s", v, err, here())
	}
}

// A worker whose statements name an app as their source has them taken back together with
// workers' statements, and not with the app's, both for a member of the space and for one of the
// feed.
func TestThreatWorkerInTheNameOfAnApp(t *testing.T) {
	n := newNode(t, nil)
	ctx := t.Context()
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ev := memory.EventID{Device: "pin", Boot: 1, Seq: 1}
	line := memory.Utterance{ID: memory.ID{9}, Space: o.ring.Space(), Event: ev, Session: "s", At: time.Now().Add(-time.Hour), Text: "Open from two", Source: memory.Source{Plugin: "speech"}}
	if err := o.engine.Commit(ctx, func(tx *store.Tx) error { return tx.PutUtterance(&line) }); err != nil {
		t.Fatal(err)
	}
	says := func(id byte, member memory.MemberID) memory.Assertion {
		c := memory.Candidate{Type: memory.Semantic, Text: "It is open from two.", Owner: memory.Owner{User: "x"}, Confidence: 1, Sensitivity: memory.Private,
			Source: memory.Source{Device: memory.AppDevice + "notes", Plugin: "app"}, Evidence: []memory.Evidence{{Event: ev, Utterance: line.ID, At: line.At, Excerpt: "Open"}}}
		return memory.Assertion{Dot: memory.Dot{Member: member, Seq: 1}, Clock: memory.Clock{Wall: time.Now().UnixMilli()}, Rank: memory.RankCloud, Space: line.Space,
			Memory: memory.ID{id}, Act: memory.ActPropose, Candidate: &c, Source: c.Source}
	}
	if err := o.sharing.TakeClaims(ctx, []memory.Assertion{says(1, memory.MemberID{6})}, nil); err != nil {
		t.Fatal(err)
	}
	of, worker := o.sync.Journal(), memory.MemberID{7}
	a := says(2, worker)
	in := replica.Incoming{Author: envelope.Member{ID: worker}, Header: &envelope.Header{Version: envelope.Version, Space: line.Space, Member: worker, Seq: 1},
		Ops: []delta.Op{{Assertion: &a}}, Grant: &delta.Grant{Types: []memory.Type{memory.Semantic}}}
	if err := of.Apply(ctx, in, replica.State{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		serve.RevertRequest
		want int
	}{{serve.RevertRequest{App: "notes", Plan: true}, 0}, {serve.RevertRequest{Source: "worker"}, 2}} {
		if v, err := n.Revert(ctx, r.RevertRequest); err != nil || v.Claims != r.want {
			t.Errorf("%+v: %d claims, want %d; %v", r.RevertRequest, v.Claims, r.want, err)
		}
	}
	if page, err := n.List(ctx, serve.ListQuery{Limit: 10}); err != nil || len(page.Memories) != 0 {
		t.Errorf("%+v, %v", page.Memories, err)
	}
}

// Lines that a worker heard are removed by a revert, and are not added again; a call with the
// same id continues an interrupted revert, and a device that did not make the revert undoes it.
func TestRevertRemovesLines(t *testing.T) {
	n := newNode(t, nil)
	ctx := t.Context()
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ev := memory.EventID{Device: "pin", Boot: 1, Seq: 1}
	line := func(id byte, plugin string) memory.Utterance {
		return memory.Utterance{ID: memory.ID{id}, Event: ev, Session: "s", At: time.Now().Add(-time.Hour), Text: "Open from two", Source: memory.Source{Plugin: plugin, Model: "whisper.cpp"}}
	}
	own := line(9, "speech")
	own.Space = o.ring.Space()
	if err := o.engine.Commit(ctx, func(tx *store.Tx) error { return tx.PutUtterance(&own) }); err != nil {
		t.Fatal(err)
	}
	// The last of them is the device's own, which a worker states once more.
	if err := o.sharing.TakeClaims(ctx, nil, []memory.Utterance{line(1, "worker/transcribe"), line(2, "speech"), line(9, "worker/transcribe")}); err != nil {
		t.Fatal(err)
	}
	left := func() (out []memory.ID) {
		if err := o.store.View(ctx, func(tx *store.Tx) error {
			for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
				if err != nil {
					return err
				}
				out = append(out, u.ID)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	r := serve.RevertRequest{Source: "worker", Plan: true, Work: "read"}
	if v, err := n.Revert(ctx, r); err != nil || v.Lines != 0 {
		t.Errorf("of another work: %+v, %v", v, err)
	}
	r.Work = ""
	if v, err := n.Revert(ctx, r); err != nil || v.Lines != 2 || len(left()) != 3 {
		t.Errorf("planned: %+v, %v", v, err)
	}
	r.Plan, r.ID = false, "abc2"
	if v, err := n.Revert(ctx, r); err != nil || v.Lines != 2 || v.ID != "abc2" {
		t.Errorf("%+v, %v", v, err)
	}
	if got := left(); len(got) != 1 || got[0] != own.ID {
		t.Errorf("left: %v", got)
	}
	r.ID = "No id"
	if _, err := n.Revert(ctx, r); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("%v", err)
	}
	if _, err := n.Revert(ctx, serve.RevertRequest{Undo: "elsewhere"}); !errors.Is(err, memory.ErrNotFound) || !strings.Contains(err.Error(), "sync first") {
		t.Errorf("%v", err)
	}
}
