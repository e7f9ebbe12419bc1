package homecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/progress"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/backup"
	"github.com/locket-dev/locket/node/serve"
)

func StatusCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the state of the node", Args: cli.NoArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithClient(cmd.Context(), false, func(cl *serve.Client) error {
				s, err := cl.Status(cmd.Context())
				x := homeState{Status: s}
				if err == nil && !s.Locked {
					err = x.addSync(cmd.Context(), cl)
				}
				return a.PrintUnless(err, x, func(w io.Writer) { showStatus(a, w, &x) })
			})
		},
	}
}

// homeState is what status prints with --json.
type homeState struct {
	serve.Status
	Sync   *serve.SyncStatus `json:"sync,omitempty"`   // absent if the node syncs with nobody, or is locked
	Relays []serve.Relay     `json:"relays,omitempty"` // all relays, if there are several
}

func (x *homeState) addSync(ctx context.Context, cl *serve.Client) error {
	s, err := cl.SyncStatus(ctx)
	if err != nil || s.Relay == "" && !s.Apart {
		return err
	}
	x.Sync = &s
	all, err := cl.Relays(ctx)
	if all = slices.DeleteFunc(all, func(r serve.Relay) bool { return r.Kind == serve.RelayPeer }); len(all) > 1 {
		x.Relays = all
	}
	return err
}

// showSync says with whom and when the node last exchanged data, what waits, and what failed.
func showSync(a *cli.App, line func(name, format string, args ...any), x *homeState) {
	rows := x.Relays
	switch s := x.Sync; {
	case s == nil && x.Locked:
		return
	case s == nil:
		line("sync", "%s", a.WithHome("with nobody; see locket sync"))
		return
	case len(rows) == 0:
		one := serve.Relay{URL: s.Relay, Synced: s.Synced, Lacks: s.Pending, Error: s.Error}
		if s.Relay == "" && s.LAN {
			one.URL = "devices in this network"
		}
		if s.Removed {
			one.Error = "another device removed this one"
		}
		rows = []serve.Relay{one}
	}
	for i := range rows {
		r := &rows[i]
		how := "nothing exchanged yet"
		if !r.Synced.IsZero() {
			how = "last " + a.ShowTime(r.Synced)
		}
		if r.Lacks > 0 {
			how += fmt.Sprintf(", %d to send", r.Lacks)
		}
		if r.Fails() {
			failed := strings.Trim(strings.Join(append(slices.Clone(r.Trouble), r.Error), "; "), "; ")
			how += ", " + a.Paint.Red("failed since: "+cli.OneLine(failed)) + a.WithHome("; see locket sync")
		}
		line("sync", "%s: %s", cli.OneLine(cmp.Or(r.URL, "folders")), how)
	}
}

func showStatus(a *cli.App, w io.Writer, x *homeState) {
	s := &x.Status
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	if s.Running {
		line("daemon", "running since %s, process %d, %s", a.ShowTime(s.Started), s.PID, s.Version)
	} else {
		line("daemon", "not running")
	}
	line("home", "%s", s.Home)
	line("wearer", "%s", cli.OneLine(s.Wearer))
	keys := "open"
	if s.Locked {
		keys = "locked"
	}
	if !s.VaultUntil.IsZero() {
		keys += ", vault open until " + a.ShowTime(s.VaultUntil)
	}
	line("keys", "%s", keys)
	if cli.CheckDiskSpace(s) != nil && !s.Pause.Paused {
		line("intake", "%s", a.Paint.Red(a.WithHome("Events are refused: less disk space is free than disk.reserve. See locket doctor")))
	} else {
		line("intake", "%s", a.PauseText(s.Pause))
	}
	broker := cli.EveryAddress(s.Broker.URL)
	switch {
	case s.Broker.Embedded && broker == "":
		broker = "its own"
	case s.Broker.Embedded:
		broker += " (its own)"
	}
	if s.Running && !s.Broker.Connected {
		broker += ", not connected"
	}
	line("broker", "%s, %s", broker, cli.Plural(s.Devices, "device", "devices"))
	var counts []string
	for _, t := range memory.Types {
		if n := s.Memories[t]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, t))
		}
	}
	switch {
	case s.Locked:
		counts = []string{"not known while locked"}
	case len(counts) == 0:
		counts = []string{"none yet"}
	}
	line("memories", "%s", strings.Join(counts, ", "))
	if !s.Locked {
		line("said", "%s", cli.Plural(s.Utterances, "thing", "things"))
	}
	if s.Consents > 0 {
		line("consent", "%s", a.WithHomef("%s for your answer: locket consent list", cli.Plural(s.Consents, "request is waiting", "requests are waiting")))
	}
	if s.Locked { // only an unlocked home knows which of them were processed
		line("waiting", "at most %s, %s", cli.Plural(s.Journal.Waiting, "event", "events"), cli.Size(s.Journal.Bytes))
	} else {
		line("waiting", "%s to extract, %d to transcribe, %s", cli.Plural(s.Journal.Waiting, "event", "events"), s.Journal.Transcribe, cli.Size(s.Journal.Bytes))
	}
	if s.Journal.Quarantined > 0 {
		line("set aside", "%s", a.WithHomef("%s; see locket doctor", cli.Plural(s.Journal.Quarantined, "input", "inputs")))
	}
	for i := range s.Engines {
		e := &s.Engines[i]
		waits := cmp.Or(a.EngineWaits(e), "nothing waits")
		line(e.Kind, "%s: %s", cli.OneLine(e.Name), waits)
	}
	showSync(a, line, x)
	showBackups(a, line, s)
	line("disk", "%s used, %s free, reserve %s", cli.Size(s.Disk.Used), cli.Size(s.Disk.Free), cli.Size(s.Disk.Reserve))
	if s.HeapBytes > 0 {
		line("memory use", "%s heap, %s resident", cli.Size(s.HeapBytes), cli.Size(s.RSSBytes))
	}
	for _, p := range s.Plugins {
		state := cli.Plural(int(p.Calls), "call", "calls")
		if p.Faults > 0 {
			state += ", " + a.Paint.Red(cli.Plural(int(p.Faults), "fault", "faults"))
		}
		if !p.Enabled {
			state = "off"
		}
		if p.Blocks {
			state = a.Paint.Red("does not run" + cli.PluginBlocks)
		}
		line("plugin", "%s %s: %s", cli.OneLine(p.Name), p.Version, state)
	}
}

// showBackups shows the state of the backups.
func showBackups(a *cli.App, line func(name, format string, args ...any), s *serve.Status) {
	if b := s.Backup; b != nil {
		how := "none yet"
		if !b.At.IsZero() {
			how = "last " + a.ShowTime(b.At)
			if !b.Vault {
				how += ", the vault's values sealed"
			}
		}
		if b.Failures > 0 {
			how += ", " + a.Paint.Red("failed since: "+cli.OneLine(b.Error))
		}
		line("backup", "%s: %s; every %s", cli.OneLine(b.To), how, b.Every)
	}
	// The daemon reads its settings only when it starts.
	if to := backup.ShownName(a.Settings.Backup.To); s.Running && (s.Backup == nil) != (to == "") || s.Backup != nil && (s.Backup.To != to || s.Backup.Every != a.Settings.Backup.Every) {
		then := "no schedule"
		if to != "" {
			then = fmt.Sprintf("to %s every %s", cli.OneLine(to), a.Settings.Backup.Every)
		}
		line("backup", "%s, once the daemon is restarted", then)
	}
	if b := s.BackupByHand; b != nil && (s.Backup == nil || b.To != s.Backup.To) {
		how := ""
		if !b.Vault {
			how = ", the vault's values sealed"
		}
		line("backup", "%s: by hand %s%s", cli.OneLine(b.To), a.ShowTime(b.At), how)
	}
}

// examined is what doctor prints with --json.
type examined struct {
	serve.DoctorReport
	Quarantine []serve.Quarantined `json:"quarantine"`
	Refusals   []memory.Refusal    `json:"refusals"`
}

func DoctorCommand(a *cli.App) *cobra.Command {
	var verify, repair, verbose bool
	c := &cobra.Command{
		Use: "doctor", Short: "Find problems, and repair damage", Args: cli.NoArgs(),
		Long: `Checks the home, the daemon, the disk, sync and the wearables. The exit code is 1 if
something is wrong. With --verify it reads every record and checks its seal.

Lines that were heard and not remembered are grouped: one line for each kind, with the
number of times and the last time. --verbose and --json list each of them.

--repair restores damaged data from its copy, from other records, and from the relay.
Stop the daemon first. Damaged files are not deleted: they are moved into the folder
broken in the home. The command lists what it could not restore. If the relay can't be
reached, run it again later.`,
		Example: "  locket doctor --verify\n  locket doctor --repair",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if l, err := a.Load(); err != nil {
				return err
			} else if _, err := os.Stat(l.Home); errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("%w: %s", cli.ErrNoHome, l.Home)
			}
			if repair {
				return repairHome(a, cmd.Context())
			}
			if verify {
				if reported, err := lookOver(a, cmd.Context()); err != nil || reported {
					return err
				}
			}
			err := a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				m := a.Meter("check everything", "records", 0)
				r, err := cl.Doctor(progress.With(cmd.Context(), m.Gauge), verify)
				m.End()
				if err != nil {
					return err
				}
				x := examined{DoctorReport: r}
				// A locked node can't open these. The findings already say that it is locked.
				if x.Quarantine, err = cl.Quarantine(cmd.Context(), serve.MaxList); err != nil && !errors.Is(err, memory.ErrLocked) {
					return err
				}
				refused, err := cl.Refusals(cmd.Context(), serve.MaxList)
				if err != nil && !errors.Is(err, memory.ErrLocked) {
					return err
				}
				x.Refusals = make([]memory.Refusal, len(refused))
				for i := range refused { // leave out the words, because people send a report to others
					x.Refusals[i] = refused[i].Refusal
				}
				if err := a.Print(x, func(w io.Writer) { showDoctor(a, w, &x, verbose) }); err != nil {
					return err
				}
				if !r.OK {
					return cli.ErrReported
				}
				return nil
			})
			if cli.IsDamage(err) { // the node does not open, but its files can still be checked
				if reported, err := lookOver(a, cmd.Context()); err != nil || reported {
					return err
				}
			}
			return err
		},
	}
	c.Flags().BoolVar(&verify, "verify", false, "read every record")
	c.Flags().BoolVar(&repair, "repair", false, "repair what is damaged")
	c.Flags().BoolVar(&verbose, "verbose", false, "list each line that was not remembered")
	return c
}

func showDoctor(a *cli.App, w io.Writer, x *examined, verbose bool) {
	for _, f := range x.Findings {
		level := f.Level
		if level == serve.LevelError {
			level = a.Paint.Red(level)
		}
		fmt.Fprintf(w, "%-7s  %-12s  %s\n", level, f.Check, a.WithHome(cli.OneLine(f.Detail)))
		if f.Advice != "" {
			fmt.Fprintf(w, "%23s%s\n", "", a.WithHome(cli.OneLine(f.Advice)))
		}
	}
	if len(x.Quarantine) > 0 {
		fmt.Fprintln(w, "\nInput that was set aside, newest first")
		for _, q := range x.Quarantine {
			why := q.Reason
			if !strings.Contains(why, q.Kind) { // otherwise the reason already contains the kind
				why = strings.TrimSuffix(q.Kind+": "+why, ": ")
			}
			fmt.Fprintf(w, "  %s  %s  %s (%s, %s)\n", a.Paint.Dim(a.ShowTime(q.At)), cli.OneLine(q.Source), cli.OneLine(why), cli.Size(q.Bytes), cli.Plural(int(q.Count), "time", "times"))
		}
	}
	if len(x.Refusals) > 0 {
		latest := ""
		if len(x.Refusals) == serve.MaxList {
			latest = fmt.Sprintf(", the latest %d", serve.MaxList)
		}
		fmt.Fprintf(w, "\nWhat was said but not remembered%s, newest first\n", latest)
		if verbose {
			for _, r := range x.Refusals {
				fmt.Fprintf(w, "  %s  %s: %s\n", a.Paint.Dim(a.ShowTime(r.At)), cli.OneLine(r.Kind), cli.OneLine(r.Reason))
			}
		} else {
			showFolded(a, w, foldRefusals(x.Refusals))
		}
	}
	switch warned := func(f serve.Finding) bool { return f.Level == serve.LevelWarning }; {
	case !x.OK:
		fmt.Fprintln(w, "\nSomething is wrong: see the errors above.")
	case slices.ContainsFunc(x.Findings, warned):
		fmt.Fprintln(w, "\nNothing is wrong apart from the warnings above.")
	default:
		fmt.Fprintln(w, "\nNothing is wrong.")
	}
}

func showFolded(a *cli.App, w io.Writer, list []alike) {
	folded := false
	for _, r := range list {
		times := ""
		if r.count > 1 {
			times, folded = fmt.Sprintf(" (%d times)", r.count), true
		}
		fmt.Fprintf(w, "  %s  %s: %s%s\n", a.Paint.Dim(a.ShowTime(r.At)), cli.OneLine(r.Kind), cli.OneLine(r.Reason), times)
	}
	if folded {
		fmt.Fprintln(w, a.WithHome("To list each of them: locket doctor --verbose"))
	}
}
