package homecmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/progress"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/serve"
)

// asking shows the progress of something that may ask for the passphrase, but not while it asks.
func asking(a *cli.App, ctx context.Context, what string, do func(ctx context.Context, ask node.Ask) error) error {
	var g progress.Gauge // counts the work before and after the passphrase
	m := a.MeterOf(&g, what, "records")
	err := do(progress.With(ctx, &g), func() (string, error) {
		m.End()
		p, err := a.AskPassphrase("Passphrase: ")
		m = a.MeterOf(&g, what, "records")
		return string(p), err
	})
	m.End()
	return err
}

// lookOver checks a home that no daemon has open, file by file, and prints what is damaged. told is
// true if something is.
func lookOver(a *cli.App, ctx context.Context) (reported bool, err error) {
	c, err := a.Daemon(ctx)
	if err != nil {
		return false, err
	}
	if c != nil {
		c.Close()
		return false, nil
	}
	var found []node.RepairedItem
	err = asking(a, ctx, "check the files", func(ctx context.Context, ask node.Ask) (err error) {
		found, err = a.LookHome(ctx, a.Settings.Config, ask)
		return err
	})
	if errors.Is(err, memory.ErrInUse) || err == nil && len(found) == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	x := examined{DoctorReport: serve.DoctorReport{Verified: true}, Quarantine: []serve.Quarantined{}, Refusals: []memory.Refusal{}}
	for _, f := range found {
		x.Findings = append(x.Findings, serve.Finding{Check: f.Place, Level: serve.LevelError, Detail: f.What})
	}
	x.Findings[len(x.Findings)-1].Advice = "run 'locket doctor --repair'"
	if err := a.Print(x, func(w io.Writer) { showDoctor(a, w, &x, true) }); err != nil {
		return false, err
	}
	return true, cli.ErrReported
}

// repairHome repairs a home that no daemon has open.
func repairHome(a *cli.App, ctx context.Context) error {
	c, err := a.Daemon(ctx)
	if err != nil {
		return err
	}
	if c != nil {
		c.Close()
		return cli.AdvisedError{Err: fmt.Errorf("%w: a daemon is running on %s", memory.ErrInUse, a.Settings.Home), Advice: "Stop the daemon before a repair: press Ctrl+C where it was started, or run systemctl --user stop locket."}
	}
	var r node.Repaired
	err = asking(a, ctx, "repair", func(ctx context.Context, ask node.Ask) (err error) {
		r, err = a.RepairHome(ctx, a.Settings.Config, a.Logger(&a.Settings.Config), ask)
		return err
	})
	if err != nil {
		for _, f := range r.Findings {
			fmt.Fprintf(a.Stderr, "%s: %s\n", cli.OneLine(f.Place), cli.OneLine(f.What))
		}
		return err
	}
	if err := a.Print(r, func(w io.Writer) { showRepair(a, w, &r) }); err != nil {
		return err
	}
	if !r.OK {
		return cli.ErrReported
	}
	return nil
}

func showRepair(a *cli.App, w io.Writer, r *node.Repaired) {
	lost := 0
	for _, f := range r.Findings {
		state := "repaired"
		if f.Lost {
			state = a.Paint.Red("lost    ")
			lost++
		}
		fmt.Fprintf(w, "%s  %s: %s\n", state, cli.OneLine(f.Place), cli.OneLine(f.What))
		if f.Done != "" {
			fmt.Fprintf(w, "%10s%s\n", "", cli.OneLine(f.Done))
		}
	}
	if r.Aside != "" {
		fmt.Fprintf(w, "\nThe damaged files are in %s\n", r.Aside)
	}
	switch {
	case r.Relay != "":
		fmt.Fprintf(w, "\nThe relay could not be reached: %s\nWhat it has comes with the next sync. Run this command again after that.\n", cli.OneLine(r.Relay))
	case lost > 0:
		fmt.Fprintf(w, "\n%s could not be restored.\n", cli.Plural(lost, "thing", "things"))
	case len(r.Findings) == 0:
		fmt.Fprintln(w, "Nothing was damaged.")
	default:
		fmt.Fprintln(w, "\nEverything is repaired.")
	}
}
