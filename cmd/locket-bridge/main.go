// Command locket-bridge brings wearables that don't speak MQTT to a node: it
// speaks their protocol on one side, and is a wearable of docs/mqtt.md on the
// other.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
