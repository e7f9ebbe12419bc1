// Package wyoming reads and writes the messages of Wyoming satellites and their servers. Wyoming is
// the protocol of Home Assistant's and Rhasspy's voice devices. Bytes in, values out; it does no
// input or output.
//
// An event is a line of JSON, then data_length bytes of JSON, then payload_length bytes
// (wyoming/event.py of OHF-Voice/wyoming, MIT):
//
//	{"type": …, "version": …, "data": {…}, "data_length": n, "payload_length": m} LF
//	n bytes, an object: its keys replace those of data
//	m bytes
//
// Everything but the type may be absent or null.
package wyoming

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
)

var (
	// ErrFormat: the bytes are not an event. The errors below wrap it. A stream with an error can't
	// be read any further.
	ErrFormat = errors.New("wyoming")
	// ErrJSON: a line or its data is not a JSON object.
	ErrJSON = fmt.Errorf("%w: not a JSON object", ErrFormat)
	// ErrType: a line has no type.
	ErrType = fmt.Errorf("%w: an event without a type", ErrFormat)
	// ErrSize: a line, its data or its payload is larger than the limit.
	ErrSize = fmt.Errorf("%w: a part of an event is too large", ErrFormat)
	// ErrSound: a chunk of sound in a format that is not read.
	ErrSound = fmt.Errorf("%w: sound in a format that is not read", ErrFormat)
)

// Limits of an event, in bytes. The protocol has none; a chunk of sound has some 2,000.
const (
	maxLine    = 64 << 10
	maxData    = 1 << 20
	maxPayload = 4 << 20
)

// Event is one message.
type Event struct {
	Type    string
	Data    map[string]any
	Payload []byte
}

// Decoder splits a stream into events. The zero value is ready.
type Decoder struct {
	buf  []byte
	need int // bytes of the event at the beginning of buf; 0: its line has not come yet
	err  error
}

type header struct {
	Type    *string        `json:"type"`
	Data    map[string]any `json:"data"`
	More    int            `json:"data_length"`
	Payload int            `json:"payload_length"`
}

// Push takes the next bytes, and returns the complete events. After an error there are no more.
// However small the pieces are, each byte is copied, and each line read, only a few times.
func (d *Decoder) Push(b []byte) (out []Event, err error) {
	if d.err != nil {
		return nil, d.err
	}
	d.buf = append(d.buf, b...)
	at := 0
	for len(d.buf)-at >= d.need {
		e, n, err := parse(d.buf[at:])
		if err != nil {
			d.err, d.buf = err, nil
			return out, err
		}
		if d.need = n; n == 0 || len(d.buf)-at < n {
			break
		}
		out, d.need = append(out, e), 0
		at += n
	}
	if d.buf = d.buf[:copy(d.buf, d.buf[at:])]; len(d.buf) == 0 && cap(d.buf) > maxLine {
		d.buf = nil // a large event was the exception
	}
	return out, nil
}

// parse reads the event at the beginning of b, which has n bytes. If b has less, there is no event;
// if not even its line is complete, n is 0.
func parse(b []byte) (e Event, n int, err error) {
	end := bytes.IndexByte(b, '\n')
	if end > maxLine || end < 0 && len(b) > maxLine {
		return e, 0, fmt.Errorf("%w: a line of over %d bytes", ErrSize, maxLine)
	}
	if end < 0 {
		return e, 0, nil
	}
	var h header
	if err := json.Unmarshal(b[:end], &h); err != nil {
		return e, 0, ErrJSON
	}
	switch {
	case h.Type == nil:
		return e, 0, ErrType
	case h.More < 0 || h.More > maxData || h.Payload < 0 || h.Payload > maxPayload:
		return e, 0, fmt.Errorf("%w: data of %d bytes, a payload of %d", ErrSize, h.More, h.Payload)
	}
	rest, n := b[end+1:], end+1+h.More+h.Payload
	if len(b) < n {
		return e, n, nil
	}
	e = Event{Type: *h.Type, Data: map[string]any{}}
	maps.Copy(e.Data, h.Data)
	if h.More > 0 {
		var more map[string]any
		if err := json.Unmarshal(rest[:h.More], &more); err != nil {
			return e, 0, ErrJSON
		}
		maps.Copy(e.Data, more)
	}
	if h.Payload > 0 {
		e.Payload = append([]byte(nil), rest[h.More:h.More+h.Payload]...)
	}
	return e, n, nil
}

// Append encodes an event like the reference, except for the order of keys in its data.
func Append(b []byte, e Event) ([]byte, error) {
	h := struct {
		Type    string `json:"type"`
		Version string `json:"version"`
		More    int    `json:"data_length,omitempty"`
		Payload int    `json:"payload_length,omitempty"`
	}{e.Type, version, 0, len(e.Payload)}
	var data []byte
	var err error
	if len(e.Data) > 0 {
		if data, err = encode(e.Data); err != nil {
			return b, err
		}
		h.More = len(data)
	}
	line, err := encode(h)
	if err != nil {
		return b, err
	}
	return append(append(append(append(b, line...), '\n'), data...), e.Payload...), nil
}

const version = "1.10.2" // version of the protocol's library that has these events

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrJSON, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Text returns a text field of an event's data; empty: there is none.
func (e *Event) Text(key string) string {
	s, _ := e.Data[key].(string)
	return s
}

// Sound returns the samples of an audio-chunk: signed 16 bit, little-endian, one channel. Several
// channels are mixed into one by their mean. The samples are a copy, or the payload itself.
func (e *Event) Sound() (pcm []byte, rate int, err error) {
	number := func(key string) int {
		f, ok := e.Data[key].(float64)
		if !ok || f != float64(int(f)) {
			return -1
		}
		return int(f)
	}
	rate = number("rate")
	width, channels := number("width"), number("channels")
	switch {
	case rate < 8000 || rate > 48000 || width != 2 || channels < 1 || channels > 8:
		return nil, 0, fmt.Errorf("%w: rate %d, width %d, %d channels", ErrSound, rate, width, channels)
	case len(e.Payload)%(2*channels) != 0:
		return nil, 0, fmt.Errorf("%w: %d bytes are not a whole number of samples", ErrSound, len(e.Payload))
	case channels == 1:
		return e.Payload, rate, nil
	}
	for at := 0; at < len(e.Payload); at += 2 * channels {
		sum := 0
		for c := range channels {
			sum += int(int16(uint16(e.Payload[at+2*c]) | uint16(e.Payload[at+2*c+1])<<8))
		}
		s := uint16(int16(sum / channels))
		pcm = append(pcm, byte(s), byte(s>>8))
	}
	return pcm, rate, nil
}
