package cli

import (
	"errors"
	"fmt"
	"html"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/serve"
)

func (a *App) OpenCommand() *cobra.Command {
	var quiet bool
	var keyFile string
	c := &cobra.Command{
		Use: "open", Short: "Look at your memory in the browser", Args: Nothing(),
		Long: `Opens the console in the browser of this machine, and prints its address. The daemon
serves it on a loopback address (api.console) from the first time on.

Where there is no home yet, the page makes one, step by step, as locket setup does, and
this command goes on as the daemon.

The address is good once, and for two minutes. The browser's session ends when the node
is locked, after half an hour in which nothing was done, and after 12 hours.

With --key-file it opens the console of a node on another machine: the file has the link
that locket app add NAME --can console --for 30d printed there. The command serves the
page on this machine's loopback, until its last session ends.`,
		Example: "  locket open\n  locket open --print\n  locket open --key-file laptop.link",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if keyFile != "" {
				return a.openElsewhere(cmd.Context(), keyFile, quiet)
			}
			err := a.WithDaemon(cmd.Context(), func(cl *serve.Client) error {
				link, err := cl.OpenConsole(cmd.Context())
				if err != nil {
					return err
				}
				return a.openLink(link, a.Settings.Home, quiet)
			})
			if errors.Is(err, ErrNoHome) {
				a.Args = a.runArgs() // the daemon begins anew by them when it is locked
				return a.SetupPage(cmd.Context(), RunOptions{}, quiet)
			}
			return err
		},
	}
	c.Flags().BoolVar(&quiet, "print", false, "print the address alone")
	c.Flags().StringVar(&keyFile, "key-file", "", "`file` with a link of locket app add: open the console of that node")
	return c
}

// openFile is where a browser is sent from. The address is not an argument of
// the browser's command, because every user of the machine can read those.
const openFile = "open.html"

// openPatience is how long the program that opens a browser may take to fail.
// Some of them run for as long as the browser does.
const openPatience = 2 * time.Second

// openLink prints a link and, unless quiet, opens it in the browser by a file in dir.
func (a *App) openLink(link serve.ConsoleLink, dir string, quiet bool) error {
	if err := a.Print(link, func(w io.Writer) { fmt.Fprintln(w, link.URL) }); err != nil || quiet {
		return err
	}
	if err := a.browse(link.URL, dir); err != nil {
		fmt.Fprintf(a.Stderr, "No browser was opened (%v): open the address yourself.\n", err)
	}
	return nil
}

// runArgs are the arguments with which the daemon runs as this command does.
func (a *App) runArgs() (args []string) {
	if a.File != "" {
		args = append(args, "--config", a.File)
	}
	if a.Json {
		args = append(args, "--json")
	}
	for _, f := range a.Flags {
		args = append(args, "--set", f.Key+"="+f.Value)
	}
	return append(args, "run")
}

// browse has the browser open an address, by a file in dir.
func (a *App) browse(url, dir string) error {
	file := filepath.Join(dir, openFile)
	page := `<!doctype html><meta charset="utf-8"><title>Locket</title><meta http-equiv="refresh" content="0;url=` + html.EscapeString(url) + `">` + "\n"
	if err := atomicfile.Write(file, []byte(page)); err != nil {
		return err
	}
	name, args := "xdg-open", []string{file}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", file}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // it may outlive this command
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	case <-time.After(openPatience):
	}
	return nil
}
