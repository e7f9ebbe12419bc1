package recallcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func TraceCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "trace EVENT", Short: "Follow an event through the plugins", Args: cli.ArgsBetween(1, 1, "an event, or a memory made from it,"),
		Long: `Shows which plugins got the event, what each call cost, and what became of each candidate.
EVENT is DEVICE/BOOT/SEQ as printed by locket why --json, or the id of a memory, which means
the event of its first evidence. The last 1024 events are kept, without their texts.`,
		Example: `  locket trace pin/3/2041
  locket trace 3f7k`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			event, err := eventOf(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			t, err := c.TraceEvent(cmd.Context(), event)
			if errors.Is(err, memory.ErrNotFound) {
				return cli.AdvisedError{Err: err, Advice: "Only the last 1024 events are kept. To see the event of a memory: " + a.WithHome("locket why --json ID")}
			}
			return a.PrintUnless(err, t, func(w io.Writer) { trace(a, w, &t) })
		}),
	}
}

// eventOf returns the event that an argument names.
func eventOf(ctx context.Context, c *serve.Client, arg string) (string, error) {
	if strings.Contains(arg, "/") {
		return arg, nil
	}
	m, err := c.Get(ctx, arg)
	if err != nil {
		return "", err
	}
	for _, e := range m.Evidence {
		if !e.Event.IsZero() {
			return e.Event.String(), nil
		}
	}
	return "", fmt.Errorf("the event of memory %s: %w", arg, memory.ErrNotFound)
}

func trace(a *cli.App, w io.Writer, t *serve.Trace) {
	fmt.Fprintf(w, "%s, %s of %s: %s in %.2f ms\n", cli.OneLine(t.Event.String()), cli.OneLine(t.Kind), t.At.Local().Format("2006-01-02 15:04:05"),
		cli.Plural(len(t.Steps), "call", "calls"), t.Took)
	if t.Redacted > 0 {
		fmt.Fprintf(w, "%s removed before anybody else saw the event\n", cli.Plural(t.Redacted, "secret was", "secrets were"))
	}
	for i := range t.Steps {
		traceStep(a, w, &t.Steps[i])
	}
}

func traceStep(a *cli.App, w io.Writer, s *serve.TraceStep) {
	indent := strings.Repeat("  ", s.Depth)
	given := ""
	if s.Depth > 0 {
		given = " given " + cli.OneLine(s.Given)
	}
	fmt.Fprintf(w, "%s%s %s%s: fuel %d, %.2f ms, %d bytes in, %d out, %d KiB of memory\n", indent, cli.OneLine(s.Plugin), cli.OneLine(s.Version), given,
		s.Fuel, s.Took, s.InBytes, s.OutBytes, s.MemoryBytes>>10)
	if s.Fault != "" {
		fmt.Fprintf(w, "%s  %s\n", indent, a.Paint.Red("failed: "+cli.OneLine(s.Fault)))
	}
	for _, c := range s.Candidates {
		line := string(c.Verdict)
		if c.Type != "" {
			line += " " + cli.OneLine(c.Type)
		}
		if !c.Memory.IsZero() {
			line += " " + c.Memory.String()
		}
		if c.Reason != "" {
			line += ": " + cli.OneLine(c.Reason)
		}
		fmt.Fprintf(w, "%s  %s\n", indent, line)
	}
	for _, more := range []struct {
		n    int
		what string
	}{{len(s.Annotations), "annotations: " + cli.OneLine(strings.Join(s.Annotations, ", "))}, {s.Redactions, "redactions"}, {s.Derived, "derived events"}, {s.Refusals, "refusals"}, {s.StateBytes, "bytes of state"}} {
		if more.n > 0 {
			fmt.Fprintf(w, "%s  %d %s\n", indent, more.n, more.what)
		}
	}
}
