package node_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// overheard is set in the process that has a network of its own.
const overheard = "LOCKET_TEST_OVERHEARD"

// Who listens in the network where two devices meet knows neither of them again in
// another one: nothing of the first time comes a second time, but what other wearers'
// devices say as well. A process with a network of its own has all the bytes.
func TestThreatOverheardInTheNetwork(t *testing.T) {
	if os.Getenv(overheard) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestThreatOverheardInTheNetwork$", "-test.v")
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
		run := 0 // pieces one after the other that came the first time, and that others do not have
		for i := 8; i <= len(p); i++ {
			if piece := string(p[i-8 : i]); before[piece] && !known[piece] {
				run++
			} else {
				run = 0
			}
			if run == 6 { // chance gives two or three, where what all have is followed by digits
				t.Errorf("%q came both times", p[i-8-run+1:i])
			}
		}
	}
	t.Logf("%d pieces the first time, %d the second", len(before), len(pieces(second)))
}

// alone is a device without a relay, which meets others over the loopback interface.
func alone(t *testing.T, seed uint64) *device {
	d := newDevice(t, "", seed)
	d.cfg.Sync.LAN, d.cfg.Sync.Interface = true, loopback(t)
	d.cfg.Broker.Embedded, d.cfg.Broker.Listen = true, "127.0.0.1:0"
	return d
}

// meets starts both devices, until the other has what this one is told, and stops them.
func (d *device) meets(other *device, place string) {
	d.t.Helper()
	d.home(place)
	for _, x := range []*device{d, other} {
		if err := x.Start(d.t.Context()); err != nil {
			d.t.Fatal(err)
		}
	}
	for range 1200 { // of a tenth of a second
		if strings.Contains(other.state(), place) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if !strings.Contains(other.state(), place) {
		d.t.Fatalf("%s did not come", place)
	}
	for _, x := range []*device{d, other} {
		if err := x.Stop(d.t.Context()); err != nil {
			d.t.Fatal(err)
		}
		x.reopen() // as a process does that begins anew
	}
}

// pieces are all runs of 8 bytes within packets.
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
	packets [][]byte // what follows the heads of IP, TCP and UDP
}

const (
	marker     = "this is where it is cut"
	markerPort = 9
)

// listen brings up the loopback interface of a network that has nothing else.
func listen(t *testing.T) *wire {
	t.Helper()
	lo := loopback(t)
	for _, args := range [][]string{{"link", "set", lo, "up"}, {"route", "add", "224.0.0.0/4", "dev", lo}} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
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
		if at, ok := from.(*unix.SockaddrLinklayer); !ok || at.Pkttype == unix.PACKET_OUTGOING { // it comes in as well
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

// heard gives what was heard since the last time.
func (w *wire) heard() [][]byte {
	w.t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Sendto(fd, []byte(marker), 0, &unix.SockaddrInet4{Port: markerPort, Addr: [4]byte{127, 0, 0, 1}})
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

// payload is what follows the heads of IP and of TCP or UDP.
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
