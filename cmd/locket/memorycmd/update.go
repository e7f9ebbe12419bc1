package memorycmd

import (
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// corrections are the flags of locket update.
type corrections struct {
	serve.UpdateRequest
	text, value, line, old, with, sensitivity string
	archive, restore                          bool
	check                                     bool   // check the version of Locket itself
	from                                      string // with check: the place to ask
}

func UpdateCommand(a *cli.App) *cobra.Command {
	var o corrections
	c := &cobra.Command{
		Use: "update ID | update --check", Short: "Correct a memory",
		Args: func(c *cobra.Command, args []string) error {
			if o.check {
				return cli.NoArgs()(c, args)
			}
			if len(args) > 1 {
				return cli.Usagef("%q is one argument too many; give a new text with --text", args[1])
			}
			return cli.ArgsBetween(1, 1, "the id of a memory (for Locket itself: --check)")(c, args)
		},
		Long: `The earlier text stays in the memory's history. Steps are counted from 1, and changed in the
order of the flags.

With --check, the command is about Locket itself, and says which version this is. It asks
for a newer one only at the place given with --from: a folder or an https URL that has
SHA256SUMS and its signature, which is verified. Nothing is installed.`,
		Example: `  locket update 3f7k9m2xqa --text "The bike is green" --reason repainted
  locket update 3f7k9m2xqa --append "Allergic to nuts"
  locket update 3f7k9m2xqa --replace Lyon --with Ghent
  locket update 3f7k9m2xqa --step "2=Boil the water" --move-step 4:1
  locket update 3f7k9m2xqa --archive
  locket update --check --from ` + latestRelease,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.from != "" && !o.check {
				return cli.Usagef("--from needs --check")
			}
			if o.check {
				return compareRelease(a, cmd.Context(), o.from, cli.Linked.Key)
			}
			if err := o.read(cmd.Flags()); err != nil {
				return err
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				m, err := cl.Update(cmd.Context(), args[0], o.UpdateRequest)
				return a.PrintUnless(err, m, func(w io.Writer) { a.Row(w, &m) })
			})
		},
	}
	f := c.Flags()
	f.StringVar(&o.text, "text", "", "the new text")
	f.StringVar(&o.line, "append", "", "add a `line` to a core block")
	f.StringVar(&o.old, "replace", "", "replace these `words` of the text, which must occur in it once")
	f.StringVar(&o.with, "with", "", "with --replace: the new words; empty removes the old ones")
	f.StringVar(&o.value, "value", "", "the new value of its attribute")
	f.Var(&stepFlag{memory.StepRevise, &o.Steps}, "step", "revise a step: `N=TEXT`")
	f.Var(&stepFlag{memory.StepInsert, &o.Steps}, "insert-step", "insert a step before step N: `N=TEXT`, or just TEXT to append")
	f.Var(&stepFlag{memory.StepRemove, &o.Steps}, "remove-step", "remove step `N`")
	f.Var(&stepFlag{memory.StepMove, &o.Steps}, "move-step", "move a step to another place: `N:M`")
	f.StringVar(&o.sensitivity, "sensitivity", "", "public, personal, private or secret")
	f.StringSliceVar(&o.Tag, "tag", nil, "add a `tag`")
	f.StringSliceVar(&o.Untag, "untag", nil, "remove a `tag`")
	f.BoolVar(&o.archive, "archive", false, "keep it, but do not show it")
	f.BoolVar(&o.restore, "restore", false, "show it again")
	f.StringVar(&o.Reason, "reason", "", "why, for its history")
	f.BoolVar(&o.check, "check", false, "say which version of Locket this is")
	f.StringVar(&o.from, "from", "", "with --check: the `place` to ask for a newer version")
	return c
}

// read completes the request from the flags. At least one of them must change something.
func (o *corrections) read(f *pflag.FlagSet) error {
	changed := len(o.Steps)+len(o.Tag)+len(o.Untag) > 0
	for _, s := range []struct {
		flag string
		from *string
		to   **string
	}{{"text", &o.text, &o.Text}, {"value", &o.value, &o.Value}, {"append", &o.line, &o.Append}} {
		if f.Changed(s.flag) {
			*s.to, changed = s.from, true
		}
	}
	if f.Changed("replace") || f.Changed("with") {
		if !f.Changed("replace") {
			return cli.Usagef("--with needs --replace")
		}
		o.Replace, changed = &serve.Replacement{Old: o.old, With: o.with}, true
	}
	if f.Changed("sensitivity") {
		var s memory.Sensitivity
		if err := s.UnmarshalText([]byte(o.sensitivity)); err != nil {
			return cli.UsageError{Err: err}
		}
		o.Sensitivity, changed = &s, true
	}
	if o.archive && o.restore {
		return cli.Usagef("--archive and --restore: choose one")
	}
	if o.archive || o.restore {
		o.Archived, changed = &o.archive, true
	}
	if !changed {
		return cli.Usagef("nothing to change: give --text, --value, --tag or another flag")
	}
	return nil
}

// stepFlag collects edits of steps, of one kind, in the order of the command line.
type stepFlag struct {
	op  string
	all *[]memory.StepEdit
}

// String and Type implement pflag.Value.
func (f *stepFlag) String() string { return "" }
func (f *stepFlag) Type() string   { return "step" }

// Set implements pflag.Value.
func (f *stepFlag) Set(s string) error {
	e := memory.StepEdit{Op: f.op}
	at, rest, cut := strings.Cut(s, map[bool]string{true: ":", false: "="}[f.op == memory.StepMove])
	n, err := strconv.Atoi(at)
	switch f.op {
	case memory.StepInsert:
		if !cut || err != nil {
			n, rest = 0, s // all of it is the step's text
		}
		e.Text = rest
	case memory.StepRevise:
		if err != nil || !cut {
			return cli.Usagef("%q: want a step's number and its text, such as 2=Boil the water", s)
		}
		e.Text = rest
	case memory.StepRemove:
		if err != nil || cut {
			return cli.Usagef("%q: want a step's number", s)
		}
	default:
		if e.To, _ = strconv.Atoi(rest); err != nil || e.To < 1 {
			return cli.Usagef("%q: want two numbers, such as 4:1", s)
		}
	}
	e.At = n
	*f.all = append(*f.all, e)
	return nil
}
