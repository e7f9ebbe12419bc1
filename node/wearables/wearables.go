package wearables

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/intake/wire"
	"github.com/locket-dev/locket/node/lan"
	"github.com/locket-dev/locket/node/serve"
)

// Wearables implements serve.Devices. Its methods are safe for concurrent use.
type Wearables struct {
	list   *List
	c      config.Broker
	keys   func() (ring *keyring.Ring, release func(), err error)
	broker func() (b *intake.Broker, release func())
	web    Web
	heard  heard
}

// Web is how wearables reach the node over HTTP.
type Web struct {
	Link      func(name, password string) string // link for a phone or laptop; empty: there is no address for it
	Connected func(name string) bool
}

// New makes Wearables over a list. keys returns the open keys, which sign the list after a change.
// broker returns the node's own broker, or nil if none runs; the broker keeps running at least
// until release.
func New(list *List, c config.Broker, keys func() (*keyring.Ring, func(), error), broker func() (*intake.Broker, func()), web Web) *Wearables {
	return &Wearables{list: list, c: c, keys: keys, broker: broker, web: web, heard: heard{by: map[string]sent{}}}
}

// AddDevice adds a wearable that has only its own topics.
func (w *Wearables) AddDevice(ctx context.Context, name string) (serve.DeviceCredentials, error) {
	return w.AddLogin(ctx, serve.AddDeviceRequest{Name: name})
}

// AddLogin implements serve.Devices.
func (w *Wearables) AddLogin(_ context.Context, r serve.AddDeviceRequest) (serve.DeviceCredentials, error) {
	name, topics := r.Name, intake.Topics{Publish: r.Publish, Read: r.Read}
	if err := topics.Check(); err != nil {
		return serve.DeviceCredentials{}, err
	}
	if w.c.URL != "" {
		return serve.DeviceCredentials{}, fmt.Errorf("%w: the broker at %s has its own credentials: see %smqtt.md", serve.ErrUnsupported, w.c.URL, serve.Docs)
	}
	c, hash, err := intake.NewDevice(name)
	if err != nil {
		return serve.DeviceCredentials{}, err
	}
	ring, release, err := w.keys()
	if err != nil {
		return serve.DeviceCredentials{}, err
	}
	b, done := w.broker()
	err = w.list.add(entry{Name: name, Hash: hash, Added: time.Now().UTC(), Replay: r.Replay, Topics: topics}, w.connected(b, name), ring)
	done()
	release()
	if err != nil {
		return serve.DeviceCredentials{}, err
	}
	return serve.DeviceCredentials{Name: name, Broker: w.publicURL(), Username: c.Username, Password: serve.Secret(c.Password), ClientID: c.Username,
		Topics: wire.Root + name + "/", Publish: r.Publish, Read: r.Read, Page: serve.Secret(w.web.Link(name, c.Password))}, nil
}

// connected reports whether a device is connected to the broker b, which may be nil, or over HTTP.
func (w *Wearables) connected(b *intake.Broker, name string) bool {
	return b != nil && b.Connected(name) || w.web.Connected(name)
}

// publicURL returns the URL at which devices reach the node's own broker.
func (w *Wearables) publicURL() string {
	if w.c.Public != "" {
		return w.c.Public
	}
	scheme := "tcp://"
	if w.c.TLSCert != "" {
		scheme = "ssl://"
	}
	b, release := w.broker()
	defer release()
	listen := w.c.Listen
	if b != nil {
		listen = b.Addr().String()
	}
	return scheme + reached(listen, lan.Reachable())
}

// reached returns the address at which devices reach a listener on host:port. If it listens on all
// addresses, that is the first one at which another machine can reach this one, if there is any.
func reached(listen string, addresses []netip.Addr) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); host != "" && !ip.IsUnspecified() {
		return listen
	}
	for _, a := range addresses {
		if a.Is4() || host != "0.0.0.0" {
			return net.JoinHostPort(a.String(), port)
		}
	}
	return listen
}

// Devices implements serve.Devices.
func (w *Wearables) Devices(context.Context) ([]serve.Device, error) {
	list, err := w.list.all()
	if err != nil {
		return nil, err
	}
	b, release := w.broker()
	defer release()
	out := make([]serve.Device, len(list))
	for i, d := range list {
		seen := w.heard.of(d.Name)
		out[i] = serve.Device{Name: d.Name, Added: d.Added, LastSeen: seen.last, Events: seen.events, Battery: seen.battery, Publish: d.Publish, Read: d.Read,
			Connected: w.connected(b, d.Name)}
	}
	if w.c.URL != "" { // that broker has its own logins; this node only knows which devices it has heard
		out = append(out, w.heard.others(list)...)
	}
	return out, nil
}

// RemoveDevice implements serve.Devices.
func (w *Wearables) RemoveDevice(_ context.Context, name string) error {
	ring, release, err := w.keys()
	if err != nil {
		return err
	}
	found, err := w.list.remove(name, ring)
	release()
	if err != nil {
		return err
	}
	b, release := w.broker()
	if b != nil {
		b.Drop(name)
	}
	release()
	if heard := w.heard.drop(name); !found && !heard {
		return fmt.Errorf("device %q: %w", name, memory.ErrNotFound)
	}
	return nil
}
