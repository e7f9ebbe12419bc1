package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// house is a relay, with a counter of its bytes, in a folder that Close removes.
type house struct {
	dir   string
	url   string
	wire  wireCount
	close []func() error // called in reverse order
}

// wireCount counts what went over a relay's connections in either direction, as carried by TCP.
type wireCount struct {
	received, sent atomic.Int64 // bytes
	writes         atomic.Int64 // how often the relay sent something, which may wake a device
}

type counting struct {
	net.Listener
	wire *wireCount
}

func (l counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countingConn{c, l.wire}, nil
}

type countingConn struct {
	net.Conn
	wire *wireCount
}

func (c countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.wire.received.Add(int64(n))
	return n, err
}

func (c countingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.wire.sent.Add(int64(n))
	c.wire.writes.Add(1)
	return n, err
}

func newHouse(ctx context.Context) (*house, error) {
	dir, err := os.MkdirTemp("", "locket-bench-sync-")
	if err != nil {
		return nil, err
	}
	h, err := newHouseIn(ctx, dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	h.close = slices.Insert(h.close, 0, func() error { return os.RemoveAll(dir) })
	return h, nil
}

// newHouseIn is newHouse in a folder that stays.
func newHouseIn(ctx context.Context, dir string) (h *house, err error) {
	opening := &house{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, opening.Close())
		}
	}()
	h = opening
	kept, err := embedded.Open(ctx, filepath.Join(h.dir, "relay"))
	if err != nil {
		return nil, err
	}
	h.close = append(h.close, kept.Close)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h.url = "http://" + ln.Addr().String()
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() {
		ended <- api.New(api.Config{Relay: relay.New(kept, relay.Config{})}).Serve(ctx, counting{ln, &h.wire})
	}()
	h.close = append(h.close, func() error { stop(); return <-ended })
	return h, nil
}

// Close stops everything that the house started.
func (h *house) Close() error {
	var errs []error
	for _, f := range slices.Backward(h.close) {
		errs = append(errs, f())
	}
	h.close = nil
	return errors.Join(errs...)
}

// settings are a device's.
func (h *house) settings(name string) config.Config {
	cfg := config.Config{Home: filepath.Join(h.dir, name), Wearer: "User", Zone: "UTC", Broker: config.Broker{Listen: "127.0.0.1:0"}, Sync: config.Sync{Relay: h.url}}
	cfg.Defaults()
	return cfg
}

// device opens the node of an existing home.
func (h *house) device(ctx context.Context, name, cache string) (*node.Node, error) {
	n, err := node.Open(h.settings(name), node.Options{Cache: cache})
	if err != nil {
		return nil, err
	}
	h.close = append(h.close, n.Close)
	if ok, err := n.UnlockAsConfigured(ctx); err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("%s did not open with its key file", name), err)
	}
	return n, nil
}

// recovered makes a new device in the space that the phrase opens.
func (h *house) recovered(ctx context.Context, name, cache, phrase string) (*node.Node, error) {
	_, err := node.Recover(ctx, h.settings(name), node.JoinOptions{InitOptions: node.InitOptions{KeyFile: true}, Relay: h.url}, phrase)
	if err != nil {
		return nil, err
	}
	return h.device(ctx, name, cache)
}

// solo is a replica over a store, with no node around it.
type solo struct {
	ring   *keyring.Ring
	phrase string
	store  *store.Store
	at     *remote.Space
	*replica.Replica
}

// newSolo founds a space, or joins one.
func (h *house) newSolo(name string, join *keyring.Joining) (b *solo, err error) {
	b = &solo{}
	dir := filepath.Join(h.dir, name)
	b.ring, b.phrase, err = keyring.Create(filepath.Join(dir, "keys"), keyring.CreateOptions{KeyFile: keyring.DefaultKeyFile, Join: join, FoundSpace: membership.FoundSpace("")})
	if err != nil {
		return nil, err
	}
	h.close = append(h.close, b.ring.Close)
	b.store, err = store.Open(store.Options{Dir: filepath.Join(dir, "store"), Key: b.ring.StoreKey(), Derive: reconcile.Derive, Diff: reconcile.Diff})
	if err != nil {
		return nil, err
	}
	h.close = append(h.close, b.store.Close)
	r, err := remote.New(h.url, remote.Option{})
	if err != nil {
		return nil, err
	}
	genesis, err := membership.Genesis(b.ring.Locked)
	if err != nil {
		return nil, err
	}
	space, member := b.ring.Space(), b.ring.Member()
	b.at = r.Space(space, member, b.ring.SignRequest)
	b.Replica, err = replica.New(replica.Config{Space: space, Member: member, Genesis: genesis, Remote: upstream.New(b.at, ""), Keys: soloKeys{b.ring},
		Journal: &journal.Journal{Space: space, Member: member, Store: b.store}, Temp: filepath.Join(dir, "parts")})
	if err != nil {
		return nil, err
	}
	h.close = append(h.close, func() error { b.Replica.Close(); r.Close(); return nil })
	return b, nil
}

// addFacts adds facts as the replica's member, 50 per transaction, each with the line that it was made
// from, if there is one.
func (b *solo) addFacts(ctx context.Context, facts []memory.Assertion, lines ...memory.Utterance) error {
	for chunk := range slices.Chunk(facts, 50) {
		heard := lines[:min(len(lines), len(chunk))]
		lines = lines[len(heard):]
		err := b.store.Update(ctx, func(tx *store.Tx) error {
			for i := range heard {
				heard[i].Space = b.ring.Space()
				if err := tx.PutUtterance(&heard[i]); err != nil {
					return err
				}
			}
			for i := range chunk {
				dot, err := tx.NextDot(b.ring.Member())
				if err != nil {
					return err
				}
				chunk[i].Dot, chunk[i].Space = dot, b.ring.Space()
			}
			_, err := tx.Assert(chunk...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// soloKeys is replica.Keys over a ring, for a space with one epoch.
type soloKeys struct{ ring *keyring.Ring }

func (k soloKeys) Sign(domain string, msg []byte) ([]byte, error) {
	return k.ring.DeviceSign(domain, msg)
}

func (k soloKeys) Epoch(n uint32) (*seal.Key, bool) { return k.ring.Epoch(k.ring.Space(), n) }

func (k soloKeys) Take(sealed []byte) error {
	e, err := seal.OpenEpochs(k.ring.DeviceIdentity(), k.ring.Space(), sealed)
	if err != nil {
		return err
	}
	return k.ring.KeepEpochs(k.ring.Space(), e)
}

func (k soloKeys) Wrap(n uint32, to *seal.Recipient) ([]byte, error) {
	keys := seal.Epochs{}
	for i := uint32(1); i <= n; i++ {
		keys[i], _ = k.Epoch(i)
	}
	return seal.SealEpochs(to, k.ring.Space(), keys)
}
