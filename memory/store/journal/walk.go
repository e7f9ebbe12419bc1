package journal

import (
	"encoding/binary"
	"errors"
	"io"
)

// frame is one whole frame: its CRC holds. Only [box.open] says that it is true.
type frame struct {
	head   [frameHead]byte
	index  uint32
	end    bool
	off    int64
	sealed []byte
}

// gap is a stretch of a segment that is no whole frame.
type gap struct {
	off, n int64
	tail   bool // nothing whole follows
}

// walker goes from frame to frame through a segment, without a key.
type walker struct {
	f      io.ReaderAt
	number uint32
	off    int64
	next   uint32 // index that is due
}

// step returns the next frame before limit, or the gap that stands in its
// place, or io.EOF at limit. After a gap it goes on with what follows, so that
// a later frame's index may be more than was due.
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

// at returns the whole frame at off, nil where there is none.
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
	return w.whole(f), nil
}

// plausible reads the size of a frame's sealed bytes, and reports whether its
// head can be that of the frame that is due, or a later one, in room bytes.
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

func (w *walker) whole(f *frame) *frame {
	if checksum(f.head[:], f.sealed) != binary.BigEndian.Uint32(f.head[12:]) {
		return nil
	}
	f.index = binary.BigEndian.Uint32(f.head[8:])
	f.end = f.head[0]&0x80 != 0
	return f
}

// resync looks for the next whole frame behind damage, byte by byte.
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
		if w.whole(f) != nil {
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
