package omi

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Photo notifications (omiGlass/firmware/src/app.cpp):
//
//	0  u16  0; then counting up by 1; FFFF ends the photo
//	2  u8   in the first only: orientation, 0 to 3 times 90°. Firmware before
//	        2.1.1 has none, and its camera is mounted upside down: 180°
//	3  …    JPEG: up to 199 bytes in the first, up to 200 in others
//
// The bytes show whether the orientation is there: a JPEG begins with FF D8, and no orientation is
// FF. Neither length nor checksum is sent, and nothing is sent again: a photo with a gap is lost.

const (
	photoEnd = 0xffff
	// MaxPhoto is the largest photo that is accepted, in bytes; Omi's app has the same limit.
	MaxPhoto    = 200 << 10
	oldRotation = 180
)

// PhotoItem is one of Photo and LostPhoto.
type PhotoItem interface{ photoItem() }

// Photo is a complete JPEG.
type Photo struct {
	JPEG        []byte
	Orientation int // degrees clockwise by which to turn it: 0, 90, 180, 270
}

// LostPhoto is a photo that began and could not be completed.
type LostPhoto struct {
	Reason string
	Bytes  int // bytes that had come
}

func (Photo) photoItem()     {}
func (LostPhoto) photoItem() {}

// Photos puts photos together again. The zero value is ready, for one connection.
type Photos struct {
	open        bool
	jpeg        []byte
	orientation int
	last        []byte // the latest notification
}

// Push takes a notification, which is not kept. It returns nil if nothing has ended.
func (p *Photos) Push(b []byte) []PhotoItem {
	if len(b) < 2 {
		return p.lose(fmt.Sprintf("a notification of %d bytes", len(b)))
	}
	n := binary.LittleEndian.Uint16(b)
	switch {
	case n == 0 && p.open && bytes.Equal(p.last, b):
		return nil // a duplicate
	case n == 0:
		return p.begin(b)
	case !p.open:
		return nil // the rest of a lost photo, or the connection began in the middle of it
	case n == photoEnd:
		return p.end(b)
	}
	before := binary.LittleEndian.Uint16(p.last)
	switch {
	case n == before && bytes.Equal(p.last, b):
		return nil
	case n != before+1:
		return p.lose(fmt.Sprintf("part %d came after part %d", n, before))
	}
	p.jpeg = append(p.jpeg, b[2:]...)
	p.last = append(p.last[:0], b...)
	if len(p.jpeg) > MaxPhoto {
		return p.lose(fmt.Sprintf("over %d bytes", MaxPhoto))
	}
	return nil
}

func (p *Photos) begin(b []byte) []PhotoItem {
	out := p.lose("the next began before its end")
	rest := b[2:]
	switch {
	case jpegStarts(rest):
		p.orientation = oldRotation
	case len(rest) > 0 && rest[0] <= 3 && jpegStarts(rest[1:]):
		p.orientation, rest = int(rest[0])*90, rest[1:]
	default:
		return append(out, LostPhoto{fmt.Sprintf("begins with % x, not like a JPEG", clip(rest)), len(rest)})
	}
	p.open = true
	p.jpeg = append(p.jpeg[:0], rest...)
	p.last = append(p.last[:0], b...)
	return out
}

func (p *Photos) end(b []byte) []PhotoItem {
	if len(b) != 2 {
		return p.lose(fmt.Sprintf("%d bytes behind its end", len(b)-2))
	}
	p.open = false
	return []PhotoItem{Photo{bytes.Clone(p.jpeg), p.orientation}}
}

// Flush gives up a photo that was not complete when the connection ended.
func (p *Photos) Flush() []PhotoItem { return p.lose("the connection ended") }

// lose gives up the photo that has begun, if there is one.
func (p *Photos) lose(reason string) []PhotoItem {
	if !p.open {
		return nil
	}
	p.open = false
	return []PhotoItem{LostPhoto{reason, len(p.jpeg)}}
}

func jpegStarts(b []byte) bool { return len(b) >= 2 && b[0] == 0xff && b[1] == 0xd8 }
