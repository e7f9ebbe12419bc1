package intake

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/intake/wire"
)

// maxKeepalive is the largest value for which mochi's one and a half times fits
// into 16 bits.
const maxKeepalive = 43690

// hook is an mqtt.Hook: the callbacks of mochi, the embedded broker. mochi calls OnPublish before
// it acknowledges (server.go, processPublish). We return ErrRejectPacket, so that mochi silently
// forgets the message, and send PUBACK ourselves once it is journalled. So one device can have many
// messages under way, and one sync covers them. No other error would work: for a client of MQTT
// 3.1.1 mochi would acknowledge and forward the message nevertheless.
type hook struct {
	mqtt.HookBase
	broker  *Broker
	intake  *Intake
	devices Devices

	mu     sync.Mutex // guards what follows
	closed bool
	conns  map[*mqtt.Client]*conn
	latest map[string]*limitConn // the newest connection of each device
}

var provided = []byte{
	mqtt.OnConnect, mqtt.OnConnectAuthenticate, mqtt.OnACLCheck, mqtt.OnPublish,
	mqtt.OnWill, mqtt.OnDisconnect, mqtt.OnSessionEstablished, mqtt.OnSubscribe, mqtt.OnPacketRead,
}

func (h *hook) ID() string { return "intake" }

func (h *hook) Provides(b byte) bool { return slices.Contains(provided, b) }

// emptyWill replaces the payload of a will that has none while mochi checks the CONNECT: mochi
// refuses such a will, although the protocol allows it (MQTT 5, 3.1.3.4).
var emptyWill = []byte{0}

func (h *hook) OnPacketRead(_ *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if pk.FixedHeader.Type == packets.Connect && pk.Connect.WillFlag && len(pk.Connect.WillPayload) == 0 {
		pk.Connect.WillPayload = emptyWill
	}
	return pk, nil
}

func (h *hook) OnConnect(cl *mqtt.Client, _ packets.Packet) error {
	if w := cl.Properties.Will.Payload; len(w) > 0 && &w[0] == &emptyWill[0] {
		cl.Properties.Will.Payload = nil
	}
	cl.State.Keepalive = min(cl.State.Keepalive, maxKeepalive)
	// mochi counts what a client of MQTT 5 may still be sent, and miscounts if client and server
	// use the same packet id. 0 turns the count off.
	cl.Properties.Props.ReceiveMaximum, cl.Properties.Props.TopicAliasMaximum = 0, 0
	cl.State.Inflight.ResetSendQuota(0)
	return nil
}

// OnConnectAuthenticate lets a device in if user name, client id and last will are its own, or if
// the will is on a topic that the device was given. With another device's client id it could take
// over that session, and mochi does not check wills. A will whose topic contains + or # is refused,
// because covers would treat it as a filter.
func (h *hook) OnConnectAuthenticate(cl *mqtt.Client, pk packets.Packet) bool {
	name := string(cl.Properties.Username)
	ok := wire.CheckDevice(name) == nil && cl.ID == name
	if atomic.LoadUint32(&cl.Properties.Will.Flag) == 1 {
		will := cl.Properties.Will.TopicName
		ok = ok && !strings.ContainsAny(will, "+#") && (will == wire.TopicOf(name, memory.KindStatus) || covers(h.topics(name).Publish, will))
	}
	if ok {
		hash, enabled := h.devices.Lookup(name)
		ok = enabled && h.intake.verifier.check(name, hash, pk.Connect.Password, hostOf(cl.Net.Remote))
	}
	if !ok {
		h.denied("connect", "a connection was refused: unknown device, wrong password, or the client id or will of another device")
	}
	if ok {
		h.replaceEarlier(name, cl)
	}
	return ok
}

// replaceEarlier ends a device's earlier connection, and waits until mochi has cleaned it up.
// Otherwise the clean-up could remove the new connection (server.go, attachClient: Clients.Delete
// uses the id), and nothing would be sent to it.
func (h *hook) replaceEarlier(name string, cl *mqtt.Client) {
	l, ok := cl.Net.Conn.(*limitConn)
	if !ok {
		return
	}
	l.onIdentified()
	h.mu.Lock()
	earlier := h.latest[name]
	h.latest[name] = l
	h.mu.Unlock()
	if earlier != nil {
		earlier.Close()
		<-earlier.ended
	}
}

func (h *hook) denied(key, msg string, args ...any) {
	h.intake.stats.count(func(s *Stats) { s.Denied++ })
	h.intake.logOnce("denied "+key, msg, args...)
}

// OnACLCheck lets a device publish below its own name, except on the topics on which the node
// speaks to it. It may read only those. In addition it has the topics that it was given. mochi asks
// again before it delivers a message.
func (h *hook) OnACLCheck(cl *mqtt.Client, topic string, write bool) bool {
	name := string(cl.Properties.Username)
	own := topic == wire.AckTopic(name) || topic == wire.CmdTopic(name)
	if write {
		device, _ := splitTopic(topic)
		own = device == name && !own
	}
	if !own && foreign(topic) {
		if t := h.topics(name); write {
			own = covers(t.Publish, topic)
		} else {
			own = covers(t.Read, topic)
		}
	}
	if !own {
		h.denied("topic "+name, "a device tried to use a topic that is not its own", "device", name, "topic", topic[:min(len(topic), 128)])
	}
	return own
}

func (h *hook) OnSessionEstablished(*mqtt.Client, packets.Packet) {
	h.intake.stats.count(func(s *Stats) { s.Connected++ })
}

// OnPublish queues a message.
func (h *hook) OnPublish(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if cl.Net.Inline {
		return pk, nil // a message of our own
	}
	if foreign(pk.TopicName) {
		return h.pass(cl, pk)
	}
	a := arrival{topic: pk.TopicName, payload: pk.Payload}
	if l, ok := cl.Net.Conn.(*limitConn); ok && len(pk.Payload) == 0 {
		cut := l.takeSkipped(pk.PacketID)
		a.oversize, a.crc = cut.size, cut.crc
	}
	if pk.FixedHeader.Qos == 1 {
		a.puback = func() {
			ack := packets.Packet{FixedHeader: packets.FixedHeader{Type: packets.Puback}, PacketID: pk.PacketID}
			if err := cl.WritePacket(ack); err != nil {
				cl.Stop(err) // the message comes again
			}
		}
	}
	c := h.conn(cl)
	if c == nil {
		return pk, packets.ErrRejectPacket
	}
	d, ok := h.intake.accept(c, a)
	if ok && pk.FixedHeader.Qos == 2 {
		// mochi runs the four-way exchange of QoS 2, which may continue once the event is on disk.
		<-d.decided
		if d.outcome != deferred {
			return pk, packets.CodeSuccessIgnore
		}
	}
	return pk, packets.ErrRejectPacket
}

// OnWill journals the last will of a device that is gone.
func (h *hook) OnWill(cl *mqtt.Client, w mqtt.Will) (mqtt.Will, error) {
	if foreign(w.TopicName) {
		if !covers(h.topics(cl.ID).Publish, w.TopicName) { // its topics were removed since
			return mqtt.Will{}, nil
		}
		w.Retain = w.Retain && h.retains(cl.ID, w.TopicName, len(w.Payload), len(w.Payload))
		w.User = nil
		return w, nil
	}
	if c := h.conn(cl); c != nil {
		h.intake.accept(c, arrival{topic: w.TopicName, payload: w.Payload})
	}
	w.Retain = false // nobody else may read it
	return w, nil
}

func (h *hook) OnDisconnect(cl *mqtt.Client, _ error, _ bool) {
	h.intake.stats.count(func(s *Stats) { s.Connected-- })
	h.mu.Lock()
	c := h.conns[cl]
	delete(h.conns, cl)
	h.mu.Unlock()
	if c != nil {
		c.close()
	}
}

// conn returns the client's connection, which is made at its first message. It is nil once the
// broker closes, because devices that the node disconnects have not gone offline.
func (h *hook) conn(cl *mqtt.Client) *conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil
	}
	c := h.conns[cl]
	if c == nil {
		c = h.intake.connect(h.broker, func() { cl.Stop(errors.New("messages are to come again")) })
		h.conns[cl] = c
	}
	return c
}

func (h *hook) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
}
