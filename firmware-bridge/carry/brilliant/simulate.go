package brilliant

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"slices"
	"sync"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/brilliant"
	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/memory"
)

// Glasses is a simulated Frame. Once the app is there and listens, it sends its battery, motion,
// Amount pieces of sound of 15 ms, a photo, and a tap, and does so again after each reboot. From a
// Play's day it sends sound, photos and taps. It is a Dialer, and makes no more connections when it
// is done.
type Glasses struct {
	OnShown    func(text string)  // is told what the display shows; nil: nobody
	Halo       bool               // set before the first connection
	Asks       bool               // it waits for an answer after each tap
	Photo      []byte             // the photo that it takes
	SoundPiece func(i int) []byte // the i-th piece of sound, set before the first connection

	pieces int
	play   carry.Play

	mu    sync.Mutex
	left  int            // connections that are left
	parts map[string]int // parts of the app that were written, and how often
	app   bool           // the app is there
	Bad   []string       // forbidden writes; read it only with no connection
}

// NewGlasses makes simulated glasses.
func NewGlasses(p carry.Play) *Glasses {
	n := cmp.Or(p.Amount, 100)
	picture := image.NewGray(image.Rect(0, 0, 160, 120))
	for i := range picture.Pix {
		picture.SetGray(i%160, i/160, color.Gray{uint8(i * i)})
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, picture, nil); err != nil {
		panic(err) // encoding a picture into memory can't fail
	}
	return &Glasses{Photo: b.Bytes(), SoundPiece: whisper, pieces: n, play: p, left: p.Reboot + 1, parts: map[string]int{}}
}

const piece = 240 // bytes of sound in a notification

// whisper makes samples that differ from piece to piece.
func whisper(i int) []byte {
	b := make([]byte, piece)
	binary.LittleEndian.PutUint32(b, uint32(i)|1<<16)
	return b
}

func (g *Glasses) Connect(ctx context.Context) (link.Device, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if g.left == 0 {
		return nil, io.EOF
	}
	d := &worn{of: g, Simulated: link.NewSimulated(64, frame.NotifyChar)}
	go d.run()
	return d, nil
}

// worn is one connection.
type worn struct {
	*link.Simulated
	of      *Glasses
	runs    bool   // the app
	code    byte   // code of the message that is being received
	message []byte // its bytes so far
	want    int    // bytes of it that are still missing
	done    bool   // everything was sent
}

func (d *worn) run() {
	defer d.End()
	for !d.done {
		select {
		case <-d.Stop:
			return
		case b := <-d.In:
			if !d.handleWrite(b) {
				return
			}
		}
	}
	d.of.mu.Lock()
	d.of.left--
	d.of.mu.Unlock()
}

// handleWrite handles a write. It returns false when the connection is over.
func (d *worn) handleWrite(b []byte) bool {
	switch {
	case frame.Check(b) != nil:
		d.of.mu.Lock()
		d.of.Bad = append(d.of.Bad, fmt.Sprintf("%x", b))
		d.of.mu.Unlock()
		return false
	case bytes.Equal(b, frame.Break):
		d.runs = false
		return d.print("the app was stopped\n")
	case b[0] == 1:
		return !d.runs || d.data(b[1:])
	case d.runs:
		return true // while the app runs, no line is read
	}
	return d.lua(string(b))
}

// lua runs the lines of the session, and no others.
func (d *worn) lua(s string) bool {
	g := d.of
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case s == frame.Ask().Source && g.app:
		return d.print(frame.Ask().Answer)
	case s == frame.Ask().Source:
		return d.print("[string]:1: attempt to index a nil value")
	case s == frame.Begin().Source && g.app:
		d.runs = true
		return d.print(frame.Started + "\n")
	}
	lines := frame.Upload(244)
	for i, l := range lines {
		if s != l.Source {
			continue
		}
		g.parts[s]++
		if i == len(lines)-1 {
			for _, l := range lines {
				if g.parts[l.Source] == 0 {
					return d.print("a part of the app is missing: error")
				}
			}
			g.app = true
		}
		return d.print(l.Answer + "\n")
	}
	return d.print("error: " + s)
}

// data puts a host's message together, as the app does.
func (d *worn) data(b []byte) bool {
	if d.want == 0 {
		d.code, d.want, d.message, b = b[0], int(binary.BigEndian.Uint16(b[1:])), nil, b[3:]
	} else {
		b = b[1:]
	}
	d.message = append(d.message, b...)
	if d.want -= len(b); d.want > 0 {
		return true
	}
	switch d.code {
	case frame.Listen:
		if how := d.message[0]; how == 0 || d.done { // the recording ends before a pause
			return true
		} else if how == 2 && !d.of.Halo {
			return d.print("bad argument: error")
		}
		return d.day()
	case frame.Photo:
		return d.photo()
	case frame.Show:
		if d.of.OnShown != nil {
			d.of.OnShown(string(d.message))
		}
		d.done = d.of.Asks
	}
	return true
}

// day plays what the glasses hear, see and feel.
func (d *worn) day() bool {
	for _, b := range [][]byte{{1, 0x0c, 87}, {1, 0x0a, 0, 100, 0, 0x38, 0xff, 44, 1, 0xff, 0xff, 0, 0, 0, 16}} {
		if !d.send(b) {
			return false
		}
	}
	if p := &d.of.play; len(p.Day) > 0 {
		d.of.mu.Lock()
		part := p.Part(p.Reboot+1-d.of.left, p.Reboot+1)
		d.of.mu.Unlock()
		for _, s := range part {
			if !d.live(s) {
				return false
			}
		}
		d.done = !d.of.Asks
		return true
	}
	for i := range d.of.pieces {
		if !d.send(append([]byte{1, 5}, d.of.SoundPiece(i)...)) {
			return false
		}
	}
	if !d.send([]byte{1, 6}) || !d.photo() || !d.send([]byte{1, 9}) {
		return false
	}
	d.done = !d.of.Asks
	return true
}

// live sends a scene of a day as the glasses would.
func (d *worn) live(s carry.Scene) bool {
	switch s.Kind {
	case memory.KindPhoto:
		return d.picture(s.Data)
	case memory.KindButton:
		return d.send([]byte{1, 9})
	}
	for piece := range slices.Chunk(slices.Concat(s.Frames...), piece) {
		if !d.send(append([]byte{1, 5}, piece...)) {
			return false
		}
	}
	return len(s.Frames) == 0 || d.send([]byte{1, 6})
}

func (d *worn) photo() bool { return d.picture(d.of.Photo) }

func (d *worn) picture(jpeg []byte) bool {
	for rest := jpeg; len(rest) > 0; {
		n := min(240, len(rest))
		if !d.send(append([]byte{1, 7}, rest[:n]...)) {
			return false
		}
		rest = rest[n:]
	}
	return d.send(binary.BigEndian.AppendUint32([]byte{1, 0x0d}, uint32(len(jpeg)))) && d.send([]byte{1, 8})
}

func (d *worn) print(s string) bool { return d.send([]byte(s)) }

func (d *worn) send(b []byte) bool { return d.Say(frame.NotifyChar, b) }

func (d *worn) MTU() int { return 247 }

func (d *worn) Read(_ context.Context, char string) ([]byte, error) {
	switch {
	case char == frame.FirmwareChar:
		return []byte("v25.080.0838"), nil
	case char == frame.AudioChar && d.of.Halo:
		return nil, fmt.Errorf("not permitted")
	}
	return nil, fmt.Errorf("%w: %s", link.ErrAbsent, char)
}

func (d *worn) Write(ctx context.Context, char string, b []byte) error {
	if char != frame.WriteChar {
		return fmt.Errorf("%w: %s", link.ErrAbsent, char)
	}
	return d.Put(ctx, b)
}
