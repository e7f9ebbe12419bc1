package memorycmd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func AddCommand(a *cli.App) *cobra.Command {
	var r serve.AddRequest
	var plain bool
	var kind, block, file string
	var steps []string
	var metadata map[string]string
	c := &cobra.Command{
		Use: "add TEXT...", Short: "Remember a text",
		Long: `The extractors read the text as if the wearer had said it now. What none of them understands
is kept in its own words. With --plain, the text becomes one memory, unchanged. If TEXT is -,
the command reads it from standard input.`,
		Example: `  locket add "My dentist appointment is on Friday at nine"
  xclip -o | locket add -
  locket add --plain --tag garden "The tomatoes want water every second day"
  locket add --plain --block human "Vegetarian; allergic to nuts"
  locket add --plain --file lease.md "Lease of the flat"
  locket add --plain --step "Grind the beans" --step "Boil the water" "How to make coffee"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if file != "" {
				return nil // the file's name is the default title
			}
			return cli.ArgsBetween(1, -1, "the text")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Text = strings.Join(args, " ")
			if r.Text == "-" {
				b, err := io.ReadAll(io.LimitReader(a.Stdin, memory.MaxText+1))
				r.Text = strings.TrimSpace(string(b))
				switch {
				case err != nil:
				case len(b) > memory.MaxText:
					err = fmt.Errorf("standard input is larger than %d KB; save a document with --plain --file", memory.MaxText>>10)
				case r.Text == "":
					err = errors.New("standard input is empty")
				}
				if err != nil {
					return fmt.Errorf("add: %w", err)
				}
			}
			r.Type, r.Metadata, r.Keep = memory.Type(kind), metadata, !plain
			if kind == string(memory.Vault) {
				return cli.Usagef("--type vault: leave out --type and --plain; a secret in the text goes to the vault by itself")
			}
			if plain {
				infer := false
				r.Infer = &infer
			}
			if !plain && (kind != "" || len(r.Tags) > 0) {
				return cli.Usagef("--type and --tag need --plain")
			}
			if block != "" {
				if !plain || kind != "" && kind != string(memory.Core) {
					return cli.Usagef("--block needs --plain")
				}
				kind, r.Type, r.Fields.Core = string(memory.Core), memory.Core, &memory.CoreFields{Block: block, Limit: memory.CoreLimit}
			}
			if len(steps) > 0 {
				if !plain || kind != "" && kind != string(memory.Procedural) {
					return cli.Usagef("--step needs --plain")
				}
				r.Type, r.Fields.Procedural = memory.Procedural, &memory.ProceduralFields{EntryType: "guide", Steps: steps}
			}
			if file != "" {
				if !plain || block != "" || len(steps) > 0 || kind != "" && kind != string(memory.Resource) {
					return cli.Usagef("--file needs --plain, without --block or --step")
				}
				f, err := documentOf(file, r.Text)
				if err != nil {
					return err
				}
				r.Text, r.Type, r.Fields.Resource = f.Title, memory.Resource, f
			}
			return cli.PrintAnswer(cmd.Context(), a, (*serve.Client).Add, r, a.ShowAdded)
		},
	}
	f := c.Flags()
	f.BoolVar(&plain, "plain", false, "add the text as one memory, unchanged")
	f.StringVar(&kind, "type", "", "with --plain: its `type`; default semantic")
	cli.Choose(f, "type", cli.Types...)
	f.StringVar(&block, "block", "", "with --plain: a core memory of this `block`: human, persona or your own")
	f.StringArrayVar(&steps, "step", nil, "with --plain: a `step` of a procedure; may be repeated")
	f.StringVar(&file, "file", "", "with --plain: a text `file`, kept whole as a resource; TEXT is its title")
	f.StringSliceVar(&r.Tags, "tag", nil, "with --plain: a `tag`; may be repeated")
	f.StringVar(&r.Speaker, "speaker", "", "who said it; default: the wearer")
	f.StringVar(&r.Agent, "agent", "", "the `agent` that it belongs to")
	f.StringVar(&r.Run, "run", "", "the `run` of an agent that it belongs to")
	f.StringToStringVar(&metadata, "meta", nil, "keep a `KEY=VALUE` with it")
	f.Lookup("meta").DefValue = "" // help would show []
	return c
}

// documentOf returns the resource for a text file. Without a title it takes the file's name.
func documentOf(file, title string) (*memory.ResourceFields, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, memory.MaxContent+1))
	switch {
	case err != nil:
		return nil, err
	case len(b) > memory.MaxContent:
		return nil, fmt.Errorf("%s: larger than %d KB; split it into parts", file, memory.MaxContent>>10)
	case !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0:
		return nil, fmt.Errorf("%s: not a UTF-8 text; photos and recordings come from a wearable", file)
	case len(bytes.TrimSpace(b)) == 0:
		return nil, fmt.Errorf("%s is empty", file)
	}
	media, _, _ := strings.Cut(mime.TypeByExtension(filepath.Ext(file)), ";")
	switch {
	case strings.EqualFold(filepath.Ext(file), ".md"):
		media = "text/markdown"
	case !strings.HasPrefix(media, "text/"):
		media = "text/plain"
	}
	return &memory.ResourceFields{Title: cmp.Or(title, filepath.Base(file)), MediaType: media, Content: string(b)}, nil
}
