package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/node/serve"
)

func (a *app) askCommand() *cobra.Command {
	var r serve.AskRequest
	var at, photo string
	c := &cobra.Command{
		Use: "ask QUESTION...", Short: "Answer a question from memory",
		Long: `Gathers what is known, and shows it. Where the configuration names a language model
(llm.url, llm.model) that is given the block that locket context prints, and answers; its
answer has to cite the memories that it is from. Where recall is not sure, nobody is asked,
and the nearest is shown; where it finds nothing, the answer is "I don't know".

A question about a photo (--photo) goes to a worker that sees, if one was let in: it is
kept until it is answered, on this device and through syncs. Ask the same again for the
answer, which stays a memory with what made it and what it cost.`,
		Example: `  locket ask where is the red kayak
  locket ask --evidence "when is the dentist?"
  locket ask --photo k3f9tq2m7x "what was on the menu?"`,
		Args: between(1, -1, "the question"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r.Question = strings.Join(args, " ")
			if r.At, err = a.readTime("--at", at); err != nil {
				return err
			}
			return a.with(cmd.Context(), true, func(cl *serve.Client) error {
				if photo != "" {
					m, err := cl.Get(cmd.Context(), photo)
					if err != nil {
						return err
					}
					r.Photo = m.ID
				}
				res, err := cl.Ask(cmd.Context(), r)
				return a.printed(err, res, func(w io.Writer) { a.showAnswer(w, &res) })
			})
		},
	}
	f := c.Flags()
	f.StringVar(&photo, "photo", "", "the `id` of a photo that the question is about")
	f.BoolVar(&r.EvidenceOnly, "evidence", false, "ask no language model")
	f.IntVar(&r.Budget, "budget", 0, "most `tokens` of what is known; 1000 unless said")
	f.StringVar(&at, "at", "", "the `time` that \"yesterday\" is relative to")
	return c
}

// How many lines of the evidence a person is shown at most: of an answer, and where it is not sure.
const (
	shownEvidence = 5
	shownNearest  = 3
)

func (a *app) showAnswer(w io.Writer, r *serve.AskResult) {
	if r.Waits != "" {
		fmt.Fprintf(w, "Not answered yet: %s.\n", oneLine(r.Waits))
		return
	}
	if r.Trouble != "" {
		fmt.Fprintf(a.stderr, "The language model gave no answer (%s). This is what is known:\n", oneLine(r.Trouble))
	}
	list := slices.DeleteFunc(slices.Clone(r.Evidence), func(it serve.ContextItem) bool { return it.Minor })
	near, most := r.Model == "" && !r.Known && len(list) > 0, shownEvidence
	if near {
		most = shownNearest
	}
	list = list[:min(most, len(list))]
	if len(r.Unheard) > 0 {
		fmt.Fprintf(w, "Nothing that is remembered names %s.\n", oneLine(strings.Join(r.Unheard, ", ")))
	}
	for _, v := range r.Vault {
		fmt.Fprint(w, a.heref("It may be in the vault: locket vault show %s  %s\n", shortID(v.ID), a.paint.dim(oneLine(v.Label))))
	}
	if r.Answer != "" && !near {
		fmt.Fprintln(w, a.paint.bold(oneLine(r.Answer)))
	}
	switch {
	case near:
		fmt.Fprintln(w, unsure)
	case r.Cited:
		list = r.Citations
	case r.Model != "" && !r.Known:
		list = nil
	case len(r.Invented) > 0:
		fmt.Fprintln(w, "Not to be relied on: the model cites what it was not given. What is known:")
	case r.Model != "":
		fmt.Fprintln(w, "Not to be relied on: the model does not say what that is from. What is known:")
	}
	for _, it := range list {
		by := ""
		if !it.Until.IsZero() {
			by = a.paint.dim("  (until " + a.day(it.Until) + ")")
		}
		if it.SharedBy != nil {
			by += a.paint.dim("  (" + a.sharedBy(it.SharedBy) + ")")
		}
		if it.User != "" {
			by += a.paint.dim("  (of " + oneLine(it.User) + ")")
		}
		fmt.Fprintf(w, "  %s  %s%s%s\n", a.paint.dim(it.Cite), a.paint.dim(a.dateOf(&it)), oneLine(it.Text), by)
		if it.Said != "" && len(it.Evidence) > 0 {
			fmt.Fprintf(w, "      %s\n", a.paint.dim(a.said(it.Evidence[0].Speaker, it.Evidence[0].At, it.Said)))
		}
	}
}

func (a *app) dateOf(it *serve.ContextItem) string {
	if it.At.IsZero() {
		return ""
	}
	return a.exactly(it.Text, it.At) + "  "
}
