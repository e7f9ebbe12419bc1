package node_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
)

// pages makes a relay lie about deltas: f gets each page, and may change it.
func pages(t *testing.T, f func([]page.Placed) []page.Placed) func(*http.Request, []byte) []byte {
	return func(r *http.Request, b []byte) []byte {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/deltas") {
			return b
		}
		after, err := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64)
		if err != nil {
			t.Error(err)
		}
		ds, err := page.DecodePlaced(b, after)
		if err != nil {
			t.Error(err)
		}
		return page.EncodePlaced(f(ds))
	}
}

// ring opens the keys of a closed device.
func (d *device) ring() *keyring.Ring {
	d.t.Helper()
	l, err := keyring.Open(filepath.Join(d.cfg.Home, "keys"))
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := l.Unlock(d.t.Context(), keyring.KeyFile(keyring.DefaultKeyFile))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { r.Close() })
	return r
}

// forge makes a delta of a new incarnation of a device whose home is closed.
func forge(t *testing.T, r *keyring.Ring, head envelope.Hash, epoch uint32, sign envelope.Signer, text string) []byte {
	t.Helper()
	return forgeIn(t, 99, r, head, epoch, sign, text)
}

func forgeIn(t *testing.T, incarnation uint64, r *keyring.Ring, head envelope.Hash, epoch uint32, sign envelope.Signer, text string) []byte {
	t.Helper()
	h := envelope.Header{Version: envelope.Version, Space: r.Space(), Member: r.Member(), Incarnation: incarnation, Seq: 1, Head: head, Epoch: epoch}
	var id memory.ID
	rand.Read(id[:])
	c := memory.Candidate{Type: memory.Semantic, Text: text, Owner: memory.Owner{User: "wearer"}, Confidence: 1}
	plain, err := delta.Encode(h, []delta.Op{{Assertion: &memory.Assertion{Dot: memory.Dot{Member: r.Member(), Seq: 1<<40 + incarnation}, Clock: memory.Clock{Wall: 1},
		Rank: memory.RankPerson, Space: r.Space(), Memory: id, Act: memory.ActPropose, Candidate: &c}}})
	if err != nil {
		t.Fatal(err)
	}
	key, ok := r.Epoch(r.Space(), 1)
	if !ok {
		t.Fatal("no epoch key")
	}
	body, err := seal.SealBody(key, plain)
	if err != nil {
		t.Fatal(err)
	}
	d, err := envelope.Sign(h, body, sign)
	if err != nil {
		t.Fatal(err)
	}
	return d.Bytes()
}

// heads returns the hashes of the log's entries.
func (d *device) heads() (out []envelope.Hash) {
	d.t.Helper()
	relay, err := remote.New(d.cfg.Sync.Relay, remote.Option{})
	if err != nil {
		d.t.Fatal(err)
	}
	defer relay.Close()
	r := d.ring()
	entries, err := relay.Space(r.Space(), r.Member(), r.SignRequest).Log(d.t.Context(), 0)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Hash())
	}
	return out
}

// A relay, or someone in between, replaces a delta with something else. The
// delta is named and not applied; what another member sent after it is applied;
// and once the right one is served, all is well.
func TestRelayReplacesDeltas(t *testing.T) {
	relay := serveRelay(t)
	a, b, c := newDevice(t, relay.url, 11), newDevice(t, relay.url, 12), newDevice(t, relay.url, 13)
	a.init()
	a.home("Berlin")
	a.well()
	a.pair(b)
	a.pair(c)
	b.well()
	c.well()

	stranger := newDevice(t, relay.url, 14)
	stranger.init()
	stranger.well()
	theirs := stranger.ring()
	foreign := forge(t, theirs, stranger.heads()[0], 1, theirs.DeviceSign, "I am of another space.")
	_, wrongKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	forged := forge(t, a.ring(), a.heads()[0], 1, envelope.KeySigner(wrongKey), "I live on the moon.")
	first := a.firstDelta()

	cases := []struct {
		name, want string
		lie        func(real []byte) []byte
		found      bool // in the same round, since the first page, when read again, is right
	}{
		{"someone else's delta", "of another space", func([]byte) []byte { return foreign }, false},
		{"a forged member", envelope.ErrSignature.Error(), func([]byte) []byte { return forged }, false},
		{"a delta that came before", "came before", func([]byte) []byte { return first }, true},
		{"no delta at all", envelope.ErrForm.Error(), func([]byte) []byte { return []byte("hello") }, false},
		{"a body with one bit changed", envelope.ErrBody.Error(), func(real []byte) []byte {
			bad := slices.Clone(real)
			bad[len(bad)-1] ^= 1
			return bad
		}, false},
	}
	for _, tc := range cases {
		a.tell("From the first: "+tc.name+".", nil)
		a.well()
		c.tell("From the third: "+tc.name+".", nil)
		c.well()
		lied := false
		b.net.lie(pages(t, func(ds []page.Placed) []page.Placed {
			for i, p := range ds {
				if i == 0 {
					ds[i].Delta, lied = tc.lie(p.Delta), true
				}
			}
			return ds
		}))
		s := b.sync()
		if !lied || (s.Error == "") != tc.found || !tc.found && !strings.Contains(s.Error, tc.want) {
			t.Errorf("%s: error %q, want %q", tc.name, s.Error, tc.want)
		}
		if !slices.ContainsFunc(s.Problems, func(p serve.SyncProblem) bool { return strings.Contains(p.Reason, tc.want) }) {
			t.Errorf("%s: problems %+v", tc.name, s.Problems)
		}
		if got := b.state(); !strings.Contains(got, "From the third: "+tc.name) || strings.Contains(got, "moon") || strings.Contains(got, "From the first: "+tc.name) != tc.found {
			t.Errorf("%s: %s", tc.name, got)
		}
		n := len(s.Problems)
		if s = b.sync(); len(s.Problems) != n {
			t.Errorf("%s: told again: %+v", tc.name, s.Problems)
		}
		b.net.lie(nil)
		if s = b.sync(); s.Error != "" {
			t.Errorf("%s: still wrong: %s", tc.name, s.Error)
		}
		c.sync()
		if a.sync(); b.state() != a.state() {
			t.Errorf("%s: first\n%s\nsecond\n%s", tc.name, a.state(), b.state())
		}
	}
}

// firstDelta returns the file that the relay has at cursor 1.
func (d *device) firstDelta() []byte {
	d.t.Helper()
	relay, err := remote.New(d.cfg.Sync.Relay, remote.Option{})
	if err != nil {
		d.t.Fatal(err)
	}
	defer relay.Close()
	r := d.ring()
	ds, err := relay.Space(r.Space(), r.Member(), r.SignRequest).Placed(d.t.Context(), 0, 1)
	if err != nil || len(ds) != 1 {
		d.t.Fatal(ds, err)
	}
	return ds[0].Delta
}

// A relay whose disk was restored to an older state is refused by name, and
// nothing that was received is lost.
func TestRelayRollback(t *testing.T) {
	dir := t.TempDir()
	relay := serveRelayIn(t, dir)
	a, b := newDevice(t, relay.url, 21), newDevice(t, relay.url, 22)
	a.init()
	a.home("Berlin")
	a.well()
	a.pair(b)
	b.well()
	old := t.TempDir()
	relay.stop()
	copyDir(t, dir, old)

	relay = serveRelayIn(t, dir)
	for _, d := range []*device{a, b} {
		d.cfg.Sync.Relay = relay.url
		d.reopen()
	}
	a.home("Ghent")
	a.well()
	b.well()
	want := b.state()
	relay.stop()

	relay = serveRelayIn(t, old)
	for _, d := range []*device{a, b} {
		d.cfg.Sync.Relay = relay.url
		d.reopen()
		if s := d.sync(); !strings.Contains(s.Error, "shows less than") {
			t.Errorf("an older relay: %+v", s)
		}
	}
	if b.state() != want {
		t.Errorf("what was taken is gone: %s", b.state())
	}
}

func copyDir(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		b, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(filepath.Join(to, rel), b, 0o600))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A removed member gets nothing and is not heard: neither by the relay, nor by
// a device whose relay serves what the removed member signed afterwards.
func TestThreatRemovedMember(t *testing.T) {
	relay := serveRelay(t)
	a, b := newDevice(t, relay.url, 31), newDevice(t, relay.url, 32)
	phrase := a.init()
	a.home("Berlin")
	a.well()
	a.pair(b)
	b.well()
	b.tell("Before.", nil)
	b.well()
	var id memory.MemberID
	members, err := a.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		if !m.Here {
			id = m.ID
		}
	}
	if err := a.RemoveMember(t.Context(), id, ""); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("an owner removed without the phrase: %v", err)
	}
	if err := a.RemoveMember(t.Context(), id, serve.Secret(phrase)); err != nil {
		t.Fatal(err)
	}
	a.tell("After the removal.", nil)
	a.well()
	b.tell("I am still here.", nil)
	if s := b.sync(); !strings.Contains(s.Error, "removed") {
		t.Errorf("the removed one: %+v", s)
	}
	if strings.Contains(b.state(), "After the removal") {
		t.Error("the removed one still hears")
	}
	keys := b.ring()
	late := forge(t, keys, a.heads()[1], 1, keys.DeviceSign, "I am still here, too.") // the entry that admitted it
	cursor := a.sync().Cursor
	a.net.lie(func(r *http.Request, b []byte) []byte {
		if strings.HasSuffix(r.URL.Path, "/deltas") && r.URL.Query().Get("after") == strconv.FormatUint(cursor, 10) {
			return page.EncodePlaced([]page.Placed{{Cursor: cursor + 1, Delta: late}})
		}
		return b
	})
	// It is set aside and skipped.
	tooLate := func(p serve.SyncProblem) bool { return strings.Contains(p.Reason, "removed before this") }
	if s := a.sync(); !slices.ContainsFunc(s.Problems, tooLate) || strings.Contains(s.Error, "removed before this") {
		t.Errorf("a delta of the removed: %+v", s)
	}
	if got := a.state(); strings.Contains(got, "still here") || !strings.Contains(got, "Before.") {
		t.Errorf("after the removal: %s", got)
	}
	a.net.lie(nil)
	if s := a.sync(); s.Error != "" {
		t.Errorf("afterwards: %+v", s)
	}
}
