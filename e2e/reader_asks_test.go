package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// asked lists what the second implementation asked of a relay, by section, and which answers differ
// from the documents.
type asked struct {
	Checks map[string]int
	Faults []string
}

func (r *relay) asked(sections []string, args ...string) {
	r.t.Helper()
	var got asked
	mustParse(r.t, string(python(r.t, "", append([]string{"ask", r.url}, args...)...)), &got)
	for _, fault := range got.Faults {
		r.t.Error(fault)
	}
	for _, s := range sections {
		if got.Checks[s] < 10 {
			r.t.Errorf("%d checks of %s", got.Checks[s], s)
		}
	}
	r.t.Log(got.Checks)
}

// A relay answers, and refuses, as protocol.md says, towards a client that was written from that
// document only.
func TestReaderAsksARelay(t *testing.T) {
	// The reader opens a connection for each request, hundreds in a second.
	newRelay(t, "--open", "--connections-per-address", "100000").asked([]string{"signatures", "bodies", "log", "deltas", "removals", "chains", "accounts", "blobs", "checkpoints", "events", "answers", "mailboxes"})
}

// The same for quotas and invitations.
func TestReaderExceedsARelaysLimits(t *testing.T) {
	invites := filepath.Join(t.TempDir(), "invites")
	if err := os.WriteFile(invites, []byte("code-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRelay(t, "--invite-file", invites, "--quota-bytes", "40000", "--quota-blobs", "2", "--quota-deltas", "12", "--quota-spaces", "2")
	r.asked([]string{"quotas", "full"}, "code-1")
}
