package memorycmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/serve"
)

func BatchCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "batch [FILE]", Short: "Make many changes at once, one per line", Args: cli.ArgsBetween(0, 1, "a file"),
		Long: `Reads a file or standard input: one JSON object per line, with add, update, delete or pin.
The last three need an id. Changes are made in order, each by itself. If one fails, the
command prints the failure and continues; the exit code is then 1.`,
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
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				failed, line := 0, 0
				for part := range slices.Chunk(ops, cli.LinesOfBatch) {
					res, err := cl.Batch(cmd.Context(), part)
					if err != nil {
						return fmt.Errorf("after %s: %w", cli.Plural(line, "change", "changes"), err)
					}
					for i := range res.Results {
						r := &res.Results[i]
						line++
						if err := a.Print(r, func(w io.Writer) { showOperation(a, w, line, r) }); err != nil {
							return err
						}
					}
					failed += res.Failed
				}
				if failed > 0 {
					return fmt.Errorf("%d of %s failed", failed, cli.Plural(len(ops), "change", "changes"))
				}
				return nil
			})
		},
	}
}

// readOperations reads all lines before any change is made, so that a mistake in the last line
// leaves nothing half done.
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
		return nil, cli.Usagef("%s contains no changes", name)
	}
	return ops, nil
}

func showOperation(a *cli.App, w io.Writer, line int, r *serve.BatchResult) {
	switch {
	case r.Added != nil:
		a.ShowAdded(w, r.Added)
	case r.Memory != nil:
		a.Row(w, r.Memory)
	case r.Deleted != nil:
		fmt.Fprintf(w, "Erased %s.\n", cli.ShortID(r.Deleted.ID))
	case r.Problem != nil:
		fmt.Fprintf(w, "%s change %d: %s\n", a.Paint.Red("FAILED"), line, cli.OneLine(r.Problem.Error()))
	}
}
