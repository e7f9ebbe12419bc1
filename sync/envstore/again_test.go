package envstore

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/locket-dev/locket/sync/envelope"
)

// The list of blobs to ask for must not grow with the number of checks. A
// remote that was away is asked for everything that it was not asked for, other
// remotes are asked for nothing twice, and the numbers continue after a crash.
func TestBlobListStaysShort(t *testing.T) {
	log, _ := world(t)
	dir := t.TempDir()
	mine, one, two := newStore(t, dir, log), newStore(t, t.TempDir(), log), newStore(t, t.TempDir(), log)
	early, late := upload(t, mine, "a photo, sealed"), upload(t, mine, "another, sealed")
	a, b := carrier(t, mine, "http://one", one), carrier(t, mine, "http://two", two)
	lines := func() string {
		t.Helper()
		text, err := os.ReadFile(mine.againPath())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	look := func(ids ...envelope.Hash) { // the same as single looks, but all at once
		t.Helper()
		f, err := os.OpenFile(mine.againPath(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			fmt.Fprintln(f, id)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	gone := func(of *Store, ids ...envelope.Hash) {
		t.Helper()
		for _, id := range ids {
			if err := of.DeleteBlob(t.Context(), id, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	round(t, a)
	round(t, b)
	look(early)
	round(t, b) // from here on, the remote is away
	look(early, late)
	for n := range 3 * minLooks {
		look(envelope.Hash{1, byte(n), byte(n >> 8)}) // blobs that are no longer here
		if n%2 == 0 {
			look(late)
		}
	}
	round(t, a)
	if n := strings.Count(lines(), "\n"); n > 3 {
		t.Fatalf("%d lines for two blobs", n)
	}
	gone(one, early, late)
	gone(two, early, late)
	round(t, a)
	if hasBlob(t, one, early) || hasBlob(t, one, late) {
		t.Error("a remote was asked twice")
	}
	f, err := os.OpenFile(mine.againPath(), os.O_APPEND|os.O_WRONLY, 0o600) // half a line, as after a crash
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(early.String()[:9]); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	mine = newStore(t, dir, log)
	a, b = carrier(t, mine, "http://one", one), carrier(t, mine, "http://two", two)
	round(t, b)
	if !hasBlob(t, two, early) || !hasBlob(t, two, late) {
		t.Error("the blobs were not sent to a remote that had been away")
	}
	if has, err := mine.Holds(t.Context(), early, 15); err != nil || !has {
		t.Fatal(has, err)
	}
	round(t, a)
	if !hasBlob(t, one, early) || hasBlob(t, one, late) {
		t.Error("what was looked at since is not all that was asked for")
	}
	if all, err := mine.blobsToAskFor(); err != nil || len(all) == 0 || all[len(all)-1].n <= 3*minLooks || !bytes.HasSuffix([]byte(lines()), []byte("\n")) {
		t.Errorf("%d lines, %v", len(all), err)
	}
}

// A list whose numbers decrease, or are invalid, is damaged.
func TestInvalidNumbersInTheBlobList(t *testing.T) {
	log, _ := world(t)
	mine := newStore(t, t.TempDir(), log)
	id := envelope.Hash{1}.String()
	for text, ok := range map[string]bool{
		"":                                  true,
		id + "\n" + id + " 7\n" + id + "\n": true,
		id + " 7\n" + id + " 7\n":           false,
		id + " 0\n":                         false,
		id + " x\n":                         false,
		id + " \n":                          false,
		id + " 3 4\n":                       false,
		"x 3\n":                             false,
	} {
		if err := os.WriteFile(mine.againPath(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if all, err := mine.blobsToAskFor(); (err == nil) != ok || ok && text != "" && (len(all) != 3 || all[2].n != 8) {
			t.Errorf("%q: %v, %v", text, all, err)
		}
	}
}

// A list that was shortened continues from its last number, even if that was of
// a blob that no longer exists, because a remote may have seen the number.
func TestNumbersOfTheBlobListContinue(t *testing.T) {
	log, _ := world(t)
	mine := newStore(t, t.TempDir(), log)
	here := upload(t, mine, "a photo, sealed")
	text := here.String() + "\n"
	for n := range minLooks {
		text += envelope.Hash{1, byte(n), byte(n >> 8)}.String() + "\n"
	}
	if err := os.WriteFile(mine.againPath(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for n, want := range []int{2, 3} {
		all, err := mine.blobsToAskFor()
		if err != nil || len(all) != want || all[want-1].n != minLooks+1+n {
			t.Fatalf("%v, %v", all, err)
		}
		if err := mine.askAgain(here); err != nil {
			t.Fatal(err)
		}
	}
}
