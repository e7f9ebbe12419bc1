package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/serve"
)

// AddDevice implements serve.Devices.
func (n *Node) AddDevice(_ context.Context, name string) (serve.DeviceCredentials, error) {
	if n.cfg.Broker.URL != "" {
		return serve.DeviceCredentials{}, fmt.Errorf("%w: the broker at %s has its own credentials: docs/mqtt.md says how to make them", serve.ErrUnsupported, n.cfg.Broker.URL)
	}
	c, hash, err := intake.NewDevice(name)
	if err != nil {
		return serve.DeviceCredentials{}, err
	}
	if err := n.devices.add(deviceEntry{Name: name, Hash: hash, Added: time.Now().UTC()}); err != nil {
		return serve.DeviceCredentials{}, err
	}
	return serve.DeviceCredentials{Name: name, Broker: n.publicURL(), Username: c.Username, Password: serve.Secret(c.Password), ClientID: c.Username,
		Topics: wire.Root + name + "/"}, nil
}

// publicURL is where devices find the node's own broker.
func (n *Node) publicURL() string {
	if n.cfg.Broker.Public != "" {
		return n.cfg.Broker.Public
	}
	scheme := "tcp://"
	if n.cfg.Broker.TLSCert != "" {
		scheme = "ssl://"
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	if n.broker != nil {
		return scheme + n.broker.Addr().String()
	}
	return scheme + n.cfg.Broker.Listen
}

// Devices implements serve.Devices.
func (n *Node) Devices(context.Context) ([]serve.Device, error) {
	list, err := n.devices.all()
	if err != nil {
		return nil, err
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	out := make([]serve.Device, len(list))
	for i, d := range list {
		seen := n.heard.of(d.Name)
		out[i] = serve.Device{Name: d.Name, Added: d.Added, LastSeen: seen.last, Events: seen.events,
			Connected: n.broker != nil && n.broker.Connected(d.Name)}
	}
	return out, nil
}

// RemoveDevice implements serve.Devices.
func (n *Node) RemoveDevice(_ context.Context, name string) error {
	found, err := n.devices.remove(name)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("device %q: %w", name, memory.ErrNotFound)
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	if n.broker != nil {
		n.broker.Drop(name)
	}
	return nil
}

// heard counts what devices sent since the start.
type heard struct {
	mu sync.Mutex // guards by
	by map[string]sent
}

type sent struct {
	last   time.Time
	events uint64
}

func (h *heard) note(device string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.by == nil {
		h.by = map[string]sent{}
	}
	h.by[device] = sent{time.Now().UTC(), h.by[device].events + 1}
}

func (h *heard) of(device string) sent {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.by[device]
}
