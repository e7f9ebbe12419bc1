package devicecmd

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/replica"
)

// The list says what each relay or device lacks, and why photos wait.
func TestShowRelay(t *testing.T) {
	const at = "https://relay.example"
	for _, c := range []struct {
		r    serve.Relay
		want string
	}{
		{serve.Relay{Kind: serve.RelayPrimary}, "first   " + at + "\n"},
		{serve.Relay{Kind: serve.RelayMirror, Lacks: 1}, "mirror  " + at + "  lacks 1 delta\n"},
		{serve.Relay{Kind: serve.RelayPrimary, Blobs: 2}, "first   " + at + "  2 photos and recordings to send\n"},
		{serve.Relay{Kind: serve.RelayPrimary, Blobs: 1, Metered: true}, "first   " + at + "  1 photo or recording to send once the connection is not metered (sync.metered)\n"},
		{serve.Relay{Kind: serve.RelayPrimary, Lacks: 3, Blobs: 2, Metered: true},
			"first   " + at + "  lacks 3 deltas, and 2 photos and recordings once the connection is not metered (sync.metered)\n"},
		{serve.Relay{Kind: serve.RelayMirror, Error: at + ": no route", Trouble: []string{at + ": went back"}}, "mirror  " + at + "\n        failed: no route\n        went back\n"},
		{serve.Relay{Kind: serve.RelayMirror, Error: "no route"}, "mirror  " + at + "\n        failed: no route\n"},
	} {
		c.r.URL = at
		var out strings.Builder
		if showRelay(new(cli.App), &out, &c.r); out.String() != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.r, &out, c.want)
		}
	}
}

// If a relay went back in time, the output says what that may mean, and how to continue syncing.
func TestShowSyncAfterRelayRollback(t *testing.T) {
	var out strings.Builder
	s := serve.SyncStatus{Relay: "https://relay.example", Error: "deltas after 2: " + replica.ErrRolledBack.Error()}
	if showSync(new(cli.App), &out, &s); !strings.Contains(out.String(), "\nAsk the operator of the relay whether it was restored from a backup.") || !strings.Contains(out.String(), "locket relay add URL.\n") {
		t.Error(out.String())
	}
	out.Reset()
	s.Error = "no route"
	if showSync(new(cli.App), &out, &s); strings.Contains(out.String(), "backup") {
		t.Error(out.String())
	}
}

// A device that no other was met yet, and one that was removed, are told apart, each with what to do.
func TestShowSyncOfADeviceThatIsNoMember(t *testing.T) {
	for _, c := range []struct {
		s    serve.SyncStatus
		want string
	}{
		{serve.SyncStatus{Apart: true, LAN: true, Error: replica.ErrUnlisted.Error()}, "\nStart the daemon on that device"},
		{serve.SyncStatus{Apart: true, Error: replica.ErrUnlisted.Error()}, "\nRun locket sync --folder DIR on that device"},
		{serve.SyncStatus{Relay: "https://relay.example", Error: "log after 2: " + replica.ErrRemoved.Error() + ": forbidden"}, "\nIt keeps what it has"},
		{serve.SyncStatus{Relay: "https://relay.example", Removed: true}, "\nIt keeps what it has"},
		{serve.SyncStatus{Relay: "https://relay.example", Error: "no route"}, ""},
	} {
		var out strings.Builder
		showSync(new(cli.App), &out, &c.s)
		for _, advice := range []string{"\nStart the daemon on that device", "\nRun locket sync --folder DIR on that device", "\nIt keeps what it has"} {
			if strings.Contains(out.String(), advice) != (advice == c.want) {
				t.Errorf("%+v:\n%s\nwant %q", c.s, &out, c.want)
			}
		}
	}
}
