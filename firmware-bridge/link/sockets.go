package link

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Sockets is a Dialer for a device that connects to this machine by WebSocket. Connect waits for
// it. Its devices deliver text messages under the topic Text and binary ones under Binary, and are
// written to under the same topics. A first notification under Opened contains an [Opening]. There
// is nothing to read or to subscribe to.
//
// Whoever does not know Key finds nothing here: all paths begin with it, and the socket requires it
// as a bearer token. A later connection replaces the one before.
//
// With the field MQTT, devices connect by that instead (gated.go).
type Sockets struct {
	Listen string // host:port
	Key    string // letters and digits
	Device string // accept only this Device-Id; empty: any
	MQTT   string // host:port for MQTT, and for datagrams; empty: none
	// Config answers a request for KEY/ota, with the address of the device's server.
	Config func(r *http.Request, at Server) []byte

	once sync.Once
	err  error
	came chan arrived
	addr net.Addr
	srv  *http.Server
	gate *gate // nil without MQTT

	mu     sync.Mutex
	now    arrived // the device that is served, or waits to be; nil: none
	closed bool    // arriving devices are sent away

	waiting waiting
}

// waiting are connections without a request, or with one that is not answered yet, the oldest
// first. It is safe for concurrent use.
type waiting struct {
	mu  sync.Mutex
	all []net.Conn
}

// changed is the ConnState of an http.Server.
func (w *waiting) changed(c net.Conn, state http.ConnState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch state {
	case http.StateNew:
		if w.all = append(w.all, c); len(w.all) > maxWaiting {
			w.all[0].Close()
			w.all = w.all[1:]
		}
	case http.StateHijacked, http.StateClosed: // it became a device's socket, or it ended
		if i := slices.Index(w.all, c); i >= 0 {
			w.all = slices.Delete(w.all, i, i+1)
		}
	}
}

// Server is the address at which a device finds its server.
type Server struct {
	URL, Key string // URL of the WebSocket, as the device reaches it, and its token
	MQTT     *Login // nil: none
}

// Login is a device's login by MQTT.
type Login struct{ Endpoint, Client, User, Password string }

// arrived is a device that has connected. Nothing is read from it before pass is called.
type arrived interface {
	Device
	pass()   // passes on what the device sends, until the end; in a goroutine
	hangUp() // ends the connection without waiting
}

// Topics of a Sockets device.
const (
	Text   = "text"
	Binary = "binary"
	Opened = "opened"
)

// Opening is what a device says about itself when it connects, as JSON under Opened.
type Opening struct {
	Version string `json:"version"` // version of the protocol
	Device  string `json:"device"`
	UDP     string `json:"udp,omitempty"` // host:port for its datagrams, if it came by MQTT
}

// Limits on what strangers may use up.
const (
	maxMessage  = 64 << 10
	headTimeout = 10 * time.Second
	maxWaiting  = 64              // connections that are not a device's socket; for one more, the oldest is closed
	silentFor   = 3 * time.Minute // without a message or a pong for this long, the device is gone
	pingEvery   = 40 * time.Second
)

// Open starts to listen, and returns the address; Connect calls it if needed.
func (s *Sockets) Open() (net.Addr, error) {
	s.once.Do(func() {
		l, err := net.Listen("tcp", s.Listen)
		if err != nil {
			s.err = fmt.Errorf("listen for devices: %w", err)
			return
		}
		s.addr, s.came = l.Addr(), make(chan arrived, 1)
		if s.MQTT != "" {
			if s.gate, s.err = openGate(s); s.err != nil {
				l.Close()
				return
			}
		}
		mux := http.NewServeMux()
		mux.HandleFunc("/"+s.Key+"/ota", s.config)
		mux.HandleFunc("/"+s.Key+"/ota/", s.config)
		mux.HandleFunc("/"+s.Key+"/ws", s.accept)
		s.srv = &http.Server{Handler: mux, ReadHeaderTimeout: headTimeout, ReadTimeout: headTimeout, MaxHeaderBytes: 8 << 10, IdleTimeout: headTimeout, ConnState: s.waiting.changed}
		go s.srv.Serve(l) // ends with Close
	})
	return s.addr, s.err
}

// Close stops listening and ends the connection.
func (s *Sockets) Close() error {
	s.once.Do(func() { s.err = net.ErrClosed })
	if s.srv == nil {
		return nil
	}
	s.mu.Lock()
	s.closed = true
	if s.now != nil {
		s.now.hangUp()
	}
	s.mu.Unlock()
	err := s.srv.Close()
	if s.gate != nil {
		err = errors.Join(err, s.gate.close())
	}
	return err
}

func (s *Sockets) allowed(r *http.Request) bool {
	return s.Device == "" || strings.EqualFold(r.Header.Get("Device-Id"), s.Device)
}

func (s *Sockets) config(w http.ResponseWriter, r *http.Request) {
	if !s.allowed(r) {
		http.Error(w, "another device is expected here", http.StatusForbidden)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	at := Server{URL: "ws://" + r.Host + "/" + s.Key + "/ws", Key: s.Key}
	if s.gate != nil {
		at.MQTT = s.gate.login(r)
	}
	_, _ = w.Write(s.Config(r, at)) // the device will ask again
}

func (s *Sockets) accept(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case subtle.ConstantTimeCompare([]byte(token), []byte(s.Key)) != 1:
		http.Error(w, "the token is wrong", http.StatusUnauthorized)
		return
	case !s.allowed(r):
		http.Error(w, "another device is expected here", http.StatusForbidden)
		return
	}
	// A browser sends the origin of its page, and by default the library refuses a foreign one.
	up := websocket.Upgrader{HandshakeTimeout: headTimeout}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // the library has answered
	}
	conn.SetReadLimit(maxMessage)
	d := &websocketed{conn: conn, out: make(chan Notification), stop: make(chan struct{}), gone: make(chan struct{}),
		opening: Opening{Version: r.Header.Get("Protocol-Version"), Device: r.Header.Get("Device-Id")}}
	s.arrive(d)
}

// arrive makes a device wait for Connect; an earlier one is sent away. After Close, the device
// itself is sent away, since nobody would read from it, or notice its end.
func (s *Sockets) arrive(d arrived) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		d.hangUp()
		return
	}
	if s.now != nil {
		s.now.hangUp() // the later one wins
	}
	s.now = d
	select {
	case <-s.came: // nobody has taken it
	default:
	}
	s.came <- d
}

// Connect waits for the device.
func (s *Sockets) Connect(ctx context.Context) (Device, error) {
	if _, err := s.Open(); err != nil {
		return nil, err
	}
	select {
	case d := <-s.came:
		go d.pass()
		return d, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type websocketed struct {
	conn    *websocket.Conn
	opening Opening
	out     chan Notification
	stop    chan struct{}
	gone    chan struct{}
	once    sync.Once
	write   sync.Mutex // the library allows one writer

	mu  sync.Mutex
	err error
}

func (d *websocketed) pass() {
	defer close(d.gone)
	defer close(d.out)
	b, err := json.Marshal(d.opening)
	if err != nil {
		d.fail(err)
		return
	}
	pings := time.NewTicker(pingEvery)
	defer pings.Stop()
	go func() { // it ends with the connection, which Close ends
		for {
			select {
			case <-pings.C:
				_ = d.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(headTimeout)) // the reader notices that it is gone
			case <-d.gone:
				return
			}
		}
	}()
	alive := func() error { return d.conn.SetReadDeadline(time.Now().Add(silentFor)) }
	d.conn.SetPongHandler(func(string) error { return alive() })
	n := Notification{At: time.Now(), Char: Opened, Data: b}
	for {
		select {
		case d.out <- n:
		case <-d.stop:
			return
		}
		if err := alive(); err != nil {
			d.fail(err)
			return
		}
		kind, data, err := d.conn.ReadMessage()
		if err != nil {
			d.fail(err)
			return
		}
		n = Notification{At: time.Now(), Char: Text, Data: data}
		if kind == websocket.BinaryMessage {
			n.Char = Binary
		}
	}
}

func (d *websocketed) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway, websocket.CloseNoStatusReceived) {
		err = errors.New("the device hung up")
	}
	d.err = fmt.Errorf("%w: %v", ErrLost, err)
}

func (d *websocketed) hangUp() { d.conn.Close() } // the reader notices it

func (d *websocketed) MTU() int                           { return 0 }
func (d *websocketed) Notifications() <-chan Notification { return d.out }

func (d *websocketed) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.stop:
		return nil
	default:
		return d.err
	}
}

func (d *websocketed) Read(_ context.Context, topic string) ([]byte, error) {
	return nil, absent(topic)
}
func (d *websocketed) Subscribe(_ context.Context, topic string) error { return absent(topic) }

func (d *websocketed) Write(ctx context.Context, topic string, b []byte) error {
	kind := websocket.TextMessage
	switch topic {
	case Text:
	case Binary:
		kind = websocket.BinaryMessage
	default:
		return absent(topic)
	}
	d.write.Lock()
	defer d.write.Unlock()
	late := time.Now().Add(headTimeout)
	if t, ok := ctx.Deadline(); ok && t.Before(late) {
		late = t
	}
	if err := d.conn.SetWriteDeadline(late); err != nil {
		return err
	}
	return d.conn.WriteMessage(kind, b)
}

func (d *websocketed) Close() error {
	d.once.Do(func() {
		close(d.stop)
		d.conn.Close() // what gets lost, the device was not waiting for
	})
	<-d.gone
	return nil
}
