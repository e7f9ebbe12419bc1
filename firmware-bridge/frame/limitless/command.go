package limitless

import (
	"encoding/binary"
	"time"
)

// Encoder numbers the writes of one connection. The zero value is ready.
type Encoder struct {
	index   uint64
	request uint64
}

// SetClock sets the pendant's clock.
func (e *Encoder) SetClock(t time.Time) []byte {
	return e.packet(6, number(nil, 1, uint64(t.UnixMilli())))
}

// Forget tells the pendant to delete all pages up to this one. They must be stored elsewhere.
func (e *Encoder) Forget(upTo uint64) []byte { return e.packet(7, number(nil, 1, upTo)) }

// Live tells the pendant to send sound as it comes.
func (e *Encoder) Live() []byte { return e.mode(0, 1) }

// Stored tells the pendant to send its pages.
func (e *Encoder) Stored() []byte { return e.mode(1, 0) }

// Record tells the pendant to store sound in its flash, and to send none.
func (e *Encoder) Record() []byte { return e.mode(0, 0) }

func (e *Encoder) mode(batch, live uint64) []byte {
	return e.packet(8, number(number(nil, 1, batch), 2, live))
}

// AskStatus asks what is stored.
func (e *Encoder) AskStatus() []byte { return e.packet(21, nil) }

// packet is {1 index, 2 0, 3 1, 4 {command, 30 {1 request, 2 0}}}.
func (e *Encoder) packet(command uint64, data []byte) []byte {
	e.request++
	payload := bytesField(nil, command, data)
	payload = bytesField(payload, 30, number(number(nil, 1, e.request), 2, 0))
	out := number(number(number(nil, 1, e.index), 2, 0), 3, 1)
	e.index++
	return bytesField(out, 4, payload)
}

func number(b []byte, field, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, field<<3), v)
}

func bytesField(b []byte, field uint64, data []byte) []byte {
	b = binary.AppendUvarint(b, field<<3|2)
	return append(binary.AppendUvarint(b, uint64(len(data))), data...)
}
