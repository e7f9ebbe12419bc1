package memorycmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

func RetentionCommand(a *cli.App) *cobra.Command {
	var plan bool
	c := &cobra.Command{
		Use: "retention", Short: "Show how long data is kept, and what would be deleted now", Args: cli.NoArgs(),
		Long: `Recordings, photos and lines are kept for a time, and up to a size; the oldest go first. Age
is counted from the time at which something happened. Rules for memories are in the setting
retention.rules, in order: the first rule that matches a memory decides. Pinned memories are
never removed.`,
		Example: `  locket retention --plan
  locket retention --plan --set 'retention.rules=tag:work & type:episodic 30d,type:episodic 90d'`,
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, _ []string) error {
			r, err := cl.Retention(cmd.Context(), serve.RetentionQuery{Try: strings.Join(overrides(a, "retention."), "\n")})
			return a.PrintUnless(err, r, func(w io.Writer) { showRetention(a, w, &r, plan) })
		}),
	}
	c.Flags().BoolVar(&plan, "plan", false, "list what would be deleted")
	return c
}

// overrides lists, as KEY=VALUE, the settings that this command got from flags or the environment
// and whose keys begin with prefix. A daemon does not know them.
func overrides(a *cli.App, prefix string) (list []string) {
	for _, s := range a.Settings.Settings() {
		if k := s.Origin.Kind; strings.HasPrefix(s.Key, prefix) && (k == config.FromFlag || k == config.FromEnv) {
			list = append(list, s.Key+"="+s.Value)
		}
	}
	return list
}

func showRetention(a *cli.App, w io.Writer, r *serve.RetentionAnswer, plan bool) {
	k := &a.Settings.Retention
	fmt.Fprintf(w, "%-12s %s, %s\n%-12s %s, %s\n%-12s %s, %s\n", "recordings", k.Audio.Age, k.Audio.Bytes, "photos", k.Photo.Age, k.Photo.Bytes,
		"lines", k.Utterance.Age, k.Utterance.Bytes)
	for _, rule := range r.Rules {
		fmt.Fprintf(w, "%-12s %s\n", "memories", cli.OneLine(rule))
	}
	if r.Clock.IsZero() {
		fmt.Fprintln(w, "Nothing has happened yet, so nothing has an age.")
		return
	}
	fmt.Fprintf(w, "%s and %s have expired and will be deleted soon. Ages are counted up to the newest event, at %s.\n", cli.Plural(len(r.Memories), "memory", "memories"), cli.Plural(len(r.Utterances), "line", "lines"), a.ShowTime(r.Clock))
	if !plan {
		if len(r.Memories)+len(r.Utterances) > 0 {
			fmt.Fprintln(w, "To list them: "+a.WithHome("locket retention --plan"))
		}
		return
	}
	for _, list := range [][]serve.Ending{r.Memories, r.Utterances} {
		for _, e := range list {
			showRelated(a, w, e.Related)
			fmt.Fprintf(w, "    %s\n", a.Paint.Dim(cli.OneLine(e.Why)))
		}
	}
}
