package plugincmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/kit"
)

func testCommand(a *cli.App) *cobra.Command {
	var record, replay, cases string
	var opt kit.Options
	c := &cobra.Command{
		Use: "test [FILE.wasm|FOLDER]", Short: "Check that a plugin fulfils the contract", Args: cli.ArgsBetween(0, 1, ""),
		Long: `Gives the plugin valid, empty, largest and malformed events, calls it 10,000 times in a
row, in two instances and up to each of its limits, and reports the results. It also tries
your own events, from testdata/*.json beside the module:

  {"event": {"kind": "text", "text": "I parked on level 3"},
   "want": [{"type": "semantic", "text": "The car is on level 3"}]}

--record saves the answers, and --replay compares with them: it shows every answer that a
change to the plugin has changed, byte by byte.`,
		Example: `  locket plugin test
  locket plugin test parking.wasm --json
  locket plugin test --record answers && locket plugin test --replay answers`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if record != "" && replay != "" {
				return cli.Usagef("--record and --replay: choose one")
			}
			if opt.Repeat < 2 {
				return cli.Usagef("--repeat %d: want 2 or more", opt.Repeat)
			}
			p, err := readProject(folderIn(args))
			if err != nil {
				return err
			}
			cases = cmp.Or(cases, filepath.Join(p.dir, "testdata"))
			if opt.Cases, err = kit.ReadCases(cases); err != nil {
				return err
			}
			// A signed plugin was verified when it was read. Only its limits matter here.
			p.parsed.Publisher = ""
			switch {
			case record != "":
				return recordPlugin(a, cmd.Context(), &p, opt, record)
			case replay != "":
				return replayRecords(a, cmd.Context(), &p, opt, replay)
			}
			return testPlugin(a, cmd.Context(), &p, opt)
		},
	}
	f := c.Flags()
	f.StringVar(&record, "record", "", "save the answers in this `folder`")
	f.StringVar(&replay, "replay", "", "check that the answers are as recorded in this `folder`")
	f.StringVar(&cases, "cases", "", "`folder` with your own events; default: testdata beside the module")
	f.IntVar(&opt.Repeat, "repeat", 10000, "how many `times` to call it in a row")
	f.BoolVar(&opt.Interpret, "interpret", false, "interpret the module, as some machines do: about 100 times slower")
	return c
}

func testPlugin(a *cli.App, ctx context.Context, p *project, opt kit.Options) error {
	if !a.JSON {
		fmt.Fprintf(a.Stdout, "%s %s\n", p.parsed.ID, p.parsed.Version)
		opt.Progress = func(c kit.Check) { showCheck(a, a.Stdout, &c) }
	}
	r, err := kit.Run(ctx, p.module, p.parsed, opt)
	if err != nil {
		return err
	}
	failed, skipped := 0, 0
	for _, c := range r.Checks {
		switch c.Result {
		case kit.Failed:
			failed++
		case kit.Skipped:
			skipped++
		}
	}
	err = a.Print(r, func(w io.Writer) {
		switch {
		case failed > 0:
			fmt.Fprintf(w, "%s of %d.\n", cli.Plural(failed, "check failed", "checks failed"), len(r.Checks))
		default:
			fmt.Fprintf(w, "The plugin fulfils the contract: %d checks passed, %d did not apply.\n", len(r.Checks)-skipped, skipped)
		}
	})
	if err == nil && !r.Passed {
		return cli.ErrReported
	}
	return err
}

// showCheck prints one line, and below it what went wrong.
func showCheck(a *cli.App, w io.Writer, c *kit.Check) {
	mark := map[kit.Result]string{kit.OK: "ok  ", kit.Failed: a.Paint.Red("FAIL"), kit.Skipped: a.Paint.Dim("-   ")}[c.Result]
	first, rest, more := strings.Cut(c.Detail, "\n")
	fmt.Fprintf(w, "%s  %-24s %s\n", mark, c.Name, cli.OneLine(first))
	if more {
		for line := range strings.Lines(rest) {
			fmt.Fprintf(w, "%32s%s\n", "", cli.OneLine(strings.TrimSuffix(line, "\n")))
		}
	}
	if c.Advice != "" {
		fmt.Fprintf(w, "%32s%s\n", "", a.Paint.Dim(cli.OneLine(c.Advice)))
	}
}

func recordPlugin(a *cli.App, ctx context.Context, p *project, opt kit.Options, dir string) error {
	n, err := kit.Record(ctx, p.module, p.parsed, opt, dir)
	if err != nil {
		return withPluginAdvice(err)
	}
	done := struct {
		Records int    `json:"records"`
		Folder  string `json:"folder"`
	}{n, dir}
	return a.Print(done, func(w io.Writer) {
		fmt.Fprintf(w, "Recorded %s in %s.\n", cli.Plural(n, "answer", "answers"), dir)
	})
}

func replayRecords(a *cli.App, ctx context.Context, p *project, opt kit.Options, dir string) error {
	r, err := kit.Replay(ctx, p.module, p.parsed, opt, dir)
	if err != nil {
		return withPluginAdvice(err)
	}
	err = a.Print(r, func(w io.Writer) {
		for _, d := range r.Differ {
			fmt.Fprintf(w, "%s  %s: %s\n", a.Paint.Red("FAIL"), d.File, cli.OneLine(d.Name+": "+d.What))
		}
		if len(r.Differ) > 0 {
			fmt.Fprintf(w, "%d of %s different from the recording.\n", len(r.Differ), cli.Plural(r.Records, "answer is", "answers are"))
		} else {
			fmt.Fprintf(w, "%s, the same byte by byte.\n", cli.Plural(r.Records, "answer", "answers"))
		}
	})
	if err == nil && len(r.Differ) > 0 {
		return cli.ErrReported
	}
	return err
}

// withPluginAdvice adds to an error what an author can do.
func withPluginAdvice(err error) error {
	var f *wasm.Fault
	if errors.As(err, &f) {
		return fmt.Errorf("%w; for details: locket plugin test", err)
	}
	return err
}
