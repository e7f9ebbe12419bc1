package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func (a *app) traceCommand() *cobra.Command {
	return &cobra.Command{
		Use: "trace EVENT", Short: "Follow an event through the plugins", Args: between(1, 1, "the event, or a memory that came of it,"),
		Long: `Shows which plugins got the event, what each call cost, and what became of each candidate.
EVENT is DEVICE/BOOT/SEQ as locket why --json prints it, or the id of a memory: then it
is the event of its first evidence. The last 1024 events are kept, without their texts.`,
		Example: `  locket trace pin/3/2041
  locket trace 3f7k`,
		RunE: a.call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			event, err := eventOf(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			t, err := c.TraceEvent(cmd.Context(), event)
			if errors.Is(err, memory.ErrNotFound) {
				return advisedError{err, "The last 1024 events are kept. The event of a memory: " + a.here("locket why --json ID")}
			}
			return a.printed(err, t, func(w io.Writer) { a.trace(w, &t) })
		}),
	}
}

// eventOf gives the event that an argument names.
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
	return "", fmt.Errorf("the event that memory %s came of: %w", arg, memory.ErrNotFound)
}

func (a *app) trace(w io.Writer, t *serve.Trace) {
	fmt.Fprintf(w, "%s, %s of %s: %s in %.2f ms\n", oneLine(t.Event.String()), oneLine(t.Kind), t.At.Local().Format("2006-01-02 15:04:05"),
		plural(len(t.Steps), "call", "calls"), t.Took)
	if t.Redacted > 0 {
		fmt.Fprintf(w, "%s taken out of it before anybody else saw it\n", plural(t.Redacted, "secret was", "secrets were"))
	}
	for i := range t.Steps {
		a.traceStep(w, &t.Steps[i])
	}
}

func (a *app) traceStep(w io.Writer, s *serve.TraceStep) {
	indent := strings.Repeat("  ", s.Depth)
	given := ""
	if s.Depth > 0 {
		given = " given " + oneLine(s.Given)
	}
	fmt.Fprintf(w, "%s%s %s%s: fuel %d, %.2f ms, %d bytes in, %d out, %d KiB of memory\n", indent, oneLine(s.Plugin), oneLine(s.Version), given,
		s.Fuel, s.Took, s.InBytes, s.OutBytes, s.MemoryBytes>>10)
	if s.Fault != "" {
		fmt.Fprintf(w, "%s  %s\n", indent, a.paint.red("failed: "+oneLine(s.Fault)))
	}
	for _, c := range s.Candidates {
		line := string(c.Verdict)
		if c.Type != "" {
			line += " " + oneLine(c.Type)
		}
		if !c.Memory.IsZero() {
			line += " " + c.Memory.String()
		}
		if c.Reason != "" {
			line += ": " + oneLine(c.Reason)
		}
		fmt.Fprintf(w, "%s  %s\n", indent, line)
	}
	for _, more := range []struct {
		n    int
		what string
	}{{len(s.Annotations), "annotations: " + oneLine(strings.Join(s.Annotations, ", "))}, {s.Redactions, "redactions"}, {s.Derived, "derived events"}, {s.Refusals, "refusals"}, {s.StateBytes, "bytes of state"}} {
		if more.n > 0 {
			fmt.Fprintf(w, "%s  %d %s\n", indent, more.n, more.what)
		}
	}
}
