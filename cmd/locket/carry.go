package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/node/serve"
)

func (a *app) exportCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "export", Short: "Write everything as JSON, one record a line", Args: nothing(),
		Long: "The export is readable to whoever has it; secrets of the vault stay sealed in it.",
		Example: `  locket export --output memories.jsonl
  locket export | age -p > memories.age`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), true, func(cl *serve.Client) (err error) {
				if out == "" {
					w := bufio.NewWriter(a.stdout)
					_, err := cl.Export(cmd.Context(), w)
					return errors.Join(err, w.Flush())
				}
				n, err := exportFile(out, func(w io.Writer) (int, error) { return cl.Export(cmd.Context(), w) })
				if err != nil {
					return err
				}
				done := struct {
					File    string `json:"file"`
					Records int    `json:"records"`
				}{out, n}
				return a.print(done, func(w io.Writer) { fmt.Fprintf(w, "Wrote %s to %s.\n", plural(n, "record", "records"), out) })
			})
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "a `file` instead of standard output, for its owner only")
	return c
}

// exportFile writes beside the file and renames, so that what has the name is whole.
func exportFile(path string, write func(io.Writer) (int, error)) (n int, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".locket-export-*") // 0600
	if err != nil {
		return 0, fmt.Errorf("exporting: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error counts
		}
	}()
	w := bufio.NewWriter(f)
	n, err = write(w)
	if err := errors.Join(err, w.Flush(), f.Sync(), f.Close()); err != nil {
		return n, err
	}
	return n, os.Rename(f.Name(), path)
}

func (a *app) importCommand() *cobra.Command {
	return &cobra.Command{
		Use: "import [FILE]", Short: "Take in what export wrote", Args: between(0, 1, ""),
		Long: "From standard input without a file. What is there already is skipped, so an import\nthat broke off can be repeated.",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := a.stdin
			if len(args) == 1 && args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("importing: %w", err)
				}
				defer f.Close()
				in = f
			}
			return a.with(cmd.Context(), true, func(cl *serve.Client) error {
				r, err := cl.Import(cmd.Context(), in)
				if err != nil {
					return err
				}
				return a.print(r, func(w io.Writer) {
					fmt.Fprintf(w, "Took %s; %d there already, %d refused.\n", plural(r.Taken, "record", "records"), r.Skipped, r.Refused)
					if r.Refused > 0 {
						fmt.Fprintln(w, "See why: locket doctor")
					}
				})
			})
		},
	}
}
