package node

import (
	"net"
	"testing"

	"github.com/locket-dev/locket/node/config"
)

// If a node can't start to take events, none of its parts keeps running, and it can start
// once the cause is gone.
func TestFailedStartLeavesNothingRunning(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := initNode(t, func(c *config.Config) { c.Broker.Listen = l.Addr().String() }, InitOptions{KeyFile: true})
	if err := n.Start(t.Context()); err == nil {
		t.Fatal("Start succeeded, although another broker listens at its address")
	}
	n.private.mu.Lock()
	told := n.private.intake != nil
	n.private.mu.Unlock()
	if told || n.running {
		t.Errorf("after the failed start, the private zones still have an intake: %v; the node runs: %v", told, n.running)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
