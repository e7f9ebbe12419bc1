// Command locket-demo shows what Locket does with a wearer's day: see package story. It needs no
// other program.
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
	fl.BoolVar(&opt.JSON, "json", false, "print JSON, one object per line")
	fl.Uint64Var(&opt.Seed, "seed", 0, "generate a day instead of using the one in testdata/day")
	if err := fl.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if fl.NArg() > 0 {
		fmt.Fprintf(stderr, "locket-demo: unexpected argument %q\n", fl.Arg(0))
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
