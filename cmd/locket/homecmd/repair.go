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

// asking tells how long something takes that may ask for the passphrase, but not while it asks.
func asking(a *cli.App, ctx context.Context, what string, do func(ctx context.Context, ask node.Ask) error) error {
	var g progress.Gauge // of all that is done, before and after the passphrase
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

// lookOver looks through a home that no daemon has, file by file, and tells
// what is damaged, where something is.
func lookOver(a *cli.App, ctx context.Context) (told bool, err error) {
	c, err := a.Daemon(ctx)
	if err != nil {
		return false, err
	}
	if c != nil {
		c.Close()
		return false, nil
	}
	var found []node.RepairedItem
	err = asking(a, ctx, "look at the files", func(ctx context.Context, ask node.Ask) (err error) {
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
	return true, cli.ErrTold
}

// repairHome puts a home right that no daemon has.
func repairHome(a *cli.App, ctx context.Context) error {
	c, err := a.Daemon(ctx)
	if err != nil {
		return err
	}
	if c != nil {
		c.Close()
		return cli.AdvisedError{Err: fmt.Errorf("%w: a daemon runs on %s", memory.ErrInUse, a.Settings.Home), Advice: "A repair needs the home to itself: stop it first, by Ctrl+C where it was started or by systemctl --user stop locket."}
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
		return cli.ErrTold
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
		fmt.Fprintf(w, "\nWhat was damaged is in %s\n", r.Aside)
	}
	switch {
	case r.Relay != "":
		fmt.Fprintf(w, "\nThe relay was not reached: %s\nWhat it has comes with the next sync; run this again then.\n", cli.OneLine(r.Relay))
	case lost > 0:
		fmt.Fprintf(w, "\n%s could not be had back.\n", cli.Plural(lost, "thing", "things"))
	case len(r.Findings) == 0:
		fmt.Fprintln(w, "Nothing was damaged.")
	default:
		fmt.Fprintln(w, "\nEverything is right again.")
	}
}
