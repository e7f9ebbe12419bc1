package cli

import (
	"fmt"
	"html"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/node/serve"
)

// openFile is a page that redirects the browser. The address is not an argument of the browser's
// command, because every user of the machine can read arguments.
const openFile = "open.html"

// openPatience is how long to wait for the program that opens a browser to fail. Some of these
// programs run for as long as the browser does.
const openPatience = 2 * time.Second

// OpenLink prints a link and, unless quiet, opens it in the browser through a file in dir.
func (a *App) OpenLink(link serve.ConsoleLink, dir string, quiet bool) error {
	if err := a.Print(link, func(w io.Writer) { fmt.Fprintln(w, link.URL) }); err != nil || quiet {
		return err
	}
	if err := a.browse(link.URL, dir); err != nil {
		fmt.Fprintf(a.Stderr, "Could not open a browser (%v). Open the address yourself.\n", err)
	}
	return nil
}

// browse opens an address in the browser, through a file in dir.
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
