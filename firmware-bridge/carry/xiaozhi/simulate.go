package xiaozhi

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/xiaozhi"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// simulate makes a device that is woken once and hears Amount packets of 60 ms of silence, and
// again after each reboot, or that hears the sound of a day. It uses WebSocket version 3 or, if the
// link loses packets, MQTT and UDP.
func simulate(p carry.Play) link.Dialer {
	n := cmp.Or(p.Amount, 100)
	if len(p.Day) > 0 {
		n = 0
	}
	return link.NewSimulator(p.Reboot+1, func(i int) link.Device {
		packets := p.Sound(i)
		for seq := range n {
			// Silence, according to the range coder's first bits (RFC 6716, 4.3).
			packets = append(packets, binary.BigEndian.AppendUint64([]byte{0x58, 0xff, 0xfe}, uint64(i*n+seq)))
		}
		d := &talking{Simulated: link.NewSimulated(8), udp: p.Loss > 0 || p.Reorder}
		go d.run(packets)
		return d
	})
}

type talking struct {
	*link.Simulated
	udp bool // by MQTT and datagrams, since a WebSocket loses nothing
}

// datagrams have no order relative to MQTT, and late ones are waited for
const settle = 2 * lateBy

func (d *talking) run(packets [][]byte) {
	defer d.End()
	opening := `{"version":"3","device":"a0:85:e3:f4:49:34"}`
	if d.udp {
		opening = `{"device":"a0:85:e3:f4:49:34","udp":"127.0.0.1:8004"}`
	}
	if !d.Say(link.Opened, []byte(opening)) {
		return
	}
	const hello = `{"type":"hello","version":3,"transport":"websocket","audio_params":{"format":"opus","sample_rate":16000,"channels":1,"frame_duration":60}}`
	var id string
	var channel *frame.UDP
	for id == "" { // the hello may be lost
		if !d.Say(link.Text, []byte(hello)) {
			return
		}
		select {
		case b := <-d.In:
			if m, err := frame.Read(b); err == nil && m.Type == "hello" {
				id = m.Session
				var key, nonce [16]byte
				hex.Decode(key[:], []byte(m.UDP.Key))
				hex.Decode(nonce[:], []byte(m.UDP.Nonce))
				channel = frame.NewUDP(key, nonce)
			}
		case <-time.After(200 * time.Millisecond):
		case <-d.Stop:
			return
		}
	}
	for _, m := range []string{`"listen","state":"detect","text":"Hi XiaoZhi"`, `"listen","state":"start","mode":"manual"`} {
		if !d.Say(link.Text, fmt.Appendf(nil, `{"session_id":%q,"type":%s}`, id, m)) {
			return
		}
	}
	for i, p := range packets {
		topic, b := link.Binary, frame.Frame(3, uint32(60*i), p)
		if d.udp {
			topic, b = link.Datagram+"127.0.0.1:5000", channel.Seal(0, p)
		}
		if !d.Say(topic, b) {
			return
		}
	}
	if d.udp {
		select {
		case <-time.After(settle):
		case <-d.Stop:
			return
		}
	}
	d.Say(link.Text, fmt.Appendf(nil, `{"session_id":%q,"type":"listen","state":"stop"}`, id))
}

func (d *talking) Write(_ context.Context, char string, b []byte) error {
	if char == link.Text {
		select {
		case d.In <- append([]byte(nil), b...):
		default: // it reads no more
		}
	}
	return nil
}
