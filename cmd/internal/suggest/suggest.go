// Package suggest guesses which command or flag a person meant when the one they typed does not
// exist.
package suggest

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locket-dev/locket/internal/sorting"
)

// most is how many guesses are shown at most.
const most = 3

// Commands returns the paths of the commands under c that word may stand for, the likeliest first:
// commands with a similar spelling, commands that begin with word, and commands that have word in
// their SuggestFor. If there are none, it returns commands of that name elsewhere. "keys list" in
// the SuggestFor of keys means that keys itself does what a subcommand list would do.
func Commands(c *cobra.Command, word string) []string {
	word = strings.ToLower(word)
	var g guesses
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if slices.Contains(sub.SuggestFor, word) {
			g.add(0, sub.CommandPath())
			continue
		}
		for _, name := range append([]string{sub.Name()}, sub.Aliases...) {
			g.compare(word, name, sub.CommandPath())
		}
	}
	if slices.Contains(c.SuggestFor, c.Name()+" "+word) {
		g.add(0, c.CommandPath())
	}
	if len(g) == 0 && len(word) > 4 {
		for _, sub := range c.Commands() {
			for _, other := range sub.SuggestFor {
				if far := distance(word, other); far <= slack(word) {
					g.add(far, sub.CommandPath())
				}
			}
		}
	}
	if len(g) == 0 {
		addNamed(c.Root(), word, &g)
		if c.HasParent() && len(g) > 1 { // nearly every command has a subcommand list
			return nil
		}
	}
	return g.best()
}

// addNamed adds the commands anywhere under c that have exactly this name.
func addNamed(c *cobra.Command, word string, g *guesses) {
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if sub.Name() == word || sub.HasAlias(word) {
			g.add(0, sub.CommandPath())
		}
		addNamed(sub, word, g)
	}
}

// Flags returns the flags of c, with their dashes, that may be meant if err says that a flag does
// not exist. For any other error it returns none.
func Flags(c *cobra.Command, err error) []string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return nil
	}
	word := strings.ToLower(unknown.GetSpecifiedName())
	if short := unknown.GetSpecifiedShortnames(); len(short) > 1 { // -json for --json
		word = short
	}
	var g guesses
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			g.compare(word, f.Name, "--"+f.Name)
		}
	})
	return g.best()
}

// Words returns those of names that word may stand for.
func Words(names []string, word string) []string {
	var g guesses
	for _, name := range names {
		g.compare(strings.ToLower(word), name, name)
	}
	return g.best()
}

// Sentence asks whether one of the guesses was meant. It is empty if there are none.
func Sentence(guesses []string) string {
	if len(guesses) == 0 {
		return ""
	}
	return "Did you mean: " + strings.Join(guesses, ", ") + "?"
}

// guess is a name and its distance from what was typed.
type guess struct {
	far  int
	name string
}

type guesses []guess

func (g *guesses) add(far int, name string) { *g = append(*g, guess{far, name}) }

// slack is how many letters of word may be wrong: one in five, two in longer words.
func slack(word string) int { return 1 + min(1, len(word)/6) }

// compare adds name, displayed as shown, if word is similar to it or to its beginning.
func (g *guesses) compare(word, name, shown string) {
	far := distance(word, name)
	switch {
	case len(word) > 1 && far <= slack(word):
		g.add(far, shown)
	case len(word) > 1 && strings.HasPrefix(name, word):
		g.add(most, shown)
	}
}

func (g guesses) best() (names []string) {
	sorting.Stable(g, func(a, b guess) int { return a.far - b.far })
	for _, x := range g {
		if !slices.Contains(names, x.name) && len(names) < most {
			names = append(names, x.name)
		}
	}
	return names
}

// distance counts the insertions, deletions, substitutions and swaps of neighbouring letters that
// turn a into b (optimal string alignment).
func distance(a, b string) int {
	var before, above []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, above, row = above, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
