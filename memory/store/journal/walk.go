package journal

import (
	"encoding/binary"
	"errors"
	"io"
)

// frame is a complete frame with a right CRC. Only [box.open] proves that it is
// genuine.
type frame struct {
	head   [frameHead]byte
	index  uint32
	end    bool
	off    int64
	sealed []byte
}

// gap is a part of a segment that is not a complete frame.
type gap struct {
	off, n int64
	tail   bool // no complete frame follows
}

// walker goes through the frames of a segment without a key.
type walker struct {
	f      io.ReaderAt
	number uint32
	off    int64
	next   uint32 // index of the expected frame
}

// step returns the next frame before limit, or the gap in its place, or io.EOF
// at limit. After a gap it continues with what follows, so the index of a later
// frame may be greater than expected.
func (w *walker) step(limit int64) (*frame, *gap, error) {
	if w.off >= limit {
		return nil, nil, io.EOF
	}
	f, err := w.at(w.off, limit)
	if err != nil {
		return nil, nil, err
	}
	if f != nil {
		w.accept(f)
		return f, nil, nil
	}
	return w.resync(limit)
}

func (w *walker) accept(f *frame) {
	w.off = f.off + frameHead + int64(len(f.sealed))
	if !f.end {
		w.next = f.index + 1
	}
}

// at returns the complete frame at off, or nil if there is none.
func (w *walker) at(off, limit int64) (*frame, error) {
	f := &frame{off: off}
	if limit-off < frameHead {
		return nil, nil
	}
	if err := readFull(w.f, f.head[:], off); err != nil {
		return nil, err
	}
	n, ok := w.plausible(f.head[:], limit-off)
	if !ok {
		return nil, nil
	}
	f.sealed = make([]byte, n)
	if err := readFull(w.f, f.sealed, off+frameHead); err != nil {
		return nil, err
	}
	return w.verified(f), nil
}

// plausible parses the size of a frame's sealed bytes, and reports whether its
// head can belong to the expected frame or a later one that fits into room
// bytes.
func (w *walker) plausible(head []byte, room int64) (int, bool) {
	n, end := binary.BigEndian.Uint32(head), false
	if n&endBit != 0 {
		n, end = n&^endBit, true
	}
	if n < tagSize || n > MaxEntry+tagSize || end && n != tagSize || int64(n) > room-frameHead {
		return 0, false
	}
	number, index := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	return int(n), number == w.number && (index >= w.next || end && index+1 == w.next)
}

func (w *walker) verified(f *frame) *frame {
	if checksum(f.head[:], f.sealed) != binary.BigEndian.Uint32(f.head[12:]) {
		return nil
	}
	f.index = binary.BigEndian.Uint32(f.head[8:])
	f.end = f.head[0]&0x80 != 0
	return f
}

// resync looks for the next complete frame after damage, byte by byte.
func (w *walker) resync(limit int64) (*frame, *gap, error) {
	start := w.off
	rest := make([]byte, limit-start)
	if err := readFull(w.f, rest, start); err != nil {
		return nil, nil, err
	}
	for i := 1; i+frameHead <= len(rest); i++ {
		n, ok := w.plausible(rest[i:], int64(len(rest)-i))
		if !ok {
			continue
		}
		f := &frame{off: start + int64(i), sealed: rest[i+frameHead : i+frameHead+n]}
		copy(f.head[:], rest[i:])
		if w.verified(f) != nil {
			w.off = f.off
			return nil, &gap{off: start, n: int64(i)}, nil
		}
	}
	w.off = limit
	return nil, &gap{off: start, n: limit - start, tail: true}, nil
}

func readFull(f io.ReaderAt, b []byte, off int64) error {
	n, err := f.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
