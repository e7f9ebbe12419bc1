package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/serve"
)

// A shell completes ids and names, as the daemon has them now. If no daemon is running, or it is
// locked, they are not completed: pressing a key must not open a home.

const (
	completed     = 30          // how many of the newest memories are offered
	completedText = 60          // how many bytes of each are shown
	completedTime = time.Second // how long the daemon may take to answer; then nothing is completed
)

// offers lists the possible values of an argument, each followed by a tab and a description.
type offers func(ctx context.Context, c *serve.Client) ([]string, error)

// completions lists what the first argument of a command can be, by the command's path.
var completions = []struct {
	commands string
	offers   offers
}{
	{"get,history,update,undo,pin,unpin,delete,why,media,fetch", memoryIDs("")},
	{"vault show", memoryIDs(memory.Vault)},
	{"wearable remove", offering((*serve.Client).Devices, func(d serve.Device) string { return d.Name })},
	{"app log,app pass,app revoke", offering((*serve.Client).Apps, func(a serve.App) string { return a.Name })},
	{"plugin show,plugin remove,plugin unpin,plugin logs,plugin replay", offering((*serve.Client).Plugins, func(p serve.Plugin) string { return p.ID + "\t" + p.Title })},
	{"share show,share update,share revoke", offering((*serve.Client).Shares, func(s serve.Share) string { return s.ID.String() + "\t" + s.Title })},
	{"voice name,voice forget", offering(func(c *serve.Client, ctx context.Context) ([]serve.Voice, error) {
		all, err := c.Voices(ctx)
		return all.Voices, err
	}, func(v serve.Voice) string { return v.Name })},
}

// programs are the engines of each kind that are named without an address.
var programs = map[string][]string{"ears": {engines.PocketSphinx}, "eyes": {engines.Tesseract}}

// engineArgument completes the kind of an engine and, in locket engine add, what it can be without an
// address. No daemon is needed for that.
func engineArgument(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	var all []string
	switch {
	case len(args) == 0:
		all = serve.EngineKinds
	case len(args) == 1 && cmd.Name() == "add":
		all = append([]string{"auto"}, programs[args[0]]...)
	}
	return beginning(all, begun), cobra.ShellCompDirectiveNoFileComp
}

// beginning returns the words that begin with what was typed.
func beginning(all []string, begun string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.HasPrefix(s, begun) })
}

// completeEngines adds completion to the commands and flags that name an engine.
func completeEngines(root *cobra.Command) error {
	for _, path := range [][]string{{"engine", "add"}, {"engine", "remove"}} {
		c, rest, err := root.Find(path)
		if err != nil || len(rest) > 0 {
			return UnknownCommand(c, strings.Join(path, " "))
		}
		c.ValidArgsFunction = engineArgument
	}
	setup, _, err := root.Find([]string{"setup"})
	if err != nil {
		return err
	}
	flags := map[string][]string{"words": {"en", "zh"}}
	for _, kind := range serve.EngineKinds {
		flags[kind] = append([]string{"auto", "none"}, programs[kind]...)
	}
	for name, values := range flags {
		if err := setup.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			return err
		}
	}
	return nil
}

// offering returns what a call of the API lists.
func offering[T any](call func(*serve.Client, context.Context) ([]T, error), show func(T) string) offers {
	return func(ctx context.Context, c *serve.Client) (out []string, err error) {
		all, err := call(c, ctx)
		for _, v := range all {
			out = append(out, show(v))
		}
		return out, err
	}
}

// memoryIDs returns the newest memories of a type, or of any type if it is empty. It does not show
// the text of secrets, because anybody who sees the screen can read what a shell completes.
func memoryIDs(of memory.Type) offers {
	return offering(func(c *serve.Client, ctx context.Context) ([]memory.Memory, error) {
		page, err := c.List(ctx, serve.ListQuery{Type: of, Limit: completed})
		return page.Memories, err
	}, func(m memory.Memory) string {
		if m.Type == memory.Vault {
			return m.ID.String()
		}
		return m.ID.String() + "\t" + memory.Cut(OneLine(m.Text), completedText)
	})
}

// Complete adds completion of arguments and types to the commands under root.
func (a *App) Complete(root *cobra.Command) error {
	for _, e := range completions {
		for path := range strings.SplitSeq(e.commands, ",") {
			c, rest, err := root.Find(strings.Fields(path))
			if err != nil || len(rest) > 0 {
				return UnknownCommand(c, path)
			}
			c.ValidArgsFunction = a.completing(e.offers)
		}
	}
	if err := completeEngines(root); err != nil {
		return err
	}
	return completeTypes(root)
}

// completing asks the daemon for the possible values of the first argument.
func (a *App) completing(of offers) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completedTime) // the shell accepts no keys meanwhile
		defer cancel()
		c, err := a.Daemon(ctx)
		if err != nil || c == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer c.Close()
		all, err := of(ctx, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return beginning(all, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeTypes adds completion to each flag that takes types of memories.
func completeTypes(c *cobra.Command) error {
	var types []string
	for _, t := range memory.Types {
		types = append(types, string(t))
	}
	for _, name := range []string{"type", "types"} {
		if c.LocalNonPersistentFlags().Lookup(name) == nil {
			continue
		}
		if err := c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(types, cobra.ShellCompDirectiveNoFileComp)); err != nil {
			return err
		}
	}
	for _, sub := range c.Commands() {
		if err := completeTypes(sub); err != nil {
			return err
		}
	}
	return nil
}
