// Command locket-demo tells Locket's whole story with a day of a wearer: see
// package story. It needs nothing but itself.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/locket-dev/locket/internal/demo"
	"github.com/locket-dev/locket/internal/testing/story"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fl := flag.NewFlagSet("locket-demo", flag.ContinueOnError)
	fl.SetOutput(stderr)
	var opt story.Options
	fl.BoolVar(&opt.JSON, "json", false, "one object a line")
	fl.Uint64Var(&opt.Seed, "seed", 0, "a generated day instead of the one in testdata/day")
	if err := fl.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if fl.NArg() > 0 {
		fmt.Fprintf(stderr, "locket-demo: %q is not expected\n", fl.Arg(0))
		return 2
	}
	err := story.Run(ctx, stdout, opt)
	if err != nil && !errors.Is(err, demo.ErrWrong) {
		fmt.Fprintln(stderr, "locket-demo:", err)
	}
	if err != nil {
		return 1
	}
	return 0
}
