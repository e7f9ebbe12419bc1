package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// filterHelp is in the help of each command that has --where.
const filterHelp = `
--where chooses by fields: = != < <= > >= in, not in, contains, icontains, exists, joined by
and, or, not and parentheses. The fields:
  %s,
  metadata.KEY`

// fieldsInLine is how many names of fields a line has room for.
const fieldsInLine = 8

func WithFilterHelp(text string) string {
	names := filter.Fields()
	var lines []string
	for some := range slices.Chunk(names, fieldsInLine) {
		lines = append(lines, strings.Join(some, ", "))
	}
	return strings.TrimLeft(text+"\n"+fmt.Sprintf(filterHelp, strings.Join(lines, ",\n  ")), "\n")
}

// ReadFilter takes the line after --where.
func (a *App) ReadFilter(line string) (filter.Filter, error) {
	if line == "" {
		return filter.Filter{}, nil
	}
	l, err := a.Load()
	if err != nil {
		return filter.Filter{}, err
	}
	zone, err := l.Location()
	if err != nil {
		return filter.Filter{}, err
	}
	f, err := filter.Parse(line, zone)
	if err != nil {
		return f, Usagef("--where: %v", err)
	}
	return f, nil
}

// LinesOfBatch is how many lines go into one request.
const LinesOfBatch = 200

func (a *App) BatchCommand() *cobra.Command {
	return &cobra.Command{
		Use: "batch [FILE]", Short: "Make many changes, one a line", Args: Between(0, 1, "a file"),
		Long: `Reads a file or standard input: one JSON object a line, with add, update, delete or pin.
The last three need an id. Changes are made in order, each by itself. Where one fails,
the failure is printed, the rest goes on, and the exit code is 1.`,
		Example: `  locket batch < changes.jsonl
  {"add": {"text": "The bike is blue", "infer": false, "tags": ["bike"]}}
  {"update": {"text": "The bike is green"}, "id": "3f7k9m2xqa"}
  {"delete": true, "id": "9x2mq8d4vw"}`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in := cmd.InOrStdin()
			name := "standard input"
			if len(args) > 0 && args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in, name = f, args[0]
			}
			ops, err := readOperations(name, in)
			if err != nil {
				return err
			}
			return a.With(cmd.Context(), true, func(cl *serve.Client) error {
				failed, line := 0, 0
				for part := range slices.Chunk(ops, LinesOfBatch) {
					res, err := cl.Batch(cmd.Context(), part)
					if err != nil {
						return fmt.Errorf("after %s: %w", Plural(line, "change", "changes"), err)
					}
					for i := range res.Results {
						r := &res.Results[i]
						line++
						if err := a.Print(r, func(w io.Writer) { a.showResult(w, line, r) }); err != nil {
							return err
						}
					}
					failed += res.Failed
				}
				if failed > 0 {
					return fmt.Errorf("%d of %s failed", failed, Plural(len(ops), "change", "changes"))
				}
				return nil
			})
		},
	}
}

// readOperations reads all lines first, so that a mistake in the last one leaves nothing
// half done.
func readOperations(name string, in io.Reader) ([]serve.Operation, error) {
	var ops []serve.Operation
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, serve.MaxBody/2)
	for n := 1; sc.Scan(); n++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(sc.Bytes()))
		dec.DisallowUnknownFields()
		var op serve.Operation
		if err := dec.Decode(&op); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		ops = append(ops, op)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(ops) == 0 {
		return nil, Usagef("%s holds no change", name)
	}
	return ops, nil
}

func (a *App) showResult(w io.Writer, line int, r *serve.BatchResult) {
	switch {
	case r.Added != nil:
		a.ShowAdded(w, r.Added)
	case r.Memory != nil:
		a.Row(w, r.Memory)
	case r.Deleted != nil:
		fmt.Fprintf(w, "Erased %s.\n", ShortID(r.Deleted.ID))
	case r.Problem != nil:
		fmt.Fprintf(w, "%s change %d: %s\n", a.Paint.Red("FAILED"), line, OneLine(r.Problem.Error()))
	}
}

func (a *App) CategoriesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "categories", Short: "Count memories by category", Args: Nothing(),
		Long: `A memory is in a category where it has one of the category's words, or is about its subject.
Your own categories are in categories.toml in the home. They replace those that come with
Locket:

  [garden]
  words = ["tomato", "compost heap", "番茄"]

locket list --where 'categories = garden' lists one.`,
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, _ []string) error {
			list, err := cl.Categories(cmd.Context())
			if err != nil {
				return err
			}
			return a.Print(serve.CategoriesAnswer{Categories: list}, func(w io.Writer) {
				for _, c := range list {
					fmt.Fprintf(w, "%6d  %s\n", c.Memories, c.Name)
				}
			})
		}),
	}
}
