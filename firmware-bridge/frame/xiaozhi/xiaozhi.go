// Package xiaozhi reads and writes the messages of devices with the Xiaozhi ESP32 firmware and of
// their server: bytes in, values out. It does no input or output.
//
// The words:
//
//   - The server is where the device sends its sound: here a bridge.
//   - The OTA address is where the device asks, on each boot, for its server. It is the only thing
//     that a person sets on the device.
//   - A packet is 20 to 120 ms of Opus, commonly 60.
//
// The tables are taken from 78/xiaozhi-esp32 (MIT), by the files named below.
package xiaozhi

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

var (
	// ErrFormat: the bytes don't follow the protocol. The errors below wrap it.
	ErrFormat = errors.New("xiaozhi")
	// ErrShort: a message is empty, or shorter than its header.
	ErrShort = fmt.Errorf("%w: the message is too short", ErrFormat)
	// ErrSize: a header's size is not that of the message.
	ErrSize = fmt.Errorf("%w: the message has another size than its header says", ErrFormat)
	// ErrVersion: a header has another version.
	ErrVersion = fmt.Errorf("%w: the header is of another version", ErrFormat)
	// ErrType: a binary message has an unknown type.
	ErrType = fmt.Errorf("%w: a binary message of a type that is not known", ErrFormat)
	// ErrJSON: a text message is not a JSON object with a type.
	ErrJSON = fmt.Errorf("%w: a text message is not a JSON object with a type", ErrFormat)
)

// MaxPacket is the most bytes of a packet (RFC 6716, 3.2.1, and some more frames).
const MaxPacket = 4000

// Parse reads a binary message of the WebSocket (main/protocols/websocket_protocol.cc), in the
// version that the device named when it connected. Numbers are big-endian.
//
//	1   the packet
//	2   u16 version 2 (gateways: 0), u16 type, u32 reserved, u32 timestamp in ms, u32 size, and so many bytes
//	3   u8 type, u8 reserved, u16 size, and so many bytes
//
// Type 0 is a packet, 1 is what otherwise comes as text. body aliases b.
func Parse(version int, b []byte) (body []byte, text bool, err error) {
	be := binary.BigEndian
	var kind uint16
	size := uint64(len(b))
	body = b
	switch {
	case version == 2 && len(b) < 16, version == 3 && len(b) < 4:
		return nil, false, ErrShort
	case version == 2:
		if v := be.Uint16(b); v != 2 && v != 0 {
			return nil, false, fmt.Errorf("%w: %d, want 2", ErrVersion, v)
		}
		kind, size, body = be.Uint16(b[2:]), uint64(be.Uint32(b[12:])), b[16:]
	case version == 3:
		kind, size, body = uint16(b[0]), uint64(be.Uint16(b[2:])), b[4:]
	}
	switch {
	case size != uint64(len(body)):
		return nil, false, fmt.Errorf("%w: %d bytes, it says %d", ErrSize, len(body), size)
	case len(body) == 0:
		return nil, false, ErrShort
	case kind > 1:
		return nil, false, fmt.Errorf("%w: %d", ErrType, kind)
	case kind == 0 && len(body) > MaxPacket:
		return nil, false, fmt.Errorf("%w: a packet of %d bytes, at most %d", ErrSize, len(body), MaxPacket)
	}
	return body, kind == 1, nil
}

// Frame encodes a packet as a binary message of a version; ms is its timestamp, which only version
// 2 has.
func Frame(version int, ms uint32, packet []byte) []byte {
	be := binary.BigEndian
	switch version {
	case 2:
		b := append(be.AppendUint16(nil, 2), make([]byte, 6)...)
		b = be.AppendUint32(b, ms)
		return append(be.AppendUint32(b, uint32(len(packet))), packet...)
	case 3:
		return append(be.AppendUint16([]byte{0, 0}, uint16(len(packet))), packet...)
	}
	return append([]byte(nil), packet...)
}

// Message is a text message of a device (main/protocols/protocol.cc). Fields that its type does not
// have are empty.
type Message struct {
	UDP     struct{ Key, Nonce string } // in a server's hello: 32 hex digits each
	Type    string                      `json:"type"`  // hello, listen, abort, mcp, goodbye, …
	State   string                      `json:"state"` // listen: start, stop, detect
	Mode    string                      `json:"mode"`  // listen start: auto, manual, realtime
	Text    string                      `json:"text"`  // listen detect: the wake word
	Session string                      `json:"session_id"`
	Audio   Audio                       `json:"audio_params"` // hello
}

// Audio is the format of the device's sound.
type Audio struct {
	Format   string `json:"format"`
	Rate     int    `json:"sample_rate"`    // samples a second
	Channels int    `json:"channels"`       //
	Frame    int    `json:"frame_duration"` // duration of a packet, ms
}

// Read reads a text message. The device builds it from pieces without quoting, so a wake word with
// a quotation mark makes invalid JSON.
func Read(b []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(b, &m); err != nil || m.Type == "" {
		return Message{}, fmt.Errorf("%w: %d bytes", ErrJSON, len(b))
	}
	return m, nil
}

// Duration returns the duration of a packet, from its first byte (RFC 6716, 3.1) and the number of
// its frames; 0 if it has none.
func Duration(packet []byte) time.Duration {
	if len(packet) == 0 {
		return 0
	}
	config := packet[0] >> 3
	var frame time.Duration
	switch {
	case config < 12:
		frame = []time.Duration{10, 20, 40, 60}[config%4] * time.Millisecond
	case config < 16:
		frame = []time.Duration{10, 20}[config%2] * time.Millisecond
	default:
		frame = []time.Duration{2500, 5000, 10000, 20000}[config%4] * time.Microsecond
	}
	switch packet[0] & 3 {
	case 0:
		return frame
	case 3:
		if len(packet) < 2 {
			return 0
		}
		return time.Duration(packet[1]&63) * frame
	}
	return 2 * frame
}

// Hello answers a device's hello. A device that gets no transport in it crashes.
func Hello(session string) []byte {
	return marshal(map[string]any{"type": "hello", "transport": "websocket", "session_id": session,
		"audio_params": map[string]any{"format": "opus", "sample_rate": 16000, "channels": 1, "frame_duration": 60}})
}

// Awake is a message without effect: a device hangs up after 120 s without any message.
func Awake(session string) []byte {
	return marshal(map[string]any{"type": "awake", "session_id": session})
}

// Speech is a message about the following sound (main/application.cc): state is start,
// sentence_start with the text to show, or stop. A device only plays sound between start and stop.
func Speech(session, state, text string) []byte {
	m := map[string]any{"type": "tts", "state": state, "session_id": session}
	if text != "" {
		m["text"] = text
	}
	return marshal(m)
}

// Config answers a device at its OTA address, with the time and its server. It contains the
// device's own version and no firmware address, so there is nothing to install, and it asks for no
// activation code. agent is the request's User-Agent, board/version. A device that is given an MQTT
// server uses it, and otherwise the WebSocket at url.
func Config(now time.Time, agent, url, token string, m *MQTT) []byte {
	_, offset := now.Zone()
	_, version, _ := strings.Cut(agent, "/")
	if version == "" || len(version) > 64 {
		version = "0.0.0"
	}
	c := map[string]any{
		"server_time": map[string]any{"timestamp": now.UnixMilli(), "timezone_offset": offset / 60},
		"firmware":    map[string]any{"version": version, "url": ""},
	}
	if m != nil {
		c["mqtt"] = m
	} else {
		c["websocket"] = map[string]any{"url": url, "token": token, "version": 1}
	}
	return marshal(c)
}

func marshal(m map[string]any) []byte {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // maps of texts and numbers can't fail
	}
	return b
}
