package homecmd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// If something is parked, doctor does not say that nothing is wrong.
func TestDoctorReportsParked(t *testing.T) {
	var out strings.Builder
	x := examined{DoctorReport: serve.DoctorReport{OK: true, Findings: []serve.Finding{{Check: "ears", Level: serve.LevelWarning, Detail: "whisper.cpp failed at 3"}}}}
	showDoctor(new(cli.App), &out, &x, false)
	if got := out.String(); strings.Contains(got, "Nothing is wrong.") {
		t.Error(got)
	}
}

// The daemon counts a backup by hand as the schedule's, if it is in the same place. It has no
// line of its own then.
func TestStatusShowsABackupOnce(t *testing.T) {
	recent := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	const every = config.Duration(config.Day)
	at := func(to string, when time.Time, vault bool) *serve.BackupStatus {
		return &serve.BackupStatus{To: to, At: when, Vault: vault}
	}
	for name, c := range map[string]struct {
		scheduled, hand *serve.BackupStatus
		want            string
	}{
		"none":           {at("/stick", time.Time{}, false), nil, "/stick: none yet; every 1d\n"},
		"the same":       {at("/stick", recent, true), at("/stick", recent, true), "/stick: last Mon 2 Mar 2026 09:00; every 1d\n"},
		"another folder": {at("/stick", time.Time{}, false), at("/disk", recent, true), "/stick: none yet; every 1d\n/disk: by hand Mon 2 Mar 2026 09:00\n"},
	} {
		c.scheduled.Every = every
		a := &cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "UTC", Backup: config.Backup{To: "/stick", Every: every}}}}
		var out strings.Builder
		showBackups(a, func(_, format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }, &serve.Status{Running: true, Backup: c.scheduled, BackupByHand: c.hand})
		if out.String() != c.want {
			t.Errorf("%s: %q, want %q", name, out.String(), c.want)
		}
	}
}

// Status says with whom the node last exchanged data, and when, what waits, and what failed.
func TestStatusShowsSync(t *testing.T) {
	recent := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		x    homeState
		want string
	}{
		"nobody":  {homeState{}, "with nobody; see locket sync\n"},
		"locked":  {homeState{Status: serve.Status{Locked: true}}, ""},
		"new":     {homeState{Sync: &serve.SyncStatus{Relay: "https://relay.example"}}, "https://relay.example: nothing exchanged yet\n"},
		"waits":   {homeState{Sync: &serve.SyncStatus{Relay: "https://relay.example", Synced: recent, Pending: 3}}, "https://relay.example: last Mon 2 Mar 2026 09:00, 3 to send\n"},
		"failed":  {homeState{Sync: &serve.SyncStatus{Relay: "https://relay.example", Synced: recent, Error: "nothing listens"}}, "https://relay.example: last Mon 2 Mar 2026 09:00, failed since: nothing listens; see locket sync\n"},
		"removed": {homeState{Sync: &serve.SyncStatus{Relay: "https://relay.example", Removed: true}}, "https://relay.example: nothing exchanged yet, failed since: another device removed this one; see locket sync\n"},
		"network": {homeState{Sync: &serve.SyncStatus{Apart: true, LAN: true, Synced: recent}}, "devices in this network: last Mon 2 Mar 2026 09:00\n"},
		"folders": {homeState{Sync: &serve.SyncStatus{Apart: true}}, "folders: nothing exchanged yet\n"},
		"two relays": {homeState{Sync: &serve.SyncStatus{Relay: "https://a.example", Synced: recent}, Relays: []serve.Relay{{URL: "https://a.example", Synced: recent}, {URL: "https://b.example", Lacks: 7, Error: "full", Trouble: []string{"forked"}}}},
			"https://a.example: last Mon 2 Mar 2026 09:00\nhttps://b.example: nothing exchanged yet, 7 to send, failed since: forked; full; see locket sync\n"},
	} {
		a := &cli.App{Settings: &config.Loaded{Config: config.Config{Zone: "UTC"}}}
		var out strings.Builder
		showSync(a, func(_, format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }, &c.x)
		if out.String() != c.want {
			t.Errorf("%s: %q, want %q", name, out.String(), c.want)
		}
	}
}
