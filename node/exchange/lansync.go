package exchange

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/lan"
	"github.com/locket-dev/locket/node/remotes"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/peer"
)

// lanSync is a node's part of sync in its local network. It serves the envelope store
// to the space's members, lets them find it, and exchanges with those that it finds.
type lanSync struct {
	sy          *Syncing
	remotes     *remotes.Remotes
	server      *peer.Server
	reportOlder sync.Once // reports only once that an older version was found

	mu            sync.Mutex         // guards the fields below, except follow and asks
	cancel        context.CancelFunc // nil: lanSync was not started
	stopListening context.CancelFunc // ends what runs at these addresses
	addresses     []netip.Addr       // addresses of this device when it began at them
	listenAddr    netip.AddrPort     // where it listens; zero: it doesn't
	http          *http.Server       // nil: stopped
	lan           *lan.Lan
	asked         map[netip.AddrPort]time.Time // addresses that were asked, and when

	watcher sync.WaitGroup // the goroutine that follows the addresses
	workers sync.WaitGroup // goroutines that serve or ask, and requests that are being answered
}

// askAgain is how long an address is not asked again after it was asked who it is.
const askAgain = time.Minute

func (sy *Syncing) newLANSync(p *remotes.Remotes) *lanSync {
	m := &lanSync{sy: sy, remotes: p}
	m.server = &peer.Server{Envelopes: p.Envelopes, Self: sy.c.Ring.Member(), Now: sy.c.Now, Key: func() []byte {
		if keys := sy.lanKeys(); len(keys) > 0 {
			return keys[0]
		}
		return nil
	}, Known: func(r *http.Request, id memory.MemberID) { lan.MarkKnown(r.Context(), id.String()) }}
	return m
}

// lanKeys returns the keys by which members of the space recognise each other in a
// network: that of the current epoch, and earlier ones, for a device that has not
// heard of the current epoch yet.
func (sy *Syncing) lanKeys() [][]byte {
	var out [][]byte
	for n := uint32(1); ; n++ {
		key, ok := sy.c.Ring.Epoch(sy.c.Ring.Space(), n)
		if !ok {
			break
		}
		k := key.Derive("locket/v1 lan")
		out = append([][]byte{k.Bytes()}, out...)
		k.Zero()
	}
	return out[:min(len(out), 3)]
}

// start listens, announces and searches, at the present addresses and wherever this
// device moves to. Failures are only logged, because sync by other ways continues.
func (m *lanSync) start() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cancel != nil {
		return
	}
	ctx, end := context.WithCancel(context.Background())
	m.cancel = end
	m.listenHere(ctx)
	m.watcher.Go(func() { m.watchAddresses(ctx) })
}

// listenHere begins at the present addresses. The caller holds the lock.
func (m *lanSync) listenHere(ctx context.Context) {
	m.addresses = m.localAddresses()
	ctx, m.stopListening = context.WithCancel(ctx)
	if err := m.listen(ctx); err != nil {
		m.sy.c.Log.Warn("lan: no exchange with other devices in this network", "error", err)
	}
}

// watchAddresses starts again whenever this device gets other addresses. It then has another
// port, because somebody who listens in two networks could otherwise recognise it.
func (m *lanSync) watchAddresses(ctx context.Context) {
	for wait.For(ctx, addressCheckEvery) {
		m.mu.Lock()
		moved := !slices.Equal(m.addresses, m.localAddresses())
		m.mu.Unlock()
		if !moved {
			continue
		}
		m.stopListeners()
		m.mu.Lock()
		if ctx.Err() == nil {
			m.listenHere(ctx)
		}
		m.mu.Unlock()
	}
}

// addressCheckEvery is how often it is checked whether this device has other addresses.
const addressCheckEvery = 20 * time.Second

// localAddresses returns the addresses that others in the network may reach, sorted.
func (m *lanSync) localAddresses() (all []netip.Addr) {
	list, _ := net.Interfaces() // without them there are no addresses
	for _, i := range list {
		if m.sy.c.Sync.Interface == i.Name || m.sy.c.Sync.Interface == "" && i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 {
			all = append(all, lan.Addresses(&i)...)
		}
	}
	sorting.Sort(all, netip.Addr.Compare)
	return all
}

func (m *lanSync) listen(ctx context.Context) error {
	lns, only, err := listen(m.sy.c.Sync.Interface)
	if err != nil {
		return err
	}
	at := lns[0].Addr().(*net.TCPAddr).AddrPort()
	m.asked = map[netip.AddrPort]time.Time{}
	server := &http.Server{Handler: m.trackRequests(ctx, m.server.Handler()), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10, ConnContext: lan.WithConn,
		ErrorLog:    log.New(io.Discard, "", 0), // anybody may connect and send something that is not TLS
		BaseContext: func(net.Listener) context.Context { return ctx }}
	m.http = server
	for _, ln := range lns {
		m.workers.Go(func() {
			if err := server.Serve(tls.NewListener(lan.OnlyNearby(ln), m.server.TLS())); !errors.Is(err, http.ErrServerClosed) {
				m.sy.c.Log.Warn("lan: peer", "error", err)
			}
		})
	}
	m.listenAddr = at
	m.lan, err = lan.Start(lan.Config{Port: int(at.Port()), Keys: m.sy.lanKeys, OnFound: func(at netip.AddrPort) { m.askPeer(ctx, at) }, Interfaces: only, Log: m.sy.c.Log, Now: m.sy.c.Now})
	return err
}

// trackRequests makes stopListeners wait for requests, too, because they write into the envelope
// store, and closing a server does not wait for them. ctx belongs to the present
// addresses.
func (m *lanSync) trackRequests(ctx context.Context, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		over := ctx.Err() != nil
		if !over {
			m.workers.Add(1)
		}
		m.mu.Unlock()
		if over {
			return // the connection is being closed
		}
		defer m.workers.Done()
		h.ServeHTTP(w, r)
	})
}

// listen listens on one port: at every address, or only at those of one interface.
func listen(name string) (lns []net.Listener, only []net.Interface, err error) {
	if name == "" {
		ln, err := net.Listen("tcp", ":0")
		return []net.Listener{ln}, nil, err
	}
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil, nil, fmt.Errorf("sync.interface: %q: %w", name, err)
	}
	addresses := lan.Addresses(i)
	if len(addresses) == 0 {
		return nil, nil, fmt.Errorf("sync.interface: %s has no address", name)
	}
	if lns, err = listenAt(addresses); err != nil {
		return nil, nil, fmt.Errorf("sync.interface: %w", err)
	}
	return lns, []net.Interface{*i}, nil
}

// listenAt listens on one port, at as many of the addresses as it can. An IPv6
// address is not ready in the first second or two after its interface came up. If
// it can't listen at any, the error says why.
func listenAt(addresses []netip.Addr) (lns []net.Listener, err error) {
	port := uint16(0)
	var errs []error
	for _, ip := range addresses {
		ln, err := net.Listen("tcp", netip.AddrPortFrom(ip, port).String())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		port = ln.Addr().(*net.TCPAddr).AddrPort().Port()
		lns = append(lns, ln)
	}
	if len(lns) == 0 {
		return nil, errors.Join(errs...)
	}
	return lns, nil
}

// urlOf returns the URL of a listener at an address.
func urlOf(at netip.AddrPort) string {
	u := url.URL{Scheme: peer.Scheme, Host: at.String()}
	return u.String()
}

// askPeer asks an address that a member's beacon gave who it is.
func (m *lanSync) askPeer(ctx context.Context, at netip.AddrPort) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if ctx.Err() != nil || now.Sub(m.asked[at]) < askAgain {
		return
	}
	for a, asked := range m.asked {
		if now.Sub(asked) >= askAgain {
			delete(m.asked, a)
		}
	}
	m.asked[at] = now
	m.workers.Go(func() {
		id, err := peer.Ask(ctx, at.String(), m.sy.lanKeys()...)
		if err == nil {
			err = m.remotes.Peer(id, urlOf(at))
		}
		if errors.Is(err, peer.ErrOlder) {
			m.reportOlder.Do(func() { m.sy.c.Log.Warn("lan: update Locket on your other device", "error", err) })
		}
		if err != nil && ctx.Err() == nil {
			m.sy.c.Log.Debug("lan: no exchange with a device", "address", at, "error", err)
		}
	})
}

// url returns the URL at which others in the network reach this device.
func (m *lanSync) url() (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !m.listenAddr.IsValid():
		return "", fmt.Errorf("%w: this device does not listen in its network: see the log", serve.ErrUnsupported)
	case m.listenAddr.Addr().Zone() != "":
		return "", fmt.Errorf("%w: this device has no address in a network but %s, in which nothing else can find it by name", serve.ErrUnsupported, m.listenAddr.Addr())
	case !m.listenAddr.Addr().IsUnspecified():
		return urlOf(m.listenAddr), nil
	}
	all, err := net.Interfaces()
	if err != nil {
		return "", err
	}
	var last netip.Addr
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		for _, ip := range lan.Addresses(&i) {
			if ip.Is4() {
				return urlOf(netip.AddrPortFrom(ip, m.listenAddr.Port())), nil
			}
			if ip.Zone() == "" { // a zone means nothing on another machine
				last = ip
			}
		}
	}
	if last.IsValid() {
		return urlOf(netip.AddrPortFrom(last, m.listenAddr.Port())), nil
	}
	return "", fmt.Errorf("%w: this device has no address in a network", serve.ErrUnsupported)
}

// waitForPeer waits a while until another device is found. It is for a process that does not
// run long enough to find one later.
func (m *lanSync) waitForPeer(ctx context.Context) {
	m.start()
	for range peerWaitTries {
		for _, s := range m.remotes.Status() {
			if s.Peer {
				return
			}
		}
		if !wait.For(ctx, peerWaitEvery) {
			return
		}
	}
}

// How long look waits: as long as a query waits for answers, and somewhat longer.
const (
	peerWaitTries = 30
	peerWaitEvery = 100 * time.Millisecond
)

// stop ends everything, and waits.
func (m *lanSync) stop() {
	m.mu.Lock()
	if m.cancel != nil {
		m.cancel()
	}
	m.mu.Unlock()
	m.watcher.Wait()
	m.stopListeners()
	m.mu.Lock()
	m.cancel = nil
	m.mu.Unlock()
}

// stopListeners ends what runs at the present addresses, and waits.
func (m *lanSync) stopListeners() {
	m.mu.Lock()
	server, l := m.http, m.lan
	if m.stopListening != nil {
		m.stopListening()
	}
	m.http, m.lan, m.listenAddr = nil, nil, netip.AddrPort{}
	m.mu.Unlock()
	if l != nil {
		l.Close()
	}
	if server != nil {
		server.Close()
	}
	m.workers.Wait()
}
