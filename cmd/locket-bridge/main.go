// Command locket-bridge connects wearables that don't speak MQTT to a node. On one side it speaks
// their protocol; on the other it acts as a wearable according to docs/mqtt.md.
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
