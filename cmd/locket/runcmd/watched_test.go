package runcmd

import (
	"context"
	"testing"

	"github.com/locket-dev/locket/internal/testing/systemdtest"
	"github.com/locket-dev/locket/node/serve"
)

// systemd is not told that a node answers if it does not.
func TestWatchdogOfAHangingNode(t *testing.T) {
	heard := systemdtest.Listen(t)
	t.Setenv("WATCHDOG_USEC", "20000")
	ctx, end := context.WithCancel(t.Context())
	hanging := &hanging{asked: make(chan struct{}, 8)}
	quiet := watched(ctx, hanging, nil)
	for range 3 {
		<-hanging.asked
	}
	end()
	quiet()
	if first, second := heard(), heard(); first != "READY=1" || second != "STOPPING=1" {
		t.Errorf("%q, %q", first, second)
	}
}

// hanging is a node that never answers a health request.
type hanging struct {
	serve.Diagnostics
	asked chan struct{}
}

func (h *hanging) Status(ctx context.Context) (serve.Status, error) {
	select {
	case h.asked <- struct{}{}:
	default:
	}
	<-ctx.Done()
	return serve.Status{}, ctx.Err()
}
