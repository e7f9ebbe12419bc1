package e2e

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/market/tables"
)

// sold is the seller's memories: the bundle in the market's story. The last one has a name and a
// place.
var sold = []string{"Tomatoes want water at the root and never on leaves", "The greenhouse door sticks when it rains", "Basil grows well beside the peppers",
	"I met Ottoline Vandersloot in Wolkenstein about the quinces"}

// order is an order in the output of locket market.
type order struct {
	Order, Phase, Back, Paid string
	Waits                    bool
}

// keyed makes a home that is only a key, and returns the key's file.
func keyed(t *testing.T) (*home, string) {
	h := &home{t: t, dir: t.TempDir()}
	file := filepath.Join(h.dir, "public.key")
	if err := os.WriteFile(file, []byte(h.must("share", "key")), 0o600); err != nil {
		t.Fatal(err)
	}
	return h, file
}

// newMarket runs a market with a key, and returns a function that makes vouchers of 6.00.
func newMarket(t *testing.T, key, arbiter string, flags ...string) (*relay, func(count string) []string) {
	t.Helper()
	r := newRelay(t, append(flags, "--open", "--market", "--market-key", key, "--market-arbiter", arbiter, "--market-name", "market.test")...)
	batch := 0
	return r, func(count string) []string {
		t.Helper()
		batch++
		return strings.Fields(cloud(t, "market", "vouchers", "--at", r.url, "--market-key", key, "--batch", fmt.Sprint("may ", batch), "--count", count, "--each", "6.00 EUR"))
	}
}

// dayLater lets a day pass for a market on SQLite: its listings become a day older.
func (r *relay) dayLater() {
	r.t.Helper()
	r.kill()
	db, err := tables.Open(r.t.Context(), r.dir)
	if err == nil {
		err = db.Change(r.t.Context(), func(tx *sql.Tx) error {
			_, err := tx.ExecContext(r.t.Context(), "UPDATE listings SET at = at - $1", 24*60*60)
			return err
		})
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.start()
}

// clean checks that no file of a folder contains what was sold.
func clean(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		low := bytes.ToLower(b)
		for _, line := range sold {
			for _, w := range append(strings.Fields(strings.ToLower(line)), strings.ToLower(line)) {
				if len(w) > 6 && bytes.Contains(low, []byte(w)) {
					t.Errorf("%q can be read in %s", w, path)
				}
			}
		}
		return nil
	})
	if err != nil || files < 2 {
		t.Fatalf("%d files in %s: %v", files, dir, err)
	}
}

// cleanDatabase checks that a database does not contain what was sold, in text or in bytes.
func cleanDatabase(t *testing.T, url string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "pg_dump", "--inserts", url).Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	low := bytes.ToLower(out)
	if !bytes.Contains(low, []byte("each day in a garden")) && !bytes.Contains(low, []byte(hex.EncodeToString([]byte("Each day in a garden")))) {
		t.Fatal("the dump lacks the listing: it would show nothing")
	}
	for _, line := range sold {
		for _, w := range append(strings.Fields(line), line) {
			if len(w) <= 6 {
				continue
			}
			if bytes.Contains(low, []byte(strings.ToLower(w))) || bytes.Contains(low, []byte(hex.EncodeToString([]byte(w)))) {
				t.Errorf("%q can be read in the database", w)
			}
		}
	}
}
