// Command locket is a wearer's node: the daemon, and what its wearer asks of
// it. Commands speak to the daemon where one runs on the home, and open the
// home in this process where none does.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/locket-dev/locket/internal/nodump"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/wasm"
)

func main() {
	// If the system refuses, everything else still works.
	_ = nodump.Protect()
	if wasm.IsWorker(os.Args) { // this process is to run plugins for another one
		os.Exit(wasm.ServeWorker(os.Stdin, os.Stdout, os.Stderr))
	}
	if engines.IsProcess(os.Args) { // this process is to run engines for another one
		os.Exit(engines.ServeProcess(os.Stdin, os.Stdout, os.Stderr))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second Ctrl+C ends what does not hear the first
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, product(pluginCache, 0))
	stop()
	os.Exit(code)
}
