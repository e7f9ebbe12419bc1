package memorycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

func ForgetCommand(a *cli.App) *cobra.Command {
	var r serve.ForgetRequest
	var last, since, until string
	var yes, plan bool
	c := &cobra.Command{
		Use: "forget [TIME] [--query WORDS] [--person NAME] [--place NAME] [--device NAME]", Short: "Erase memories, what was said, and raw events",
		Long: `Shows what it would erase, with everything that was made from it, and asks. What arrives
meanwhile is not erased. If you give several conditions, all must hold. A memory with other
evidence stays, and loses only the evidence that is erased.

The arguments are a time in words, in English or Chinese, or ids.`,
		Example: `  locket forget last 10 minutes
  locket forget yesterday in the office
  locket forget today 14:00-15:30 --person Bo
  locket forget 昨天下午
  locket forget --query "surprise party" --plan
  locket forget --device pin --since 2025-03-01
  locket forget 3f7k9m2xqa --yes`,
		Args: cli.ArgsBetween(0, -1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && slices.Contains(everything, strings.ToLower(args[0])) {
				return cli.UsageError{Err: cli.AdvisedError{Err: fmt.Errorf("%q is not a time", args[0]), Advice: "To erase everything: --since 1900-01-01. To remove the home and its keys: " + cli.DocsAt + "install.md#removing"}}
			}
			neither := func(id string) error {
				return cli.UsageError{Err: cli.AdvisedError{Err: fmt.Errorf("%q: neither a time nor an id of a memory; times are such as \"last 10 minutes\", yesterday, \"today 14:00-15:30\"", id),
					Advice: "To erase what contains words: " + a.WithHome("locket forget --query ") + cli.ShellWord(strings.Join(args, " ")) + ". What somebody said: --person NAME. Both show it first, and ask."}}
			}
			if len(args) > 0 && isTime(args[0]) {
				r.When = strings.Join(args, " ")
			} else {
				r.IDs = args
				for _, id := range args {
					if !isID(id) {
						return neither(id)
					}
				}
			}
			var err error
			if r.Since, r.Until, err = a.ReadPeriod(since, until); err != nil {
				return err
			}
			if last != "" {
				if r.Last, err = config.ParseDuration(last); err != nil {
					return cli.UsageError{Err: fmt.Errorf("--last: %w", err)}
				}
				if r.Last == 0 {
					return cli.Usagef("--last: want a duration longer than 0")
				}
			}
			times := 0
			for _, set := range []bool{last != "", r.When != "", since != "" || until != ""} {
				if set {
					times++
				}
			}
			switch {
			case times > 1:
				return cli.Usagef("more than one time is given: choose --last, a time in words, or --since with --until")
			case times == 0 && len(r.IDs) == 0 && r.Query == "" && r.Person == "" && r.Place == "" && r.Device == "":
				return cli.Usagef("say what to forget: a time, an id, --query, --person, --place or --device")
			}
			return forgetBy(a, cmd.Context(), yes, plan, func(cl *serve.Client) (serve.ForgetAnswer, error) {
				ans, err := cl.PlanForget(cmd.Context(), r)
				if i := slices.IndexFunc(r.IDs, isWord); i >= 0 && errors.Is(err, memory.ErrNotFound) {
					return ans, neither(r.IDs[i])
				}
				return ans, err
			},
				func(cl *serve.Client, token string) (serve.ForgetAnswer, error) {
					return cl.Forget(cmd.Context(), token)
				})
		},
	}
	f := c.Flags()
	f.StringVar(&last, "last", "", "everything from the last `duration`, such as 10m, 2h or 1d")
	f.StringVar(&since, "since", "", "said at this `time` or later")
	f.StringVar(&until, "until", "", "said before this `time`")
	f.StringVar(&r.Query, "query", "", "what contains all of these `words`")
	f.StringVar(&r.Person, "person", "", "what this `person` said, and what names them")
	f.StringVar(&r.Place, "place", "", "what was said at this `place`, and what is about it")
	f.StringVar(&r.Device, "device", "", "what this `wearable` heard and saw")
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	f.BoolVar(&plan, "plan", false, "only show what would be erased")
	return c
}

// timeWords are words with which a time begins. Other times contain a space, a mark, or Chinese.
var timeWords = strings.Fields("last past since on in this the today yesterday tonight monday tuesday wednesday thursday friday saturday sunday")

// everything is what people type who want to erase all.
var everything = strings.Fields("all everything * 全部 所有 一切")

// isTime reports whether an argument is a time in words, and not an id.
func isTime(s string) bool {
	other := func(r rune) bool { return r >= 0x80 || strings.ContainsRune(" :-", r) }
	return strings.ContainsFunc(s, other) || slices.Contains(timeWords, strings.ToLower(s))
}

// isID reports whether an argument may be an id, or the beginning of one.
func isID(s string) bool {
	return len(s) >= 4 && strings.Trim(strings.ToLower(s), "0123456789abcdefghjkmnpqrstvwxyz") == ""
}

// isWord reports whether something that may be an id looks like a word, such as a misspelt time.
func isWord(id string) bool { return !strings.ContainsAny(id, "0123456789") }

// forgetBy shows a plan, asks, and carries it out.
func forgetBy(a *cli.App, ctx context.Context, yes, plan bool, ask func(*serve.Client) (serve.ForgetAnswer, error),
	do func(*serve.Client, string) (serve.ForgetAnswer, error)) error {
	if a.JSON && !yes && !plan {
		return cli.Usagef("--json cannot ask: add --plan to see what would be erased, or --yes")
	}
	return a.WithClient(ctx, true, func(cl *serve.Client) error {
		ans, err := ask(cl)
		if err != nil {
			return err
		}
		p := ans.Plan
		if plan {
			return a.Print(p, func(w io.Writer) { showPlan(a, w, p) })
		}
		if !a.JSON {
			showPlan(a, a.Stdout, p)
		}
		if emptyPlan(p) {
			return a.Print(serve.ForgetResult{}, func(io.Writer) {})
		}
		if !yes {
			if err := a.ConfirmOr("Erase all of this for good?", "nothing was erased"); err != nil {
				return err
			}
		}
		done, err := do(cl, ans.Confirm)
		if err != nil {
			return err
		}
		return a.Print(done.Result, func(w io.Writer) { fmt.Fprintf(w, "Erased %s.\n", amounts(done.Result)) })
	})
}

func amounts(r *serve.ForgetResult) string {
	s := fmt.Sprintf("%s, %s said, %s", cli.Plural(r.Memories, "memory", "memories"), cli.Plural(r.Utterances, "thing", "things"), cli.Plural(r.Events, "raw event", "raw events"))
	if r.Trimmed > 0 {
		s += fmt.Sprintf("; %s because of other evidence", cli.Plural(r.Trimmed, "memory stays", "memories stay"))
	}
	return s
}

func emptyPlan(p *serve.ForgetPlan) bool { return len(p.Memories)+len(p.Utterances)+p.Events == 0 }

func showPlan(a *cli.App, w io.Writer, p *serve.ForgetPlan) {
	if !p.From.IsZero() && !p.To.IsZero() {
		fmt.Fprintf(w, "From %s to %s\n", a.ShowTime(p.From), a.ShowTime(p.To))
	}
	if emptyPlan(p) {
		fmt.Fprintln(w, "There is nothing to forget.")
		return
	}
	for _, group := range []struct {
		title string
		list  []serve.Related
	}{{"Memories", p.Memories}, {"What was said", p.Utterances}, {"Stay because of other evidence", p.Trimmed}} {
		if len(group.list) > 0 {
			fmt.Fprintf(w, "%s (%d)\n", group.title, len(group.list))
			for _, r := range group.list {
				showRelated(a, w, r)
			}
		}
	}
	if p.Events > 0 {
		fmt.Fprintf(w, "%s, %s\n", cli.Plural(p.Events, "raw event", "raw events"), cli.Size(p.Bytes))
	}
}

// deleteAll is locket delete --all.
func deleteAll(a *cli.App, ctx context.Context, user, agent, run string, yes, plan bool) error {
	if user == "" && agent == "" && run == "" {
		return cli.Usagef("--all: say whose memories with --user, --agent or --run")
	}
	scope := memory.Owner{User: user, Agent: agent, Run: run}
	return forgetBy(a, ctx, yes, plan, func(cl *serve.Client) (serve.ForgetAnswer, error) { return cl.PlanDeleteAll(ctx, scope) },
		func(cl *serve.Client, token string) (serve.ForgetAnswer, error) {
			return cl.DeleteAll(ctx, scope, token)
		})
}
