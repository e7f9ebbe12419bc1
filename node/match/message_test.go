package match

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/locket-dev/locket/crypto/intersect"
	"github.com/locket-dev/locket/crypto/keyring"
)

var update = flag.Bool("update", false, "write testdata/v1 anew")

const golden = "testdata/v1"

// goldenTime is when the messages of testdata/v1 were made.
var goldenTime = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// TestVersion1 opens what version 1 wrote: Ben's folder, in which Ann's question was
// answered, and her messages with the count and with the list of matches.
func TestVersion1(t *testing.T) {
	if *update {
		writeGolden(t)
	}
	dir := filepath.Join(t.TempDir(), "reader")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(golden, "ben"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "reader.key"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &home{t: t, at: goldenTime}
	b.Matcher = &Matcher{Dir: dir, Now: func() time.Time { return b.at }}
	count, err := os.ReadFile(filepath.Join(golden, "count.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := b.take(string(count), ""); c.Name != "Ann" || c.Count == nil || *c.Count != 1 {
		t.Errorf("%+v, want a count of 1 with Ann", c)
	}
	if c, text := b.which("Ann"); !c.Agreed || !strings.HasPrefix(text, prefix) {
		t.Errorf("%+v and %d bytes", c, len(text))
	}
	which, err := os.ReadFile(filepath.Join(golden, "which.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := b.take(string(which), ""); !c.Told || !slices.Equal(c.Both, []string{"bees"}) {
		t.Errorf("%+v, want bees in common", c)
	}
}

// Everything within a body is an array, as FORMAT says.
func TestBodiesAreArrays(t *testing.T) {
	m := message{Offer: &intersect.Offer{}, Which: &intersect.Evaluation{}}
	var parts []cbor.RawMessage
	if err := cbor.Unmarshal(encode(&m), &parts); err != nil || len(parts) != 10 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	for _, i := range []int{7, 9} {
		if parts[i][0]>>5 != 4 {
			t.Errorf("part %d begins with %#x: no array", i, parts[i][0])
		}
	}
}

func writeGolden(t *testing.T) {
	a, b := newHome(t, "bees", "围棋"), newHome(t, "bees", "tea")
	_, answer := b.take(a.ask("Ben", b), "Ann")
	_, count := a.take(answer, "")
	_, which := a.which("Ben")
	if err := os.RemoveAll(golden); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(golden, "ben"), os.DirFS(b.Dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(golden, "ben", folder, fileName+".lock")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"count.txt": count, "which.txt": which} {
		if err := os.WriteFile(filepath.Join(golden, name), []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzChangedByte changes a byte of a message under its seal: the message is never accepted
// as another one.
func FuzzChangedByte(f *testing.F) {
	d, sender := keyring.NewDevice(), keyring.NewDevice()
	m := message{Version: 1, Kind: counts, To: d.Key(), At: goldenTime.Unix(), On: make([]byte, 32), Count: [][]byte{{1, 2, 3}}}
	body := encode(m)
	sig, err := sender.Sign(domain, body)
	if err != nil {
		f.Fatal(err)
	}
	whole := encode(signed{Body: body, By: sender.Key(), Sig: sig})
	for i := range whole {
		f.Add(uint(i), byte(1))
	}
	f.Fuzz(func(t *testing.T, at uint, change byte) {
		b := bytes.Clone(whole)
		b[at%uint(len(b))] ^= change
		got, by, _, err := decrypted(d, b, goldenTime)
		switch {
		case change == 0 && err != nil:
			t.Errorf("unchanged: %v", err)
		case change != 0 && err == nil:
			t.Errorf("byte %d changed: taken from %x as %+v", at, by, got)
		case err != nil && !errors.Is(err, ErrMessage):
			t.Errorf("byte %d: %v, want ErrMessage", at, err)
		}
	})
}
