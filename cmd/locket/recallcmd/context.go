package recallcmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func ContextCommand(a *cli.App) *cobra.Command {
	var r serve.ContextRequest
	var messages []string
	var at string
	c := &cobra.Command{
		Use: "context [TOPIC...]", Short: "Print what an assistant should know now, as text for a model",
		Long: `Prints core blocks, up to ten memories of each type and what was said about a topic, as
tagged text for a language model, within a budget of tokens. Each line begins with the id
that an answer should cite. It never contains secrets of the vault.

Without TOPIC, the topic is inferred from --message, given once for each of the last
messages, or else from the current session. Without either, what is due within 48 hours
comes first.`,
		Example: `  locket context
  locket context --budget 500 the trip to Lindau
  locket context --message "Maja: I bought a kayak" --message "Bo: where did she buy it?"`,
		Args: cli.ArgsBetween(0, -1, "the topic"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r.Topic = strings.Join(args, " ")
			for _, m := range messages {
				speaker, text, named := strings.Cut(m, ": ")
				if !named {
					speaker, text = "", m
				}
				r.Messages = append(r.Messages, serve.ContextMessage{Speaker: speaker, Text: text})
			}
			if r.At, err = a.ReadTime("--at", at); err != nil {
				return err
			}
			return cli.PrintAnswer(cmd.Context(), a, (*serve.Client).Context, r, func(w io.Writer, res *serve.ContextResult) {
				if res.Text != "" {
					fmt.Fprintln(w, res.Text)
				}
				fmt.Fprintln(a.Stderr, contextNote(a, res))
			})
		},
	}
	f := c.Flags()
	f.IntVar(&r.Budget, "budget", 0, "at most this many `tokens`; default 1000")
	f.StringArrayVar(&messages, "message", nil, "one of the last messages, as \"`SPEAKER: TEXT`\", newest last")
	f.StringVar(&at, "at", "", "the `time` that \"yesterday\" is relative to")
	return c
}

// maxAbout is how many characters of a topic are shown.
const maxAbout = 60

// contextNote describes the block for a person.
func contextNote(a *cli.App, r *serve.ContextResult) string {
	size := fmt.Sprintf("%s, %s", cli.Plural(len(r.Items), "item", "items"), cli.Plural(r.Tokens, "token", "tokens"))
	if r.Topic == "" {
		return "Nobody has said anything lately. These are core blocks, and what is due within 48 hours: " + size + ". For more, give a topic."
	}
	about := strings.TrimRight(cli.OneLine(r.Topic), " .。!！")
	if all := []rune(about); len(all) > maxAbout {
		about = strings.TrimSpace(string(all[:maxAbout])) + "…"
	}
	s := fmt.Sprintf("About “%s”: %s.", about, size)
	if !r.Known {
		s += " Nothing that is known answers it."
	}
	if r.Left > 0 {
		s += fmt.Sprintf(" %s did not fit.", cli.Plural(r.Left, "more", "more"))
	}
	return s
}
