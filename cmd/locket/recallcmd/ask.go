package recallcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func AskCommand(a *cli.App) *cobra.Command {
	var r serve.AskRequest
	var at, photo string
	c := &cobra.Command{
		Use: "ask QUESTION...", Short: "Answer a question from memory",
		Long: `Finds what is known, and shows it. If the configuration names a language model (llm.url,
llm.model), the model gets the text that locket context prints, and answers. It has to cite
the memories that it used. If recall is not sure, only such an answer counts; without one
the nearest memories are shown. If recall finds nothing, the answer is "I don't know".

A question about a photo (--photo) goes to a worker that can see, if you have one. It is
kept until it is answered, on this device and through syncs. Ask the same question again to
get the answer. The answer is kept as a memory, with what made it and what it cost.`,
		Example: `  locket ask where is the red kayak
  locket ask --evidence "when is the dentist?"
  locket ask --photo k3f9tq2m7x "what was on the menu?"`,
		Args: cli.ArgsBetween(1, -1, "the question"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r.Question = strings.Join(args, " ")
			if r.At, err = a.ReadTime("--at", at); err != nil {
				return err
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				if photo != "" {
					m, err := cl.Get(cmd.Context(), photo)
					if err != nil {
						return err
					}
					r.Photo = m.ID
				}
				res, err := cl.Ask(cmd.Context(), r)
				err = a.PrintUnless(err, res, func(w io.Writer) { showAnswer(a, w, &res) })
				if err == nil && !a.JSON && len(res.Evidence) == 0 {
					_ = a.LessHere(cmd.Context(), cl, "") // an app may not know, and has its answer
				}
				return err
			})
		},
	}
	f := c.Flags()
	f.StringVar(&photo, "photo", "", "the `id` of a photo that the question is about")
	f.BoolVar(&r.EvidenceOnly, "evidence", false, "do not ask a language model")
	f.IntVar(&r.Budget, "budget", 0, "at most this many `tokens` of what is known; default 1000")
	f.StringVar(&at, "at", "", "the `time` that \"yesterday\" is relative to")
	return c
}

// How many lines of evidence a person is shown at most: for an answer, and if recall is not sure.
const (
	shownEvidence = 5
	shownNearest  = 3
)

func showAnswer(a *cli.App, w io.Writer, r *serve.AskResult) {
	if r.Waits != "" {
		fmt.Fprintf(w, "Not answered yet: %s.\n", cli.OneLine(r.Waits))
		return
	}
	if r.Trouble != "" {
		fmt.Fprintf(a.Stderr, "The language model gave no answer (%s). This is what is known:\n", cli.OneLine(r.Trouble))
	}
	list := slices.DeleteFunc(slices.Clone(r.Evidence), func(it serve.ContextItem) bool { return it.Minor })
	near, most := r.Model == "" && !r.Known && len(list) > 0, shownEvidence
	if near {
		most = shownNearest
	}
	list = list[:min(most, len(list))]
	if len(r.Unheard) > 0 {
		fmt.Fprintf(w, "Nothing that is remembered names %s.\n", cli.OneLine(strings.Join(r.Unheard, ", ")))
	}
	for _, v := range r.Vault {
		fmt.Fprint(w, a.WithHomef("It may be in the vault: locket vault show %s  %s\n", cli.ShortID(v.ID), a.Paint.Dim(cli.OneLine(v.Label))))
	}
	if r.Answer != "" && !near {
		fmt.Fprintln(w, a.Paint.Bold(cli.OneLine(r.Answer)))
	}
	switch {
	case near:
		fmt.Fprintln(w, cli.Unsure)
	case r.Cited:
		list = r.Citations
	case r.Model != "" && !r.Known:
		list = nil
	case len(r.Invented) > 0:
		fmt.Fprintln(w, "Do not rely on this: the model cites something that it was not given. What is known:")
	case r.Model != "":
		fmt.Fprintln(w, "Do not rely on this: the model does not cite any memory. What is known:")
	}
	for _, it := range list {
		by := ""
		if !it.Until.IsZero() {
			by = a.Paint.Dim("  (until " + a.Day(it.Until) + ")")
		}
		if it.SharedBy != nil {
			by += a.Paint.Dim("  (" + a.SharedBy(it.SharedBy) + ")")
		}
		if it.User != "" {
			by += a.Paint.Dim("  (of " + cli.OneLine(it.User) + ")")
		}
		fmt.Fprintf(w, "  %s  %s%s%s\n", a.Paint.Dim(it.Cite), a.Paint.Dim(dateOf(a, &it)), cli.OneLine(it.Text), by)
		if it.Said != "" && len(it.Evidence) > 0 {
			fmt.Fprintf(w, "      %s\n", a.Paint.Dim(a.QuoteLine(it.Evidence[0].Speaker, it.Evidence[0].At, it.Said)))
		}
	}
}

func dateOf(a *cli.App, it *serve.ContextItem) string {
	if it.At.IsZero() {
		return ""
	}
	return a.ShowEventTime(it.Text, it.At) + "  "
}
