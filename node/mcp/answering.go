package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// answering is a transport whose connection ends for the server only when every request is
// answered, and not as soon as the host has closed its side. The SDK would end current work
// at once.
type answering struct{ sdk.Transport }

func (t answering) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	return &answeringConn{Connection: c, open: map[jsonrpc.ID]bool{}, done: make(chan struct{})}, err
}

type answeringConn struct {
	sdk.Connection
	mu    sync.Mutex
	open  map[jsonrpc.ID]bool // calls without an answer; guarded by mu
	ended bool                // nothing more is read; guarded by mu
	once  sync.Once
	done  chan struct{} // closed when there is nothing to wait for, or nobody to receive an answer
}

func (c *answeringConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	c.mu.Lock()
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && r.Method != "subscriptions/listen" { // that request stays open
		c.open[r.ID] = true
	}
	c.ended = err != nil
	wait := c.ended && len(c.open) > 0
	c.mu.Unlock()
	if wait {
		select {
		case <-c.done:
		case <-ctx.Done():
		}
	}
	return m, err
}

func (c *answeringConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	c.mu.Lock()
	if r, ok := m.(*jsonrpc.Response); ok {
		delete(c.open, r.ID)
	}
	over := err != nil || c.ended && len(c.open) == 0
	c.mu.Unlock()
	if over {
		c.once.Do(func() { close(c.done) })
	}
	return err
}

func (c *answeringConn) Close() error {
	c.once.Do(func() { close(c.done) })
	return c.Connection.Close()
}
