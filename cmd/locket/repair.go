package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/progress"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/serve"
)

// asking tells how long something takes that may ask for the passphrase, but not while it asks.
func (a *app) asking(ctx context.Context, what string, do func(ctx context.Context, ask node.Ask) error) error {
	var g progress.Gauge // of all that is done, before and after the passphrase
	m := a.meterOf(&g, what, "records")
	err := do(progress.With(ctx, &g), func() (string, error) {
		m.end()
		p, err := a.askPassphrase("Passphrase: ")
		m = a.meterOf(&g, what, "records")
		return string(p), err
	})
	m.end()
	return err
}

// isDamage reports whether an error says that something of the home is not as
// it was written.
func isDamage(err error) bool {
	return slices.ContainsFunc([]error{memory.ErrDamaged, keyring.ErrDamaged, keyring.ErrSwapped, atomicfile.ErrDamaged, atomicfile.ErrUnsealed}, func(e error) bool { return errors.Is(err, e) })
}

// lookOver looks through a home that no daemon has, file by file, and tells
// what is damaged, where something is.
func (a *app) lookOver(ctx context.Context) (told bool, err error) {
	c, err := a.daemon(ctx)
	if err != nil {
		return false, err
	}
	if c != nil {
		c.Close()
		return false, nil
	}
	var found []node.RepairedItem
	err = a.asking(ctx, "look at the files", func(ctx context.Context, ask node.Ask) (err error) {
		found, err = a.lookHome(ctx, a.settings.Config, ask)
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
	if err := a.print(x, func(w io.Writer) { a.showDoctor(w, &x, true) }); err != nil {
		return false, err
	}
	return true, errTold
}

// repair puts a home right that no daemon has.
func (a *app) repair(ctx context.Context) error {
	c, err := a.daemon(ctx)
	if err != nil {
		return err
	}
	if c != nil {
		c.Close()
		return advisedError{fmt.Errorf("%w: a daemon runs on %s", memory.ErrInUse, a.settings.Home), "A repair needs the home to itself: stop it first, by Ctrl+C where it was started or by systemctl --user stop locket."}
	}
	var r node.Repaired
	err = a.asking(ctx, "repair", func(ctx context.Context, ask node.Ask) (err error) {
		r, err = a.repairHome(ctx, a.settings.Config, a.logger(&a.settings.Config), ask)
		return err
	})
	if err != nil {
		for _, f := range r.Findings {
			fmt.Fprintf(a.stderr, "%s: %s\n", oneLine(f.Place), oneLine(f.What))
		}
		return err
	}
	if err := a.print(r, func(w io.Writer) { a.showRepair(w, &r) }); err != nil {
		return err
	}
	if !r.OK {
		return errTold
	}
	return nil
}

func (a *app) showRepair(w io.Writer, r *node.Repaired) {
	lost := 0
	for _, f := range r.Findings {
		state := "repaired"
		if f.Lost {
			state = a.paint.red("lost    ")
			lost++
		}
		fmt.Fprintf(w, "%s  %s: %s\n", state, oneLine(f.Place), oneLine(f.What))
		if f.Done != "" {
			fmt.Fprintf(w, "%10s%s\n", "", oneLine(f.Done))
		}
	}
	if r.Aside != "" {
		fmt.Fprintf(w, "\nWhat was damaged is in %s\n", r.Aside)
	}
	switch {
	case r.Relay != "":
		fmt.Fprintf(w, "\nThe relay was not reached: %s\nWhat it has comes with the next sync; run this again then.\n", oneLine(r.Relay))
	case lost > 0:
		fmt.Fprintf(w, "\n%s could not be had back.\n", plural(lost, "thing", "things"))
	case len(r.Findings) == 0:
		fmt.Fprintln(w, "Nothing was damaged.")
	default:
		fmt.Fprintln(w, "\nEverything is right again.")
	}
}
