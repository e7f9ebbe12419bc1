// Command locket is a wearer's node: the daemon, and the commands for its wearer. Commands talk to
// the daemon if one is running on the home. Otherwise they open the home in their own process.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/cmd/locket/runcmd"
	"github.com/locket-dev/locket/internal/nodump"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/wasm"
)

// Set by the linker in releases: -X main.release=v0.1.0 -X main.commit=… -X main.builtAt=…
// -X main.releaseKey=…, of docs/release.pub.
var release, commit, builtAt, releaseKey string

// pluginCache is a folder of compiled plugins that all homes share. Only the linker sets it, for
// tests with many homes (-X main.pluginCache=…). In releases it is empty, and each home has its own
// folder, sealed with its key.
var pluginCache string

func main() {
	cli.Linked.Release, cli.Linked.Commit, cli.Linked.BuiltAt, cli.Linked.Key = release, commit, builtAt, releaseKey
	// If the system refuses, everything else still works.
	_ = nodump.Protect()
	if wasm.IsWorker(os.Args) { // this process runs plugins for another one
		os.Exit(wasm.ServeWorker(os.Stdin, os.Stdout, os.Stderr))
	}
	if engines.IsProcess(os.Args) { // this process runs engines for another one
		os.Exit(engines.ServeProcess(os.Stdin, os.Stdout, os.Stderr))
	}
	ctx, stop := untilSignal()
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, runcmd.Product(pluginCache, engines.Places{}, 0))
	stop()
	os.Exit(code)
}

// untilSignal returns a context that ends when the process is told to end. A second Ctrl+C kills a
// process that does not react to the first. A second SIGHUP does not, because a closing terminal
// may send it twice.
func untilSignal() (context.Context, func()) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if signal.Ignored(syscall.SIGHUP) { // nohup
		return ctx, stop
	}
	ctx, unhung := signal.NotifyContext(ctx, syscall.SIGHUP)
	return ctx, func() { unhung(); stop() }
}
