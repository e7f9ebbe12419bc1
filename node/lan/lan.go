// Package lan finds a wearer's other devices in the same network by multicast DNS
// (RFC 6762, 6763), and lets only them find this device.
//
// The words:
//
// A beacon is the instance of the service _locket._tcp that a device announces: a
// nonce, and a MAC of the nonce, the address and the window, under a key of the
// space's members. To others it is noise. A window is a quarter of an hour. The
// nonce changes with each window, and the beacon with it, so a listener can't tell
// over time that it was one device.
//
// Nothing in a beacon names the wearer, the space or the machine. As with any
// service, a listener can see that a machine in the network runs Locket, and its
// addresses.
package lan

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/mdns"
	"github.com/miekg/dns"

	"github.com/locket-dev/locket/internal/wait"
)

const (
	service = "_locket._tcp"
	window  = 15 * time.Minute
	answers = 2 * time.Second  // how long one question waits for answers
	pause   = 20 * time.Second // between two questions
)

// Config is what a search needs. All fields except Interfaces, Log and Now are
// required.
type Config struct {
	Port int             // where this device's peer listens
	Keys func() [][]byte // keys of the members, the current one first; empty while there are none
	// OnFound is called with each address of a member, each time that it is heard.
	OnFound    func(netip.AddrPort)
	Interfaces []net.Interface // nil: those that are up, have multicast and are not loopback
	Log        *slog.Logger
	Now        func() time.Time
}

// Lan announces and searches until it is closed.
type Lan struct {
	c       Config
	beacons []*beacon
	end     context.CancelFunc
	wait    sync.WaitGroup
}

// beacon announces one address on one interface, and searches over addresses of the
// same kind. It implements mdns.Zone.
type beacon struct {
	l      *Lan
	iface  net.Interface
	ip     netip.Addr // without a zone, which differs between machines
	server *mdns.Server

	mu     sync.Mutex
	number int64 // of the window to which zone and nonce belong
	key    string
	nonce  [8]byte
	zone   *mdns.MDNSService
}

// Start announces this device and searches for others.
func Start(c Config) (*Lan, error) {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Interfaces == nil {
		all, err := net.Interfaces()
		if err != nil {
			return nil, fmt.Errorf("lan: %w", err)
		}
		for _, i := range all {
			if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagMulticast != 0 && i.Flags&net.FlagLoopback == 0 {
				c.Interfaces = append(c.Interfaces, i)
			}
		}
	}
	ctx, end := context.WithCancel(context.Background())
	l := &Lan{c: c, end: end}
	for _, i := range c.Interfaces {
		for _, ip := range Addresses(&i) {
			l.beacons = append(l.beacons, &beacon{l: l, iface: i, ip: ip.WithZone("")})
		}
	}
	l.beacons = slices.DeleteFunc(l.beacons, func(b *beacon) (fails bool) {
		var err error
		if b.server, err = mdns.NewServer(&mdns.Config{Zone: b, Iface: &b.iface, Logger: log.New(io.Discard, "", 0)}); err != nil {
			c.Log.Warn("lan: other devices can't find this device on this interface", "interface", b.iface.Name, "address", b.ip, "error", err)
		}
		return err != nil
	})
	if len(l.beacons) == 0 {
		end()
		return nil, fmt.Errorf("lan: no interface has multicast and an address")
	}
	for _, b := range l.beacons {
		l.wait.Go(func() { b.search(ctx) })
	}
	return l, nil
}

// Close ends the announcements and searches, and waits.
func (l *Lan) Close() {
	l.end()
	for _, b := range l.beacons {
		b.server.Shutdown()
	}
	l.wait.Wait()
}

// Records implements mdns.Zone.
func (b *beacon) Records(q dns.Question) []dns.RR {
	b.mu.Lock()
	defer b.mu.Unlock()
	keys := b.l.c.Keys()
	if len(keys) == 0 {
		return nil
	}
	if n := b.l.c.Now().UnixNano() / int64(window); b.zone == nil || n != b.number || string(keys[0]) != b.key {
		b.number, b.key, b.zone = n, string(keys[0]), nil
		rand.Read(b.nonce[:])
		name := nameOf(keys[0], n, b.nonce[:], netip.AddrPortFrom(b.ip, uint16(b.l.c.Port)))
		zone, err := mdns.NewMDNSService(name, service, "", hex.EncodeToString(b.nonce[:])+".local.", b.l.c.Port, []net.IP{b.ip.AsSlice()}, []string{""})
		if err != nil {
			b.l.c.Log.Error("lan: beacon", "error", err)
			return nil
		}
		b.zone = zone
	}
	return b.zone.Records(q)
}

// nameOf returns a beacon: NONCE-MAC, 16 hexadecimal characters each.
func nameOf(key []byte, number int64, nonce []byte, at netip.AddrPort) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte("locket/v1 lan\x00"))
	m.Write(binary.BigEndian.AppendUint64(nil, uint64(number)))
	m.Write(nonce)
	m.Write([]byte(at.String()))
	return hex.EncodeToString(nonce) + "-" + hex.EncodeToString(m.Sum(nil)[:8])
}

// knows reports whether a name that was announced for an address belongs to a
// member. The name may be from this window or a neighbouring one, because clocks
// differ.
func knows(keys [][]byte, now time.Time, name string, at netip.AddrPort) bool {
	text, _, ok := strings.Cut(name, "-")
	nonce, err := hex.DecodeString(text)
	if !ok || err != nil || len(nonce) != 8 {
		return false
	}
	n := now.UnixNano() / int64(window)
	for _, key := range keys {
		for _, number := range []int64{n, n - 1, n + 1} {
			if hmac.Equal([]byte(name), []byte(nameOf(key, number, nonce, at))) {
				return true
			}
		}
	}
	return false
}

// search asks at intervals until ctx ends.
func (b *beacon) search(ctx context.Context) {
	quiet := log.New(io.Discard, "", 0)
	for ctx.Err() == nil {
		entries := make(chan *mdns.ServiceEntry, 64)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for e := range entries {
				b.processAnswer(e)
			}
		}()
		err := mdns.QueryContext(ctx, &mdns.QueryParam{Service: service, Timeout: answers, Interface: &b.iface, Entries: entries,
			DisableIPv4: b.ip.Is6(), DisableIPv6: b.ip.Is4(), Logger: quiet})
		close(entries)
		<-done
		if err != nil && ctx.Err() == nil {
			b.l.c.Log.Debug("lan: search", "interface", b.iface.Name, "address", b.ip, "error", err)
		}
		wait.For(ctx, pause)
	}
}

// processAnswer processes one answer. Anybody may have sent it.
func (b *beacon) processAnswer(e *mdns.ServiceEntry) {
	c := &b.l.c
	if e.Port <= 0 || e.Port > 1<<16-1 {
		return
	}
	name, _, _ := strings.Cut(e.Name, ".")
	for _, raw := range []net.IP{e.AddrV4, addressOf(e.AddrV6IPAddr)} {
		ip, ok := netip.AddrFromSlice(raw)
		if !ok {
			continue
		}
		ip = ip.Unmap()
		own := e.Port == c.Port && slices.ContainsFunc(b.l.beacons, func(b *beacon) bool { return b.ip == ip })
		if own || !knows(c.Keys(), c.Now(), name, netip.AddrPortFrom(ip, uint16(e.Port))) {
			continue
		}
		if ip.Is6() && ip.IsLinkLocalUnicast() { // it can only be reached through the interface on which it was heard
			ip = ip.WithZone(b.iface.Name)
		}
		c.OnFound(netip.AddrPortFrom(ip, uint16(e.Port)))
	}
}

func addressOf(a *net.IPAddr) net.IP {
	if a == nil {
		return nil
	}
	return a.IP
}
