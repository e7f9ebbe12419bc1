package limitless

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/limitless"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// Pendant is a simulated pendant: it stores pages, sends them when asked, and deletes those that it
// is told to. Its sound is silence. It is a Dialer, and makes no more connections when it has no
// pages.
type Pendant struct {
	Deleted func(from, to uint64) // gets the range of pages that are deleted, to excluded; nil: nobody
	Sent    func()                // is called when all pages were sent once more; nil: nobody
	Reboot  int                   // connections that are still to end in the middle; set before the first

	mu    sync.Mutex
	pages []frame.Page
}

// NewPendant returns a pendant whose pages are a second each, up to now: one in ten is diagnostic, and
// every thirtieth ends a recording. If a day is played, its pages hold what was heard on that day.
func NewPendant(p carry.Play) *Pendant {
	if len(p.Day) > 0 {
		return &Pendant{Reboot: p.Reboot, pages: lived(p)}
	}
	n := cmp.Or(p.Amount, 60)
	d := &Pendant{Reboot: p.Reboot}
	for i := range n {
		page := frame.Page{Index: uint64(1000 + i), Session: 3, At: time.Now().Add(p.ClockOff + time.Duration(i-n)*time.Second), Ends: i%30 == 29}
		for k := 0; i%10 != 5 && k < 50; k++ {
			// The range coder's first bits say that the frame is silence (RFC 6716, 4.3); the bytes
			// after them make each frame different.
			page.Frames = append(page.Frames, binary.BigEndian.AppendUint64([]byte{0xf8, 0xff, 0xfe}, uint64(1000*i+k)))
		}
		d.pages = append(d.pages, page)
	}
	return d
}

func lived(p carry.Play) (out []frame.Page) {
	for _, s := range p.Day {
		at := s.At.Add(p.ClockOff)
		// A pendant's own encoder only makes frames that its format knows.
		frames := slices.DeleteFunc(slices.Clone(s.Frames), func(f []byte) bool { return !frame.Knows(f) })
		for rest := frames; len(rest) > 0; {
			n := min(len(rest), 50)
			out = append(out, frame.Page{Index: uint64(1000 + len(out)), Session: 3, At: at, Frames: rest[:n], Ends: n == len(rest)})
			rest, at = rest[n:], at.Add(time.Second)
		}
	}
	return out
}

// PendantWith makes a pendant with the pages of another that restarted. They are read, and not
// changed.
func PendantWith(pages []frame.Page) *Pendant { return &Pendant{pages: pages} }

// Pages returns the pages that it still has.
func (p *Pendant) Pages() []frame.Page {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]frame.Page(nil), p.pages...)
}

func (p *Pendant) Connect(ctx context.Context) (link.Device, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(p.pages) == 0 {
		return nil, io.EOF
	}
	d := &worn{of: p, Simulated: link.NewSimulated(64, frame.NotifyChar, frame.BatteryChar)}
	if p.Reboot > 0 {
		p.Reboot--
		d.left = 20
	}
	go d.run()
	return d, nil
}

// worn is one connection to a pendant.
type worn struct {
	*link.Simulated
	of    *Pendant
	index uint64 // index of the next message
	left  int    // pages before the connection breaks; 0: it does not
}

const room = 180 // bytes of a message in a packet

func (d *worn) run() {
	defer d.End()
	var in frame.Assembler
	var push []frame.Page // pages to be sent
	for {
		var ready <-chan struct{}
		if len(push) > 0 {
			now := make(chan struct{})
			close(now)
			ready = now
		}
		select {
		case <-d.Stop:
			return
		case b := <-d.In:
			whole, err := in.Push(b)
			if err != nil {
				return // a real one would hang up too
			}
			c, err := frame.ParseCommand(whole)
			if err != nil {
				return
			}
			switch {
			case c.Clock != nil: // the clock is set, and nobody reads it
			case c.Forget != nil:
				if d.of.forget(*c.Forget) == 0 {
					return
				}
			case c.AskStatus:
				if !d.send(frame.AppendStatus(nil, d.of.status())) {
					return
				}
			case c.Mode != nil && c.Mode.Stored:
				push = d.of.Pages()
			case c.Mode != nil:
				push = nil
				if c.Mode.Live && !d.send(frame.AppendPress(nil, 1)) {
					return
				}
			}
		case <-ready:
			if !d.send(frame.AppendPage(nil, push[0])) {
				return
			}
			push = push[1:]
			if len(push) == 0 && d.of.Sent != nil {
				d.of.Sent()
			}
			if d.left > 0 {
				if d.left--; d.left == 0 {
					return
				}
			}
		}
	}
}

func (d *worn) send(message []byte) bool {
	for _, p := range frame.Split(d.index, message, room) {
		if !d.Say(frame.NotifyChar, p) {
			return false
		}
	}
	d.index++
	return true
}

func (p *Pendant) status() frame.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pages) == 0 {
		return frame.Status{Oldest: 1, All: 170_000}
	}
	return frame.Status{Oldest: p.pages[0].Index, Newest: p.pages[len(p.pages)-1].Index, Session: 3, Free: 1000, All: 170_000}
}

// forget deletes pages, and returns how many are left.
func (p *Pendant) forget(upTo uint64) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for n < len(p.pages) && p.pages[n].Index <= upTo {
		n++
	}
	if n > 0 && p.Deleted != nil {
		p.Deleted(p.pages[0].Index, p.pages[n-1].Index+1)
	}
	p.pages = p.pages[n:]
	return len(p.pages)
}

func (d *worn) MTU() int { return 247 }

func (d *worn) Read(_ context.Context, char string) ([]byte, error) {
	if char == frame.BatteryChar {
		return []byte{87}, nil
	}
	return nil, fmt.Errorf("%w: %s", link.ErrAbsent, char)
}

func (d *worn) Write(ctx context.Context, char string, b []byte) error {
	if char != frame.WriteChar {
		return fmt.Errorf("%w: %s", link.ErrAbsent, char)
	}
	return d.Put(ctx, b)
}
