package brilliant

import (
	"bytes"
	"fmt"
	"time"
)

const (
	// MaxPhoto is the largest photo that is taken, in bytes.
	MaxPhoto = 200 << 10
	// chunkWithin is when the glasses give up a chunk, and so the photo.
	chunkWithin = 2 * time.Second
)

// Photos puts photos together. The zero value is ready, for one connection.
type Photos struct {
	jpeg []byte
	last time.Time // when its latest chunk came
	size int       // that it is to have; 0: not said
	open bool
	lost bool // what comes is the rest of a lost one
}

// Chunk takes a piece. lost says why a photo is given up; empty: none is.
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

// Size takes how long the photo is to be, in bytes: what Locket's app says before its end.
func (p *Photos) Size(n int) { p.size = n }

// End gives the photo, or says why it is lost; neither where the loss was said.
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

// Late gives up a photo of which nothing came for too long.
func (p *Photos) Late(now time.Time) (lost string) {
	if !p.open || now.Sub(p.last) < chunkWithin {
		return ""
	}
	return p.drop("the rest did not come")
}

// Drop gives up a photo whose end did not come before the connection's.
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
