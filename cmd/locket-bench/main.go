// Command locket-bench measures Locket and what a user would pick instead, in the same run on the
// same data.
//
//	locket-bench SUITE [flags] [--json]
//
// With --json, a suite prints one JSON object per line for each result. Otherwise it prints a
// table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/locket-dev/locket/wasm"
)

func main() {
	if wasm.IsWorker(os.Args) { // this process runs plugins for another one
		os.Exit(wasm.ServeWorker(os.Stdin, os.Stdout, os.Stderr))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// suite is one family of measurements.
type suite struct {
	name string
	does string
	run  func(ctx context.Context, f *frame) error
}

// frame is a suite's command line: its flags, which always include --json, and where it prints.
type frame struct {
	*flag.FlagSet
	args           []string
	json           *bool
	told           bool // an error in the flags was already printed
	stdout, stderr io.Writer
}

func newFrame(name string, args []string, stdout, stderr io.Writer) *frame {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	return &frame{FlagSet: fs, args: args, json: fs.Bool("json", false, "print one JSON object a line"), stdout: stdout, stderr: stderr}
}

// parsed reads the flags, and reports whether the suite has them.
func (f *frame) parsed() bool {
	f.told = f.Parse(f.args) != nil
	return !f.told
}

// usage prints what the suite wants, unless the flags' parser has already printed an error.
func (f *frame) usage(format string, a ...any) error {
	if !f.told {
		fmt.Fprintf(f.stderr, "locket-bench "+f.Name()+": "+format+"\n", a...)
	}
	return errUsage
}

// print writes one JSON object per line, or a table. err is the error of getting the results.
func (f *frame) print(results []result, err error) error {
	if err != nil {
		return err
	}
	return printResults(f.stdout, results, *f.json)
}

// allOf runs parts one after the other, and returns their results.
func allOf(ctx context.Context, parts ...func(context.Context) ([]result, error)) (all []result, err error) {
	for _, part := range parts {
		some, err := part(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// named returns the requested parts of a suite, in order. Their errors have their names.
func named(order, asked []string, do map[string]func(context.Context) ([]result, error)) (parts []func(context.Context) ([]result, error)) {
	for _, name := range order {
		if slices.Contains(asked, name) {
			parts = append(parts, func(ctx context.Context) ([]result, error) {
				r, err := do[name](ctx)
				if err != nil {
					err = fmt.Errorf("%s: %w", name, err)
				}
				return r, err
			})
		}
	}
	return parts
}

// suites in the order in which they are listed.
func suites() []suite {
	return []suite{
		{"locomo", "evidence recall over LoCoMo's conversations", runLocomo},
		{"recall", "speed, memory and recall beside other search engines, on made-up talk", runRecall},
		{"store", "durable adds, one by one and in batches, beside other stores", runStore},
		{"intake", "events a second into the journal and to search, and the cost of audio", runIntake},
		{"bridge", "devices' frames read, what the spool keeps, eight devices at once, and the time from a press to the answer", runBridge},
		{"extract", "precision and recall of extraction, over labelled talk", runExtract},
		{"mind", "a language model of yours, beside rules alone: run it with Ollama, and send in the table", runMind},
		{"speech", "voice activity in noise, beside an energy threshold and WebRTC's detector", runSpeech},
		{"voices", "whose voice it is, and who spoke when, beside giving all to one speaker", runVoices},
		{"scene", "photos of one scene told from photos like it, and the time for a frame", runScene},
		{"plugin", "calls of plugins beside Extism, in process and in the worker, by guest language", runPlugin},
		{"sync", "a change's way to the other device, and its bytes beside zstd and restic", runSync},
		{"tiers", "memory and disk of the wearable profile, and what recalling a cold memory costs", runTiers},
		{"evening", "the first evening on one small machine: words found, memory, disk, an idle hour", runEvening},
		{"clients", "searches and adds through each door for apps, beside the Unix socket", runClients},
		{"worker", "words that each speech engine gets wrong, and print", runWorker},
		{"screens", "made-up screens in Chromium, read by Tesseract in a worker: evidence of questions, and bytes stored", runScreens},
		{"share", "how often an attacker names who is meant in a shared memory, by what was redacted", runShare},
		{"market", "copies, decisions, orders, searches and log entries of the market, beside cedar-go and bare full-text search", runMarket},
		{"graph", "a million relations taken in, walked, grouped and drawn", runGraph},
		{"console", "the console in Chromium with 100,000 memories: first page, pages, graph, script, accessibility", runConsole},
		{"cloud", "the relay: deltas a second beside a plain handler, listeners, wake-ups", runCloud},
		{"siege", "the relay under a stranger, a removed member and an account that do their worst, as honest devices see it", runSiege},
		{"scale", "the relay's queries on a PostgreSQL with millions of deltas, with their plans", runScale},
	}
}

// errUsage means that the command line is wrong. What is wrong was already printed.
var errUsage = errors.New("usage")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "--help"}, args[0]) {
		fmt.Fprintln(stderr, "usage: locket-bench SUITE [flags] [--json]")
		for _, s := range suites() {
			fmt.Fprintf(stderr, "  %-8s %s\n", s.name, s.does)
		}
		if len(args) == 0 {
			return 2
		}
		return 0
	}
	if args[0] == hostArg { // the suites' own
		if err := hostMain(ctx, args[1:], os.Stdin, stdout); err != nil {
			fmt.Fprintf(stderr, "locket-bench host: %v\n", err)
			return 1
		}
		return 0
	}
	if args[0] == eightArg {
		if err := eightMain(ctx, os.Stdin, stdout); err != nil {
			fmt.Fprintf(stderr, "locket-bench bridge: %v\n", err)
			return 1
		}
		return 0
	}
	if args[0] == cloudHostArg {
		if err := cloudHostMain(ctx, args[1:], os.Stdin, stdout); err != nil {
			fmt.Fprintf(stderr, "locket-bench cloud-host: %v\n", err)
			return 1
		}
		return 0
	}
	for _, s := range suites() {
		if s.name != args[0] {
			continue
		}
		err := s.run(ctx, newFrame(s.name, args[1:], stdout, stderr))
		switch {
		case errors.Is(err, errUsage):
			return 2
		case err != nil:
			fmt.Fprintf(stderr, "locket-bench %s: %v\n", s.name, err)
			return 1
		}
		return 0
	}
	fmt.Fprintf(stderr, "locket-bench: there is no suite %q\n", args[0])
	return 2
}
