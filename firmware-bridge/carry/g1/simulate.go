package g1

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/g1"
	"github.com/locket-dev/locket/firmware-bridge/lc3"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// silence returns a packet of silence.
func silence() []byte { return bytes.Repeat(lc3.Silence(frame.FrameSize), frame.Frames) }

// Glasses are a simulated G1. Once its microphone is on, the wearer presses the left arm, Amount
// packets are heard, and then no more; the same happens after each reboot. It is a Dialer, and
// makes no more connections when it is done.
type Glasses struct {
	Packets [][]byte                 // packets that are heard, each of 200 bytes; set before the first connection
	Asks    bool                     // it waits for an answer
	OnShown func(arm, text string)   // gets what a display shows; nil: nobody
	Deaf    bool                     // it does not answer heartbeats
	Beats   func(arm string, n byte) // gets each heartbeat; nil: nobody

	*link.Simulator
}

// NewGlasses makes simulated glasses.
func NewGlasses(p carry.Play) *Glasses {
	n := cmp.Or(p.Amount, 50)
	g := &Glasses{}
	for range n {
		g.Packets = append(g.Packets, silence())
	}
	g.Simulator = link.NewSimulator(p.Reboot+1, func(i int) link.Device { // both arms
		packets := g.Packets
		if len(p.Day) > 0 {
			packets = lived(p.Part(i, p.Reboot+1))
		}
		d := &worn{of: g, packets: packets, Simulated: link.NewSimulated(64, link.Left+frame.NotifyChar, link.Right+frame.NotifyChar)}
		go d.run()
		return d
	})
	return g
}

// lived returns the packets of a day's sound. The last packet of each scene is filled up with
// silence.
func lived(day []carry.Scene) (packets [][]byte) {
	for _, s := range day {
		for i, f := range s.Frames {
			if i%frame.Frames == 0 {
				packets = append(packets, silence())
			}
			copy(packets[len(packets)-1][i%frame.Frames*frame.FrameSize:], f)
		}
	}
	return packets
}

type worn struct {
	*link.Simulated
	of      *Glasses
	packets [][]byte          // packets of this connection
	text    map[string]string // text so far, by arm
	heard   bool              // the packets were sent
}

func (d *worn) run() {
	defer d.End()
	d.text = map[string]string{}
	for {
		select {
		case <-d.Stop:
			return
		case b := <-d.In:
			if !d.written(b) {
				return
			}
		}
	}
}

// written takes Write's argument, which begins with the arm.
func (d *worn) written(b []byte) bool {
	arm := string(b[:strings.IndexByte(string(b), '/')+1])
	return d.handleWrite(arm, b[len(arm):])
}

// handleWrite answers a write. It returns false when the connection is over.
func (d *worn) handleWrite(arm string, b []byte) bool {
	switch {
	case b[0] == frame.Heart && len(b) == 6:
		if d.of.Beats != nil {
			d.of.Beats(arm, b[3])
		}
		return d.of.Deaf || d.send(arm, []byte{frame.Heart, 6, 0, b[3], 4, b[5]})
	case b[0] == frame.Microphone && arm != link.Right:
		return d.send(arm, []byte{frame.Microphone, 0xca, b[1]})
	case b[0] == frame.Microphone:
		if !d.send(arm, []byte{frame.Microphone, 0xc9, b[1]}) {
			return false
		}
		return b[1] != 1 || d.heard || d.sendSound()
	case b[0] == frame.Text && len(b) > 9:
		d.text[arm] += string(b[9:])
		if b[3]+1 < b[2] {
			return true
		}
		if d.of.OnShown != nil {
			d.of.OnShown(arm, d.text[arm])
		}
		d.text[arm] = ""
		return d.send(arm, []byte{frame.Text, 0xc9})
	}
	return true
}

// sendSound sends what the microphone hears. When the wearer presses the left arm, the right one is told
// to record again, and goes on recording.
func (d *worn) sendSound() bool {
	d.heard = true
	if !d.send(link.Left, []byte{0xf5, byte(frame.Ask)}) {
		return false
	}
	for i, p := range d.packets {
		if !d.listen() || !d.send(link.Right, append([]byte{0xf1, byte(i)}, p...)) {
			return false
		}
	}
	return d.send(link.Left, []byte{0xf5, byte(frame.Asked)}) && d.of.Asks
}

// listen answers what was written meanwhile, such as a heartbeat. It returns false when the
// connection is over.
func (d *worn) listen() bool {
	for {
		select {
		case b := <-d.In:
			if !d.written(b) {
				return false
			}
		default:
			return true
		}
	}
}

func (d *worn) send(arm string, b []byte) bool { return d.Say(arm+frame.NotifyChar, b) }

func (d *worn) MTU() int { return 251 }

func (d *worn) Write(ctx context.Context, char string, b []byte) error {
	arm, ok := strings.CutSuffix(char, frame.WriteChar)
	if !ok {
		return fmt.Errorf("%w: %s", link.ErrAbsent, char)
	}
	return d.Put(ctx, append([]byte(arm), b...))
}
