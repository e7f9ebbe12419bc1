package witness

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/cloud/market/tabletest"
	log "github.com/locket-dev/locket/cloud/market/translog"
	"github.com/locket-dev/locket/sync/translog"
)

var databases tabletest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

const origin = "market.example/log"

func key(n byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, 32)) }

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func operator(tb testing.TB) note.Signer {
	s, err := translog.LogSigner(origin, key(1))
	must(tb, err)
	return s
}

func public(tb testing.TB, s note.Signer) note.Verifier {
	v, err := translog.Key(translog.VerifierKey(s))
	must(tb, err)
	return v
}

func open(tb testing.TB, db *tables.DB, n byte) *Witness {
	s, err := translog.Cosigner(fmt.Sprint("witness.example/", n), key(n), nil)
	must(tb, err)
	w, err := New(db, s, public(tb, operator(tb)))
	must(tb, err)
	return w
}

// market returns a log with its own database, and a function that adds entries.
func market(tb testing.TB, witnesses ...log.Witness) (*log.Log, func(from, to int, what string)) {
	db := tabletest.SQLite(tb)
	l, err := log.New(db, operator(tb), witnesses...)
	must(tb, err)
	return l, func(from, to int, what string) {
		must(tb, db.Change(tb.Context(), func(tx *sql.Tx) error {
			for i := from; i < to; i++ {
				if _, err := l.Append(tb.Context(), tx, translog.Entry{Kind: translog.Listed, Subject: fmt.Sprint(what, i)}); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

// A log grows, and two witnesses cosign it over HTTP; one of them was away for a while.
func TestCosigned(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		near, far := open(t, db, 2), open(t, tabletest.SQLite(t), 3)
		s := httptest.NewServer(far.Handler())
		defer s.Close()
		away := false
		remote := &log.Remote{URL: s.URL, Verifier: far.Key(), HTTP: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
			if away {
				return nil, errors.New("away")
			}
			return http.DefaultTransport.RoundTrip(r)
		})}}
		l, add := market(t, near, remote)
		had := 0
		for _, size := range []int{0, 1, 7, 300} {
			add(had, size, "a")
			had = size
			got, err := l.Publish(t.Context())
			must(t, err)
			must(t, got.RequireWitnesses(2))
		}
		away = true
		add(300, 400, "a")
		got, err := l.Publish(t.Context())
		if err == nil || got == nil || got.Size != 400 || got.RequireWitnesses(1) != nil || !errors.Is(got.RequireWitnesses(2), translog.ErrWitness) {
			t.Fatalf("without one witness: %v, %v", got, err)
		}
		away = false
		if got, err = l.Publish(t.Context()); err != nil || got.RequireWitnesses(2) != nil {
			t.Fatalf("it came back: %v", err)
		}
		// A reader without a witness's key can still read it, and a stranger's line counts for
		// nobody.
		plain, err := translog.Open(got.Note, public(t, operator(t)))
		if err != nil || len(plain.Cosigned) != 0 {
			t.Error(plain, err)
		}
		if _, err := translog.Open(got.Note, public(t, operator(t)), open(t, tabletest.SQLite(t), 4).Key()); err != nil {
			t.Error(err)
		}
	})
}

// A log with two witnesses of the same name asks each once.
func TestCosignersOfOneNameAreAskedOnceEach(t *testing.T) {
	var asked int
	var both []log.Witness
	for n := range byte(2) {
		s, err := translog.Cosigner("locket-witness", key(2+n), nil)
		must(t, err)
		w, err := New(tabletest.SQLite(t), s, public(t, operator(t)))
		must(t, err)
		both = append(both, counted{w, &asked})
	}
	l, add := market(t, both...)
	add(0, 3, "a")
	for range 2 {
		got, err := l.Publish(t.Context())
		must(t, err)
		must(t, got.RequireWitnesses(2))
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

type counted struct {
	*Witness
	asked *int
}

func (c counted) AddCheckpoint(ctx context.Context, old int64, proof tlog.TreeProof, checkpoint []byte) ([]byte, error) {
	*c.asked++
	return c.Witness.AddCheckpoint(ctx, old, proof, checkpoint)
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An operator with two logs has one of them cosigned, and is caught with the other.
func TestThreatSecondLogCosigned(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		w := open(t, db, 2)
		one, add := market(t, w)
		add(0, 100, "a")
		seen, err := one.Publish(t.Context())
		must(t, err)
		two, hide := market(t, open(t, db, 2)) // the same witness, after a restart
		hide(0, 99, "a")
		hide(99, 100, "b")
		got, err := two.Publish(t.Context())
		if err == nil || got.RequireWitnesses(1) == nil {
			t.Fatalf("a second history was cosigned: %v", err)
		}
		hide(100, 120, "b")
		if got, err = two.Publish(t.Context()); err == nil || got.RequireWitnesses(1) == nil {
			t.Fatalf("a longer second history was cosigned: %v", err)
		}
		fork, err := w.fork(t.Context(), origin)
		if err != nil || fork == nil || fork.Check(public(t, operator(t))) != nil || !bytes.Contains(seen.Note, fork.Small[:20]) {
			t.Fatalf("evidence %v, %v", fork, err)
		}
		// The witness is unchanged: the first log continues.
		add(100, 101, "a")
		if got, err := one.Publish(t.Context()); err != nil || got.RequireWitnesses(1) != nil {
			t.Error(err)
		}
	})
}

// Somebody who has both histories presents them repeatedly, each time with another worthless line.
// The evidence is stored once, without those lines, and a reader finds it.
func TestPaddedEvidenceIsStoredOnce(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *tables.DB) {
		w := open(t, db, 2)
		padded := func(note []byte, n int) []byte {
			return fmt.Appendf(bytes.Clone(note), "— nobody.example/%d %s\n", n, strings.Repeat("AAAA", 3<<10))
		}
		var first, second *translog.Signed
		for i, s := range []**translog.Signed{&first, &second} {
			l, add := market(t)
			add(0, 5, fmt.Sprint("history ", i))
			var err error
			*s, err = l.Publish(t.Context())
			must(t, err)
		}
		_, err := w.AddCheckpoint(t.Context(), 0, nil, padded(first.Note, 0))
		must(t, err)
		for i := range 20 {
			if _, err := w.AddCheckpoint(t.Context(), 5, nil, padded(second.Note, i)); !errors.Is(err, translog.ErrProof) {
				t.Fatalf("a second history: %v", err)
			}
		}
		var rows int
		must(t, db.Read(t.Context(), func(tx *sql.Tx) error {
			return tx.QueryRowContext(t.Context(), `SELECT count(*) FROM witness_forks`).Scan(&rows)
		}))
		fork, err := w.fork(t.Context(), origin)
		if err != nil || rows != 1 || !bytes.Equal(fork.Small, first.Note) || !bytes.Equal(fork.Large, second.Note) {
			t.Errorf("%d rows, %v, %v", rows, fork, err)
		}
		if seen, err := w.seen(t.Context(), origin); err != nil || !bytes.Equal(seen, first.Note) {
			t.Errorf("it saw %s, %v", seen, err)
		}
		s := httptest.NewServer(http.StripPrefix(translog.WitnessPath, w.Handler()))
		defer s.Close()
		_, err = translog.Compare(t.Context(), s.Client(), s.URL, public(t, operator(t)), second, nil)
		if _, is := errors.AsType[*translog.Fork](err); !is {
			t.Errorf("a reader is told %v", err)
		}
		for query, want := range map[string]int{"": 400, "?origin=other.example/log": 200} {
			a, err := http.Get(s.URL + translog.WitnessPath + "/forks" + query)
			must(t, err)
			raw, _ := io.ReadAll(a.Body)
			a.Body.Close()
			if a.StatusCode != want || want == 200 && string(raw) != `{"forks":[]}` {
				t.Errorf("/forks%s: %d %s", query, a.StatusCode, raw)
			}
		}
	})
}

func TestHandlerRefuses(t *testing.T) {
	w := open(t, tabletest.SQLite(t), 2)
	l, add := market(t)
	add(0, 5, "a")
	c, err := l.Publish(t.Context())
	must(t, err)
	other, err := translog.LogSigner(origin, key(9))
	must(t, err)
	forged, err := translog.Sign(c.Checkpoint, other)
	must(t, err)
	stranger, err := translog.LogSigner("other.example/log", key(1))
	must(t, err)
	unknown, err := translog.Sign(translog.Checkpoint{Origin: "other.example/log", Size: 5, Root: c.Root}, stranger)
	must(t, err)
	s := httptest.NewServer(w.Handler())
	defer s.Close()
	hash := c.Root.String() + "\n"
	for _, x := range []struct {
		name, body string
		want       int
		answer     string
	}{
		{"nothing", "", 400, ""},
		{"no size", "old\n\n" + string(c.Note), 400, ""},
		{"a size of two forms", "old 00\n\n" + string(c.Note), 400, ""},
		{"below zero", "old -1\n\n" + string(c.Note), 400, ""},
		{"more than now", "old 6\n\n" + string(c.Note), 400, ""},
		{"no hash", "old 0\nx\n\n" + string(c.Note), 400, ""},
		{"64 hashes", "old 0\n" + strings.Repeat(hash, 65) + "\n" + string(c.Note), 400, ""},
		{"too long", strings.Repeat("x", maxRequest+1), 400, ""},
		{"another's key", "old 0\n\n" + string(forged), 403, ""},
		{"another log", "old 0\n\n" + string(unknown), 404, ""},
		{"a proof of nothing", "old 0\n" + hash + "\n" + string(c.Note), 422, ""},
		{"what it has not seen", "old 3\n" + hash + "\n" + string(c.Note), 409, "0\n"},
		{"the first", "old 0\n\n" + string(c.Note), 200, "— witness.example/2 "},
		{"the first again", "old 0\n\n" + string(c.Note), 409, "5\n"},
		{"the same", "old 5\n\n" + string(c.Note), 200, "— witness.example/2 "},
	} {
		a, err := http.Post(s.URL+"/add-checkpoint", "text/plain", strings.NewReader(x.body))
		must(t, err)
		raw, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if a.StatusCode != x.want || !strings.HasPrefix(string(raw), x.answer) {
			t.Errorf("%s: %d %q, want %d %q", x.name, a.StatusCode, raw, x.want, x.answer)
		}
	}
}
