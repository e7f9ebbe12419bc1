package node_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

// overheard is set in the process that has a network of its own.
const overheard = "LOCKET_TEST_OVERHEARD"

// Somebody who listens where two devices meet can't recognise them in another network. Bytes
// of the first meeting appear again in the second only if other wearers' devices send them,
// too. The test runs in a process with a network of its own, and hears every byte.
func TestThreatOverheardInTheNetwork(t *testing.T) {
	if !apart(t) {
		return
	}
	w := listen(t)
	a, b := alone(t, 91), alone(t, 92)
	a.init()
	a.home("Berlin")
	a.pair(b)
	paired := w.heard()
	a.meets(b, "Ghent")
	first := w.heard()
	a.meets(b, "Oslo")
	second := w.heard()

	c, d := alone(t, 93), alone(t, 94)
	c.init()
	c.home("Lima")
	c.pair(d)
	c.meets(d, "Quito")
	c.meets(d, "Cusco")
	others := w.heard()

	members, err := a.Members(t.Context())
	if err != nil || len(members) != 2 {
		t.Fatal(members, err)
	}
	for what, all := range map[string][][]byte{"a pairing": paired, "the first time": first, "the second time": second} {
		if len(all) < 10 {
			t.Fatalf("%s: only %d packets were heard", what, len(all))
		}
		for _, packet := range all {
			for _, plain := range []string{"HTTP/1.1", `"step"`, members[0].ID.String(), members[1].ID.String(), string(members[0].ID[:]), string(members[1].ID[:])} {
				if bytes.Contains(packet, []byte(plain)) {
					t.Errorf("%s shows %q", what, plain)
				}
			}
		}
	}
	known, before := pieces(others), pieces(first)
	for _, p := range second {
		run := 0 // consecutive pieces that also appeared the first time, and that others do not have
		for i := 8; i <= len(p); i++ {
			if piece := p[i-8 : i]; before[string(piece)] && !known[string(piece)] {
				run++
			} else {
				run = 0
			}
			if run == 6 { // chance gives two or three, where text that all devices send is followed by digits
				t.Errorf("%q came both times", p[i-8-run+1:i])
			}
		}
	}
	t.Logf("%d pieces the first time, %d the second", len(before), len(pieces(second)))
}

// A device that moves into another network while it runs is met there. It announces nothing
// of where it was, and listens on another port, because the old one would give it away.
func TestThreatPortKnownAgain(t *testing.T) {
	if !apart(t) {
		return
	}
	w := listen(t)
	a, b := alone(t, 95), alone(t, 96)
	a.init()
	a.home("Berlin")
	a.pair(b)
	a.start(b)
	before := w.announced(netip.MustParseAddr("127.0.0.1"))
	ip(t, "address", "add", "10.77.0.1/24", "dev", loopback(t))
	ip(t, "address", "del", "127.0.0.1/8", "dev", loopback(t))
	ip(t, "route", "replace", "224.0.0.0/4", "dev", loopback(t))
	for at := range w.announced(netip.MustParseAddr("10.77.0.1")) {
		for was := range before {
			if at.Port() == was.Port() {
				t.Errorf("%s has moved to %s", was, at)
			}
		}
	}
	w.heard()
	a.home("Oslo")
	b.gets("Oslo")
	for at := range announced(w.heard()) {
		if before[at] {
			t.Errorf("%s is still announced, although nobody listens there", at)
		}
	}
	a.stop(b)
}

// Strangers at twenty addresses hold as many connections to two devices as they can, and open
// another whenever one ends. The devices still meet.
func TestThreatPeerHeldByStrangers(t *testing.T) {
	if !apart(t) {
		return
	}
	listen(t)
	a, b := alone(t, 97), alone(t, 98)
	a.init()
	a.pair(b)
	a.home("Ghent")
	held := map[string]bool{}
	for _, d := range []*device{a, b} {
		if err := d.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, at := range listening(t) {
			for i := 0; i < 20*16 && !held[at]; i++ {
				stranger := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i/16))}}
				c, err := stranger.Dial("tcp", at)
				if err != nil {
					t.Fatal(err)
				}
				go func() { // until the process ends
					for ; err == nil; c, err = stranger.Dial("tcp", at) {
						_, _ = io.Copy(io.Discard, c)
						c.Close()
					}
				}()
			}
			held[at] = true
		}
	}
	b.gets("Ghent")
	a.stop(b)
}

// listening returns the addresses at which something listens in this process's network.
func listening(t *testing.T) (all []string) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var n, port int
		var ip, peer, state string
		if _, err := fmt.Sscanf(strings.NewReplacer(":", " ").Replace(line), "%d %s %x %s %s %s", &n, &ip, &port, &peer, new(string), &state); err == nil && state == "0A" {
			all = append(all, fmt.Sprintf("127.0.0.1:%d", port))
		}
	}
	return all
}

// apart reports whether this process has a network of its own. If it has not, apart has run
// the test in one that has.
func apart(t *testing.T) bool {
	t.Helper()
	if os.Getenv(overheard) != "" {
		return true
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), overheard+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// announced waits until two devices have announced themselves at an address.
func (w *wire) announced(here netip.Addr) map[netip.AddrPort]bool {
	w.t.Helper()
	all := map[netip.AddrPort]bool{}
	until(w.t, "two devices at "+here.String(), func() string { return fmt.Sprint(all) }, func() bool {
		for at := range announced(w.heard()) {
			if at.Addr() == here {
				all[at] = true
			}
		}
		return len(all) == 2
	})
	return all
}

// announced returns the places of services by multicast DNS over IPv4.
func announced(packets [][]byte) map[netip.AddrPort]bool {
	all := map[netip.AddrPort]bool{}
	for _, p := range packets {
		var m dns.Msg
		if m.Unpack(p) != nil || !m.Response {
			continue
		}
		var ports []uint16
		var addresses []netip.Addr
		for _, rr := range append(m.Answer, m.Extra...) {
			switch rr := rr.(type) {
			case *dns.SRV:
				ports = append(ports, rr.Port)
			case *dns.A:
				if at, ok := netip.AddrFromSlice(rr.A); ok {
					addresses = append(addresses, at.Unmap())
				}
			}
		}
		if len(ports) > 0 && len(addresses) > 0 {
			all[netip.AddrPortFrom(addresses[0], ports[0])] = true
		}
	}
	return all
}

// alone returns a device without a relay, which meets others over the loopback interface.
func alone(t *testing.T, seed uint64) *device {
	d := newDevice(t, "", seed)
	d.cfg.Sync.LAN, d.cfg.Sync.Interface = true, loopback(t)
	d.cfg.Broker.Embedded, d.cfg.Broker.Listen = true, "127.0.0.1:0"
	return d
}

// start starts both.
func (d *device) start(other *device) {
	d.t.Helper()
	for _, x := range []*device{d, other} {
		if err := x.Start(d.t.Context()); err != nil {
			d.t.Fatal(err)
		}
	}
}

// stop stops both.
func (d *device) stop(other *device) {
	d.t.Helper()
	for _, x := range []*device{d, other} {
		if err := x.Stop(d.t.Context()); err != nil {
			d.t.Fatal(err)
		}
	}
}

// gets waits until this device knows of a place.
func (d *device) gets(place string) {
	d.t.Helper()
	until(d.t, place, d.state, func() bool { return strings.Contains(d.state(), place) })
}

// meets starts both devices, waits until the other one has what this one is told, and stops
// them.
func (d *device) meets(other *device, place string) {
	d.t.Helper()
	d.home(place)
	d.start(other)
	other.gets(place)
	d.stop(other)
	d.reopen() // as new processes do
	other.reopen()
}

// pieces returns all runs of 8 bytes within packets.
func pieces(packets [][]byte) map[string]bool {
	all := map[string]bool{}
	for _, p := range packets {
		for i := 8; i <= len(p); i++ {
			all[string(p[i-8:i])] = true
		}
	}
	return all
}

// wire hears every packet of the loopback interface.
type wire struct {
	t      *testing.T
	marked chan struct{}

	mu      sync.Mutex
	packets [][]byte // what follows the IP, TCP and UDP headers
}

const (
	marker     = "this is where it is cut"
	markerPort = 9
)

// listen brings up the loopback interface of a network that has nothing else.
func listen(t *testing.T) *wire {
	t.Helper()
	ip(t, "link", "set", loopback(t), "up")
	ip(t, "-6", "address", "flush", "dev", loopback(t))
	ip(t, "route", "add", "224.0.0.0/4", "dev", loopback(t))
	raw, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, int(binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, unix.ETH_P_ALL))))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetsockoptInt(raw, unix.SOL_SOCKET, unix.SO_RCVBUF, 16<<20); err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, marked: make(chan struct{}, 1)}
	go w.read(raw) // until the process ends
	return w
}

func (w *wire) read(raw int) {
	buf := make([]byte, 1<<17)
	for {
		n, from, err := unix.Recvfrom(raw, buf, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			panic(err)
		}
		if at, ok := from.(*unix.SockaddrLinklayer); !ok || at.Pkttype == unix.PACKET_OUTGOING { // each packet also arrives as incoming
			continue
		}
		data := payload(buf[:n])
		if string(data) == marker {
			w.marked <- struct{}{}
			continue
		}
		w.mu.Lock()
		w.packets = append(w.packets, bytes.Clone(data))
		w.mu.Unlock()
	}
}

// heard returns what was heard since the last time.
func (w *wire) heard() [][]byte {
	w.t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Sendto(fd, []byte(marker), 0, &unix.SockaddrInet4{Port: markerPort, Addr: [4]byte{224, 0, 0, 99}})
		_ = unix.Close(fd)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	<-w.marked
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.packets
	w.packets = nil
	return out
}

// payload returns what follows the headers of IP and of TCP or UDP.
func payload(p []byte) []byte {
	var protocol byte
	switch {
	case len(p) >= 20 && p[0]>>4 == 4:
		protocol, p = p[9], p[4*int(p[0]&15):]
	case len(p) >= 40 && p[0]>>4 == 6:
		protocol, p = p[6], p[40:]
	}
	switch {
	case protocol == unix.IPPROTO_TCP && len(p) >= 20:
		return p[4*int(p[12]>>4):]
	case protocol == unix.IPPROTO_UDP && len(p) >= 8:
		return p[8:]
	}
	return nil
}
