package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// What a shell completes: ids and names, as the daemon has them now. Where none runs or
// it is locked, nothing is completed: pressing a key opens no home.

const (
	completed     = 30          // so many memories are offered: the newest
	completedText = 60          // so many bytes of each are shown
	completedTime = time.Second // for the daemon to say what there is; after it nothing is completed
)

// offers gives what may stand in a place, each with a tab and what it is.
type offers func(ctx context.Context, c *serve.Client) ([]string, error)

// completions says what the first argument of a command is, by the command's path.
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
	{"engine add,engine remove", func(context.Context, *serve.Client) ([]string, error) { return serve.EngineKinds, nil }},
}

// offering gives what a call of the API lists.
func offering[T any](call func(*serve.Client, context.Context) ([]T, error), show func(T) string) offers {
	return func(ctx context.Context, c *serve.Client) (out []string, err error) {
		all, err := call(c, ctx)
		for _, v := range all {
			out = append(out, show(v))
		}
		return out, err
	}
}

// memoryIDs gives the newest memories of a type; empty: of any. It says nothing about a secret: a
// shell shows it to whoever sees the screen.
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

// Complete has the commands under root complete arguments and types.
func (a *App) Complete(root *cobra.Command) error {
	for _, e := range completions {
		for path := range strings.SplitSeq(e.commands, ",") {
			c, rest, err := root.Find(strings.Fields(path))
			if err != nil || len(rest) > 0 {
				return Unknown(c, path)
			}
			c.ValidArgsFunction = a.completing(e.offers)
		}
	}
	return completeTypes(root)
}

// completing asks the daemon for what may stand in the place of the first argument.
func (a *App) completing(of offers) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completedTime) // meanwhile the shell takes no keys
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
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.HasPrefix(s, begun) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeTypes has each flag that takes types of memories complete them.
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
