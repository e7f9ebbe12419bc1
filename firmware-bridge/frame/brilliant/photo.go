package brilliant

import (
	"bytes"
	"fmt"
	"time"
)

const (
	// MaxPhoto is the largest photo that is accepted, in bytes.
	MaxPhoto = 200 << 10
	// chunkWithin is when the glasses give up a chunk, and with it the photo.
	chunkWithin = 2 * time.Second
)

// Photos puts photos together. The zero value is ready, for one connection.
type Photos struct {
	jpeg []byte
	last time.Time // when its latest chunk came
	size int       // expected size; 0: not known
	open bool
	lost bool // the pieces that come belong to a lost photo
}

// Chunk takes a piece. lost says why a photo is given up; empty: it is not.
func (p *Photos) Chunk(b []byte, at time.Time) (lost string) {
	begins := len(b) >= 2 && b[0] == 0xff && b[1] == 0xd8
	switch {
	case begins:
		if p.open {
			lost = p.drop("the next began before its end")
		}
		p.jpeg, p.size, p.open, p.lost = p.jpeg[:0], 0, true, false
	case !p.open && p.lost:
		return ""
	case !p.open:
		p.lost = true
		return "it does not begin like a JPEG: its beginning is lost"
	}
	p.jpeg, p.last = append(p.jpeg, b...), at
	if len(p.jpeg) > MaxPhoto {
		p.lost = true
		return p.drop(fmt.Sprintf("over %d bytes", MaxPhoto))
	}
	return lost
}

// Size takes the photo's expected size in bytes, which Locket's app sends before its end.
func (p *Photos) Size(n int) { p.size = n }

// End returns the photo, or says why it is lost; it returns neither if the loss was reported
// before.
func (p *Photos) End(rest []byte) (jpeg []byte, lost string) {
	switch {
	case !p.open && p.lost:
		p.lost = false
		return nil, ""
	case !p.open:
		return nil, "its end came, but nothing before it"
	}
	jpeg = append(bytes.Clone(p.jpeg), rest...)
	switch size := p.size; {
	case size > 0 && size != len(jpeg):
		return nil, p.drop(fmt.Sprintf("%d bytes of it are missing", size-len(jpeg)))
	case !bytes.HasSuffix(bytes.TrimRight(jpeg, "\x00"), []byte{0xff, 0xd9}):
		return nil, p.drop("it does not end like a JPEG")
	}
	p.open = false
	return jpeg, ""
}

// DropLate gives up a photo if nothing came of it for too long.
func (p *Photos) DropLate(now time.Time) (lost string) {
	if !p.open || now.Sub(p.last) < chunkWithin {
		return ""
	}
	return p.drop("the rest did not come")
}

// Drop gives up a photo that was not complete when the connection ended.
func (p *Photos) Drop() (lost string) {
	if !p.open {
		return ""
	}
	return p.drop("the connection ended")
}

func (p *Photos) drop(why string) string {
	p.open, p.lost = false, true
	return fmt.Sprintf("%s, after %d bytes", why, len(p.jpeg))
}
