package files

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/internal/media"
)

// An ISO base media file (ISO/IEC 14496-12), which M4A and HEIC are, is a row of boxes:
//
//	0   u32  size of the box with this header; 1: 64 bits after the type, 0: to the end of the file
//	4   u32  its type, four characters
//	8  u64 the size, if the first one is 1
//	8  …  the contents, often boxes
//
// All numbers are big-endian. Every size is checked against the bytes that are there before it is
// used, and no memory is allocated for a size that is only claimed.

// box is one box.
type box struct {
	kind string
	body []byte
	at   int // offset of body in the file
}

// maxBoxes bounds how many boxes lie beside each other.
const maxBoxes = 4096

// boxes splits b, which starts at an offset of the file, into boxes. It fails unless they cover all
// of b.
func boxes(b []byte, at int) (out []box, err error) {
	for off := 0; off < len(b); {
		left := b[off:]
		bad := func(format string, args ...any) error {
			return fmt.Errorf("%w: box at offset %d: %s", media.ErrFormat, at+off, fmt.Sprintf(format, args...))
		}
		if len(left) < 8 {
			return nil, bad("%d bytes, want 8: its end is missing", len(left))
		}
		size, head := uint64(binary.BigEndian.Uint32(left)), 8
		switch size {
		case 0:
			size = uint64(len(left))
		case 1:
			if len(left) < 16 {
				return nil, bad("%d bytes, want 16: its end is missing", len(left))
			}
			size, head = binary.BigEndian.Uint64(left[8:]), 16
		}
		if size < uint64(head) {
			return nil, bad("%q says %d bytes, less than its header", left[4:8], size)
		}
		if size > uint64(len(left)) {
			return nil, bad("%q says %d bytes, %d are left: its end is missing", left[4:8], size, len(left))
		}
		if len(out) == maxBoxes {
			return nil, bad("more than %d", maxBoxes)
		}
		out = append(out, box{string(left[4:8]), left[head:size], at + off + head})
		off += int(size)
	}
	return out, nil
}

// find returns the first box of a kind.
func find(list []box, kind string) (box, bool) {
	i := slices.IndexFunc(list, func(b box) bool { return b.kind == kind })
	if i < 0 {
		return box{}, false
	}
	return list[i], true
}

// inside returns the boxes inside the first box of a kind; none if there is no such box.
func inside(list []box, kind string) ([]box, error) {
	b, ok := find(list, kind)
	if !ok {
		return nil, nil
	}
	return boxes(b.body, b.at)
}

// full strips version and flags from a full box.
func (b box) full() (version byte, rest box, err error) {
	if len(b.body) < 4 {
		return 0, b, fmt.Errorf("%w: box at offset %d: %q has %d bytes, want 4", media.ErrFormat, b.at, b.kind, len(b.body))
	}
	return b.body[0], box{b.kind, b.body[4:], b.at + 4}, nil
}

// fields reads numbers one after the other. If one is missing, it and all later ones are 0, and
// short is set.
type fields struct {
	b     []byte
	short bool
}

// uint reads a number of 0, 1, 2, 4 or 8 bytes.
func (f *fields) uint(size int) (v uint64) {
	if len(f.b) < size {
		f.b, f.short = nil, true
		return 0
	}
	for _, c := range f.b[:size] {
		v = v<<8 | uint64(c)
	}
	f.b = f.b[size:]
	return v
}

// isoBrand returns the major brand of an ISO base media file, and whether b is one.
func isoBrand(b []byte) (brand string, ok bool) {
	if len(b) < 12 || string(b[4:8]) != "ftyp" {
		return "", false
	}
	return string(b[8:12]), true
}

// isSound checks that a movie box holds sound and no moving pictures. The track's handler tells
// (ISO/IEC 14496-12, 8.4.3).
func isSound(file []box) error {
	moov, err := inside(file, "moov")
	if err != nil {
		return err
	}
	sound := false
	for _, t := range moov {
		if t.kind != "trak" {
			continue
		}
		trak, err := boxes(t.body, t.at)
		if err != nil {
			return err
		}
		mdia, err := inside(trak, "mdia")
		if err != nil {
			return err
		}
		hdlr, ok := find(mdia, "hdlr")
		if !ok || len(hdlr.body) < 12 {
			return fmt.Errorf("%w: box at offset %d: a track without a type", media.ErrFormat, t.at)
		}
		switch string(hdlr.body[8:12]) {
		case "vide":
			return fmt.Errorf("%w: it is a video, which is not supported", media.ErrFormat)
		case "soun":
			sound = true
		}
	}
	if !sound {
		return fmt.Errorf("%w: no sound in it: its end may be missing", media.ErrFormat)
	}
	return nil
}
