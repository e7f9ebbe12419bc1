package plugincmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/wasm/bundle"
	"github.com/locket-dev/locket/wasm/template"
)

func newCommand(a *cli.App) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "new " + strings.Join(template.Languages(), "|") + " NAME", Short: "Start a new plugin from a working example", Args: cli.ArgsBetween(2, 2, "the language or the name"),
		Long: `Makes a folder with a working plugin in Go, Rust, C or AssemblyScript, a test of it, and
everything that it links. Nothing is downloaded except, for AssemblyScript, its compiler.
NAME is the public id of the plugin, such as parking or ann/parking.`,
		Example: `  locket plugin new rust ann/parking
  cd parking && locket plugin build && locket plugin test`,
		RunE: func(_ *cobra.Command, args []string) error {
			lang, name := args[0], args[1]
			dir = cmp.Or(dir, path.Base(name))
			if err := template.Write(dir, lang, name); err != nil {
				return err
			}
			made := struct {
				Folder   string `json:"folder"`
				ID       string `json:"id"`
				Language string `json:"language"`
			}{dir, name, lang}
			return a.Print(made, func(w io.Writer) {
				fmt.Fprintf(w, "Made %s. Next:\n  cd %s\n  locket plugin build\n  locket plugin test\n", dir, dir)
			})
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "the `folder` to make; default: the last part of NAME")
	return c
}

func buildCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "build [FOLDER]", Short: "Build a plugin with its build.sh, and check that it loads", Args: cli.ArgsBetween(0, 1, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			return buildPlugin(a, cmd.Context(), folderIn(args))
		},
	}
}

func buildPlugin(a *cli.App, ctx context.Context, dir string) error {
	script := filepath.Join(dir, "build.sh")
	if _, err := os.Stat(script); err != nil {
		return fmt.Errorf("%s does not exist: locket plugin build runs it to make %s; locket plugin new makes both", script, bundle.ModuleName)
	}
	run := exec.CommandContext(ctx, "sh", "build.sh")
	run.Dir, run.Stdout, run.Stderr = dir, a.Stderr, a.Stderr
	if err := run.Run(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return fmt.Errorf("%s failed", script)
		}
		return fmt.Errorf("building plugin: %w", err)
	}
	p, err := readProject(dir)
	if err != nil {
		return err
	}
	if err := loads(ctx, p.module, p.manifest); err != nil {
		return err
	}
	built := struct {
		File  string `json:"file"`
		Bytes int    `json:"bytes"`
	}{filepath.Join(dir, bundle.ModuleName), len(p.module)}
	return a.Print(built, func(w io.Writer) {
		fmt.Fprintf(w, "Built %s, %s. Next: locket plugin test\n", built.File, cli.Size(int64(built.Bytes)))
	})
}
