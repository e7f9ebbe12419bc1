package translog

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/cloud/market/tabletest"
	"github.com/locket-dev/locket/sync/translog"
)

var databases tabletest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

func key(n byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, 32)) }

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func open(tb testing.TB, db *tables.DB, witnesses ...Witness) *Log {
	tb.Helper()
	signer, err := translog.LogSigner("market.example/log", key(1))
	must(tb, err)
	l, err := New(db, signer, witnesses...)
	must(tb, err)
	return l
}

func entry(n int) translog.Entry {
	return translog.Entry{Kind: translog.Listed, Subject: fmt.Sprint("listing ", n), Digest: translog.Digest(fmt.Append(nil, n)), At: int64(n)}
}

func add(tb testing.TB, l *Log, from, to int) {
	tb.Helper()
	must(tb, l.db.Change(tb.Context(), func(tx *sql.Tx) error {
		for i := from; i < to; i++ {
			if n, err := l.Append(tb.Context(), tx, entry(i)); err != nil || n != int64(i) {
				return fmt.Errorf("entry %d is at %d: %w", i, n, err)
			}
		}
		return nil
	}))
}

func publish(tb testing.TB, l *Log) *translog.Signed {
	tb.Helper()
	s, err := l.Publish(tb.Context())
	must(tb, err)
	return s
}

func serve(t *testing.T, l *Log, witnesses ...note.Verifier) *translog.Client {
	s := httptest.NewServer(l.Handler())
	t.Cleanup(s.Close)
	return &translog.Client{URL: s.URL, HTTP: s.Client(), Key: l.key, Witnesses: witnesses}
}

// A reader follows a log over HTTP as it grows across the borders of tiles, and checks each entry.
func TestFollowOverHTTP(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		l := open(t, db)
		c := serve(t, l)
		var last *translog.Signed
		had := 0
		for _, size := range []int{0, 1, 2, 255, 256, 257, 600} {
			add(t, l, had, size)
			had = size
			publish(t, l)
			next, err := c.Checkpoint(t.Context())
			must(t, err)
			if next.Size != int64(size) {
				t.Fatalf("%d entries, want %d", next.Size, size)
			}
			kept, err := translog.Follow(t.Context(), last, next, c)
			if err != nil || kept.Size != int64(size) {
				t.Fatalf("%d entries: %v", size, err)
			}
			last = kept
			for from := int64(0); from < next.Size; {
				all, err := c.Entries(t.Context(), next.Checkpoint, from)
				must(t, err)
				for i, e := range all {
					want := entry(int(from) + i)
					want.Version = 1
					if e != want {
						t.Fatalf("entry %d is %v", int(from)+i, e)
					}
				}
				from += int64(len(all))
			}
		}
		for _, n := range []int64{0, 255, 256, 599} {
			a, err := c.HTTP.Get(fmt.Sprintf("%s/inclusion/%d", c.URL, n))
			must(t, err)
			var again translog.Inclusion // as somebody keeps it
			must(t, errors.Join(json.NewDecoder(a.Body).Decode(&again), a.Body.Close()))
			e, s, err := again.Check(l.key)
			if err != nil || again.Index != n || e.Subject != fmt.Sprint("listing ", n) || s.Size != 600 {
				t.Errorf("entry %d: %v, %v", n, e, err)
			}
			again.Entry[len(again.Entry)-1] ^= 1
			if _, _, err := again.Check(l.key); !errors.Is(err, translog.ErrProof) {
				t.Errorf("entry %d changed: %v", n, err)
			}
		}
		if places, err := c.Find(t.Context(), "listing 7", 0); err != nil || len(places) != 1 || places[0] != 7 {
			t.Errorf("found %v, %v", places, err)
		}
		proof, now, err := l.Consistency(t.Context(), 257)
		must(t, err)
		r, err := translog.Reader(t.Context(), now.Checkpoint, c).ReadHashes([]int64{0})
		if err != nil || len(r) != 1 {
			t.Error(err)
		}
		small := translog.Checkpoint{Origin: now.Origin, Size: 257}
		if err := translog.Consistent(small, now.Checkpoint, proof); !errors.Is(err, translog.ErrProof) {
			t.Errorf("another beginning: %v", err)
		}
	})
}

// A repeated entry keeps its index, a rolled back one leaves nothing, and many processes append one
// after the other.
func TestAppend(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		l := open(t, db)
		add(t, l, 0, 3)
		add(t, l, 1, 2)
		broken := errors.New("broken")
		if err := db.Change(t.Context(), func(tx *sql.Tx) error {
			_, err := l.Append(t.Context(), tx, entry(3))
			return errors.Join(err, broken)
		}); !errors.Is(err, broken) {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := 3; i < 40; i++ {
			all.Go(func() {
				if err := db.Change(context.Background(), func(tx *sql.Tx) error {
					_, err := open(t, db).Append(context.Background(), tx, entry(i))
					return err
				}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		s := publish(t, l)
		if s.Size != 40 {
			t.Fatalf("%d entries", s.Size)
		}
		for n := range int64(40) {
			p, err := l.inclusion(t.Context(), n)
			must(t, err)
			if _, _, err := p.Check(l.key); err != nil {
				t.Error(n, err)
			}
		}
		for name, e := range map[string]translog.Entry{
			"a kind":            {Kind: "sold", Subject: "a"},
			"no subject":        {Kind: translog.Listed},
			"no reason":         {Kind: translog.TakenDown, Subject: "a"},
			"a seller's reason": {Kind: translog.Withdrawn, Subject: "a", Reason: "b"},
			"no UTF-8":          {Kind: translog.Listed, Subject: "\xff"},
		} {
			if err := db.Change(t.Context(), func(tx *sql.Tx) error { _, err := l.Append(t.Context(), tx, e); return err }); !errors.Is(err, translog.ErrEntry) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// The tables refuse changes of the log. If somebody gets around them, the result is not signed.
func TestTamperedTablesAreNotSigned(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		l := open(t, db)
		add(t, l, 0, 5)
		publish(t, l)
		do := func(q string) error {
			return db.Change(t.Context(), func(tx *sql.Tx) error { _, err := tx.Exec(q); return err })
		}
		for _, q := range []string{`UPDATE log_entries SET subject = 'x' WHERE n = 2`, `DELETE FROM log_entries WHERE n = 2`, `UPDATE log_hashes SET hash = hash WHERE n = 0`, `DELETE FROM log_hashes WHERE n = 0`} {
			if do(q) == nil {
				t.Errorf("%s: was done", q)
			}
		}
		if db.Dialect == tables.Postgres {
			must(t, do(`DROP TRIGGER log_hashes_stay ON log_hashes`))
		} else {
			must(t, do(`DROP TRIGGER log_hashes_stay`))
		}
		must(t, do(`UPDATE log_hashes SET hash = (SELECT hash FROM log_hashes WHERE n = 1) WHERE n = 0`))
		must(t, do(`UPDATE log_hashes SET hash = (SELECT hash FROM log_hashes WHERE n = 0) WHERE n = 6`))
		add(t, l, 5, 6)
		if _, err := l.Publish(t.Context()); !errors.Is(err, ErrKept) {
			t.Fatalf("a changed log was published: %v", err)
		}
	})
}

// An operator who shows two histories is exposed, with evidence that convinces others: with the
// same number of entries, with more, and whichever was seen first.
func TestThreatTwoHistories(t *testing.T) {
	one, two := open(t, tabletest.SQLite(t)), open(t, tabletest.SQLite(t))
	add(t, one, 0, 300)
	add(t, two, 0, 100)
	must(t, two.db.Change(t.Context(), func(tx *sql.Tx) error { // this history hides a take-down
		_, err := two.Append(t.Context(), tx, translog.Entry{Kind: translog.TakenDown, Subject: "listing 7", Reason: "copied", At: 1})
		return err
	}))
	must(t, two.db.Change(t.Context(), func(tx *sql.Tx) error {
		for i := 101; i < 300; i++ {
			if _, err := two.Append(t.Context(), tx, entry(i)); err != nil {
				return err
			}
		}
		return nil
	}))
	a, b := publish(t, one), publish(t, two)
	add(t, one, 300, 310)
	longer := publish(t, one)
	ca, cb := serve(t, one), serve(t, two)
	for name, c := range map[string]struct {
		last, next *translog.Signed
		from       translog.Source
	}{"as long": {a, b, cb}, "longer": {b, longer, ca}, "shorter": {longer, b, ca}} {
		_, err := translog.Follow(t.Context(), c.last, c.next, c.from)
		f, ok := errors.AsType[*translog.Fork](err)
		if !ok {
			t.Fatalf("%s: %v", name, err)
		}
		raw, err := json.Marshal(f)
		must(t, err)
		var told translog.Fork // as received by somebody who only has the key
		must(t, json.Unmarshal(raw, &told))
		must(t, told.Check(one.key))
		if told.Origin != "market.example/log" {
			t.Errorf("it names %q", told.Origin)
		}
	}
	// No honest operator is accused.
	for name, f := range map[string]*translog.Fork{
		"one history":   {Small: a.Note, Large: longer.Note, Prefix: a.Root},
		"a wrong hash":  {Small: a.Note, Large: longer.Note, Prefix: b.Root},
		"no proof":      {Small: a.Note, Large: a.Note, Prefix: b.Root},
		"the empty log": {Small: publish(t, open(t, tabletest.SQLite(t))).Note, Large: a.Note, Prefix: b.Root},
	} {
		if err := f.Check(one.key); !errors.Is(err, translog.ErrProof) {
			t.Errorf("%s: %v", name, err)
		}
	}
	other, err := translog.LogSigner("market.example/log", key(2))
	must(t, err)
	stranger, err := translog.Key(translog.VerifierKey(other))
	must(t, err)
	_, err = translog.Follow(t.Context(), a, b, cb)
	f, _ := errors.AsType[*translog.Fork](err)
	if err := f.Check(stranger); !errors.Is(err, translog.ErrCheckpoint) {
		t.Errorf("named by another's key: %v", err)
	}
	// Tiles of one history can't prove the checkpoint of the other.
	if _, err := translog.Follow(t.Context(), b, longer, cb); !errors.Is(err, translog.ErrTiles) {
		t.Errorf("tiles of the other history: %v", err)
	}
}

func TestHandlerRefuses(t *testing.T) {
	l := open(t, tabletest.SQLite(t))
	add(t, l, 0, 3)
	publish(t, l)
	add(t, l, 3, 9) // appended and not published, so nobody may read it
	c := serve(t, l)
	for path, want := range map[string]int{
		"/checkpoint": 200, "/tile/0/000.p/3": 200, "/tile/0/000.p/2": 200, "/tile/entries/000.p/3": 200, "/inclusion/2": 200, "/consistency/3": 200, "/find?subject=x": 200, "/find?subject=x&skip=1": 200, "/find?subject=x&skip=-1": 400,
		"/tile/0/000": 404, "/tile/0/000.p/4": 404, "/tile/entries/000.p/4": 404, "/tile/9/000": 404, "/tile/-1/000": 404, "/tile/0/1": 404, "/tile/0/x999999/000": 404,
		"/tile/entries/x000": 404, "/tile/0/x999/x999/x999/x999/x999/x999/999": 404, "/inclusion/3": 404, "/inclusion/-1": 400, "/inclusion/x": 400, "/consistency/4": 404, "/else": 404,
	} {
		a, err := c.HTTP.Get(c.URL + path)
		must(t, err)
		a.Body.Close()
		if a.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, a.StatusCode, want)
		}
	}
	a, err := c.HTTP.Post(c.URL+"/checkpoint", "text/plain", http.NoBody)
	must(t, err)
	a.Body.Close()
	if a.StatusCode != http.StatusMethodNotAllowed {
		t.Error(a.Status)
	}
}

func BenchmarkAppend(b *testing.B) {
	for name, db := range map[string]func(testing.TB) *tables.DB{"sqlite": tabletest.SQLite, "postgres": databases.Postgres} {
		for _, each := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/%d-in-a-transaction", name, each), func(b *testing.B) {
				l := open(b, db(b))
				n := 0
				for b.Loop() {
					add(b, l, n, n+each)
					n += each
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "appends/s")
			})
		}
	}
}
