package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/locket-dev/locket/cmd/locket/cli"
)

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, d cli.Deps) int {
	a := &cli.App{Deps: d, Args: args, Stdin: stdin, In: bufio.NewReader(cli.UntilInterrupted(ctx.Done(), stdin)), Stdout: stdout, Stderr: stderr, Interrupted: ctx.Done()}
	a.Paint = cli.NewPainter(stdout, d.Environ)
	root := root(a)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := a.Complete(root); err != nil {
		a.TellError(err)
		return cli.ExitFailed
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return cli.ExitDone
	}
	err = cli.ShownError(ctx, err)
	usage, isUsage := errors.AsType[cli.UsageError](err)
	if !errors.Is(err, cli.ErrReported) {
		a.TellError(err)
		if isUsage && !a.JSON && usage.Err != nil {
			fmt.Fprintf(stderr, "See %s --help.\n", cmd.CommandPath())
		}
	}
	if isUsage {
		return cli.ExitUsage
	}
	return cli.ExitFailed
}
