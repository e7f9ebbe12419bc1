package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
)

// together stores runs in one transaction, in a lane that nobody else uses.
func together(t *testing.T, s *Store, all ...*run) {
	t.Helper()
	for _, r := range all {
		if r == nil {
			t.Fatal("not a run")
		}
	}
	s.commit(t.Context(), all)
}

func runOf(h *storetest.Household, quota relay.Quota, deltas ...*envelope.Delta) *run {
	return newRun(accountOf(h), h.Space, h.State.N(), h.State.Head(), deltas, quota, now)
}

// threeHouses makes three tenants in a store, each with two deltas.
func threeHouses(t *testing.T, s *Store) (out []*storetest.Household) {
	t.Helper()
	for i := range 3 {
		h, _ := settle(t, s, fmt.Sprint("house ", i))
		out = append(out, h)
	}
	return out
}

func bodies(t *testing.T, s *Store, h *storetest.Household) (out []string) {
	t.Helper()
	page, err := s.After(t.Context(), h.Space, 2, 99, 1<<20)
	check(t, err)
	for i, p := range page {
		d, err := envelope.ParseDelta(p.Delta)
		check(t, err)
		if p.Cursor != uint64(3+i) {
			t.Errorf("cursor %d is at place %d", p.Cursor, 3+i)
		}
		out = append(out, string(d.Body))
	}
	return out
}

// If one of the runs in a transaction is not plain, it changes nothing, and the others are still
// stored.
func TestRunsInOneTransaction(t *testing.T) {
	s := store(t, migrated(t), t.TempDir())
	hs := threeHouses(t, s)
	before, err := s.Account(t.Context(), accountOf(hs[1]))
	check(t, err)
	lost := hs[1].Delta(hs[1].Owner, "never sent")
	plain := []*run{runOf(hs[0], relay.Quota{}, hs[0].Delta(hs[0].Owner, "a"), hs[0].Delta(hs[0].Owner, "b")), runOf(hs[2], relay.DefaultQuota, hs[2].Delta(hs[2].Writer, "c"))}
	odd := map[string]*run{
		"a gap":        runOf(hs[1], relay.Quota{}, hs[1].Delta(hs[1].Owner, "after the lost")),
		"bytes":        runOf(hs[1], relay.Quota{Bytes: before.Bytes}, lost),
		"deltas a day": runOf(hs[1], relay.Quota{DeltasPerDay: 2}, lost),
	}
	moved := runOf(hs[1], relay.Quota{}, lost)
	moved.logHead[0] ^= 1
	odd["the log"] = moved
	stranger := runOf(hs[1], relay.Quota{}, lost)
	stranger.account = accountOf(hs[0])
	odd["another's space"] = stranger
	group := []*run{plain[0]}
	for _, r := range odd {
		group = append(group, r)
	}
	together(t, s, append(group, plain[1])...)
	for name, r := range odd {
		if r.stored || r.err != nil {
			t.Errorf("%s: %v, %v", name, r.stored, r.err)
		}
	}
	for i, r := range plain {
		if !r.stored || r.err != nil || r.cursor != 2 {
			t.Errorf("run %d: %+v", i, r)
		}
	}
	for i, want := range []string{"[a b]", "[]", "[c]"} {
		if got := fmt.Sprint(bodies(t, s, hs[i])); got != want {
			t.Errorf("house %d has %s, want %s", i, got, want)
		}
	}
	if a, err := s.Account(t.Context(), accountOf(hs[1])); err != nil || a.Bytes != before.Bytes || a.Deltas != before.Deltas {
		t.Errorf("%+v, was %+v: %v", a, before, err)
	}
	a, err := s.Account(t.Context(), accountOf(hs[0]))
	check(t, err)
	if a.Deltas != 4 || a.Bytes != before.Bytes+plain[0].rows.bytes {
		t.Errorf("%+v", a)
	}
	// The same run again: it is stored already, which appendDeltas has to find out.
	again := *plain[0]
	again.stored = false
	together(t, s, &again)
	if again.stored || again.err != nil || len(bodies(t, s, hs[0])) != 2 {
		t.Errorf("%+v", again)
	}
}

// If the database itself refuses a run, the transaction ends. Each run is then done by itself, and
// only that one fails.
func TestRefusedRunIsRetriedAlone(t *testing.T) {
	url := migrated(t)
	s := store(t, url, t.TempDir())
	hs := threeHouses(t, s)
	conn, err := pgx.Connect(t.Context(), url)
	check(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "ALTER TABLE deltas ADD CHECK (body <> 'refused')")
	check(t, err)
	var ds []*envelope.Delta
	var group []*run
	for i, h := range hs {
		ds = append(ds, h.Delta(h.Owner, []string{"a", "refused", "c"}[i]))
		group = append(group, runOf(h, relay.Quota{}, ds[i]))
	}
	together(t, s, group...)
	for i, h := range hs {
		if group[i].stored || group[i].err != nil {
			t.Errorf("run %d: %+v", i, group[i])
		}
		_, err := s.AppendExact(t.Context(), h.Space, h.State.N(), h.State.Head(), ds[i:i+1], relay.Quota{}, now)
		if refused := err != nil; refused != (i == 1) || errors.Is(err, relay.ErrUnavailable) {
			t.Errorf("house %d: %v", i, err)
		}
	}
	if got := fmt.Sprint(bodies(t, s, hs[0]), bodies(t, s, hs[1]), bodies(t, s, hs[2])); got != "[a] [] [c]" {
		t.Error(got)
	}
}

// Somebody who holds an account's row does not delay other accounts' deltas.
func TestLockedAccountDelaysNoOther(t *testing.T) {
	s := store(t, migrated(t), t.TempDir())
	hs := threeHouses(t, s)
	held := make(chan error)
	err := s.change(t.Context(), "hold", accountOf(hs[0]), func(pgx.Tx, *relay.Account) error {
		r0, r1 := runOf(hs[0], relay.Quota{}, hs[0].Delta(hs[0].Owner, "a")), runOf(hs[1], relay.Quota{}, hs[1].Delta(hs[1].Owner, "b"))
		together(t, s, r0, r1)
		if r0.stored || !r1.stored {
			t.Errorf("%+v, %+v", r0, r1)
		}
		d := hs[0].Delta(hs[0].Writer, "waits")
		go func() {
			_, err := s.AppendExact(t.Context(), hs[0].Space, hs[0].State.N(), hs[0].State.Head(), []*envelope.Delta{d}, relay.Quota{}, now)
			held <- err
		}()
		return nil
	})
	check(t, err)
	check(t, <-held)
	if got := fmt.Sprint(bodies(t, s, hs[0]), bodies(t, s, hs[1])); got != "[waits] [b]" {
		t.Error(got)
	}
}

// A run consists of consecutive deltas of one chain.
func TestNewRun(t *testing.T) {
	h := storetest.NewHousehold(t, "runs")
	a, b, c := h.Delta(h.Owner, "a"), h.Delta(h.Owner, "b"), h.Delta(h.Owner, "c")
	other := h.Delta(h.Writer, "other")
	for name, c := range map[string]struct {
		deltas []*envelope.Delta
		run    bool
	}{
		"one":             {[]*envelope.Delta{a}, true},
		"in order":        {[]*envelope.Delta{a, b, c}, true},
		"from the middle": {[]*envelope.Delta{b, c}, true},
		"backwards":       {[]*envelope.Delta{b, a}, false},
		"twice":           {[]*envelope.Delta{a, a}, false},
		"with a gap":      {[]*envelope.Delta{a, c}, false},
		"of two authors":  {[]*envelope.Delta{a, other}, false},
	} {
		r := runOf(h, relay.Quota{}, c.deltas...)
		if (r != nil) != c.run {
			t.Errorf("%s: %v", name, r != nil)
		}
	}
	r := runOf(h, relay.Quota{}, b, c)
	if r.first.Seq != 2 || r.prev != a.Header.Hash() || !bytes.Equal(r.rows.body[1], []byte("c")) {
		t.Errorf("%+v", r)
	}
}

// A transaction takes as many runs as fit, and at least one.
func TestLaneTakesRunsThatFit(t *testing.T) {
	sized := func(bytes int64) *run { return &run{rows: rows{bytes: bytes}} }
	l := &lane{leading: true, waiting: []*run{sized(maxRunBytes + 1), sized(maxRunBytes - 1), sized(1), sized(1)}}
	for range maxRuns {
		l.waiting = append(l.waiting, sized(1))
	}
	for i, want := range []int{1, 2, maxRuns, 1, 0} {
		if got := len(l.next()); got != want || l.leading != (want > 0) {
			t.Errorf("take %d: %d runs, want %d, leading %v", i, got, want, l.leading)
		}
	}
}
