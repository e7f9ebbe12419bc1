package journal_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/testing/leakscan"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// opened returns everything at a relay that a member's keys can decrypt: the content of deltas, and
// of every sealed file on its disk. sealed is the number of such files.
func (m *member) opened(dir string) (text string, sealed int) {
	m.t.Helper()
	var all strings.Builder
	for _, ops := range m.said() {
		b, err := json.Marshal(ops)
		if err != nil {
			m.t.Fatal(err)
		}
		all.Write(b)
	}
	var parts [][]byte
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && bytes.HasPrefix(b, []byte("age-encryption.org/v1")) {
			parts = append(parts, b)
		}
		all.Write(b)
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	key, _ := m.ring.Epoch(m.ring.Space(), 1)
	for _, c := range m.checkpoints() {
		s := delta.Source{Space: c.Space, Author: c.Author, Cursor: c.Cursor}
		for _, b := range parts {
			plain, err := seal.OpenBody(key, b)
			if err != nil {
				m.t.Fatal(err)
			}
			for n := 1; n <= len(parts); n++ {
				items, err := delta.Unpack(s, n, plain)
				if err != nil {
					continue
				}
				b, err := json.Marshal(items)
				if err != nil {
					m.t.Fatal(err)
				}
				all.Write(b)
			}
		}
	}
	return all.String(), len(parts)
}

// After a snapshot was made, verified and used for compaction, a forgotten word
// is nowhere at the relay, and no new device gets it. The test decrypts
// everything that can be decrypted and searches. Before that, the same search
// finds the word.
func TestForgottenLeavesTheRelay(t *testing.T) {
	const word, other = "rhododendron", "chrysanthemum"
	dir := t.TempDir()
	url := serveRelayIn(t, dir)
	a := newMember(t, url, nil)
	b := a.let(url, envelope.Owner, nil)
	for _, m := range []*member{a, b} {
		m.with(replica.Snapshots{Compact: true, Behind: 1})
	}
	a.say(fact(1, "A "+word+" by the gate."), fact(2, "A "+other+" by the door."))
	a.sync()
	b.sync()
	a.makeSnapshot()
	b.again()
	a.sync()
	before, parts := a.opened(dir)
	if !strings.Contains(before, word) || parts < 2 {
		t.Fatalf("the search finds nothing in %d parts, before anything is forgotten", parts)
	}
	b.erase(1)
	for range 3 {
		b.sync()
		a.sync()
	}
	a.makeSnapshot()
	b.again()
	a.again()
	after, parts := a.opened(dir)
	if strings.Contains(after, word) {
		t.Errorf("the relay still holds it, in %d parts, %d bodies", parts, a.bodies())
	}
	if !strings.Contains(after, other) || parts < 2 {
		t.Errorf("what was not forgotten is not there: %d parts", parts)
	}
	c := a.let(url, envelope.Owner, nil).with(replica.Snapshots{Behind: 1})
	c.sync()
	if got := strings.Join(c.knows(), "\n"); strings.Contains(got, word) || !strings.Contains(got, other) {
		t.Errorf("a new device knows\n%s", got)
	}
	c.close()
	r, err := leakscan.Home(t.Context(), c.dir, c.ring, word)
	if err != nil || len(r.Finds) > 0 {
		t.Errorf("in the new device's files: %v, %v", r.Finds, err)
	}
	if r, err := leakscan.Home(t.Context(), c.dir, c.ring, other); err != nil || len(r.Finds) == 0 {
		t.Errorf("the search of files finds nothing at all: %v", err)
	}
	c.open()
}

// putOut removes an owner with the phrase of the space.
func (m *member) putOut(owner *member, phrase string) {
	m.t.Helper()
	rec, err := keyring.Recover(phrase)
	if err != nil {
		m.t.Fatal(err)
	}
	defer rec.Zero()
	root := func(domain string, msg []byte) ([]byte, error) { return rec.Sign(domain, msg), nil }
	if err := m.RemoveMember(m.t.Context(), owner.ring.Member(), root); err != nil {
		m.t.Fatal(err)
	}
}

// The newest snapshot was verified and no longer counts because its author was
// removed. This must not look as if the relay had gone back.
func TestVerifiedSnapshotOfARemovedOwner(t *testing.T) {
	url := serveRelay(t)
	a, phrase := newMemberWords(t, url)
	a.with(replica.Snapshots{Behind: 1})
	b := a.let(url, envelope.Owner, nil).with(replica.Snapshots{Behind: 1})
	a.say(fact(1, "It was here before."))
	a.sync()
	b.sync()
	b.makeSnapshot()
	a.again() // this verifies it
	a.again() // and this sees that it is verified
	a.putOut(b, phrase)
	a.again()
	if p := a.problems(); slices.ContainsFunc(p, func(s string) bool { return strings.Contains(s, replica.ErrRolledBack.Error()) }) {
		t.Errorf("%q", p)
	}
}

// If the root removed an owner, no new device takes that owner's snapshot,
// however honest it was, and the snapshot is reported.
func TestSnapshotOfARemovedOwner(t *testing.T) {
	url := serveRelayIn(t, t.TempDir())
	a, phrase := newMemberWords(t, url)
	b := a.let(url, envelope.Owner, nil).with(replica.Snapshots{Behind: 1})
	a.say(fact(1, "It was here before."))
	a.sync()
	b.sync()
	b.makeSnapshot()
	if len(a.checkpoints()) != 1 {
		t.Fatal("the relay has no snapshot, want one")
	}
	held, err := a.at.Checkpoints(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a.putOut(b, phrase)
	a.say(fact(2, "And this since."))
	a.sync()
	kept := func([]replica.Listed) (all []replica.Listed) { // a relay that continues to show it
		for _, v := range held {
			all = append(all, replica.Listed{Checkpoint: v.Checkpoint, Votes: v.Votes})
		}
		return all
	}
	c := a.let(url, envelope.Owner, nil)
	c.with(replica.Snapshots{At: shown{c.checkpointsAt(), kept}, Behind: 1})
	c.sync()
	c.named("its author was removed")
	if !slices.Equal(c.knows(), a.knows()) || len(c.knows()) != 2 {
		t.Errorf("it knows\n%q, not\n%q", c.knows(), a.knows())
	}
}
