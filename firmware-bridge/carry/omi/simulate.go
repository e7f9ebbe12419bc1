package omi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// Pendant is a simulated Omi: it has stored sound, sends it when asked, and deletes what it is told
// to. Its sound is silence. It is a Dialer, and makes no more connections when it has nothing left.
type Pendant struct {
	Legacy    bool                   // firmware before 3.0.20; set before the first connection
	OnDeleted func(records [][]byte) // gets what it deletes; nil: nobody
	Sent      func()                 // is called when a whole file was sent; nil: nobody
	Reboot    int                    // connections that are still to end in the middle; set before the first

	mu      sync.Mutex
	records [][]byte // records that it still has
	read    uint64   // number of the first of them
}

// pendantRing is its ring's id.
const pendantRing = 0x4c6f636b6574

// NewPendant makes a pendant with records of five frames of 20 ms each, up to the current time, or
// with what it heard on a played day.
func NewPendant(p carry.Play) *Pendant {
	if len(p.Day) > 0 {
		return &Pendant{Reboot: p.Reboot, records: lived(p)}
	}
	n := cmp.Or(p.Amount, 300)
	d := &Pendant{Reboot: p.Reboot}
	for i := range n {
		at := time.Now().Add(p.ClockOff + time.Duration(i-n)*100*time.Millisecond)
		rec := make([]byte, frame.RecordSize)
		binary.BigEndian.PutUint32(rec, uint32(at.Unix()))
		to := rec[4:4]
		for k := range 5 {
			// The range coder's first bits say that the frame is silence (RFC 6716, 4.3); the bytes
			// after them make each frame different.
			f := binary.BigEndian.AppendUint64([]byte{0xb8, 0xff, 0xfe}, uint64(10*i+k))
			to = append(append(to, byte(len(f))), f...)
		}
		d.records = append(d.records, rec)
	}
	return d
}

const lasts = 20 * time.Millisecond // duration of a frame

// lived makes records of the sound of a day, with as many frames in each as fit.
func lived(p carry.Play) (out [][]byte) {
	for _, s := range p.Day {
		var rec []byte
		for i, f := range s.Frames {
			if len(rec)+1+len(f) > frame.RecordSize || rec == nil {
				at := s.At.Add(p.ClockOff + time.Duration(i)*lasts)
				rec = binary.BigEndian.AppendUint32(make([]byte, 0, frame.RecordSize), uint32(at.Unix()))
				out = append(out, rec[:frame.RecordSize])
			}
			rec = append(append(rec, byte(len(f))), f...)
		}
	}
	return out
}

// PendantWith makes a pendant with the records of another that restarted; first is the number of
// the first record.
func PendantWith(records [][]byte, first uint64) *Pendant {
	return &Pendant{records: records, read: first}
}

// Records returns the records that it still has.
func (p *Pendant) Records() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([][]byte(nil), p.records...)
}

func (p *Pendant) Connect(ctx context.Context) (link.Device, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(p.records) == 0 {
		return nil, io.EOF
	}
	d := &worn{of: p, Simulated: link.NewSimulated(64)}
	if p.Reboot > 0 {
		p.Reboot--
		d.left = 40
	}
	go d.run()
	return d, nil
}

// forget deletes the records before a number, and reports whether it knows that number.
func (p *Pendant) forget(before uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if before < p.read || before > p.read+uint64(len(p.records)) {
		return false
	}
	n := before - p.read
	if n > 0 && p.OnDeleted != nil {
		p.OnDeleted(p.records[:n])
	}
	p.records, p.read = p.records[n:], before
	return true
}

// worn is one connection to a pendant.
type worn struct {
	*link.Simulated
	of   *Pendant
	left int // data notifications before the connection breaks; 0: it does not
}

func (d *worn) run() {
	defer d.End()
	for {
		select {
		case <-d.Stop:
			return
		case b := <-d.In:
			answer := d.ring
			if d.of.Legacy {
				answer = d.legacy
			}
			if !answer(b) || len(d.of.Records()) == 0 {
				return
			}
		}
	}
}

// ring answers a command as firmware 3.0.21 does. It returns false when the connection is over.
func (d *worn) ring(b []byte) bool {
	be := binary.BigEndian
	records := d.of.Records()
	d.of.mu.Lock()
	read := d.of.read
	d.of.mu.Unlock()
	write := read + uint64(len(records))
	ack := func(s frame.RingStatus) bool { return d.send([]byte{1, byte(s), 0}) }
	switch {
	case b[0] == 0x03:
		return true
	case b[0] == 0x10 && len(b) == 1:
		out := be.AppendUint64([]byte{2}, read)
		out = be.AppendUint32(be.AppendUint64(out, write), 10_000)
		out = be.AppendUint16(be.AppendUint64(out, 0), frame.RecordSize)
		return d.send(be.AppendUint64(append(out, 0x0f, 1), pendantRing))
	case b[0] == 0x11 && len(b) == 13:
		first, count := be.Uint64(b[1:]), uint64(be.Uint32(b[9:]))
		if first < read || first > write {
			return ack(frame.RingRange)
		}
		count = min(count, write-first)
		if !d.send(be.AppendUint32(be.AppendUint64([]byte{5}, first), uint32(count))) {
			return false
		}
		sum := crc32.NewIEEE()
		for _, rec := range records[first-read : first-read+count] {
			sum.Write(rec)
			for _, part := range [][]byte{rec[:240], rec[240:]} {
				if !d.data(append([]byte{3}, part...)) {
					return false
				}
			}
		}
		return d.send(be.AppendUint32(be.AppendUint64([]byte{4, 0}, first+count), sum.Sum32()))
	case b[0] == 0x15 && len(b) == 17:
		switch {
		case be.Uint64(b[1:]) != pendantRing:
			return ack(frame.RingOther)
		case !d.of.forget(be.Uint64(b[9:])):
			return ack(frame.RingRange)
		}
		return ack(frame.RingOK)
	}
	return ack(frame.RingInvalid)
}

// legacy answers a command as firmware before 3.0.20 does.
func (d *worn) legacy(b []byte) bool {
	if len(b) != 6 || b[1] != 1 {
		return d.send([]byte{6})
	}
	records := d.of.Records()
	offset := int(binary.BigEndian.Uint32(b[2:])) / frame.LegacyBlock
	switch frame.LegacyCommand(b[0]) {
	case frame.LegacyRead:
		if offset > len(records) {
			return d.send([]byte{3})
		}
		if !d.send([]byte{byte(frame.LegacyOK)}) {
			return false
		}
		for _, rec := range records[offset:] {
			if !d.data(rec[4:]) {
				return false
			}
		}
		if d.of.Sent != nil {
			d.of.Sent()
		}
		return d.send([]byte{byte(frame.LegacyDone)})
	case frame.LegacyDelete:
		d.of.forget(uint64(len(records)))
		return d.send([]byte{byte(frame.LegacyDeleted)})
	case frame.LegacyStop:
		return true
	}
	return d.send([]byte{6})
}

func (d *worn) data(b []byte) bool {
	if d.left > 0 {
		if d.left--; d.left == 0 {
			return false
		}
	}
	return d.send(b)
}

func (d *worn) send(b []byte) bool { return d.Say(frame.StorageChar, bytes.Clone(b)) }

func (d *worn) MTU() int { return 498 }

func (d *worn) Read(_ context.Context, char string) ([]byte, error) {
	switch char {
	case frame.CodecChar:
		return []byte{21}, nil
	case frame.FeaturesChar:
		return binary.LittleEndian.AppendUint32(nil, uint32(frame.Button|frame.Battery|frame.Haptic|frame.OfflineStorage)), nil
	case frame.BatteryChar:
		return []byte{87}, nil
	case frame.ModelChar:
		return []byte("Omi CV1"), nil
	case frame.FirmwareChar:
		if d.of.Legacy {
			return []byte("2.0.10"), nil
		}
		return []byte("3.0.21"), nil
	case frame.StorageState:
		le, n := binary.LittleEndian, uint32(len(d.of.Records()))
		if d.of.Legacy {
			return le.AppendUint32(le.AppendUint32(nil, n*frame.LegacyBlock), 0), nil
		}
		b := le.AppendUint32(le.AppendUint32(nil, n*frame.RecordSize), n)
		return le.AppendUint32(le.AppendUint32(b, 1<<20), 1), nil
	}
	return nil, fmt.Errorf("%w: %s", link.ErrAbsent, char)
}

func (d *worn) Subscribe(_ context.Context, char string) error {
	switch char {
	case frame.AudioChar, frame.ButtonChar, frame.BatteryChar, frame.StorageChar:
		return nil
	}
	return fmt.Errorf("%w: %s", link.ErrAbsent, char)
}

func (d *worn) Write(ctx context.Context, char string, b []byte) error {
	switch char {
	case frame.TimeChar:
		return nil
	case frame.HapticChar:
		if len(b) == 0 {
			return errors.New("the simulated Omi: haptic: invalid attribute length")
		}
		return nil
	case frame.StorageChar:
	default:
		return fmt.Errorf("%w: %s", link.ErrAbsent, char)
	}
	return d.Put(ctx, b)
}
