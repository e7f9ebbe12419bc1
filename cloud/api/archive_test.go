package api_test

import (
	"bytes"
	"testing"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/archive"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
)

// An owner removes a member, and leaves out deltas that the relay has. The backup of the relay can
// still be restored, with everything that is in it.
func TestThreatAccountSpoilsTheBackup(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h, other := s.settle("hostile"), s.settle("other")
	s.send(h, h.Writer, "in time", "late")
	s.send(other, other.Owner, "one")
	removal := h.Remove(h.Owner, h.Writer, envelope.Position{Incarnation: 1, Seq: 1})
	s.is(s.as(h, h.Owner).AppendLog(t.Context(), removal, ""), remote.ErrConflict)
	s.ok(s.as(h, h.Owner).AppendLog(t.Context(), removal, ""))
	s.send(h, h.Owner, "after")

	want := s.backup(t, s.dir)
	dir := t.TempDir()
	to, err := embedded.Open(t.Context(), dir)
	s.ok(err)
	_, err = archive.Restore(t.Context(), bytes.NewReader(want), to)
	s.ok(err)
	s.ok(to.Close())
	if !bytes.Equal(s.backup(t, dir), want) {
		t.Error("a backup of what was restored differs")
	}
}

// backup makes a backup of a folder.
func (s *service) backup(t *testing.T, dir string) []byte {
	t.Helper()
	from, err := embedded.OpenSnapshot(t.Context(), dir)
	s.ok(err)
	var b bytes.Buffer
	_, err = archive.Backup(t.Context(), from, &b)
	s.ok(err)
	s.ok(from.Close())
	return b.Bytes()
}
