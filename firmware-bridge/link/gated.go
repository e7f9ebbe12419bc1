package link

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/node/intake"
)

// Datagram and the sender's address are the topic of a datagram. It is answered under the same
// topic.
const Datagram = "udp/"

// Session is the topic under which a gated device is given the four bytes of the current session.
// Datagrams whose bytes 4 to 8 differ are dropped, and so are all of them before it is set.
const Session = "session"

const (
	maxDatagram  = 4 << 10 // bytes
	manyWaiting  = 64      // datagrams that wait to be read; more are dropped, as on the network
	guestUser    = `{"ip":"unknown"}`
	guestGroup   = "GID_locket"
	guestReplies = "devices/p2p/" // answers are published under this and the device's id
)

// gate admits devices by MQTT, and takes their datagrams at the same port. A device shows the login
// that it got at the OTA address, which is derived from the Key.
type gate struct {
	of   *Sockets
	mqtt *intake.GuestBroker
	udp  *net.UDPConn
	port uint16
	gone chan struct{} // closed when datagrams are no longer read
}

func openGate(s *Sockets) (*gate, error) {
	g := &gate{of: s, gone: make(chan struct{})}
	var err error
	if g.mqtt, err = intake.ListenGuests(intake.GuestConfig{Addr: s.MQTT, Allow: g.allow, OnGuest: g.arrived}); err != nil {
		return nil, fmt.Errorf("listen for devices by MQTT: %w", err)
	}
	at := g.mqtt.Addr().(*net.TCPAddr)
	g.port = uint16(at.Port)
	if g.udp, err = net.ListenUDP("udp", &net.UDPAddr{IP: at.IP, Port: at.Port, Zone: at.Zone}); err != nil {
		return nil, errors.Join(fmt.Errorf("listen for datagrams: %w", err), g.mqtt.Close())
	}
	go g.read()
	return g, nil
}

func (g *gate) close() error {
	err := errors.Join(g.mqtt.Close(), g.udp.Close())
	<-g.gone
	return err
}

// login returns the login of the device that asks; nil if its Device-Id or Client-Id is invalid.
func (g *gate) login(r *http.Request) *Login {
	mac, id := strings.ToLower(r.Header.Get("Device-Id")), r.Header.Get("Client-Id")
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	if hw, err := net.ParseMAC(mac); err != nil || hw.String() != mac || len(id) > 64 || strings.ContainsAny(id, "@|/+#") {
		return nil
	}
	l := &Login{Endpoint: net.JoinHostPort(host, fmt.Sprint(g.port)), User: base64.StdEncoding.EncodeToString([]byte(guestUser)),
		Client: guestGroup + "@@@" + strings.ReplaceAll(mac, ":", "_") + "@@@" + id}
	l.Password = g.password(l.Client, l.User)
	return l
}

func (g *gate) password(client, user string) string {
	h := hmac.New(sha256.New, []byte(g.of.Key))
	fmt.Fprintf(h, "%s|%s", client, user)
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

func (g *gate) allow(client, user string, password []byte) bool {
	return hmac.Equal(password, []byte(g.password(client, user))) && strings.Count(client, "@@@") == 2 &&
		(g.of.Device == "" || strings.EqualFold(mac(client), g.of.Device))
}

// mac returns the device's MAC address, from its client id.
func mac(client string) string {
	return strings.ReplaceAll(strings.Split(client, "@@@")[1], "_", ":")
}

func (g *gate) arrived(guest *intake.Guest) {
	at := &net.UDPAddr{Port: int(g.port)}
	if l, ok := guest.Local.(*net.TCPAddr); ok {
		at.IP = l.IP
	}
	var remote netip.Addr
	if r, ok := guest.Remote.(*net.TCPAddr); ok {
		remote = plain(r.AddrPort())
	}
	g.of.arrive(&gated{guest: guest, udp: g.udp, remote: remote, topic: guestReplies + strings.Split(guest.Client, "@@@")[1],
		opening: Opening{Device: mac(guest.Client), UDP: at.String()},
		came:    make(chan Notification, manyWaiting), out: make(chan Notification), stop: make(chan struct{}), gone: make(chan struct{})})
}

// plain removes what the two kinds of socket write differently in an address.
func plain(a netip.AddrPort) netip.Addr { return a.Addr().Unmap().WithZone("") }

// read passes datagrams to the device that is served, if they can be its own. Others do not use up
// its queue.
func (g *gate) read() {
	defer close(g.gone)
	b := make([]byte, maxDatagram+1)
	for {
		n, from, err := g.udp.ReadFromUDPAddrPort(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil || n > maxDatagram {
			continue // an answer could not be delivered, or it is no datagram of a device
		}
		g.of.mu.Lock()
		d, ok := g.of.now.(*gated)
		g.of.mu.Unlock()
		if !ok || !d.owns(from, b[:n]) {
			continue
		}
		select {
		case d.came <- Notification{At: time.Now(), Char: Datagram + from.String(), Data: append([]byte(nil), b[:n]...)}:
		default:
		}
	}
}

// gated is a device that came by MQTT. What it publishes has the topic Text, and its datagrams have
// their own.
type gated struct {
	guest   *intake.Guest
	udp     *net.UDPConn
	remote  netip.Addr // address of the device
	session atomic.Pointer[[4]byte]
	topic   string // topic of the answers
	opening Opening
	came    chan Notification // datagrams
	out     chan Notification
	stop    chan struct{}
	gone    chan struct{}
	once    sync.Once
}

// owns reports whether a datagram comes from the device's address and belongs to its session.
func (d *gated) owns(from netip.AddrPort, b []byte) bool {
	s := d.session.Load()
	return s != nil && len(b) >= 8 && [4]byte(b[4:8]) == *s && plain(from) == d.remote
}

func (d *gated) pass() {
	defer close(d.gone)
	defer close(d.out)
	b, err := json.Marshal(d.opening)
	if err != nil {
		panic(err) // encoding texts can't fail
	}
	n := Notification{At: time.Now(), Char: Opened, Data: b}
	for {
		select {
		case d.out <- n:
		case <-d.stop:
			return
		}
		select {
		case m := <-d.guest.Messages():
			n = Notification{At: time.Now(), Char: Text, Data: m}
		case n = <-d.came:
		case <-d.guest.Done():
			return
		case <-d.stop:
			return
		}
	}
}

func (d *gated) MTU() int                           { return 0 }
func (d *gated) Notifications() <-chan Notification { return d.out }

func (d *gated) Err() error {
	select {
	case <-d.stop:
		return nil
	default:
		return fmt.Errorf("%w: the device hung up", ErrLost)
	}
}

func (d *gated) Read(_ context.Context, topic string) ([]byte, error) { return nil, absent(topic) }
func (d *gated) Subscribe(_ context.Context, topic string) error      { return absent(topic) }

func (d *gated) Write(_ context.Context, topic string, b []byte) error {
	if topic == Text {
		return d.guest.Send(d.topic, b)
	}
	if topic == Session && len(b) == 4 {
		s := [4]byte(b)
		d.session.Store(&s)
		return nil
	}
	at, ok := strings.CutPrefix(topic, Datagram)
	to, err := netip.ParseAddrPort(at)
	if !ok || err != nil {
		return absent(topic)
	}
	_, err = d.udp.WriteToUDPAddrPort(b, to)
	return err
}

func (d *gated) hangUp() { d.guest.End() } // the reader notices it

func (d *gated) Close() error {
	d.once.Do(func() { close(d.stop) })
	d.guest.Close()
	<-d.gone
	return nil
}
