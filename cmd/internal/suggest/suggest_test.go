package suggest

import (
	"errors"
	"slices"
	"testing"

	"github.com/spf13/cobra"
)

// tree is a command with search, list, a hidden lost, and devices compare.
func tree() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "locket", Run: run}
	devices := &cobra.Command{Use: "devices", Run: run, Aliases: []string{"members"}}
	devices.AddCommand(&cobra.Command{Use: "compare", Run: run}, &cobra.Command{Use: "list", Run: run})
	list := &cobra.Command{Use: "list", Run: run, SuggestFor: []string{"ls", "memories"}}
	list.Flags().IntP("limit", "n", 0, "")
	list.Flags().Bool("json", false, "")
	list.Flags().String("since", "", "")
	root.AddCommand(&cobra.Command{Use: "search", Run: run}, list, &cobra.Command{Use: "lost", Run: run, Hidden: true}, devices,
		&cobra.Command{Use: "pair", Run: run}, &cobra.Command{Use: "passphrase", Run: run})
	return root
}

func TestCommands(t *testing.T) {
	for word, want := range map[string][]string{
		"serach":  {"locket search"},
		"Search":  {"locket search"},
		"lsit":    {"locket list"},
		"ls":      {"locket list"},
		"lost":    {"locket list"}, // the hidden one is not told of
		"pa":      {"locket pair", "locket passphrase"},
		"member":  {"locket devices"},
		"compare": {"locket devices compare"},
		"memries": {"locket list"},
		"x":       nil, "frobnicate": nil, "": nil,
	} {
		if got := Commands(tree(), word); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestCommandsBelow(t *testing.T) {
	root := tree()
	keys := &cobra.Command{Use: "keys", Run: func(*cobra.Command, []string) {}, SuggestFor: []string{"keys list"}}
	root.AddCommand(keys)
	for word, want := range map[string][]string{
		"list":    {"locket keys"},
		"compare": {"locket devices compare"},
		"search":  {"locket search"},
	} {
		if got := Commands(keys, word); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	keys.SuggestFor = nil
	if got := Commands(keys, "list"); got != nil {
		t.Errorf("list, which two others have: %q", got)
	}
}

func TestFlags(t *testing.T) {
	for arg, want := range map[string][]string{
		"--limt": {"--limit"}, "--Since": {"--since"}, "--sin": {"--since"}, "-json": {"--json"}, "--frob": nil, "-x": nil,
	} {
		list, _, err := tree().Find([]string{"list"})
		if err != nil {
			t.Fatal(err)
		}
		err = list.ParseFlags([]string{arg})
		if got := Flags(list, err); err == nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q of %v, want %q", arg, got, err, want)
		}
	}
	if got := Flags(tree(), errors.New("other")); got != nil {
		t.Errorf("%q of an error that is about no flag", got)
	}
}

func TestSentence(t *testing.T) {
	if got := Sentence([]string{"locket list", "locket get"}); got != "Did you mean: locket list, locket get?" || Sentence(nil) != "" {
		t.Errorf("%q", got)
	}
}

func TestWords(t *testing.T) {
	if got := Words([]string{"zone", "wearer", "home"}, "wearr"); !slices.Equal(got, []string{"wearer"}) {
		t.Errorf("%q", got)
	}
}
