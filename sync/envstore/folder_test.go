package envstore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/locket-dev/locket/sync/envelope"
)

// If a member's chain in a folder differs from the chain here, this is reported
// with space, author and place, and nothing of that chain is taken.
func TestForkInAFolder(t *testing.T) {
	log, state := world(t)
	mine, other := newStore(t, t.TempDir(), log), newStore(t, t.TempDir(), log)
	this, that := &author{actor: watch, state: state}, &author{actor: watch, state: state}
	take(t, mine, this.say(t, "this"), this.say(t, "so"))
	take(t, other, that.say(t, "that"), that.say(t, "otherwise"), that.say(t, "and more"))
	f := OpenFolder(t.TempDir(), spaceID)
	if _, err := other.SyncFolder(t.Context(), f, watch.id, nil); err != nil {
		t.Fatal(err)
	}
	m, err := mine.SyncFolder(t.Context(), f, phone.id, nil)
	if err != nil || m.Took != 0 || len(m.Trouble) != 1 || !strings.Contains(m.Trouble[0], spaceID.String()) ||
		!strings.Contains(m.Trouble[0], "fork of member "+watch.id.String()+" at 2") {
		t.Errorf("%+v, %v", m, err)
	}
	if got := bodies(t, mine); strings.Contains(got, "more") {
		t.Error(got)
	}
}

// Several devices exchange with one folder at the same time. The folder also
// has files that do not belong to the space. In the end all devices have the
// same.
func TestDevicesShareAFolder(t *testing.T) {
	log, state := world(t)
	dir := t.TempDir()
	authors := []*author{{actor: phone, state: state}, {actor: watch, state: state}}
	stores := []*Store{newStore(t, t.TempDir(), log), newStore(t, t.TempDir(), log[:1])}
	f := OpenFolder(dir, spaceID)
	for i, s := range stores {
		if i == 1 {
			if err := s.TakeEntry(log[1]); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 20 {
			take(t, s, authors[i].say(t, fmt.Sprintf("%d of %d", n, i)))
		}
	}
	blob, err := stores[0].Upload(t.Context(), bytes.NewReader([]byte("a photo, sealed")))
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[envelope.Hash]int64{blob: 15}
	chainDir := filepath.Join(f.dir, "deltas", chain{phone.id, 1}.String())
	for name, text := range map[string]string{
		filepath.Join(chainDir, "000000000001 (conflicted copy).delta"): "nonsense",
		filepath.Join(chainDir, ".000000000002.delta.tmp1"):             "half",
		filepath.Join(f.dir, "deltas", "README"):                        "hello",
		filepath.Join(f.dir, "log", "00000001-zz.entry"):                "nonsense",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	for range 3 {
		for i, s := range stores {
			wait.Go(func() {
				if _, err := s.SyncFolder(t.Context(), f, authors[i].id, wanted); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wait.Wait()
	for i, s := range stores {
		if _, err := s.SyncFolder(t.Context(), f, authors[i].id, wanted); err != nil {
			t.Fatal(err)
		}
	}
	if x, y := bodies(t, stores[0]), bodies(t, stores[1]); x != y || strings.Count(x, " of ") != 40 {
		t.Errorf("%s\n%s", x, y)
	}
	if have, err := stores[1].folder.blobs(); err != nil || len(have) != 1 {
		t.Errorf("%v, %v", have, err)
	}
}

// A folder gets the same checks as a relay. Changed files are reported, and the
// rest is taken. Links and pipes are not followed. Blobs must have the hash of
// their names, and must not be larger than their notes say.
func TestTamperedFolder(t *testing.T) {
	log, state := world(t)
	p, w := &author{actor: phone, state: state}, &author{actor: watch, state: state}
	from := newStore(t, t.TempDir(), log)
	take(t, from, p.say(t, "one"), p.say(t, "two"), w.say(t, "three"))
	big, err := from.Upload(t.Context(), bytes.NewReader(make([]byte, 100)))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f := OpenFolder(dir, spaceID)
	if _, err := from.SyncFolder(t.Context(), f, phone.id, nil); err != nil {
		t.Fatal(err)
	}
	second := f.deltaPath(chain{phone.id, 1}, 2)
	b, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(second, b, 0o600); err != nil {
		t.Fatal(err)
	}
	stray := f.deltaPath(chain{theirs.id, 1}, 1)
	if err := errors.Join(os.MkdirAll(filepath.Dir(stray), 0o700), os.Symlink("/dev/zero", stray)); err != nil {
		t.Fatal(err)
	}
	entry := func(n int) string { return filepath.Join(f.dir, "log", fmt.Sprintf("%08d-%016x.entry", n, n)) }
	if err := errors.Join(os.Symlink("/dev/zero", entry(8)), os.WriteFile(entry(9), make([]byte, envelope.MaxEntry+1), 0o600)); err != nil {
		t.Fatal(err)
	}
	to := newStore(t, t.TempDir(), log)
	m, err := to.SyncFolder(t.Context(), f, watch.id, map[envelope.Hash]int64{big: 99})
	if err != nil || m.Took != 2 || len(m.Trouble) != 5 {
		t.Fatalf("%+v, %v", m, err)
	}
	if got := bodies(t, to); strings.Contains(got, "two") || !strings.Contains(got, "three") {
		t.Error(got)
	}
	forked := &envelope.Entry{Version: envelope.Version, Action: envelope.Add, Space: spaceID, N: 2, Prev: log[1].Prev, Author: phone.id, At: 9, Epoch: 1,
		Member: theirs.member(), Wraps: []envelope.Wrap{{To: theirs.id, Keys: []byte("keys")}}}
	if err := errors.Join(forked.Sign(envelope.KeySigner(phone.key)), f.putEntry(forked)); err != nil {
		t.Fatal(err)
	}
	var fork *envelope.ForkError
	if _, err := to.SyncFolder(t.Context(), f, watch.id, nil); !errors.As(err, &fork) {
		t.Errorf("a forked log: %v", err)
	}
}
