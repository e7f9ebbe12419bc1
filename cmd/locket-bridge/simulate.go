package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// simulateCommand has a subcommand for each family with a simulated device. It is carried like the
// real one.
func (a *app) simulateCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "simulate", Short: "Carry a simulated device, over a link as bad as you like",
		Long: `Carries a simulated device to the node, with the same code as the real one, to see what
arrives and what is reported as lost.`,
		RunE: needsCommand(a),
	}
	for _, f := range families() {
		if f.Simulate != nil {
			c.AddCommand(a.simulateFamily(f))
		}
	}
	return c
}

func (a *app) simulateFamily(family carry.Family) *cobra.Command {
	f := deviceFlags{family: family}
	var p carry.Play
	var file string
	c := &cobra.Command{
		Use: family.Name, Short: "Simulate a device of the family " + family.Name,
		Example: "  locket-bridge simulate " + family.Name + " --loss 0.3 --reorder --reboot 2 --broker tcp://127.0.0.1:1883 --name " + family.Name + " --password-file " + family.Name + ".password\n" +
			"  locket-bridge simulate " + family.Name + " --day day.jsonl --broker tcp://127.0.0.1:1883 --name " + family.Name + " --password-file " + family.Name + ".password",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.simulate(cmd.Context(), &f, p, file)
		},
	}
	fl := c.Flags()
	fl.Uint64Var(&p.Seed, "seed", 1, "the seed `number` for everything random")
	fl.Var((*part)(&p.Loss), "loss", "lose this `fraction` of what the device sends, 0 to 0.9, or 0% to 90%")
	fl.BoolVar(&p.Reorder, "reorder", false, "swap one message in ten with the next")
	fl.IntVar(&p.Reboot, "reboot", 0, "how many `times` the connection breaks")
	fl.DurationVar(&p.ClockOff, "clock-off", 0, "the `duration` by which the device's clock is ahead, such as 3h")
	fl.IntVar(&p.Amount, "amount", 0, "the `count` of fixes, events or pages; 0: a few dozen")
	fl.StringVar(&file, "day", "", "play the day in a `file` that locket replay accepts, instead of random data")
	f.nodeFlags(fl)
	return c
}

// part is a number from 0 to 1, which can also be given in per cent.
type part float64

func (p *part) Type() string   { return "fraction" }
func (p *part) String() string { return strconv.FormatFloat(float64(*p), 'g', -1, 64) }

func (p *part) Set(s string) error {
	number, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return fmt.Errorf("%q: want a number such as 0.3, or 30%%", s)
	}
	if percent {
		v /= 100
	}
	*p = part(v)
	return nil
}

func (a *app) simulate(ctx context.Context, f *deviceFlags, p carry.Play, file string) (err error) {
	switch {
	case !(p.Loss >= 0 && p.Loss <= .9): // also refuses NaN
		return usagef("--loss %g: want 0 to 0.9", p.Loss)
	case p.Reboot < 0 || p.Reboot > 1000:
		return usagef("--reboot %d: want 0 to 1000", p.Reboot)
	case file != "" && p.Amount != 0:
		return usagef("--amount can't be combined with --day")
	case p.Amount < 0 || p.Amount > 1_000_000:
		return usagef("--amount %d: want 0 to 1000000", p.Amount)
	}
	if err := f.checkNode(); err != nil {
		return err
	}
	if file != "" {
		if p.Day, err = a.scenes(ctx, &f.family, file); err != nil {
			return err
		}
	}
	f.firstWait = 10 * time.Millisecond // a simulated device is never out of range
	f.options.Prefix, f.options.Storage = f.family.Prefix, true
	return a.carry(ctx, f, &link.Faulty{
		Dialer: f.family.Simulate(p), Loss: p.Loss, Reorder: p.Reorder, Rand: rand.New(rand.NewPCG(p.Seed, 2)),
	})
}
