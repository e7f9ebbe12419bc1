package enginecmd

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func LLMCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "llm", Short: "Show what waits for the language model, and what it costs", RunE: a.NeedsCommand,
		Long: `A language model can find memories in what is said, in addition to the extractors. It is
off unless the configuration names one:

  [llm]
  url = "http://127.0.0.1:11434/v1"   # OpenAI-compatible: Ollama, llama.cpp, vLLM, OpenAI
  model = "qwen3:8b"
  key_file = "llm.key"                 # if the server wants a key
  extract = true                       # send it what is said; otherwise it only answers locket ask

docs/llm.md says what is sent. Nothing of the vault is sent.`,
	}
	c.AddCommand(llmStatusCommand(a), llmParkedCommand(a), llmRetryCommand(a), llmRunCommand(a))
	return c
}

func llmStatusCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show which model is used, what waits, and how many tokens it used", Args: cli.NoArgs(),
		RunE: cli.PrintCommand(a, (*serve.Client).Model, func(a0 io.Writer, a1 *serve.ModelStatus) { showModel(a, a0, a1) }),
	}
}

func showModel(a *cli.App, w io.Writer, s *serve.ModelStatus) {
	if s.URL == "" {
		fmt.Fprintln(w, a.WithHome("No language model is configured: nothing that is said leaves this machine. See locket llm --help."))
		return
	}
	does := "answers questions"
	if s.Extract {
		does = "finds memories in what is said, and answers questions"
	}
	fmt.Fprintf(w, "%s at %s: %s\n", cli.OneLine(s.Model), cli.OneLine(s.URL), does)
	if s.Extract {
		fmt.Fprintf(w, "%-10s %s\n%-10s %s\n", "waiting", cli.Plural(s.Waiting, "line", "lines"), "parked", cli.Plural(s.Parked, "line", "lines"))
	}
	fmt.Fprintf(w, "%-10s %s, %s failed; %d tokens sent, %d received\n", "requests", cli.Plural(s.Calls, "request", "requests"), cli.Plural(s.Faults, "one", "of them"), s.PromptTokens, s.CompletionTokens)
	if s.Trouble != "" {
		fmt.Fprintf(w, "%-10s %s\n", "trouble", cli.OneLine(s.Trouble))
	}
}

func llmParkedCommand(a *cli.App) *cobra.Command {
	limit := 0
	c := &cobra.Command{
		Use: "parked", Short: "List lines for which the model gave no usable answer", Args: cli.NoArgs(),
		Long: "The lines are kept and found like any others. 'locket llm retry' sends them to the model again.",
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, _ []string) error {
			list, err := cl.ParkedMessages(cmd.Context(), limit)
			return cli.Rows(a, err, list, func(w io.Writer, m *serve.ParkedMessage) {
				fmt.Fprintf(w, "%s\n  %s\n", a.QuoteLine(m.Speaker, m.At, m.Text), a.Paint.Dim(fmt.Sprintf("%s; tried %s", cli.OneLine(m.Reason), cli.Plural(m.Tries, "time", "times"))))
			}, "None.")
		}),
	}
	cli.LimitFlag(c.Flags(), &limit, 0, "show at most this `count`; default 50")
	return c
}

func llmRetryCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "retry", Short: "Send parked lines to the model again", Args: cli.NoArgs(),
		RunE: cli.PrintCommand(a, (*serve.Client).RetryParked, func(w io.Writer, s *serve.ModelStatus) {
			fmt.Fprintf(w, "%s for the model.\n", cli.Plural(s.Waiting, "line waits", "lines wait"))
		}),
	}
}

func llmRunCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "run", Short: "Send everything that waits to the model now", Args: cli.NoArgs(),
		Long: "The daemon does this by itself. This command waits until it is done.",
		RunE: cli.PrintCommand(a, (*serve.Client).RunModel, func(w io.Writer, r *serve.ModelRun) {
			if len(r.Changes) > 0 {
				a.ShowAdded(w, &serve.AddResult{Changes: r.Changes})
			}
			fmt.Fprintf(w, "Sent %s to the model; %d of its answers were refused, %d parked.\n", cli.Plural(r.Messages, "line", "lines"), r.Refused, r.Parked)
			if r.Trouble != "" {
				fmt.Fprintf(w, "The rest still waits: %s\n", cli.OneLine(r.Trouble))
			}
		}),
	}
}

func InstructionsCommand(a *cli.App) *cobra.Command {
	group := &cobra.Command{
		Use: "instructions", Short: "Tell a language model what to keep and what to leave out", RunE: a.NeedsCommand,
		Long: "Instructions in your own words. They are kept with your memories, and given to the model\nthat looks for memories in what is said. The extractors obey those that leave something out:\n“Leave out everything about work”, “Never remember Carla”.",
	}
	show := &cobra.Command{
		Use: "show", Short: "Print the instructions", Args: cli.NoArgs(),
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, _ []string) error {
			text, err := cl.Instructions(cmd.Context())
			if err != nil {
				return err
			}
			return a.Print(serve.InstructionsAnswer{Text: text}, func(w io.Writer) {
				if text == "" {
					fmt.Fprintln(a.Stderr, "No instructions.")
					return
				}
				fmt.Fprintln(w, text)
			})
		}),
	}
	set := &cobra.Command{
		Use: "set TEXT...", Short: "Replace the instructions; @FILE reads them from a file", Args: cobra.ArbitraryArgs,
		Example: `  locket instructions set "Leave out everything about work. Keep what I cook."
  locket instructions set @instructions.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.Join(args, " ")
			if file, ok := strings.CutPrefix(text, "@"); ok {
				b, err := os.ReadFile(file)
				if err != nil {
					return fmt.Errorf("reading instructions: %w", err)
				}
				text = string(b)
			}
			if text = strings.TrimSpace(text); text == "" {
				return cli.Usagef("%s", a.WithHome("the text is missing or empty; to remove the instructions: locket instructions clear"))
			}
			return setInstructions(a, cmd, text)
		},
	}
	clear := &cobra.Command{
		Use: "clear", Short: "Remove the instructions", Args: cli.NoArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return setInstructions(a, cmd, "") },
	}
	group.AddCommand(show, set, clear)
	return group
}

func setInstructions(a *cli.App, cmd *cobra.Command, text string) error {
	return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
		if err := cl.SetInstructions(cmd.Context(), text); err != nil {
			return err
		}
		return a.Print(serve.InstructionsAnswer{Text: text}, func(w io.Writer) {
			if text == "" {
				fmt.Fprintln(w, "Instructions removed.")
				return
			}
			fmt.Fprintln(w, "Kept.")
		})
	})
}
